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
        iterate(matrix, n, sums, steps);
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
        iterate_pullback(matrix, n, &rest[2 * stride..]);
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
    fn iterate(matrix: &mut [f32], n: usize, sums: &mut [f32], steps: &mut [f32]) {
        let (matrix, sums) = (matrix.as_chunks_mut::<VECTOR>().0, sums.as_chunks_mut::<VECTOR>().0);
        let wide = n.div_ceil(VECTOR);
        for step in steps.as_chunks_mut::<VECTOR>().0.chunks_exact_mut(2 * n * wide) {
            let (rows_step, columns_step) = step.split_at_mut(n * wide);
            normalise_rows(matrix, n, wide, sums, rows_step);
            for column in 0..wide {
                normalise_columns(matrix, n, wide, column, columns_step);
            }
        }
    }

    /// Backwards through [`iterate`]: of x - logsumexp(x), g - softmax(x)·(sum of g).
    fn iterate_pullback(matrix: &mut [f32], n: usize, steps: &[f32]) {
        let matrix = matrix.as_chunks_mut::<VECTOR>().0;
        let wide = n.div_ceil(VECTOR);
        for step in steps.as_chunks::<VECTOR>().0.chunks_exact(2 * n * wide).rev() {
            let (rows_step, columns_step) = step.split_at(n * wide);
            for column in 0..wide {
                let sum = (0..n).fold([0.0; VECTOR], |sum, i| zip(sum, matrix[i * wide + column], |a, b| a + b));
                for i in 0..n {
                    let at = i * wide + column;
                    let shared = zip(columns_step[at], sum, |soft, sum| soft * sum);
                    matrix[at] = zip(matrix[at], shared, |g, shared| g - shared);
                }
            }
            for (row, soft) in matrix.chunks_exact_mut(wide).zip(rows_step.chunks_exact(wide)) {
                let sum = fold(row, 0.0, |a, b| a + b);
                for (g, soft) in row.iter_mut().zip(soft) {
                    *g = zip(*g, *soft, |g, soft| g - soft * sum);
                }
            }
        }
    }
}

type Vector = [f32; VECTOR];

/// f on each lane. With whole vectors as values, everything stays in registers.
#[inline(always)]
fn zip(a: Vector, b: Vector, f: impl Fn(f32, f32) -> f32) -> Vector {
    let mut result = [0.0; VECTOR];
    for l in 0..VECTOR {
        result[l] = f(a[l], b[l]);
    }
    result
}

#[inline(always)]
fn each(a: Vector, f: impl Fn(f32) -> f32) -> Vector {
    zip(a, a, |a, _| f(a))
}

/// Combines all values of a row, by lanes and then by halves.
#[inline(always)]
fn fold(row: &[Vector], start: f32, f: impl Fn(f32, f32) -> f32) -> f32 {
    let v = row.iter().fold([start; VECTOR], |lanes, &vector| zip(lanes, vector, &f));
    let [a, b, c, d] = [f(v[0], v[4]), f(v[1], v[5]), f(v[2], v[6]), f(v[3], v[7])];
    f(f(a, c), f(b, d))
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Every row minus the logarithm of the sum of its exponentials.
#[inline(always)]
fn normalise_rows(matrix: &mut [Vector], n: usize, wide: usize, sums: &mut [Vector], soft: &mut [Vector]) {
    let (sums, highest) = sums.split_at_mut(wide);
    sums.fill([1.0; VECTOR]);
    for i in 0..n {
        let (row, soft) = (&matrix[i * wide..][..wide], &mut soft[i * wide..][..wide]);
        let high = fold(row, NOTHING, larger);
        for (soft, row) in soft.iter_mut().zip(row) {
            *soft = each(*row, |value| exp(value - high));
        }
        let sum = fold(soft, 0.0, |a, b| a + b);
        let scale = 1.0 / sum;
        for soft in soft {
            *soft = each(*soft, |value| value * scale);
        }
        highest[i / VECTOR][i % VECTOR] = high;
        sums[i / VECTOR][i % VECTOR] = sum;
    }
    // The logarithms of all rows at once.
    for (sum, high) in sums.iter_mut().zip(highest) {
        *sum = zip(*sum, *high, |sum, high| high + ln(sum));
    }
    for (i, row) in matrix.chunks_exact_mut(wide).enumerate() {
        let log_sum = sums[i / VECTOR][i % VECTOR];
        for values in row {
            *values = each(*values, |value| value - log_sum);
        }
    }
}

/// The same for the columns of one vector's width.
#[inline(always)]
fn normalise_columns(matrix: &mut [Vector], n: usize, wide: usize, column: usize, soft: &mut [Vector]) {
    let mut high = [NOTHING; VECTOR];
    for i in 0..n {
        high = zip(high, matrix[i * wide + column], larger);
    }
    let mut sum = [0.0; VECTOR];
    for i in 0..n {
        let exponential = zip(matrix[i * wide + column], high, |value, high| exp(value - high));
        soft[i * wide + column] = exponential;
        sum = zip(sum, exponential, |a, b| a + b);
    }
    let mut log_sum = zip(high, sum, |high, sum| high + ln(sum));
    for (l, log_sum) in log_sum.iter_mut().enumerate() {
        // What fills up the rows stays nothing.
        *log_sum = if column * VECTOR + l < n { *log_sum } else { 0.0 };
    }
    let scale = each(sum, |sum| 1.0 / sum);
    for i in 0..n {
        let at = i * wide + column;
        matrix[at] = zip(matrix[at], log_sum, |value, log_sum| value - log_sum);
        soft[at] = zip(soft[at], scale, |value, scale| value * scale);
    }
}
