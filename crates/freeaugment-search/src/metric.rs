//! What a search tells about itself: one line of JSON per epoch.

use serde::{Deserialize, Serialize};

use crate::search::Step;

/// Seconds spent in each phase of the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Waiting for batches.
    pub data: f64,
    /// Sampling and applying the policy, cutout, normalisation.
    pub policy: f64,
    /// The classifier's training step.
    pub training: f64,
    /// The validation gradient.
    pub validation: f64,
    /// The gradient to the augmented images.
    pub hypergradient: f64,
    /// From there to the policy's parameters, and their step.
    pub pullback: f64,
}

/// Sums over the steps of an epoch. Part of a checkpoint, so that an epoch that was interrupted ends with the same line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub(crate) steps: u64,
    pub(crate) loss: f64,
    pub(crate) accuracy: f64,
    pub(crate) weight_gradient: f64,
    pub(crate) validation_steps: u64,
    pub(crate) validation_loss: f64,
    pub(crate) validation_accuracy: f64,
    pub(crate) depth_gradient: f64,
    pub(crate) type_gradient: f64,
    pub(crate) magnitude_gradient: f64,
    pub(crate) phases: Phases,
}

impl Tally {
    pub(crate) fn training(&mut self, step: &Step, gradient: f64) {
        self.steps += 1;
        self.loss += step.loss;
        self.accuracy += step.accuracy;
        self.weight_gradient += gradient;
    }

    pub(crate) fn validation(&mut self, step: &Step) {
        if let Some((loss, accuracy)) = step.validation {
            self.validation_steps += 1;
            self.validation_loss += loss;
            self.validation_accuracy += accuracy;
        }
    }

    pub(crate) fn gradients(&mut self, depth: &[f32], types: &[f32], magnitudes: &[f32]) {
        let norm = |values: &[f32]| values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
        self.depth_gradient += norm(depth);
        self.type_gradient += norm(types);
        self.magnitude_gradient += norm(magnitudes);
    }
}

/// The means of the policy's gradient norms over an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientNorms {
    /// Of the classifier's weights.
    pub weights: f64,
    /// Of the depth.
    pub depth: f64,
    /// Of types and order.
    pub types: f64,
    /// Of the magnitudes.
    pub magnitudes: f64,
}

/// What an epoch was like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The epoch, from 1.
    pub epoch: u64,
    /// The learning rate of its last step.
    pub learning_rate: f64,
    /// The temperature.
    pub temperature: f64,
    /// Which groups learned.
    pub learning: Vec<String>,
    /// Mean training loss, under the policy.
    pub loss: f64,
    /// Training accuracy, under the policy.
    pub accuracy: f64,
    /// Mean loss on the validation batches, with batch statistics; none where the policy did not learn.
    pub validation_loss: Option<f64>,
    /// Accuracy on the same batches.
    pub validation_accuracy: Option<f64>,
    /// Loss on all validation images with running statistics, where it was measured.
    pub evaluation_loss: Option<f64>,
    /// Accuracy likewise.
    pub evaluation_accuracy: Option<f64>,
    /// The probability of each depth.
    pub depth: Vec<f64>,
    /// Per transformation, its share among all that are applied.
    pub usage: Vec<Share>,
    /// Per layer, the frequency of each transformation.
    pub types: Vec<Vec<f64>>,
    /// Per transformation with a magnitude and per layer, its range in own units.
    pub ranges: Vec<LayerRanges>,
    /// How often a sample uses a transformation more than once.
    pub repetition: f64,
    /// Mean gradient norms.
    pub gradients: GradientNorms,
    /// Seconds in each phase.
    pub seconds: Phases,
    /// Seconds of the evaluation after the epoch.
    pub evaluation_seconds: f64,
}

/// A transformation's share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// Its share, 0 to 1.
    pub share: f64,
}

/// A transformation's range in each layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerRanges {
    /// Its name.
    pub name: String,
    /// Lowest and highest magnitude, layer after layer.
    pub ranges: Vec<(f32, f32)>,
}
