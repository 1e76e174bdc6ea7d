//! Largest value per window, and the mean over all pixels: value and gradient. Both are linear where they are
//! differentiable, so the tangent is the value's rule on tangents.

use rayon::prelude::*;

use super::frame::Frame;
use crate::pass::Window;

/// The largest value in every window; `picks` remembers, per output, the position in its image that won.
pub(crate) fn max(
    x: &[f32],
    source: Frame,
    target: Frame,
    window: Window,
    out: &mut [f32],
    picks: &mut [u32],
) {
    let channels = source.channels;
    let images = x.par_chunks_exact(source.len());
    let outputs = out.par_chunks_exact_mut(target.len()).zip(picks.par_chunks_exact_mut(target.len()));
    images.zip(outputs).for_each(|(x, (out, picks))| {
        let pixels = out.chunks_exact_mut(channels).zip(picks.chunks_exact_mut(channels));
        for (index, (out, picks)) in pixels.enumerate() {
            let (row, column) = (index / target.width, index % target.width);
            out.fill(f32::NEG_INFINITY);
            picks.fill(u32::MAX);
            for ky in 0..window.kernel {
                for kx in 0..window.kernel {
                    let y = (row * window.stride + ky).wrapping_sub(window.padding);
                    let x_at = (column * window.stride + kx).wrapping_sub(window.padding);
                    if y >= source.height || x_at >= source.width {
                        continue;
                    }
                    let at = (y * source.width + x_at) * channels;
                    for (c, value) in x[at..][..channels].iter().enumerate() {
                        // A NaN wins and stays, as a plain comparison would drop it.
                        if picks[c] == u32::MAX || *value > out[c] || value.is_nan() {
                            out[c] = *value;
                            picks[c] = (at + c) as u32;
                        }
                    }
                }
            }
        }
    });
}

/// The tangent of [`max`]: that of the pixel that won.
pub(crate) fn max_tangent(tangent: &[f32], source: Frame, target: Frame, picks: &[u32], out: &mut [f32]) {
    let images = tangent.par_chunks_exact(source.len());
    let outputs = out.par_chunks_exact_mut(target.len()).zip(picks.par_chunks_exact(target.len()));
    images.zip(outputs).for_each(|(tangent, (out, picks))| {
        for (out, pick) in out.iter_mut().zip(picks) {
            *out = tangent[*pick as usize];
        }
    });
}

/// The gradient of [`max`], plus `addend`: every cotangent goes to the pixel that won.
pub(crate) fn max_backward(
    cotangent: &[f32],
    source: Frame,
    target: Frame,
    picks: &[u32],
    out: &mut [f32],
    addend: Option<&[f32]>,
) {
    match addend {
        Some(addend) => out.copy_from_slice(addend),
        None => out.fill(0.0),
    }
    let cotangents = cotangent.par_chunks_exact(target.len()).zip(picks.par_chunks_exact(target.len()));
    out.par_chunks_exact_mut(source.len()).zip(cotangents).for_each(|(out, (cotangent, picks))| {
        for (cotangent, pick) in cotangent.iter().zip(picks) {
            out[*pick as usize] += cotangent;
        }
    });
}

/// The mean over pixels: `[batch, channel]`.
pub(crate) fn mean(x: &[f32], source: Frame, out: &mut [f32]) {
    let channels = source.channels;
    let share = 1.0 / source.pixels() as f32;
    out.par_chunks_exact_mut(channels).zip(x.par_chunks_exact(source.len())).for_each(|(out, x)| {
        out.fill(0.0);
        for pixel in x.chunks_exact(channels) {
            for (out, x) in out.iter_mut().zip(pixel) {
                *out += x;
            }
        }
        for out in out {
            *out *= share;
        }
    });
}

/// The gradient of [`mean`], plus `addend`.
pub(crate) fn mean_backward(cotangent: &[f32], source: Frame, out: &mut [f32], addend: Option<&[f32]>) {
    let channels = source.channels;
    let share = 1.0 / source.pixels() as f32;
    out.par_chunks_exact_mut(source.len()).enumerate().for_each(|(image, out)| {
        let cotangent = &cotangent[image * channels..][..channels];
        for pixel in out.chunks_exact_mut(channels) {
            for (out, cotangent) in pixel.iter_mut().zip(cotangent) {
                *out = cotangent * share;
            }
        }
        if let Some(addend) = addend {
            for (out, addend) in out.iter_mut().zip(&addend[image * source.len()..][..source.len()]) {
                *out += addend;
            }
        }
    });
}
