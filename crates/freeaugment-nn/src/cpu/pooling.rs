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

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, noise};
    use super::*;

    #[test]
    fn pooling_agrees_with_a_plain_loop_on_odd_shapes() {
        for (height, width, kernel, stride) in
            [(7, 5, 3, 2), (8, 8, 3, 2), (4, 9, 2, 2), (1, 1, 3, 2), (6, 3, 5, 1)]
        {
            let window = Window::centred(kernel, stride);
            let source = Frame { height, width, channels: 3 };
            let target =
                Frame { height: window.positions(height), width: window.positions(width), channels: 3 };
            let x = noise(1, 2 * source.len());
            let (tangent, cotangent) = (noise(2, x.len()), noise(3, 2 * target.len()));
            let (mut wanted, mut moved) = (Vec::new(), Vec::new());
            let mut back: Vec<f64> = tangent.iter().map(|&v| f64::from(v)).collect();
            for (index, from) in cotangent.iter().enumerate() {
                let (image, pixel, c) = (index / target.len(), index % target.len() / 3, index % 3);
                let (row, column) = (pixel / target.width * stride, pixel % target.width * stride);
                let inside = |at: usize, k: usize, end: usize| {
                    (at + k).checked_sub(window.padding).filter(|v| *v < end)
                };
                let mut winner: Option<usize> = None;
                for (ky, kx) in (0..kernel).flat_map(|y| (0..kernel).map(move |x| (y, x))) {
                    if let (Some(sy), Some(sx)) = (inside(row, ky, height), inside(column, kx, width)) {
                        let at = image * source.len() + (sy * width + sx) * 3 + c;
                        if winner.is_none_or(|winner| x[at] > x[winner]) {
                            winner = Some(at);
                        }
                    }
                }
                let winner = winner.expect("every window covers a pixel");
                wanted.push(f64::from(x[winner]));
                moved.push(f64::from(tangent[winner]));
                back[winner] += f64::from(*from);
            }
            let (mut out, mut picks) = (vec![f32::NAN; wanted.len()], vec![0; wanted.len()]);
            max(&x, source, target, window, &mut out, &mut picks);
            assert_close(&out, &wanted, 0.0, "value");
            max_tangent(&tangent, source, target, &picks, &mut out);
            assert_close(&out, &moved, 0.0, "tangent");
            let mut out = vec![f32::NAN; x.len()];
            max_backward(&cotangent, source, target, &picks, &mut out, Some(&tangent));
            assert_close(&out, &back, 1e-6, "gradient");
        }
    }

    #[test]
    fn the_mean_over_pixels_and_its_gradient_are_adjoint() {
        let source = Frame { height: 5, width: 3, channels: 7 };
        let (x, cotangent) = (noise(1, 2 * source.len()), noise(2, 14));
        let (mut out, mut back) = (vec![f32::NAN; 14], vec![f32::NAN; x.len()]);
        mean(&x, source, &mut out);
        let plain = |index: usize| {
            let (image, c) = (index / 7, index % 7);
            (0..15).map(|p| f64::from(x[(image * 15 + p) * 7 + c])).sum::<f64>() / 15.0
        };
        assert_close(&out, &(0..14).map(plain).collect::<Vec<_>>(), 1e-6, "mean");
        mean_backward(&cotangent, source, &mut back, None);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        assert!((dot(&out, &cotangent) - dot(&x, &back)).abs() < 1e-5);
    }
}
