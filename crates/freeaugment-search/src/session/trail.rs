//! The weights of a cycle of training steps, to be gone through backwards.

use std::ops::Range;

use freeaugment_nn::Weights;
use freeaugment_nn::optimizer::Sgd;

use crate::error::Error;

/// The weights before every step of a cycle: all of them where they fit, otherwise every so-manieth, with the momentum
/// from which the others are computed again.
#[derive(Debug)]
pub(crate) struct Trail {
    first: u64,
    every: u64,
    kept: Vec<(Weights, Option<Weights>)>,
    /// The weights of the steps of one stretch, from its first on.
    stretch: Vec<Weights>,
}

impl Trail {
    /// For a cycle of a network with so many parameters, within so many bytes if all fit there.
    pub(crate) fn new(cycle: &Range<u64>, parameters: usize, bytes: u64) -> Self {
        let length = cycle.end - cycle.start;
        let all_fit = length * 4 * parameters as u64 <= bytes;
        let every = if all_fit { 1 } else { (length as f64).sqrt().ceil() as u64 };
        Self { first: cycle.start, every, kept: Vec::new(), stretch: Vec::new() }
    }

    /// The weights and the momentum before a step; steps come in order.
    pub(crate) fn keep(&mut self, step: u64, weights: &Weights, sgd: &Sgd) {
        if (step - self.first).is_multiple_of(self.every) {
            let momentum = sgd.buffer().filter(|_| self.every > 1);
            self.kept.push((weights.clone(), momentum.cloned()));
        }
    }

    /// The weights before a step; steps come from last to first, and those that were kept are let go. `take` takes a step
    /// again, by its number.
    pub(crate) fn back(
        &mut self,
        step: u64,
        sgd: &Sgd,
        mut take: impl FnMut(u64, &mut Weights, &mut Sgd) -> Result<(), Error>,
    ) -> Result<Weights, Error> {
        if let Some(weights) = self.stretch.pop() {
            return Ok(weights);
        }
        let (mut weights, momentum) = self.kept.pop().expect("a stretch is kept for every step");
        let start = step - (step - self.first) % self.every;
        let mut sgd = sgd.without_buffer();
        if let Some(momentum) = momentum {
            sgd.set_buffer(momentum);
        }
        for again in start..step {
            self.stretch.push(weights.clone());
            take(again, &mut weights, &mut sgd)?;
        }
        Ok(weights)
    }
}
