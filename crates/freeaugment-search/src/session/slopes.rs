//! What a cycle says about the policy: slopes with their standard errors, and steps that respect them.

use freeaugment::{Groups, Parameters};

/// The slopes of one group of parameters over the steps of a cycle.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Slopes {
    steps: u64,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Slopes {
    /// Adds what the images of one step say.
    pub(crate) fn add(&mut self, values: &[f64]) {
        self.sums.resize(values.len(), 0.0);
        self.squares.resize(values.len(), 0.0);
        self.steps += 1;
        for ((sum, square), value) in self.sums.iter_mut().zip(&mut self.squares).zip(values) {
            *sum += value;
            *square += value * value;
        }
    }

    /// The slopes of the whole cycle.
    pub(crate) fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Their variances: the images of different steps are drawn independently.
    pub(crate) fn variances(&self) -> impl Iterator<Item = f64> {
        let steps = self.steps as f64;
        self.sums
            .iter()
            .zip(&self.squares)
            .map(move |(sum, square)| (square - sum * sum / steps).max(0.0) * steps / (steps - 1.0).max(1.0))
    }
}

/// Slopes over all cycles so far, the older the less they count, and what they are known to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) sums: Vec<f64>,
    pub(crate) variances: Vec<f64>,
}

impl Evidence {
    /// Takes a cycle in; what was known before counts `memory` times as much as it did.
    pub(crate) fn add(&mut self, slopes: &Slopes, memory: f64) {
        self.sums.resize(slopes.sums().len(), 0.0);
        self.variances.resize(slopes.sums().len(), 0.0);
        for (sum, new) in self.sums.iter_mut().zip(slopes.sums()) {
            *sum = memory * *sum + new;
        }
        for (variance, new) in self.variances.iter_mut().zip(slopes.variances()) {
            *variance = memory * memory * *variance + new;
        }
    }

    /// The slopes in standard errors.
    pub(crate) fn scores(&self) -> Vec<f64> {
        let score = |(sum, variance): (&f64, &f64)| if *variance > 0.0 { sum / variance.sqrt() } else { 0.0 };
        self.sums.iter().zip(&self.variances).map(score).collect()
    }

    /// Whether slopes this far from none are to be expected of noise alone: the largest of so many is.
    pub(crate) fn is_noise(&self) -> bool {
        let scores = self.scores();
        let largest = scores.iter().fold(0.0_f64, |largest, score| largest.max(score.abs()));
        // The largest of n scores of pure noise is beyond this once in twenty times.
        let count = scores.len().max(1) as f64;
        let chance = 1.0 - 0.95_f64.powf(1.0 / count);
        2.0 * upper_tail(largest) > chance
    }

    /// Steps downhill: `rate` where the slope is beyond doubt, nothing where it is within `significance` standard errors
    /// of none, and in between what of its square is not noise.
    pub(crate) fn steps(&self, rate: f64, significance: f64) -> Vec<f64> {
        let step = |score: f64| {
            let share = 1.0 - (significance / score).powi(2);
            if share > 0.0 { -rate * score.signum() * share } else { 0.0 }
        };
        self.scores().into_iter().map(step).collect()
    }
}

/// The probability that a standard normal number is above x.
fn upper_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// A gradient, or what moves parameters, as one list of numbers per group. Where layers are tied, all layers have one
/// number: the sum of a gradient over them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tied {
    /// How many layers share a number; 1 where none does.
    pub(crate) layers: usize,
}

impl Tied {
    fn sum(self, matrix: &[f32]) -> Vec<f64> {
        matrix.chunks_exact(self.layers).map(|layers| layers.iter().copied().map(f64::from).sum()).collect()
    }

    /// Depth, types and magnitudes of a gradient; groups that do not learn are empty.
    pub(crate) fn groups(self, gradient: &Parameters, learning: Groups) -> [Vec<f64>; 3] {
        let depth = || gradient.depth().iter().copied().map(f64::from).collect();
        let magnitudes = || gradient.magnitudes().map(|bound| self.sum(bound)).concat();
        [
            if learning.depth { depth() } else { Vec::new() },
            if learning.types { self.sum(gradient.types()) } else { Vec::new() },
            if learning.magnitudes { magnitudes() } else { Vec::new() },
        ]
    }

    fn move_matrix(self, matrix: &mut [f32], steps: &[f64]) {
        for (layers, step) in matrix.chunks_exact_mut(self.layers).zip(steps) {
            for value in layers {
                *value += *step as f32;
            }
        }
    }

    /// Moves parameters; groups whose list is empty stay.
    pub(crate) fn apply(self, parameters: &mut Parameters, [depth, types, magnitudes]: [Vec<f64>; 3]) {
        for (value, step) in parameters.depth_mut().iter_mut().zip(depth) {
            *value += step as f32;
        }
        self.move_matrix(parameters.types_mut(), &types);
        let (lower, upper) = magnitudes.split_at(magnitudes.len() / 2);
        let [first, second] = parameters.magnitudes_mut();
        self.move_matrix(first, lower);
        self.move_matrix(second, upper);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slopes(values: &[f64]) -> Slopes {
        let mut slopes = Slopes::default();
        for &value in values {
            slopes.add(&[value]);
        }
        slopes
    }

    #[test]
    fn the_variance_of_a_sum_is_that_of_its_parts() {
        let found = slopes(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(found.sums(), [12.0]);
        // The sample variance is 14/3; four of them.
        assert!((found.variances().next().unwrap() - 4.0 * 14.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn noise_moves_nothing_and_what_is_beyond_doubt_moves_by_the_rate() {
        let mut evidence = Evidence::default();
        evidence.add(&slopes(&[1.0, -1.0, 1.0, -0.5]), 0.9);
        assert_eq!(evidence.steps(0.5, 1.0), [0.0]);
        let mut evidence = Evidence::default();
        evidence.add(&slopes(&[1.0, 1.001, 0.999, 1.0]), 0.9);
        assert!((evidence.steps(0.5, 1.0)[0] + 0.5).abs() < 1e-3);
    }

    #[test]
    fn the_largest_of_many_scores_must_be_larger_to_be_more_than_noise() {
        let of = |scores: &[f64]| Evidence { sums: scores.to_vec(), variances: vec![1.0; scores.len()] };
        assert!(!of(&[2.2]).is_noise() && of(&[1.8]).is_noise());
        let many = |largest: f64| of(&[vec![0.5; 13], vec![largest]].concat());
        assert!(many(2.2).is_noise() && !many(3.2).is_noise());
        assert!(Evidence::default().is_noise());
    }

    #[test]
    fn evidence_of_many_cycles_adds_up() {
        // One standard error each: after nine cycles three, less what is forgotten.
        let once = slopes(&[1.0, 0.0, 1.0, 0.0]);
        let mut evidence = Evidence::default();
        let mut before = 0.0;
        for _ in 0..9 {
            evidence.add(&once, 1.0);
            let score = evidence.scores()[0];
            assert!(score > before);
            before = score;
        }
        let first = 2.0 / once.variances().next().unwrap().sqrt();
        assert!((before - 3.0 * first).abs() < 1e-12);
    }
}
