//! A network with its weights on a device: the face of this crate.

use std::path::Path;
use std::sync::Arc;

use crate::device::{Device, Engine, EngineRecord};
use crate::loss::CrossEntropy;
use crate::network::Network;
use crate::parameter::{Layout, Statistics, Weights};
use crate::ranks::{Alone, Ranks};
use crate::{Error, storage};

/// Images `[batch, channel, height, width]`, as the network takes them, and their labels.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// All images' numbers.
    pub images: &'a [f32],
    /// One label per image. Empty where no loss is asked for.
    pub labels: &'a [u32],
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
}

/// What a pass with gradients gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// The mean loss.
    pub loss: f64,
    /// The logits, `[batch, class]`.
    pub logits: Vec<f32>,
    /// The gradient of the loss to the weights.
    pub gradient: Weights,
}

/// A network, its weights and running statistics, and the device that computes.
#[derive(Debug)]
pub struct Classifier {
    network: Network,
    weights: Weights,
    statistics: Statistics,
    loss: CrossEntropy,
    engine: Engine,
    ranks: Arc<dyn Ranks>,
}

impl Classifier {
    /// A network with fresh weights: a pure function of network and seed.
    pub fn new(network: Network, device: &Device, seed: u64) -> Self {
        let layout = network.layout();
        Self {
            weights: Weights::initial(Arc::clone(layout), seed),
            statistics: Statistics::initial(Arc::clone(layout)),
            loss: CrossEntropy::default(),
            ranks: Arc::new(Alone),
            engine: device.engine(network.clone()),
            network,
        }
    }

    /// The same classifier with another loss.
    #[must_use]
    pub fn with_loss(self, loss: CrossEntropy) -> Self {
        Self { loss, ..self }
    }

    /// The same classifier, which shares its batches with other processes: each of them has the same weights, hands over its
    /// own [share](crate::ranks::share) of a batch, and gets the loss and gradients of the whole; logits, and what
    /// belongs to single images, are those of its own.
    pub fn with_ranks(mut self, ranks: Arc<dyn Ranks>) -> Result<Self, Error> {
        self.engine.set_ranks(Arc::clone(&ranks))?;
        Ok(Self { ranks, ..self })
    }

    /// What the classifier is.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Names, shapes and places of the weights.
    pub fn layout(&self) -> &Arc<Layout> {
        self.weights.layout()
    }

    /// The weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The weights, to be changed.
    pub fn weights_mut(&mut self) -> &mut Weights {
        &mut self.weights
    }

    /// The running statistics of batch norm.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The running statistics, to be changed.
    pub fn statistics_mut(&mut self) -> &mut Statistics {
        &mut self.statistics
    }

    /// A training pass: batch statistics, which the running ones take a share of; loss and gradient.
    pub fn train(&mut self, batch: Batch) -> Result<Evaluation, Error> {
        self.check_training(batch)?;
        let statistics = Some(&mut self.statistics);
        Ok(self.engine.gradient(batch, &self.weights, statistics, self.loss, false)?.0)
    }

    /// [`Self::train`], keeping what [`Record::hypergradient`] needs.
    pub fn train_and_keep(&mut self, batch: Batch) -> Result<(Evaluation, Record), Error> {
        self.check_training(batch)?;
        let statistics = Some(&mut self.statistics);
        let (evaluation, record) = self.engine.gradient(batch, &self.weights, statistics, self.loss, true)?;
        let engine = record.expect("a record was asked for");
        Ok((evaluation, Record { engine, network: self.network.clone() }))
    }

    /// Loss and gradient with batch statistics; the running ones stay as they are.
    pub fn gradient(&self, batch: Batch) -> Result<Evaluation, Error> {
        self.check_training(batch)?;
        Ok(self.engine.gradient(batch, &self.weights, None, self.loss, false)?.0)
    }

    /// [`Self::gradient`] at other weights than the classifier's, keeping what [`Record::hypergradient`] needs: for going
    /// back through training steps that were taken.
    pub fn gradient_at(&self, weights: &Weights, batch: Batch) -> Result<(Evaluation, Record), Error> {
        self.check_training(batch)?;
        weights.check_layout(self.network.layout())?;
        let (evaluation, record) = self.engine.gradient(batch, weights, None, self.loss, true)?;
        let engine = record.expect("a record was asked for");
        Ok((evaluation, Record { engine, network: self.network.clone() }))
    }

    /// Every image's part of ⟨∇θ loss, direction⟩ at other weights: what [`Record::hypergradient`] has beside `q`, at a
    /// fourth of its cost.
    pub fn parts_at(&self, weights: &Weights, batch: Batch, direction: &Weights) -> Result<Vec<f32>, Error> {
        self.check_training(batch)?;
        weights.check_layout(self.network.layout())?;
        direction.check_layout(self.network.layout())?;
        self.engine.parts(batch, weights, direction, self.loss)
    }

    /// Loss, and its gradient to the images; batch statistics, and the running ones stay as they are.
    pub fn input_gradient(&self, batch: Batch) -> Result<(f64, Vec<f32>), Error> {
        self.check_training(batch)?;
        self.engine.input_gradient(batch, &self.weights, self.loss)
    }

    /// Inference with running statistics: logits `[batch, class]`. Labels are ignored.
    pub fn logits(&self, batch: Batch) -> Result<Vec<f32>, Error> {
        let image = self.network.channels() * batch.height * batch.width;
        self.check_images(batch, batch.images.len() / image.max(1))?;
        self.network.check_size([batch.height, batch.width], false)?;
        self.engine.logits(batch, &self.weights, &self.statistics)
    }

    fn check_images(&self, batch: Batch, images: usize) -> Result<(), Error> {
        let (channels, Batch { height, width, .. }) = (self.network.channels(), batch);
        let expected = images * channels * height * width;
        if expected != batch.images.len() {
            return Err(Error::BatchShape {
                images,
                channels,
                height,
                width,
                expected,
                found: batch.images.len(),
            });
        }
        if expected == 0 {
            return Err(Error::EmptyBatch);
        }
        Ok(())
    }

    fn check_training(&self, batch: Batch) -> Result<(), Error> {
        self.check_images(batch, batch.labels.len())?;
        let classes = self.network.classes();
        if let Some((image, &label)) =
            batch.labels.iter().enumerate().find(|(_, label)| **label as usize >= classes)
        {
            return Err(Error::BadLabel { image, label, classes });
        }
        self.network.check_size([batch.height, batch.width], batch.labels.len() == 1 && self.ranks.is_alone())
    }

    /// Writes weights and running statistics to a safetensors file; an existing file is replaced whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        storage::save(path, &self.weights, &self.statistics)
    }

    /// Reads weights and running statistics; on an error nothing has changed.
    pub fn load(&mut self, path: &Path) -> Result<(), Error> {
        (self.weights, self.statistics) = storage::load(path, &self.weights, &self.statistics, &[])?;
        Ok(())
    }

    /// Reads weights trained for other classes: as [`Self::load`], but the last layer stays as it is.
    pub fn load_backbone(&mut self, path: &Path) -> Result<(), Error> {
        let head = self.network.head().unwrap_or_default();
        let head = [format!("{head}.weight"), format!("{head}.bias")];
        (self.weights, self.statistics) = storage::load(path, &self.weights, &self.statistics, &head)?;
        Ok(())
    }
}

/// ⟨∇θ loss, direction⟩ of a training pass, and what it owes to the images.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypergradient {
    /// Every image's part of the inner product.
    pub parts: Vec<f32>,
    /// `q`: the gradient of the inner product with respect to the images, through batch norm's statistics too.
    pub q: Vec<f32>,
}

impl Hypergradient {
    /// The inner product.
    pub fn inner(&self) -> f64 {
        self.parts.iter().copied().map(f64::from).sum()
    }
}

/// What a training pass computed, at the weights it had.
#[derive(Debug)]
pub struct Record {
    engine: EngineRecord,
    network: Network,
}

impl Record {
    /// The inner product of the pass's weight gradient with `direction`, image by image, and its exact gradient to the
    /// images.
    pub fn hypergradient(&self, direction: &Weights) -> Result<Hypergradient, Error> {
        direction.check_layout(self.network.layout())?;
        Ok(self.engine.hypergradient(direction, &self.network, false)?.0)
    }

    /// [`Self::hypergradient`], and beside it the gradient of the inner product to the weights: the Hessian of the pass's
    /// loss times `direction`, exactly. With it a gradient is carried backwards through training steps.
    pub fn hypergradient_and_product(&self, direction: &Weights) -> Result<(Hypergradient, Weights), Error> {
        direction.check_layout(self.network.layout())?;
        let (found, product) = self.engine.hypergradient(direction, &self.network, true)?;
        Ok((found, product.expect("the product was asked for")))
    }
}
