//! PIL's enhancers: from a degenerate picture to the picture and beyond.

use freeaugment_base::math::truncate;
use freeaugment_base::versions;

use super::Frame;
use super::colour::grey;
use super::table::{each, map};

/// `Image.blend`, cut off and not rounded: at factor 0 the first value, at 1 the second.
#[inline(always)]
fn blend(first: u8, second: u8, factor: f32) -> u8 {
    let (first, second) = (i32::from(first), i32::from(second));
    truncate(first as f32 + factor * (second - first) as f32, 255.0) as u8
}

/// Degenerate: black.
pub(super) fn brightness(frame: Frame<'_>, factor: f32, out: &mut [u8]) {
    map(frame, &each(|value| blend(0, value, factor)), out);
}

/// Degenerate: the mean of the grey picture everywhere.
pub(super) fn contrast(frame: Frame<'_>, factor: f32, out: &mut [u8]) {
    let mean = (sum_of_greys(frame) as f64 / (frame.height * frame.width) as f64 + 0.5) as u8;
    map(frame, &each(|value| blend(mean, value, factor)), out);
}

/// Degenerate: the grey picture.
pub(super) fn color(frame: Frame<'_>, factor: f32, out: &mut [u8]) {
    if frame.is_grey() {
        out.copy_from_slice(frame.bytes);
    } else {
        mix_greys(frame, factor, out);
    }
}

/// Degenerate: smoothed with weights 1, and 5 in the middle. PIL leaves the border as it is.
pub(super) fn sharpness(frame: Frame<'_>, factor: f32, out: &mut [u8]) {
    if frame.height < 3 || frame.width < 3 {
        return out.copy_from_slice(frame.bytes);
    }
    let (row, depth) = (frame.row(), frame.depth);
    let border = row - depth;
    for (plane, out) in frame.planes(out) {
        let last = plane.len() - row;
        out[..row].copy_from_slice(&plane[..row]);
        out[last..].copy_from_slice(&plane[last..]);
        let rows = plane.windows(3 * row).step_by(row);
        for (out, rows) in out[row..last].chunks_exact_mut(row).zip(rows) {
            let middle = &rows[row..][..row];
            out[..depth].copy_from_slice(&middle[..depth]);
            out[border..].copy_from_slice(&middle[border..]);
            mix_smooth(rows, depth, factor, &mut out[depth..border]);
        }
    }
}

versions! {
    fn sum_of_greys(frame: Frame<'_>) -> u64 {
        // So many greys are less than 2³².
        const PIXELS: usize = 1 << 12;
        let mut sum = 0;
        if frame.is_grey() {
            for bytes in frame.bytes.chunks(PIXELS) {
                sum += u64::from(bytes.iter().map(|&value| u32::from(value)).sum::<u32>());
            }
        } else if frame.depth == 3 {
            for pixels in frame.bytes.as_chunks::<3>().0.chunks(PIXELS) {
                sum += u64::from(pixels.iter().map(|&pixel| u32::from(grey(pixel))).sum::<u32>());
            }
        } else {
            let [red, green, blue] = frame.colours().map(|plane| plane.chunks(PIXELS));
            for ((red, green), blue) in red.zip(green).zip(blue) {
                let pixels = red.iter().zip(green).zip(blue);
                sum += u64::from(pixels.map(|((&r, &g), &b)| u32::from(grey([r, g, b]))).sum::<u32>());
            }
        }
        sum
    }

    fn mix_greys(frame: Frame<'_>, factor: f32, out: &mut [u8]) {
        frame.map_pixels(out, |pixel| {
            let grey = grey(pixel);
            pixel.map(|value| blend(grey, value, factor))
        });
    }

    /// The inside of a row, of three rows.
    fn mix_smooth(rows: &[u8], depth: usize, factor: f32, out: &mut [u8]) {
        let row = rows.len() / 3;
        let neighbour = |place: usize| &rows[place / 3 * row + place % 3 * depth..][..out.len()];
        let [a, b, c, d, e, f, g, h, i] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(neighbour);
        for (x, out) in out.iter_mut().enumerate() {
            let around = [a[x], b[x], c[x], d[x], f[x], g[x], h[x], i[x]].map(u16::from);
            let sum = around.iter().sum::<u16>() + 5 * u16::from(e[x]);
            // The mean is never halfway between two values, so this is PIL's rounding in floating point.
            let smooth = ((2 * sum + 13) / 26) as u8;
            *out = blend(smooth, e[x], factor);
        }
    }
}
