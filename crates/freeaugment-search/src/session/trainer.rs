//! A classifier and what trains it: what a search and a training have in common.

use std::sync::Arc;

use freeaugment_nn::optimizer::Sgd;
use freeaugment_nn::{
    Batch, Classifier, CrossEntropy, Device, Evaluation, Network, Record, Statistics, Weights,
};

use super::Setup;
use super::pace::Pace;
use crate::config::Settings;
use crate::error::Error;
use crate::run::{StateReader, StateWriter};

/// A classifier, its optimiser, its learning rate, and how many steps it has taken.
#[derive(Debug)]
pub(crate) struct Trainer {
    pub(crate) classifier: Classifier,
    sgd: Sgd,
    pub(crate) pace: Pace,
}

/// Where a trainer stood: what a state of it holds.
#[derive(Debug)]
pub struct Moment {
    weights: Weights,
    statistics: Statistics,
    momentum: Option<Weights>,
    pace: Pace,
}

impl Moment {
    pub(crate) fn save(&self, state: &mut StateWriter) -> Result<(), Error> {
        state.classifier(&self.weights, &self.statistics, self.momentum.as_ref())?;
        self.pace.save(state);
        Ok(())
    }
}

/// A fresh classifier as settings and data ask for it.
pub(crate) fn classifier(settings: &Settings, setup: &Setup, seed: u64) -> Result<Classifier, Error> {
    let dataset = &setup.dataset;
    let network = Network::new(settings.network.parse()?, dataset.classes.len(), dataset.channels)?;
    let loss = CrossEntropy::new(settings.label_smoothing as f32)?;
    let classifier = Classifier::new(network, &Device::open(&settings.device)?, seed).with_loss(loss);
    Ok(classifier.with_ranks(Arc::clone(&setup.ranks))?)
}

impl Trainer {
    /// At the beginning.
    pub(crate) fn new(settings: &Settings, classifier: Classifier, pace: Pace) -> Result<Self, Error> {
        let sgd = Sgd::new(settings.momentum as f32, true, settings.weight_decay as f32)?;
        Ok(Self { classifier, sgd, pace })
    }

    /// Loss and gradient of a training batch; with `keep`, also what the hypergradient needs.
    pub(crate) fn train(&mut self, batch: Batch, keep: bool) -> Result<(Evaluation, Option<Record>), Error> {
        let (evaluation, record) = if keep {
            let (evaluation, record) = self.classifier.train_and_keep(batch)?;
            (evaluation, Some(record))
        } else {
            (self.classifier.train(batch)?, None)
        };
        self.pace.check_loss(evaluation.loss)?;
        Ok((evaluation, record))
    }

    /// Moves the weights.
    pub(crate) fn descend(&mut self, gradient: &Weights) -> Result<(), Error> {
        let rate = self.pace.rate() as f32;
        Ok(self.sgd.step(self.classifier.weights_mut(), gradient, rate)?)
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
            pace: self.pace.clone(),
        }
    }

    pub(crate) fn restore(&mut self, state: &StateReader) -> Result<(), Error> {
        self.pace.restore(state)?;
        state.classifier(&mut self.classifier, &mut self.sgd)
    }
}
