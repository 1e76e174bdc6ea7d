//! Batch norm followed by an activation, as one operation: value, gradient, tangent, and the tangent of the gradient.
//!
//! With mean μ and inverse deviation r over batch and pixels, per channel: x̂ = (x - μ) r, z = γ x̂ + β, a = f(z).
//! Every pass reads its input once for its sums and once more to write; everything between is recomputed, because
//! memory is slower than arithmetic.

use std::ops::Range;

use rayon::prelude::*;

use super::activation::{Curve, with_curve};
use super::share::{Share, add_doubles};
use crate::pass::Activation;
use freeaugment_base::versions;

/// What batch norm subtracts and divides by, per channel.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    pub(crate) mean: Vec<f32>,
    /// The biased variance.
    pub(crate) variance: Vec<f32>,
    /// 1 / sqrt(variance + epsilon).
    pub(crate) inverse: Vec<f32>,
}

/// Added to the variance.
const EPSILON: f32 = 1e-5;

impl Moments {
    /// Of a batch, of which `x`, `[pixel, channel]`, is this process's share.
    pub(crate) fn of_batch(x: &[f32], channels: usize, share: &Share) -> Self {
        // Mean and squared deviations of every chunk, joined in order (Chan, Golub and LeVeque): one pass over memory
        // without the cancellation of E[x²] - E[x]².
        let pieces = in_chunks(x.len(), channels, share, |range| deviations(&x[range], channels));
        let pieces = pieces.into_iter().map(|chunks| {
            // Mean, squared deviations, and the number of pixels.
            let mut total = vec![0.0; 2 * channels + 1];
            for (range, (mean, square)) in chunks {
                let chunk: Vec<f64> = mean.iter().chain(&square).copied().map(f64::from).collect();
                join_deviations(&mut total, &chunk, (range.len() / channels) as f64);
            }
            total
        });
        let total =
            share.sum(pieces.collect(), |total, more| join_deviations(total, more, more[2 * channels]));
        let (mean, square, count) = (&total[..channels], &total[channels..2 * channels], total[2 * channels]);
        let variance = square.iter().map(|square| (square / count) as f32).collect();
        Self::new(mean.iter().map(|&mean| mean as f32).collect(), variance)
    }

    /// From a mean and a biased variance.
    pub(crate) fn new(mean: Vec<f32>, variance: Vec<f32>) -> Self {
        let inverse = variance.iter().map(|variance| 1.0 / (variance + EPSILON).sqrt()).collect();
        Self { mean, variance, inverse }
    }
}

/// Scale γ and shift β (or their tangents), per channel.
#[derive(Clone, Copy)]
pub(crate) struct Affine<'a> {
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
}

/// Numbers per chunk: fits the first caches, and is a whole number of pixels. Depends on the shape only, so that sums
/// do not depend on the number of threads.
fn chunk(channels: usize) -> usize {
    (16_384 / channels).max(1) * channels
}

/// Joins the mean and the squared deviations of `added` pixels to those of others.
fn join_deviations(total: &mut [f64], more: &[f64], added: f64) {
    let channels = total.len() / 2;
    let count = total[2 * channels];
    for c in 0..channels {
        let difference = more[c] - total[c];
        total[c] += difference * added / (count + added);
        total[channels + c] += more[channels + c] + difference * difference * count * added / (count + added);
    }
    total[2 * channels] = count + added;
}

/// Two sums per channel.
type Sums = (Vec<f32>, Vec<f32>);

/// What `work` finds in every chunk of every piece of the own images.
fn in_chunks(
    len: usize,
    channels: usize,
    share: &Share,
    work: impl Fn(Range<usize>) -> Sums + Sync,
) -> Vec<Vec<(Range<usize>, Sums)>> {
    let chunk = chunk(channels);
    let pieces: Vec<_> = share.pieces().collect();
    let image = len / pieces.last().map_or(1, |piece| piece.end);
    let cut = pieces.into_par_iter().map(|piece| {
        let (start, end) = (piece.start * image, piece.end * image);
        let chunks = (0..(end - start).div_ceil(chunk)).into_par_iter();
        chunks
            .map(|index| {
                let first = start + index * chunk;
                let range = first..end.min(first + chunk);
                (range.clone(), work(range))
            })
            .collect()
    });
    cut.collect()
}

/// Sums over all pixels of the batch of two quantities per channel, chunk by chunk, joined in order; divided by the pixels.
fn means(
    len: usize,
    channels: usize,
    share: &Share,
    sums: impl Fn(Range<usize>) -> Sums + Sync,
) -> [Vec<f32>; 2] {
    // Two sums per channel, and the number of pixels.
    let pieces = in_chunks(len, channels, share, sums).into_iter().map(|chunks| {
        let mut total = vec![0.0; 2 * channels + 1];
        for (range, (first, second)) in chunks {
            for (total, value) in total.iter_mut().zip(first.iter().chain(&second)) {
                *total += f64::from(*value);
            }
            total[2 * channels] += (range.len() / channels) as f64;
        }
        total
    });
    let total = share.sum(pieces.collect(), add_doubles);
    let mean = |sums: &[f64]| sums.iter().map(|sum| (sum / total[2 * channels]) as f32).collect();
    [mean(&total[..channels]), mean(&total[channels..2 * channels])]
}

/// a = f(γ x̂ + β).
pub(crate) fn forward(
    x: &[f32],
    moments: &Moments,
    affine: Affine,
    activation: Option<Activation>,
    out: &mut [f32],
) {
    let channels = affine.scale.len();
    let chunk = chunk(channels);
    let scale: Vec<_> =
        affine.scale.iter().zip(&moments.inverse).map(|(scale, inverse)| scale * inverse).collect();
    let shift: Vec<_> = (0..channels).map(|c| affine.shift[c] - scale[c] * moments.mean[c]).collect();
    out.par_chunks_mut(chunk).zip(x.par_chunks(chunk)).for_each(|(out, x)| {
        with_curve!(activation, scale_and_activate(x, &scale, &shift, out));
    });
}

/// What the backward pass leaves: the means of z's cotangent and of its product with x̂, per channel. Times the number
/// of pixels they are the gradients to β and γ.
#[derive(Clone, Debug)]
pub(crate) struct Cotangent {
    pub(crate) mean: Vec<f32>,
    pub(crate) mean_product: Vec<f32>,
}

/// The cotangent of x from that of a, plus `addend`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn backward(
    share: &Share,
    x: &[f32],
    moments: &Moments,
    affine: Affine,
    activation: Option<Activation>,
    cotangent: &[f32],
    out: &mut [f32],
    addend: Option<&[f32]>,
) -> Cotangent {
    let channels = affine.scale.len();
    let chunk = chunk(channels);
    let [mean, mean_product] = means(x.len(), channels, share, |range| {
        with_curve!(activation, backward_sums(&x[range.clone()], &cotangent[range], moments, affine))
    });
    let left = Cotangent { mean, mean_product };
    out.par_chunks_mut(chunk).enumerate().for_each(|(index, out)| {
        let range = index * chunk..index * chunk + out.len();
        let (x, cotangent) = (&x[range.clone()], &cotangent[range.clone()]);
        let addend = addend.map(|addend| &addend[range]);
        with_curve!(activation, backward_write(x, cotangent, moments, affine, &left, addend, out));
    });
    left
}

/// What the tangent pass leaves: the means of ẋ and of ẋ x̂, per channel.
#[derive(Clone, Debug)]
pub(crate) struct Tangent {
    pub(crate) mean: Vec<f32>,
    pub(crate) mean_product: Vec<f32>,
}

/// The tangent of a from that of x and those of γ and β, through mean and variance too.
#[allow(clippy::too_many_arguments)]
pub(crate) fn tangent(
    share: &Share,
    x: &[f32],
    moments: &Moments,
    affine: Affine,
    activation: Option<Activation>,
    x_tangent: &[f32],
    affine_tangent: Affine,
    out: &mut [f32],
) -> Tangent {
    let channels = affine.scale.len();
    let chunk = chunk(channels);
    let [mean, mean_product] =
        means(x.len(), channels, share, |range| tangent_sums(&x[range.clone()], &x_tangent[range], moments));
    let left = Tangent { mean, mean_product };
    out.par_chunks_mut(chunk).enumerate().for_each(|(index, out)| {
        let range = index * chunk..index * chunk + out.len();
        let (x, x_tangent) = (&x[range.clone()], &x_tangent[range]);
        with_curve!(activation, tangent_write(x, x_tangent, moments, affine, affine_tangent, &left, out));
    });
    left
}

/// Everything that one channel's pixels need in [`backward_tangent`].
struct Second<'a> {
    moments: &'a Moments,
    affine: Affine<'a>,
    affine_tangent: Affine<'a>,
    cotangent: &'a Cotangent,
    tangent: &'a Tangent,
}

/// The tangent of [`backward`]: how the cotangent of x moves when the weights move along their tangent.
///
/// `cotangent` is that of a, `cotangent_tangent` how it moves. Returned is how the means of [`Cotangent`] move.
#[allow(clippy::too_many_arguments)]
pub(crate) fn backward_tangent(
    share: &Share,
    x: &[f32],
    x_tangent: &[f32],
    (moments, affine, affine_tangent): (&Moments, Affine, Affine),
    activation: Option<Activation>,
    (cotangent, left): (&[f32], &Cotangent),
    (cotangent_tangent, tangent): (&[f32], &Tangent),
    out: &mut [f32],
    addend: Option<&[f32]>,
) -> [Vec<f32>; 2] {
    let channels = affine.scale.len();
    let chunk = chunk(channels);
    let second = Second { moments, affine, affine_tangent, cotangent: left, tangent };
    let arrays = |range: Range<usize>| {
        [&x[range.clone()], &x_tangent[range.clone()], &cotangent[range.clone()], &cotangent_tangent[range]]
    };
    let sums = means(x.len(), channels, share, |range| {
        with_curve!(activation, backward_tangent_sums(arrays(range), &second))
    });
    out.par_chunks_mut(chunk).enumerate().for_each(|(index, out)| {
        let range = index * chunk..index * chunk + out.len();
        let addend = addend.map(|addend| &addend[range.clone()]);
        with_curve!(activation, backward_tangent_write(arrays(range), &second, &sums, addend, out));
    });
    sums
}

versions! {
    /// The mean of every channel, and the sum of squared deviations from it.
    fn deviations(x: &[f32], channels: usize) -> (Vec<f32>, Vec<f32>) {
        let mut mean = vec![0.0_f32; channels];
        for pixel in x.chunks_exact(channels) {
            for (sum, x) in mean.iter_mut().zip(pixel) {
                *sum += x;
            }
        }
        let share = channels as f32 / x.len() as f32;
        for mean in &mut mean {
            *mean *= share;
        }
        let mut square = vec![0.0_f32; channels];
        for pixel in x.chunks_exact(channels) {
            for ((square, mean), x) in square.iter_mut().zip(&mean).zip(pixel) {
                *square += (x - mean) * (x - mean);
            }
        }
        (mean, square)
    }

    fn scale_and_activate<type C: Curve>(x: &[f32], scale: &[f32], shift: &[f32], out: &mut [f32]) {
        let channels = scale.len();
        let shift = &shift[..channels];
        for (x, out) in x.chunks_exact(channels).zip(out.chunks_exact_mut(channels)) {
            for c in 0..channels {
                out[c] = C::value(x[c] * scale[c] + shift[c]);
            }
        }
    }

    fn backward_sums<type C: Curve>(x: &[f32], cotangent: &[f32], moments: &Moments, affine: Affine) -> (Vec<f32>, Vec<f32>) {
        let channels = affine.scale.len();
        let (scale, shift) = (affine.scale, &affine.shift[..channels]);
        let (mean, inverse) = (&moments.mean[..channels], &moments.inverse[..channels]);
        let (mut sum, mut product) = (vec![0.0_f32; channels], vec![0.0_f32; channels]);
        let (sum_slots, product_slots) = (&mut sum[..channels], &mut product[..channels]);
        for (x, cotangent) in x.chunks_exact(channels).zip(cotangent.chunks_exact(channels)) {
            for c in 0..channels {
                let normal = (x[c] - mean[c]) * inverse[c];
                let z = cotangent[c] * C::slope(normal * scale[c] + shift[c]);
                sum_slots[c] += z;
                product_slots[c] += z * normal;
            }
        }
        (sum, product)
    }

    fn backward_write<type C: Curve>(
        x: &[f32], cotangent: &[f32], moments: &Moments, affine: Affine, left: &Cotangent, addend: Option<&[f32]>, out: &mut [f32],
    ) {
        let channels = affine.scale.len();
        let (scale, shift) = (affine.scale, &affine.shift[..channels]);
        let (mean, inverse) = (&moments.mean[..channels], &moments.inverse[..channels]);
        let (first, second) = (&left.mean[..channels], &left.mean_product[..channels]);
        for (index, (x, cotangent)) in x.chunks_exact(channels).zip(cotangent.chunks_exact(channels)).enumerate() {
            let out = &mut out[index * channels..][..channels];
            for c in 0..channels {
                let normal = (x[c] - mean[c]) * inverse[c];
                let z = cotangent[c] * C::slope(normal * scale[c] + shift[c]);
                out[c] = scale[c] * inverse[c] * (z - first[c] - normal * second[c]);
            }
            if let Some(addend) = addend {
                for (out, addend) in out.iter_mut().zip(&addend[index * channels..][..channels]) {
                    *out += addend;
                }
            }
        }
    }

    fn tangent_sums(x: &[f32], x_tangent: &[f32], moments: &Moments) -> (Vec<f32>, Vec<f32>) {
        let channels = moments.mean.len();
        let (mean, inverse) = (&moments.mean[..channels], &moments.inverse[..channels]);
        let (mut sum, mut product) = (vec![0.0_f32; channels], vec![0.0_f32; channels]);
        let (sum_slots, product_slots) = (&mut sum[..channels], &mut product[..channels]);
        for (x, x_tangent) in x.chunks_exact(channels).zip(x_tangent.chunks_exact(channels)) {
            for c in 0..channels {
                sum_slots[c] += x_tangent[c];
                product_slots[c] += x_tangent[c] * ((x[c] - mean[c]) * inverse[c]);
            }
        }
        (sum, product)
    }

    fn tangent_write<type C: Curve>(
        x: &[f32], x_tangent: &[f32], moments: &Moments, affine: Affine, affine_tangent: Affine, left: &Tangent, out: &mut [f32],
    ) {
        let channels = affine.scale.len();
        let (scale, shift) = (affine.scale, &affine.shift[..channels]);
        let (scale_tangent, shift_tangent) = (&affine_tangent.scale[..channels], &affine_tangent.shift[..channels]);
        let (mean, inverse) = (&moments.mean[..channels], &moments.inverse[..channels]);
        let (first, second) = (&left.mean[..channels], &left.mean_product[..channels]);
        for ((x, x_tangent), out) in
            x.chunks_exact(channels).zip(x_tangent.chunks_exact(channels)).zip(out.chunks_exact_mut(channels))
        {
            for c in 0..channels {
                let normal = (x[c] - mean[c]) * inverse[c];
                let normal_tangent = inverse[c] * (x_tangent[c] - first[c] - normal * second[c]);
                let z_tangent = scale_tangent[c] * normal + scale[c] * normal_tangent + shift_tangent[c];
                out[c] = z_tangent * C::slope(normal * scale[c] + shift[c]);
            }
        }
    }

    fn backward_tangent_sums<type C: Curve>(arrays: [&[f32]; 4], second: &Second) -> (Vec<f32>, Vec<f32>) {
        let channels = second.affine.scale.len();
        let [x, x_tangent, cotangent, cotangent_tangent] = arrays;
        let (mut sum, mut product) = (vec![0.0_f32; channels], vec![0.0_f32; channels]);
        let (sum_slots, product_slots) = (&mut sum[..channels], &mut product[..channels]);
        let cut = second.cut(channels);
        for ((x, x_tangent), (cotangent, cotangent_tangent)) in x
            .chunks_exact(channels)
            .zip(x_tangent.chunks_exact(channels))
            .zip(cotangent.chunks_exact(channels).zip(cotangent_tangent.chunks_exact(channels)))
        {
            for c in 0..channels {
                let point = cut.point::<C>(c, x[c], x_tangent[c], cotangent[c], cotangent_tangent[c]);
                sum_slots[c] += point.z_second;
                product_slots[c] += point.z_second * point.normal + point.z_cotangent * point.normal_tangent;
            }
        }
        (sum, product)
    }

    fn backward_tangent_write<type C: Curve>(
        arrays: [&[f32]; 4], second: &Second, sums: &[Vec<f32>; 2], addend: Option<&[f32]>, out: &mut [f32],
    ) {
        let channels = second.affine.scale.len();
        let [x, x_tangent, cotangent, cotangent_tangent] = arrays;
        let cut = second.cut(channels);
        let (mean, mean_product) = (&second.cotangent.mean[..channels], &second.cotangent.mean_product[..channels]);
        let (moved, moved_product) = (&sums[0][..channels], &sums[1][..channels]);
        for (index, ((x, x_tangent), (cotangent, cotangent_tangent))) in x
            .chunks_exact(channels)
            .zip(x_tangent.chunks_exact(channels))
            .zip(cotangent.chunks_exact(channels).zip(cotangent_tangent.chunks_exact(channels)))
            .enumerate()
        {
            let out = &mut out[index * channels..][..channels];
            for c in 0..channels {
                let point = cut.point::<C>(c, x[c], x_tangent[c], cotangent[c], cotangent_tangent[c]);
                // x̄ = γ r (z̄ - mean z̄ - x̂ mean(z̄ x̂)); the tangent of the factor, then that of the bracket.
                let factor_tangent = cut.inverse[c] * (cut.scale_tangent[c] - cut.inverse[c] * cut.second[c] * cut.scale[c]);
                let bracket = point.z_cotangent - mean[c] - point.normal * mean_product[c];
                let bracket_tangent =
                    point.z_second - moved[c] - point.normal_tangent * mean_product[c] - point.normal * moved_product[c];
                out[c] = factor_tangent * bracket + cut.inverse[c] * cut.scale[c] * bracket_tangent;
            }
            if let Some(addend) = addend {
                for (out, addend) in out.iter_mut().zip(&addend[index * channels..][..channels]) {
                    *out += addend;
                }
            }
        }
    }
}

/// [`Second`]'s arrays, all of the same length, so that loops over channels need no checks.
struct Cut<'a> {
    mean: &'a [f32],
    inverse: &'a [f32],
    scale: &'a [f32],
    shift: &'a [f32],
    scale_tangent: &'a [f32],
    shift_tangent: &'a [f32],
    first: &'a [f32],
    second: &'a [f32],
}

/// The quantities of one number that both loops of [`backward_tangent`] need.
struct Point {
    normal: f32,
    normal_tangent: f32,
    z_cotangent: f32,
    z_second: f32,
}

impl Second<'_> {
    #[inline(always)]
    fn cut(&self, channels: usize) -> Cut<'_> {
        Cut {
            mean: &self.moments.mean[..channels],
            inverse: &self.moments.inverse[..channels],
            scale: &self.affine.scale[..channels],
            shift: &self.affine.shift[..channels],
            scale_tangent: &self.affine_tangent.scale[..channels],
            shift_tangent: &self.affine_tangent.shift[..channels],
            first: &self.tangent.mean[..channels],
            second: &self.tangent.mean_product[..channels],
        }
    }
}

impl Cut<'_> {
    #[inline(always)]
    fn point<C: Curve>(
        &self,
        c: usize,
        x: f32,
        x_tangent: f32,
        cotangent: f32,
        cotangent_tangent: f32,
    ) -> Point {
        let normal = (x - self.mean[c]) * self.inverse[c];
        let normal_tangent = self.inverse[c] * (x_tangent - self.first[c] - normal * self.second[c]);
        let z = normal * self.scale[c] + self.shift[c];
        let z_tangent =
            self.scale_tangent[c] * normal + self.scale[c] * normal_tangent + self.shift_tangent[c];
        let slope = C::slope(z);
        Point {
            normal,
            normal_tangent,
            z_cotangent: cotangent * slope,
            z_second: cotangent_tangent * slope + cotangent * C::bend(z) * z_tangent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::activation::{Identity, Relu, Softplus};
    use super::super::testing::{assert_close, noise};
    use super::*;

    const PIXELS: usize = 37;
    const CHANNELS: usize = 5;

    /// The definition, in double precision: Σ cotangent · f(γ (x - μ) / sqrt(σ² + ε) + β).
    fn plain(x: &[f64], scale: &[f64], shift: &[f64], curve: fn(f64) -> f64, cotangent: &[f64]) -> f64 {
        let mut total = 0.0;
        for c in 0..CHANNELS {
            let channel = || x.iter().skip(c).step_by(CHANNELS);
            let mean = channel().sum::<f64>() / PIXELS as f64;
            let variance = channel().map(|x| (x - mean).powi(2)).sum::<f64>() / PIXELS as f64;
            for (p, x) in channel().enumerate() {
                let z = scale[c] * (x - mean) / (variance + 1e-5).sqrt() + shift[c];
                total += cotangent[p * CHANNELS + c] * curve(z);
            }
        }
        total
    }

    /// Everything that moves: x, γ, β and the cotangent, and how.
    struct Case {
        at: [Vec<f32>; 4],
        along: [Vec<f32>; 4],
    }

    impl Case {
        fn new() -> Self {
            let sizes = [PIXELS * CHANNELS, CHANNELS, CHANNELS, PIXELS * CHANNELS];
            let mut at: [Vec<f32>; 4] = std::array::from_fn(|i| noise(i as u64, sizes[i]));
            at[0].iter_mut().for_each(|x| *x = 3.0 * *x + 2.0);
            Self { at, along: std::array::from_fn(|i| noise(10 + i as u64, sizes[i])) }
        }

        /// The point moved along the direction by `step`.
        fn moved(&self, step: f64) -> [Vec<f64>; 4] {
            std::array::from_fn(|i| {
                let numbers = self.at[i].iter().zip(&self.along[i]);
                numbers.map(|(at, along)| f64::from(*at) + step * f64::from(*along)).collect()
            })
        }

        /// The gradient to x of the plain definition, by central differences.
        fn gradient(&self, step: f64, curve: fn(f64) -> f64) -> Vec<f64> {
            const H: f64 = 1e-5;
            let [mut x, scale, shift, cotangent] = self.moved(step);
            let numbers = 0..x.len();
            numbers
                .map(|i| {
                    let start = x[i];
                    let [ahead, behind] = [H, -H].map(|h| {
                        x[i] = start + h;
                        plain(&x, &scale, &shift, curve, &cotangent)
                    });
                    x[i] = start;
                    (ahead - behind) / (2.0 * H)
                })
                .collect()
        }
    }

    fn softplus(z: f64) -> f64 {
        z.exp().ln_1p()
    }

    /// Value, gradient, tangent and the gradient's tangent, all from the plain definition alone.
    fn check(activation: Option<Activation>, curve: fn(f64) -> f64) {
        let case = Case::new();
        let [x, scale, shift, cotangent] = &case.at;
        let [x_tangent, scale_tangent, shift_tangent, cotangent_tangent] = &case.along;
        let affine = Affine { scale, shift };
        let affine_tangent = Affine { scale: scale_tangent, shift: shift_tangent };
        let share = Share::alone(1);
        let moments = Moments::of_batch(x, CHANNELS, &share);
        let mut out = vec![f32::NAN; x.len()];

        let one = |values: &[Vec<f64>; 4], i: usize| {
            let mut pick = vec![0.0; values[0].len()];
            pick[i] = 1.0;
            plain(&values[0], &values[1], &values[2], curve, &pick)
        };
        forward(x, &moments, affine, activation, &mut out);
        let here = case.moved(0.0);
        let wanted: Vec<f64> = (0..x.len()).map(|i| one(&here, i)).collect();
        assert_close(&out, &wanted, 1e-5, "forward");

        let left = backward(&share, x, &moments, affine, activation, cotangent, &mut out, Some(x));
        let wanted: Vec<f64> =
            case.gradient(0.0, curve).iter().zip(x).map(|(g, x)| g + f64::from(*x)).collect();
        assert_close(&out, &wanted, 1e-5, "backward");

        let tangents = tangent(&share, x, &moments, affine, activation, x_tangent, affine_tangent, &mut out);
        let (ahead, behind) = (case.moved(1e-5), case.moved(-1e-5));
        let wanted: Vec<f64> = (0..x.len()).map(|i| (one(&ahead, i) - one(&behind, i)) / 2e-5).collect();
        assert_close(&out, &wanted, 1e-4, "tangent");

        let norms = (&moments, affine, affine_tangent);
        let (first, second) = ((&cotangent[..], &left), (&cotangent_tangent[..], &tangents));
        backward_tangent(&share, x, x_tangent, norms, activation, first, second, &mut out, None);
        let (ahead, behind) = (case.gradient(1e-3, curve), case.gradient(-1e-3, curve));
        let wanted: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / 2e-3).collect();
        assert_close(&out, &wanted, 1e-4, "backward tangent");
    }

    #[test]
    fn all_four_passes_follow_from_the_definition() {
        check(None, |z| z);
        check(Some(Activation::Softplus), softplus);
    }

    #[test]
    fn a_rectifier_takes_the_slope_of_its_side() {
        // Not differentiable at 0, so the passes are compared with the linear pieces on both sides of it.
        for z in [-1.5_f32, -0.1, 0.1, 2.0] {
            let on = f32::from(u8::from(z > 0.0));
            assert_eq!((Relu::value(z), Relu::slope(z), Relu::bend(z)), (z * on, on, 0.0));
            assert_eq!((Identity::value(z), Identity::slope(z)), (z, 1.0));
            assert!(Softplus::value(z) > Relu::value(z));
        }
    }

    #[test]
    fn moments_survive_a_large_mean() {
        let x: Vec<f32> = noise(1, 40_000).iter().map(|x| 1000.0 + x).collect();
        let moments = Moments::of_batch(&x, 2, &Share::alone(1));
        for c in 0..2 {
            assert!((moments.mean[c] - 1000.0).abs() < 0.05 && (moments.variance[c] - 1.0).abs() < 0.03);
        }
    }
}
