//! Gumbel-Sinkhorn: which transformations, in which order. A relaxed permutation, made by normalising rows and columns
//! in turn, in log space.

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

/// Matrix rows are stored in whole vectors of this many values.
const VECTOR: usize = 8;
/// What stands in the values that fill up a row: nothing, in log space.
const NOTHING: f32 = -1e30;

impl Sinkhorn {
    /// Writes the logarithm of the relaxed sample `[N, K]`, given `logits` `[N, K]` and Gumbel `noise` `[N, N]`. What
    /// the pullback needs is left in `tape`.
    pub fn sample(&self, logits: &[f32], noise: &[f32], log_soft: &mut [f32], tape: &mut Vec<f32>) {
        let (n, k, stride) = (self.transformations, self.layers, self.stride());
        let (matrix, rest) = grown(tape, self.tape_len()).split_at_mut(n * stride);
        for (i, row) in matrix.chunks_exact_mut(stride).enumerate() {
            row.fill(NOTHING);
            for j in 0..n {
                let logit = if j < k { logits[i * k + j] } else { self.pad };
                row[j] = (logit + noise[i * n + j]) / self.temperature;
            }
        }
        let (sums, steps) = rest.split_at_mut(2 * stride);
        iterate(matrix, n, stride, sums, steps);
        for (row, log_soft) in matrix.chunks_exact(stride).zip(log_soft.chunks_exact_mut(k)) {
            log_soft.copy_from_slice(&row[..k]);
        }
    }

    /// Adds the gradient to the logits, given `soft` `[N, K]` (not its logarithm), its cotangent, and the tape that
    /// [`Sinkhorn::sample`] left.
    pub fn pullback(&self, soft: &[f32], cotangent: &[f32], tape: &mut [f32], grad_logits: &mut [f32]) {
        let (n, k, stride) = (self.transformations, self.layers, self.stride());
        let (matrix, rest) = tape[..self.tape_len()].split_at_mut(n * stride);
        let rows = matrix.chunks_exact_mut(stride);
        for (row, (soft, cotangent)) in rows.zip(soft.chunks_exact(k).zip(cotangent.chunks_exact(k))) {
            row.fill(0.0);
            for j in 0..k {
                row[j] = soft[j] * cotangent[j];
            }
        }
        let (sums, steps) = rest.split_at_mut(2 * stride);
        iterate_pullback(matrix, n, stride, sums, steps);
        for (row, grad) in matrix.chunks_exact(stride).zip(grad_logits.chunks_exact_mut(k)) {
            for (grad, value) in grad.iter_mut().zip(row) {
                *grad += value / self.temperature;
            }
        }
    }

    fn stride(&self) -> usize {
        self.transformations.next_multiple_of(VECTOR)
    }

    /// One matrix to work on, two rows of sums, and the normalised matrix after each half of an iteration.
    fn tape_len(&self) -> usize {
        let matrix = self.transformations * self.stride();
        matrix * (1 + 2 * self.iterations) + 2 * self.stride()
    }
}

crate::simd::versions! {
    /// Normalises rows and columns in turn. Each half of an iteration is x - logsumexp(x); its exponential, which is the
    /// softmax that the pullback needs, is kept in `steps`.
    fn iterate(matrix: &mut [f32], n: usize, stride: usize, sums: &mut [f32], steps: &mut [f32]) {
        let (sums, highest) = sums.split_at_mut(stride);
        for step in steps.chunks_exact_mut(2 * n * stride) {
            let (rows_step, columns_step) = step.split_at_mut(n * stride);
            sums.fill(1.0);
            for (i, (row, soft)) in matrix.chunks_exact(stride).zip(rows_step.chunks_exact_mut(stride)).enumerate() {
                highest[i] = row_fold(row, NOTHING, |a, b| if a > b { a } else { b });
                for (soft, &value) in soft.iter_mut().zip(row) {
                    *soft = exp(value - highest[i]);
                }
                sums[i] = row_fold(soft, 0.0, |a, b| a + b);
                let scale = 1.0 / sums[i];
                for soft in soft {
                    *soft *= scale;
                }
            }
            for (sum, highest) in sums.iter_mut().zip(highest.iter()) {
                *sum = highest + ln(*sum);
            }
            for (row, &log_sum) in matrix.chunks_exact_mut(stride).zip(sums.iter()) {
                for value in row {
                    *value -= log_sum;
                }
            }

            highest.fill(NOTHING);
            for row in matrix.chunks_exact(stride) {
                for (highest, &value) in highest.iter_mut().zip(row) {
                    *highest = if value > *highest { value } else { *highest };
                }
            }
            sums.fill(0.0);
            for (row, soft) in matrix.chunks_exact(stride).zip(columns_step.chunks_exact_mut(stride)) {
                for (((soft, sum), &value), &highest) in
                    soft.iter_mut().zip(sums.iter_mut()).zip(row).zip(highest.iter())
                {
                    *soft = exp(value - highest);
                    *sum += *soft;
                }
            }
            for (sum, highest) in sums.iter_mut().zip(highest.iter_mut()) {
                *highest += ln(*sum);
                *sum = 1.0 / *sum;
            }
            highest[n..].fill(0.0); // what fills up the rows stays nothing
            for (row, soft) in matrix.chunks_exact_mut(stride).zip(columns_step.chunks_exact_mut(stride)) {
                for (((value, soft), &log_sum), &scale) in
                    row.iter_mut().zip(soft).zip(highest.iter()).zip(sums.iter())
                {
                    *value -= log_sum;
                    *soft *= scale;
                }
            }
        }
    }

    /// Backwards through [`iterate`]: of x - logsumexp(x), g - softmax(x)·(sum of g).
    fn iterate_pullback(matrix: &mut [f32], n: usize, stride: usize, sums: &mut [f32], steps: &[f32]) {
        let sums = &mut sums[..stride];
        for step in steps.chunks_exact(2 * n * stride).rev() {
            let (rows_step, columns_step) = step.split_at(n * stride);
            sums.fill(0.0);
            for row in matrix.chunks_exact(stride) {
                for (sum, &g) in sums.iter_mut().zip(row) {
                    *sum += g;
                }
            }
            for (row, soft) in matrix.chunks_exact_mut(stride).zip(columns_step.chunks_exact(stride)) {
                for ((g, &soft), &sum) in row.iter_mut().zip(soft).zip(sums.iter()) {
                    *g -= soft * sum;
                }
            }
            for (row, soft) in matrix.chunks_exact_mut(stride).zip(rows_step.chunks_exact(stride)) {
                let sum = row_fold(row, 0.0, |a, b| a + b);
                for (g, &soft) in row.iter_mut().zip(soft) {
                    *g -= soft * sum;
                }
            }
        }
    }
}

/// Combines the values of a row, by lanes and then by halves.
#[inline(always)]
fn row_fold(row: &[f32], start: f32, f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [start; VECTOR];
    for chunk in row.as_chunks::<VECTOR>().0 {
        for l in 0..VECTOR {
            lanes[l] = f(lanes[l], chunk[l]);
        }
    }
    let mut half = VECTOR / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] = f(lanes[l], lanes[l + half]);
        }
        half /= 2;
    }
    lanes[0]
}
