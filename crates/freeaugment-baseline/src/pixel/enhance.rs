//! PIL's enhancers: from a degenerate picture to the picture and beyond.

use freeaugment_data::Picture;

use super::colour::{grayscale, grey};
use super::table::{each, map};

/// `Image.blend`, cut off and not rounded: at factor 0 the first value, at 1 the second.
fn blend(first: u8, second: u8, factor: f32) -> u8 {
    let (first, second) = (f32::from(first), f32::from(second));
    let value = (first + factor * (second - first)).clamp(0.0, 255.0);
    // `value as u8`, in a way that is compiled to vector instructions: beside 2^23 there is no room for a fraction, so
    // that the sum ends in the nearest whole number.
    let sum = value + SHIFT;
    let nearest = sum.to_bits() as u8;
    if sum - SHIFT > value { nearest.wrapping_sub(1) } else { nearest }
}

const SHIFT: f32 = 8_388_608.0;

/// Blends every value with that of the degenerate picture.
fn mix(degenerate: &[u8], pixels: &mut [u8], factor: f32) {
    for (value, &degenerate) in pixels.iter_mut().zip(degenerate) {
        *value = blend(degenerate, *value, factor);
    }
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
    let mut degenerate = picture.clone();
    grayscale(&mut degenerate);
    mix(&degenerate.pixels, &mut picture.pixels, factor);
}

/// Degenerate: smoothed with weights 1, and 5 in the middle. PIL leaves the border as it is.
pub(super) fn sharpness(picture: &mut Picture, factor: f32) {
    let channels = picture.channels;
    let row = picture.width * channels;
    if picture.height < 3 || picture.width < 3 {
        return;
    }
    let inner = row - 2 * channels;
    let mut smooth = picture.pixels.clone();
    let rows = picture.pixels.windows(3 * row).step_by(row);
    for (smooth, input) in smooth[row..].chunks_exact_mut(row).zip(rows) {
        let neighbour = |place: usize| &input[place / 3 * row + place % 3 * channels..][..inner];
        let [a, b, c, d, e, f, g, h, i] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(neighbour);
        for (x, smooth) in smooth[channels..][..inner].iter_mut().enumerate() {
            let around = [a[x], b[x], c[x], d[x], f[x], g[x], h[x], i[x]].map(u16::from);
            let sum = around.iter().sum::<u16>() + 5 * u16::from(e[x]);
            // The mean is never halfway between two values, so this is PIL's rounding in floating point.
            *smooth = ((2 * sum + 13) / 26) as u8;
        }
    }
    mix(&smooth, &mut picture.pixels, factor);
}
