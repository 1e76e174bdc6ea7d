//! Gumbel-Softmax: the depth, and types that are drawn for each layer on their own.

use crate::math::{exp, ln};

/// The logarithm of a relaxed one-hot sample per column: log softmax((logits + noise) / temperature) over the rows of
/// `[rows, columns]`. The depth is one column of K+1 rows; independent types are K columns of N rows.
///
/// ```
/// use freeaugment::sampling::log_softmax;
///
/// let mut log_soft = [0.0; 2];
/// log_softmax(&[0.0, 0.0], &[1.0, 1.0], 1, 0.5, &mut log_soft);
/// assert!((log_soft[0] - 0.5_f32.ln()).abs() < 1e-6);
/// ```
pub fn log_softmax(logits: &[f32], noise: &[f32], columns: usize, temperature: f32, log_soft: &mut [f32]) {
    for ((value, &logit), &noise) in log_soft.iter_mut().zip(logits).zip(noise) {
        *value = (logit + noise) / temperature;
    }
    for column in 0..columns {
        let values = || log_soft.iter().skip(column).step_by(columns);
        let highest = values().fold(f32::NEG_INFINITY, |highest, &value| highest.max(value));
        let sum: f32 = values().map(|&value| exp(value - highest)).sum();
        let log_sum = highest + ln(sum);
        for value in log_soft.iter_mut().skip(column).step_by(columns) {
            *value -= log_sum;
        }
    }
}

/// Adds the gradient to the logits, given `soft` (not its logarithm) and its cotangent.
pub fn log_softmax_pullback(
    soft: &[f32],
    cotangent: &[f32],
    columns: usize,
    temperature: f32,
    grad_logits: &mut [f32],
) {
    for column in 0..columns {
        let every = |values: &[f32], row: usize| values[row * columns + column];
        let rows = soft.len() / columns;
        let mean: f32 = (0..rows).map(|row| every(soft, row) * every(cotangent, row)).sum();
        for row in 0..rows {
            let at = row * columns + column;
            grad_logits[at] += soft[at] * (cotangent[at] - mean) / temperature;
        }
    }
}
