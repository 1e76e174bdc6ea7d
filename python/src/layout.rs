//! From the order of a tensor, plane after plane, to that of a picture, pixel after pixel, and back.

use freeaugment::{Shape, Strides};
use freeaugment_base::versions;
use freeaugment_baseline::Frame;

versions! {
    fn interleave(red: &[u8], green: &[u8], blue: &[u8], pixels: &mut [u8]) {
        let (pixels, _) = pixels.as_chunks_mut::<3>();
        for (((pixel, &red), &green), &blue) in pixels.iter_mut().zip(red).zip(green).zip(blue) {
            *pixel = [red, green, blue];
        }
    }

    fn separate(pixels: &[u8], red: &mut [u8], green: &mut [u8], blue: &mut [u8]) {
        let (pixels, _) = pixels.as_chunks::<3>();
        for (((pixel, red), green), blue) in pixels.iter().zip(red).zip(green).zip(blue) {
            [*red, *green, *blue] = *pixel;
        }
    }
}

/// The image as operations of PIL take it, where it lies in one of their two orders and without gaps.
pub(crate) fn frame(bytes: &[u8], shape: Shape, strides: Strides) -> Option<Frame<'_>> {
    let Shape { channels, height, width, .. } = shape;
    if strides.is_like(Strides::interleaved(shape), shape) {
        Frame::interleaved(bytes, height, width, channels)
    } else if strides.is_like(Strides::planar(shape), shape) {
        Frame::planar(bytes, height, width, channels)
    } else {
        None
    }
}

/// The bytes of one image in the order `[height, width, channel]`.
pub(crate) fn gather(from: &[u8], shape: Shape, strides: Strides) -> Vec<u8> {
    let Shape { channels, width, .. } = shape;
    let mut pixels = vec![0; shape.image()];
    for (y, row) in pixels.chunks_exact_mut(width * channels).enumerate() {
        let from = &from[y * strides.row..];
        let is_pixel = strides.column == channels && (strides.channel == 1 || channels == 1);
        match channels {
            _ if is_pixel => row.copy_from_slice(&from[..width * channels]),
            3 if strides.column == 1 => {
                let [red, green, blue] = [0, 1, 2].map(|channel| &from[channel * strides.channel..][..width]);
                interleave(red, green, blue, row);
            }
            _ => {
                for (x, pixel) in row.chunks_exact_mut(channels).enumerate() {
                    for (channel, value) in pixel.iter_mut().enumerate() {
                        *value = from[x * strides.column + channel * strides.channel];
                    }
                }
            }
        }
    }
    pixels
}

/// Writes such bytes to where an image lies.
pub(crate) fn scatter(pixels: &[u8], shape: Shape, strides: Strides, to: &mut [u8]) {
    let Shape { channels, width, .. } = shape;
    for (y, row) in pixels.chunks_exact(width * channels).enumerate() {
        let to = &mut to[y * strides.row..];
        let is_pixel = strides.column == channels && (strides.channel == 1 || channels == 1);
        if is_pixel {
            to[..width * channels].copy_from_slice(row);
            continue;
        }
        if channels == 3 && strides.column == 1 && strides.channel >= width {
            let (red, rest) = to.split_at_mut(strides.channel);
            let (green, blue) = rest.split_at_mut(strides.channel);
            separate(row, &mut red[..width], &mut green[..width], &mut blue[..width]);
            continue;
        }
        for channel in 0..channels {
            let to = &mut to[channel * strides.channel..];
            let values = row[channel..].iter().step_by(channels);
            if strides.column == 1 {
                to[..width].iter_mut().zip(values).for_each(|(to, &value)| *to = value);
            } else {
                to.iter_mut().step_by(strides.column.max(1)).zip(values).for_each(|(to, &value)| *to = value);
            }
        }
    }
}
