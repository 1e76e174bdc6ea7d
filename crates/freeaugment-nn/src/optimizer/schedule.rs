//! Learning rates over a run. A schedule is a function of the step, so that resuming needs nothing but the step.

use super::check;
use crate::Error;

/// Half a cosine from the first learning rate at step 0 to `last` at step `steps`, and `last` from there on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cosine {
    first: f64,
    last: f64,
    steps: u64,
}

impl Cosine {
    /// From `first` to `last` in `steps` steps.
    pub fn new(first: f64, last: f64, steps: u64) -> Result<Self, Error> {
        for rate in [first, last] {
            check("learning rate", rate, 0.0, f64::INFINITY, "a finite number from 0")?;
        }
        Ok(Self { first, last, steps })
    }

    /// The learning rate of a step.
    pub fn rate(&self, step: u64) -> f64 {
        if step >= self.steps {
            return self.last;
        }
        let turn = std::f64::consts::PI * step as f64 / self.steps as f64;
        self.last + (self.first - self.last) * 0.5 * (1.0 + turn.cos())
    }
}

/// A linear rise from 0 over the first `steps` steps, as a factor on another schedule's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warmup {
    steps: u64,
}

impl Warmup {
    /// A rise over `steps` steps; 0 for none.
    pub fn new(steps: u64) -> Self {
        Self { steps }
    }

    /// The factor of a step: never 0, so that no step is wasted.
    pub fn factor(&self, step: u64) -> f64 {
        if step >= self.steps { 1.0 } else { (step + 1) as f64 / (self.steps + 1) as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_starts_ends_and_turns_where_it_should() {
        let cosine = Cosine::new(0.1, 0.0, 100).unwrap();
        assert!((cosine.rate(0) - 0.1).abs() < 1e-15);
        assert!((cosine.rate(50) - 0.05).abs() < 1e-15);
        assert!((cosine.rate(75) - 0.1 * 0.5 * (1.0 - 0.5_f64.sqrt())).abs() < 1e-15);
        assert!(cosine.rate(100).abs() < 1e-15 && cosine.rate(u64::MAX).abs() < 1e-15);
    }

    #[test]
    fn a_warm_up_rises_in_equal_steps_to_one() {
        let warmup = Warmup::new(4);
        let factors: Vec<_> = (0..6).map(|step| warmup.factor(step)).collect();
        assert_eq!(factors, [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]);
        assert!((Warmup::new(0).factor(0) - 1.0).abs() < f64::EPSILON);
    }
}
