//! PIL's enhancers: from a degenerate picture to the picture and beyond.

use freeaugment_data::Picture;

use super::colour::grey;
use super::table::{each, map};

/// `Image.blend`, cut off and not rounded: at factor 0 the first value, at 1 the second.
fn blend(first: u8, second: u8, factor: f32) -> u8 {
    let (first, second) = (f32::from(first), f32::from(second));
    (first + factor * (second - first)) as u8
}

/// Degenerate: black.
pub(super) fn brightness(picture: &mut Picture, factor: f32) {
    map(picture, &each(|value| blend(0, value, factor)));
}

/// Degenerate: the mean of the grey picture everywhere.
pub(super) fn contrast(picture: &mut Picture, factor: f32) {
    let sum: u64 = match picture.channels {
        3 => picture.pixels.as_chunks::<3>().0.iter().map(|&pixel| u64::from(grey(pixel))).sum(),
        _ => picture.pixels.iter().map(|&value| u64::from(value)).sum(),
    };
    let mean = (sum as f64 / (picture.height * picture.width) as f64 + 0.5) as u8;
    map(picture, &each(|value| blend(mean, value, factor)));
}

/// Degenerate: the grey picture.
pub(super) fn color(picture: &mut Picture, factor: f32) {
    if picture.channels == 3 {
        for pixel in picture.pixels.as_chunks_mut::<3>().0 {
            let grey = grey(*pixel);
            *pixel = pixel.map(|value| blend(grey, value, factor));
        }
    }
}

/// Degenerate: smoothed with weights 1, and 5 in the middle. PIL leaves the border as it is.
pub(super) fn sharpness(picture: &mut Picture, factor: f32) {
    let channels = picture.channels;
    let row = picture.width * channels;
    if picture.height < 3 || picture.width < 3 {
        return;
    }
    let inner = row - 2 * channels;
    let mut pixels = picture.pixels.clone();
    let rows = picture.pixels.windows(3 * row).step_by(row);
    for (output, input) in pixels[row..].chunks_exact_mut(row).zip(rows) {
        let neighbour = |place: usize| &input[place / 3 * row + place % 3 * channels..][..inner];
        let [a, b, c, d, e, f, g, h, i] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(neighbour);
        for (x, output) in output[channels..][..inner].iter_mut().enumerate() {
            let around = [a[x], b[x], c[x], d[x], f[x], g[x], h[x], i[x]].map(u16::from);
            let sum = around.iter().sum::<u16>() + 5 * u16::from(e[x]);
            // The mean is never halfway between two values, so this is PIL's rounding in floating point.
            let smooth = ((2 * sum + 13) / 26) as u8;
            *output = blend(smooth, e[x], factor);
        }
    }
    picture.pixels = pixels;
}
