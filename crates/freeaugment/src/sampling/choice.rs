//! The choices of a Gumbel-Sinkhorn sample without the sample: a way that is several times shorter, and knows when it is
//! not certain.
//!
//! The largest entry of each column is all that a chain needs. It is found here by scaling exp(matrix) in double precision,
//! which takes one exponential per entry and not one per entry and half iteration. The sample itself is made of single
//! floats and differs a little; so a choice counts only if its lead is larger than all that rounding can have done there.
//!
//! How much that is: let u = 2⁻²⁴, T the halves of iterations, entries of the matrix up to B and within D of each other in
//! every column. From the first columns on, all iterates then lie within X = 2D + 6 of zero. A half of an iteration
//! subtracts from every line the logarithm of its sum of exponentials, which is off by u·(2X + 35) at the most, and then
//! every entry is off by u·(X + 3) more; in the first half, of the matrix itself, by u·(2B + 3). How rows and columns are
//! scaled depends on either at most one to one, and on all of them that came before. So after T halves an entry has
//! moved by u·(T·(T/2 + 1)·(X + 3) + T·(2X + 35) + (T + 1)·(4B + 35)); the exponential here, of single precision
//! too, adds u·T·(2B + 40). An entry and its rival may have moved in opposite ways. Half as much again is asked for.

use super::Sinkhorn;
use super::square::{SIDE, Square};
use crate::math::exp;

/// Differences within a row beyond this are not computed here.
const MOST: f32 = 400.0;

/// Exponentials in the upper left of a square.
type Weights = [[f64; SIDE]; SIDE];

impl Sinkhorn {
    /// Writes the transformation with the largest entry of a layer's column, for as many layers as are asked for, as
    /// [`assign_column_maximum`](super::assign_column_maximum) chooses from [`Self::sample_one`], if that is certain; says
    /// whether it is.
    pub(crate) fn choose(&self, logits: &[f32], noise: &[f32], chosen: &mut [u8]) -> bool {
        let n = self.transformations;
        if n > SIDE {
            return false;
        }
        let matrix = self.square(logits, noise);
        let lead = self.lead(&matrix);
        let (mut weights, mut scale) = ([[0.0; SIDE]; SIDE], [1.0; SIDE]);
        let is_near = lead < 0.5 && exponentials(&matrix, n, &mut weights);
        if !is_near {
            return false;
        }
        scale_rows(&weights, n, self.iterations, &mut scale);
        // Nor is anything certain where numbers were too large or not numbers.
        if !scale[..n].iter().all(|scale| scale.is_normal()) {
            return false;
        }
        chosen.iter_mut().enumerate().all(|(layer, chosen)| {
            let (mut best, mut first, mut second) = (0, 0.0, 0.0);
            for (i, (weights, scale)) in weights.iter().zip(&scale).enumerate().take(n) {
                let value = weights[layer] * scale;
                if value > first {
                    (best, first, second) = (i, value, first);
                } else if value > second {
                    second = value;
                }
            }
            *chosen = best as u8;
            second < first * (1.0 - lead)
        })
    }

    /// How far, in the logarithm, an entry must lead to be the largest in single precision too.
    fn lead(&self, matrix: &Square) -> f64 {
        let (largest, range) = extent(matrix, self.transformations);
        let (largest, iterates) = (f64::from(largest), 2.0 * f64::from(range) + 6.0);
        let halves = 2.0 * self.iterations as f64;
        let later = halves * (halves / 2.0 + 1.0) * (iterates + 3.0) + halves * (2.0 * iterates + 35.0);
        let first = (halves + 1.0) * (4.0 * largest + 35.0) + halves * (2.0 * largest + 40.0);
        1.5 * 2.0 * (later + first) / 16_777_216.0
    }
}

freeaugment_base::versions! {
    /// The largest size of an entry, and the largest difference between two of a column.
    fn extent(matrix: &Square, n: usize) -> (f32, f32) {
        let (mut low, mut high) = (matrix[0], matrix[0]);
        for row in &matrix[1..n] {
            for ((low, high), &value) in low.iter_mut().zip(&mut high).zip(row) {
                *low = if value < *low { value } else { *low };
                *high = if value > *high { value } else { *high };
            }
        }
        let (mut largest, mut range) = (0.0_f32, 0.0_f32);
        for (low, high) in low.into_iter().zip(high).take(n) {
            largest = largest.max(high).max(-low);
            range = range.max(high - low);
        }
        (largest, range)
    }

    /// The exponentials of a matrix, of the largest entry of each row one; false where they differ too much.
    fn exponentials(matrix: &Square, n: usize, weights: &mut Weights) -> bool {
        let mut is_near = true;
        for (row, weights) in matrix[..n].iter().zip(weights) {
            let high = row[..n].iter().fold(f32::NEG_INFINITY, |high, &value| high.max(value));
            is_near &= row[..n].iter().all(|&value| high - value < MOST);
            // Single precision has no numbers as small as these: the eighth root has room.
            let mut roots = [0.0; SIDE];
            for (root, &value) in roots.iter_mut().zip(row) {
                *root = exp((value - high) / 8.0);
            }
            for (weight, root) in weights.iter_mut().zip(roots) {
                let square = f64::from(root) * f64::from(root);
                *weight = (square * square) * (square * square);
            }
        }
        is_near
    }

    /// By what rows are multiplied when rows and columns have been normalised in turn; of the last, the rows.
    fn scale_rows(weights: &Weights, n: usize, iterations: usize, rows: &mut [f64; SIDE]) {
        let mut transposed = [[0.0; SIDE]; SIDE];
        for (i, weights) in weights.iter().enumerate() {
            for (transposed, &weight) in transposed.iter_mut().zip(weights) {
                transposed[i] = weight;
            }
        }
        let mut columns = [1.0; SIDE];
        for _ in 0..iterations {
            *rows = inverse_sums(&transposed, n, &columns);
            columns = inverse_sums(weights, n, rows);
        }
    }
}

/// One divided by the sum of the first n rows, each times its factor.
#[inline(always)]
fn inverse_sums(weights: &Weights, n: usize, factors: &[f64; SIDE]) -> [f64; SIDE] {
    let mut sums = [0.0; SIDE];
    for (weights, factor) in weights[..n].iter().zip(factors) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += weight * factor;
        }
    }
    sums.map(|sum| 1.0 / sum)
}

#[cfg(test)]
mod tests {
    use super::super::{Tape, assign_column_maximum};
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn what_is_certain_is_what_the_sample_says_and_most_is_certain() {
        let mut certain = [0; 4];
        for trial in 0..4000 {
            let mut stream = Stream::new(trial, Purpose::named("choice"), 0, 0);
            let temperature = [0.1, 0.1, 1.0, 0.03][trial as usize % 4];
            let (transformations, layers) = if trial % 3 == 0 { (9, 4) } else { (14, 7) };
            let sinkhorn = Sinkhorn { transformations, layers, iterations: 20, pad: -10.0, temperature };
            let (mut logits, mut noise) =
                (vec![0.0; transformations * layers], vec![0.0; transformations * transformations]);
            stream.normal(&mut logits);
            stream.gumbel(&mut noise);
            let (mut chosen, mut expected) = (vec![0; layers], vec![0; layers]);
            let mut log_soft = logits.clone();
            sinkhorn.sample_one(&logits, &noise, &mut log_soft, &mut Tape::default());
            assign_column_maximum(&log_soft, &mut expected);
            if sinkhorn.choose(&logits, &noise, &mut chosen) {
                certain[trial as usize % 4] += 1;
                assert_eq!(chosen, expected, "{trial}");
            }
        }
        // At the lowest temperature, entries differ too much.
        assert!(certain[0] > 800 && certain[1] > 800 && certain[2] > 900, "{certain:?} of 1000 each");
    }

    #[test]
    fn a_tie_is_not_certain() {
        let sinkhorn =
            Sinkhorn { transformations: 3, layers: 2, iterations: 20, pad: -10.0, temperature: 0.1 };
        assert!(!sinkhorn.choose(&[0.0; 6], &[0.0; 9], &mut [0; 2]));
        let cold = Sinkhorn { temperature: 0.001, ..sinkhorn };
        assert!(!cold.choose(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[0.0; 9], &mut [0; 2]));
        let many = Sinkhorn { transformations: 17, ..sinkhorn };
        assert!(!many.choose(&[0.0; 34], &[0.0; 289], &mut [0; 2]));
    }
}
