//! Sinkhorn's iterations on one matrix. A line of the other direction is a lane, so that no sum runs across lanes and every
//! sum has the order that it has in a group of images; between the two directions the matrix is transposed.

use crate::math::{exp, ln};

/// The largest matrix.
pub(super) const SIDE: usize = 16;

/// A matrix in the upper left of a square, row after row.
pub(super) type Square = [[f32; SIDE]; SIDE];

pub(super) const ZERO: Square = [[0.0; SIDE]; SIDE];

freeaugment_base::versions! {
    /// Normalises the rows and then the columns of the first n of either, so many times.
    pub(super) fn iterate(matrix: &mut Square, n: usize, iterations: usize) {
        let mut other = ZERO;
        for _ in 0..iterations {
            transpose(matrix, &mut other);
            normalise(&mut other, n);
            transpose(&other, matrix);
            normalise(matrix, n);
        }
    }
}

/// All columns, of the first n rows, minus the logarithm of the sum of their exponentials.
#[inline(always)]
fn normalise(matrix: &mut Square, n: usize) {
    let rows = &mut matrix[..n];
    let mut high = rows[0];
    for row in &rows[1..] {
        for (high, &value) in high.iter_mut().zip(row) {
            *high = if *high > value { *high } else { value };
        }
    }
    let mut sum = [0.0; SIDE];
    for row in rows.iter() {
        for ((sum, &value), &high) in sum.iter_mut().zip(row).zip(&high) {
            *sum += exp(value - high);
        }
    }
    for (high, &sum) in high.iter_mut().zip(&sum) {
        *high += ln(sum);
    }
    for row in rows {
        for (value, &log_sum) in row.iter_mut().zip(&high) {
            *value -= log_sum;
        }
    }
}

#[inline(always)]
fn transpose(from: &Square, to: &mut Square) {
    for (i, to) in to.iter_mut().enumerate() {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Matrices, MatricesMut, Sinkhorn, Tape};
    use crate::random::{Purpose, Stream};

    #[test]
    fn one_image_has_the_bits_that_it_has_in_a_group() {
        for trial in 0..400 {
            let mut stream = Stream::new(trial, Purpose::named("square"), 0, 0);
            let transformations = 1 + stream.below(18) as usize;
            let layers = 1 + stream.below(transformations as u32) as usize;
            let iterations = 1 + stream.below(30) as usize;
            let temperature = [1.0, 0.5, 0.1, 0.01][stream.below(4) as usize];
            let sinkhorn = Sinkhorn { transformations, layers, iterations, pad: -10.0, temperature };
            let len = transformations * layers;
            let (mut logits, mut noise) = (vec![0.0; len], vec![0.0; transformations * transformations]);
            stream.normal(&mut logits);
            stream.gumbel(&mut noise);
            let (mut expected, mut found) = (vec![0.0; len], vec![1.0; len]);
            let mut tape = Tape::default();
            let matrices = Matrices { data: &noise, stride: 0 };
            let log_soft = &mut MatricesMut { data: &mut expected, stride: 0 };
            sinkhorn.sample(1, &logits, matrices, log_soft, &mut tape, false);
            sinkhorn.sample_one(&logits, &noise, &mut found, &mut tape);
            let bits = |values: &[f32]| -> Vec<u32> { values.iter().map(|value| value.to_bits()).collect() };
            assert_eq!(bits(&found), bits(&expected), "{sinkhorn:?}");
        }
    }
}
