//! Gumbel-Sinkhorn: which transformations, in which order. A relaxed permutation, made by normalising rows and columns
//! in turn, in log space.
//!
//! Images are worked on in groups, one per lane of a vector: rows and columns are then normalised by the same code, and
//! no sum ever runs across lanes.

use super::square::{self, Square};
use crate::math::{exp, ln};
use crate::work::grown;

/// The logit of the columns that pad `[N, K]` to `[N, N]`, before noise and temperature.
pub const PAD: f32 = -10.0;

/// The sampler of types and order: N transformations, K layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sinkhorn {
    /// N.
    pub transformations: usize,
    /// K, at most N.
    pub layers: usize,
    /// L: how often rows and then columns are normalised.
    pub iterations: usize,
    /// Logit of the padding columns, [`PAD`] unless an experiment says otherwise.
    pub pad: f32,
    /// The temperature t.
    pub temperature: f32,
}

/// One matrix per image, in memory that may hold other things between them.
#[derive(Clone, Copy, Debug)]
pub struct Matrices<'a> {
    /// The first matrix starts here.
    pub data: &'a [f32],
    /// From the start of one matrix to the start of the next; zero where all images share one.
    pub stride: usize,
}

/// The same, to write into.
#[derive(Debug)]
pub struct MatricesMut<'a> {
    /// The first matrix starts here.
    pub data: &'a mut [f32],
    /// From the start of one matrix to the start of the next.
    pub stride: usize,
}

/// What [`Sinkhorn::sample`] leaves for [`Sinkhorn::pullback`].
#[derive(Clone, Debug, Default)]
pub struct Tape {
    matrix: Vec<Lanes>,
    /// The softmax of every half of an iteration.
    steps: Vec<Lanes>,
}

/// One value for each image of a group.
type Lanes = [f32; Sinkhorn::GROUP];

impl Sinkhorn {
    /// How many images one call can take.
    pub const GROUP: usize = 8;

    /// Writes the logarithm of the relaxed sample `[N, K]` of up to [`Self::GROUP`] images, given `logits` `[N, K]` and
    /// Gumbel `noise` `[N, N]`. The tape is filled only if it is to be kept for a pullback.
    pub fn sample(
        &self,
        images: usize,
        logits: &[f32],
        noise: Matrices<'_>,
        log_soft: &mut MatricesMut<'_>,
        tape: &mut Tape,
        keep: bool,
    ) {
        let (n, k) = (self.transformations, self.layers);
        let matrix = grown(&mut tape.matrix, n * n);
        for (at, lanes) in matrix.iter_mut().enumerate() {
            let (i, j) = (at / n, at % n);
            let logit = if j < k { logits[i * k + j] } else { self.pad };
            for (b, lane) in lanes.iter_mut().enumerate() {
                let noise = if b < images { noise.data[b * noise.stride + at] } else { 0.0 };
                *lane = (logit + noise) / self.temperature;
            }
        }
        let kept = if keep { 2 * self.iterations * n * n } else { 0 };
        iterate(matrix, n, self.iterations, grown(&mut tape.steps, kept));
        for b in 0..images {
            for (row, log_soft) in
                matrix.chunks_exact(n).zip(log_soft.data[b * log_soft.stride..].chunks_exact_mut(k))
            {
                for (log_soft, lanes) in log_soft.iter_mut().zip(row) {
                    *log_soft = lanes[b];
                }
            }
        }
    }

    /// The same for a single image, bit for bit. Its time is a few times shorter: the lanes of vectors are rows or columns
    /// instead of images.
    pub fn sample_one(&self, logits: &[f32], noise: &[f32], log_soft: &mut [f32], tape: &mut Tape) {
        let (n, k) = (self.transformations, self.layers);
        if n > square::SIDE {
            let log_soft = &mut MatricesMut { data: log_soft, stride: 0 };
            return self.sample(1, logits, Matrices { data: noise, stride: 0 }, log_soft, tape, false);
        }
        let mut matrix = self.square(logits, noise);
        square::iterate(&mut matrix, n, self.iterations);
        for (row, log_soft) in matrix.iter().zip(log_soft.chunks_exact_mut(k).take(n)) {
            log_soft.copy_from_slice(&row[..k]);
        }
    }

    /// What [`Self::sample_one`] starts from. There must be room for it.
    pub(super) fn square(&self, logits: &[f32], noise: &[f32]) -> Square {
        let (n, k) = (self.transformations, self.layers);
        let mut matrix = square::ZERO;
        for (i, row) in matrix.iter_mut().enumerate().take(n) {
            for (j, value) in row.iter_mut().enumerate().take(n) {
                let logit = if j < k { logits[i * k + j] } else { self.pad };
                *value = (logit + noise[i * n + j]) / self.temperature;
            }
        }
        matrix
    }

    /// Adds the gradient to the logits, for each image on its own, given `soft` `[N, K]` (not its logarithm), its
    /// cotangent, and the tape that [`Sinkhorn::sample`] kept.
    pub fn pullback(
        &self,
        images: usize,
        soft: Matrices<'_>,
        cotangent: Matrices<'_>,
        tape: &mut Tape,
        grad_logits: &mut MatricesMut<'_>,
    ) {
        let (n, k) = (self.transformations, self.layers);
        let matrix = &mut tape.matrix[..n * n];
        for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
            row.fill([0.0; Self::GROUP]);
            for (j, lanes) in row[..k].iter_mut().enumerate() {
                for (b, lane) in lanes.iter_mut().enumerate().take(images) {
                    let at = i * k + j;
                    *lane = soft.data[b * soft.stride + at] * cotangent.data[b * cotangent.stride + at];
                }
            }
        }
        iterate_pullback(matrix, n, &tape.steps[..2 * self.iterations * n * n]);
        for b in 0..images {
            let grad = grad_logits.data[b * grad_logits.stride..].chunks_exact_mut(k);
            for (row, grad) in matrix.chunks_exact(n).zip(grad) {
                for (grad, lanes) in grad.iter_mut().zip(row) {
                    *grad += lanes[b] / self.temperature;
                }
            }
        }
    }
}

freeaugment_base::versions! {
    /// Normalises rows and columns in turn. Each half of an iteration is x - logsumexp(x); its exponential, which is the
    /// softmax that the pullback needs, is kept in `steps` unless that is empty.
    fn iterate(matrix: &mut [Lanes], n: usize, iterations: usize, steps: &mut [Lanes]) {
        let mut steps = steps.chunks_exact_mut(n * n);
        for _ in 0..iterations {
            // Of row i, the entries i·n, i·n + 1, …; of column j, the entries j, j + n, …
            for (line, step) in [(n, 1), (1, n)] {
                let mut soft = steps.next();
                for l in 0..n {
                    normalise(matrix, n, l * line, step, &mut soft);
                }
            }
        }
    }

    /// Backwards through [`iterate`]: of x - logsumexp(x), g - softmax(x)·(sum of g).
    fn iterate_pullback(matrix: &mut [Lanes], n: usize, steps: &[Lanes]) {
        for (half, soft) in steps.chunks_exact(n * n).enumerate().rev() {
            let (line, step) = if half % 2 == 0 { (n, 1) } else { (1, n) };
            for l in 0..n {
                let places = || (0..n).map(|p| l * line + p * step);
                let mut sum = [0.0; Sinkhorn::GROUP];
                for at in places() {
                    sum = zip(sum, matrix[at], |sum, g| sum + g);
                }
                for at in places() {
                    let shared = zip(soft[at], sum, |soft, sum| soft * sum);
                    matrix[at] = zip(matrix[at], shared, |g, shared| g - shared);
                }
            }
        }
    }
}

/// One row or column minus the logarithm of the sum of its exponentials.
#[inline(always)]
fn normalise(matrix: &mut [Lanes], n: usize, start: usize, step: usize, soft: &mut Option<&mut [Lanes]>) {
    let mut high = matrix[start];
    for p in 1..n {
        high = zip(high, matrix[start + p * step], |a, b| if a > b { a } else { b });
    }
    let mut sum = [0.0; Sinkhorn::GROUP];
    for p in 0..n {
        let at = start + p * step;
        let exponential = zip(matrix[at], high, |value, high| exp(value - high));
        sum = zip(sum, exponential, |sum, value| sum + value);
        if let Some(soft) = soft {
            soft[at] = exponential;
        }
    }
    let log_sum = zip(high, sum, |high, sum| high + ln(sum));
    let scale = zip(sum, sum, |sum, _| 1.0 / sum);
    for p in 0..n {
        let at = start + p * step;
        matrix[at] = zip(matrix[at], log_sum, |value, log_sum| value - log_sum);
        if let Some(soft) = soft {
            soft[at] = zip(soft[at], scale, |value, scale| value * scale);
        }
    }
}

/// f on each lane.
#[inline(always)]
fn zip(a: Lanes, b: Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
    let mut result = [0.0; Sinkhorn::GROUP];
    for l in 0..Sinkhorn::GROUP {
        result[l] = f(a[l], b[l]);
    }
    result
}
