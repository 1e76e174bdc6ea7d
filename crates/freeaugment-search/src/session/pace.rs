//! How far a training is, how fast it goes, and what the current epoch has seen: what is the same wherever the network lives.

use freeaugment_nn::optimizer::{Cosine, Warmup};
use serde::{Deserialize, Serialize};

use super::cycles::Cycles;
use super::{Progress, Step};
use crate::config::Settings;
use crate::error::Error;
use crate::run::{StateReader, StateWriter};

/// The count of steps, and the learning rate of each.
#[derive(Clone, Debug)]
pub struct Pace {
    schedule: Cosine,
    warm_up: Warmup,
    /// Cycles in each of which the learning rate falls from this to 0.
    cycles: Option<(Cycles, f64)>,
    progress: Progress,
    /// What the current epoch has seen so far.
    pub(crate) tally: Tally,
}

/// Sums over the steps of an epoch. Part of a state, so that an epoch that was interrupted ends with the same line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    steps: u64,
    loss: f64,
    accuracy: f64,
    gradient: f64,
}

impl Tally {
    fn mean(&self, sum: f64) -> f64 {
        sum / self.steps.max(1) as f64
    }

    pub(crate) fn loss(&self) -> f64 {
        self.mean(self.loss)
    }

    pub(crate) fn accuracy(&self) -> f64 {
        self.mean(self.accuracy)
    }

    /// The mean norm of the gradient to the weights, where it was measured.
    pub(crate) fn gradient(&self) -> f64 {
        self.mean(self.gradient)
    }
}

impl Pace {
    /// The pace of a search, at its beginning.
    pub fn for_search(settings: &Settings, per_epoch: u64) -> Result<Self, Error> {
        Self::new(settings, per_epoch, settings.learning_rate_floor, 0)
    }

    /// At the beginning. The learning rate falls to `floor` of what it is, and rises from 0 before for so many steps.
    pub(crate) fn new(
        settings: &Settings,
        per_epoch: u64,
        floor: f64,
        warm_up_steps: u64,
    ) -> Result<Self, Error> {
        let total = settings.epochs * per_epoch;
        Ok(Self {
            schedule: Cosine::new(settings.learning_rate, floor * settings.learning_rate, total)?,
            warm_up: Warmup::new(warm_up_steps),
            cycles: None,
            progress: Progress { done: 0, total, per_epoch },
            tally: Tally::default(),
        })
    }

    /// From now on the learning rate falls from `rate` to 0 in every cycle.
    pub(crate) fn set_cycles(&mut self, cycles: Option<Cycles>, rate: f64) {
        self.cycles = cycles.map(|cycles| (cycles, rate));
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The epoch that the next step belongs to, from 0.
    pub fn epoch(&self) -> u64 {
        self.progress.epochs_done()
    }

    /// The learning rate of the step that is next.
    pub fn rate(&self) -> f64 {
        self.rate_at(self.progress.done)
    }

    /// The learning rate of the step that was last.
    pub(crate) fn last_rate(&self) -> f64 {
        self.rate_at(self.progress.done - 1)
    }

    /// The learning rate of a step.
    pub fn rate_at(&self, step: u64) -> f64 {
        if let Some((cycles, rate)) = self.cycles
            && let Some(cycle) = cycles.at(step)
        {
            let cosine = Cosine::new(rate, 0.0, cycle.end - cycle.start).expect("settings are checked");
            return cosine.rate(step - cycle.start);
        }
        self.schedule.rate(step) * self.warm_up.factor(step)
    }

    /// Counts a step, and what it saw.
    pub(crate) fn advance(&mut self, step: &Step, gradient_norm: f64) {
        self.progress.done += 1;
        self.tally.steps += 1;
        self.tally.loss += step.loss;
        self.tally.accuracy += step.accuracy;
        self.tally.gradient += gradient_norm;
    }

    /// What the step that is next will be called once it has been seen.
    pub(crate) fn seen(&self, loss: f64, accuracy: f64) -> Step {
        let step = self.progress.done % self.progress.per_epoch;
        Step { epoch: self.epoch(), step, loss, accuracy, validation: None, looking_back: None }
    }

    /// Refuses a loss that is no number.
    pub fn check_loss(&self, loss: f64) -> Result<(), Error> {
        if loss.is_finite() {
            return Ok(());
        }
        let step = self.progress.done % self.progress.per_epoch + 1;
        Err(Error::Diverged { loss, epoch: self.epoch() + 1, step })
    }

    /// Writes what changes.
    pub fn save(&self, state: &mut StateWriter) {
        state.entry("step", self.progress.done.to_string());
        state.entry("steps", self.progress.total.to_string());
        state.json("tally", &self.tally);
    }

    /// Puts it where the state was.
    pub fn restore(&mut self, state: &StateReader) -> Result<(), Error> {
        let done: u64 = state.number("step")?;
        if done > self.progress.total {
            return Err(state.broken(&format!("step {done} lies beyond the end")));
        }
        self.tally = state.json("tally")?;
        self.progress.done = done;
        Ok(())
    }
}
