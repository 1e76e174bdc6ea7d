//! A classifier and what trains it: what a search and a training have in common.

use freeaugment_nn::optimizer::{Cosine, Sgd, Warmup};
use freeaugment_nn::{
    Batch, Classifier, CrossEntropy, Device, Evaluation, Network, Record, Statistics, Weights,
};
use serde::{Deserialize, Serialize};

use super::cycles::Cycles;
use super::{Progress, Setup, Step};
use crate::config::Settings;
use crate::error::Error;
use crate::run::{StateReader, StateWriter};

/// A classifier, its optimiser, its learning rate, and how many steps it has taken.
#[derive(Debug)]
pub(crate) struct Trainer {
    pub(crate) classifier: Classifier,
    sgd: Sgd,
    schedule: Cosine,
    warm_up: Warmup,
    /// Cycles in each of which the learning rate falls from this to 0.
    cycles: Option<(Cycles, f64)>,
    progress: Progress,
    /// What the current epoch has seen so far.
    pub(crate) tally: Tally,
}

/// Where a trainer stood: what a state of it holds.
#[derive(Debug)]
pub(crate) struct Moment {
    weights: Weights,
    statistics: Statistics,
    momentum: Option<Weights>,
    progress: Progress,
    tally: Tally,
}

impl Moment {
    pub(crate) fn save(&self, state: &mut StateWriter) -> Result<(), Error> {
        state.classifier(&self.weights, &self.statistics, self.momentum.as_ref())?;
        state.entry("step", self.progress.done.to_string());
        state.entry("steps", self.progress.total.to_string());
        state.json("tally", &self.tally);
        Ok(())
    }
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

/// A fresh classifier as settings and data ask for it.
pub(crate) fn classifier(settings: &Settings, setup: &Setup, seed: u64) -> Result<Classifier, Error> {
    let dataset = &setup.dataset;
    let network = Network::new(settings.network.parse()?, dataset.classes.len(), dataset.channels)?;
    let loss = CrossEntropy::new(settings.label_smoothing as f32)?;
    Ok(Classifier::new(network, &Device::open(&settings.device)?, seed).with_loss(loss))
}

impl Trainer {
    /// At the beginning. The learning rate falls to `floor` of what it is, and rises from 0 before for so many steps.
    pub(crate) fn new(
        settings: &Settings,
        setup: &Setup,
        classifier: Classifier,
        floor: f64,
        warm_up_steps: u64,
    ) -> Result<Self, Error> {
        let per_epoch = setup.steps_per_epoch;
        let total = settings.epochs * per_epoch;
        Ok(Self {
            classifier,
            sgd: Sgd::new(settings.momentum as f32, true, settings.weight_decay as f32)?,
            schedule: Cosine::new(settings.learning_rate, floor * settings.learning_rate, total)?,
            warm_up: Warmup::new(warm_up_steps),
            cycles: None,
            progress: Progress { done: 0, total, per_epoch },
            tally: Tally::default(),
        })
    }

    /// The same trainer, whose learning rate falls from `rate` to 0 in every cycle.
    pub(crate) fn with_cycles(self, cycles: Option<Cycles>, rate: f64) -> Self {
        Self { cycles: cycles.map(|cycles| (cycles, rate)), ..self }
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress
    }

    /// The epoch that the next step belongs to, from 0.
    pub(crate) fn epoch(&self) -> u64 {
        self.progress.epochs_done()
    }

    /// The learning rate of the step that is next.
    pub(crate) fn rate(&self) -> f64 {
        self.rate_at(self.progress.done)
    }

    /// The learning rate of the step that was last.
    pub(crate) fn last_rate(&self) -> f64 {
        self.rate_at(self.progress.done - 1)
    }

    /// The learning rate of a step.
    pub(crate) fn rate_at(&self, step: u64) -> f64 {
        if let Some((cycles, rate)) = self.cycles
            && let Some(cycle) = cycles.at(step)
        {
            let cosine = Cosine::new(rate, 0.0, cycle.end - cycle.start).expect("settings are checked");
            return cosine.rate(step - cycle.start);
        }
        self.schedule.rate(step) * self.warm_up.factor(step)
    }

    /// Loss and gradient of a training batch; with `keep`, also what the hypergradient needs.
    pub(crate) fn train(&mut self, batch: Batch, keep: bool) -> Result<(Evaluation, Option<Record>), Error> {
        let (evaluation, record) = if keep {
            let (evaluation, record) = self.classifier.train_and_keep(batch)?;
            (evaluation, Some(record))
        } else {
            (self.classifier.train(batch)?, None)
        };
        self.check_loss(evaluation.loss)?;
        Ok((evaluation, record))
    }

    /// Moves the weights.
    pub(crate) fn descend(&mut self, gradient: &Weights) -> Result<(), Error> {
        let rate = self.rate() as f32;
        Ok(self.sgd.step(self.classifier.weights_mut(), gradient, rate)?)
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
    pub(crate) fn check_loss(&self, loss: f64) -> Result<(), Error> {
        if loss.is_finite() {
            return Ok(());
        }
        let step = self.progress.done % self.progress.per_epoch + 1;
        Err(Error::Diverged { loss, epoch: self.epoch() + 1, step })
    }

    /// The rule of its steps, and the momentum that it has.
    pub(crate) fn sgd(&self) -> &Sgd {
        &self.sgd
    }

    /// Where it stands.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            weights: self.classifier.weights().clone(),
            statistics: self.classifier.statistics().clone(),
            momentum: self.sgd.buffer().cloned(),
            progress: self.progress,
            tally: self.tally,
        }
    }

    pub(crate) fn restore(&mut self, state: &StateReader) -> Result<(), Error> {
        let done: u64 = state.number("step")?;
        if done > self.progress.total {
            return Err(state.broken(&format!("step {done} lies beyond the end")));
        }
        self.tally = state.json("tally")?;
        state.classifier(&mut self.classifier, &mut self.sgd)?;
        self.progress.done = done;
        Ok(())
    }
}
