//! What searches and trainings tell about themselves: one line of JSON per epoch.

use serde::{Deserialize, Serialize};

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

impl Phases {
    /// All of them together.
    pub fn total(&self) -> f64 {
        self.data + self.policy + self.training + self.validation + self.hypergradient + self.pullback
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

/// What an epoch of a search was like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchEpoch {
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
    /// How many depths and transformations are really in use.
    pub effective: Effective,
    /// What the last cycle said that ended in this epoch, in a search with a horizon.
    pub cycle: Option<CycleSlopes>,
    /// Mean gradient norms.
    pub gradients: GradientNorms,
    /// Seconds in each phase.
    pub seconds: Phases,
    /// Seconds of the evaluation after the epoch.
    pub evaluation_seconds: f64,
}

/// The exponential of the entropy of a distribution: how many equally likely ones would be as undecided. It falls when a
/// policy collapses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// Of the depths.
    pub depths: f64,
    /// Of the transformations.
    pub types: f64,
}

impl Effective {
    /// Of probabilities of depths, and of the shares of transformations.
    pub fn of(depths: &[f64], types: &[f64]) -> Self {
        let effective = |shares: &[f64]| {
            let entropy = shares.iter().filter(|share| **share > 0.0).map(|share| -share * libm::log(*share));
            libm::exp(entropy.sum())
        };
        Self { depths: effective(depths), types: effective(types) }
    }
}

/// What the cycles of a search with a horizon say about the policy, as far as it has come: slopes of the validation loss, in
/// standard errors. Positive means that less is better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CycleSlopes {
    /// The cycle that has ended, from 1.
    pub cycle: u64,
    /// How many there are.
    pub cycles: u64,
    /// Of each depth; empty where the depth did not learn.
    pub depth: Vec<f64>,
    /// Of each transformation (of each layer of each, where layers are not tied); empty where types did not learn.
    pub types: Vec<f64>,
    /// Of the lower bounds and then the upper ones, likewise.
    pub magnitudes: Vec<f64>,
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

/// What an epoch of a training was like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrainingEpoch {
    /// The epoch, from 1.
    pub epoch: u64,
    /// The learning rate of its last step.
    pub learning_rate: f64,
    /// Mean training loss, under the policy.
    pub loss: f64,
    /// Training accuracy, under the policy.
    pub accuracy: f64,
    /// Loss on the test images, where it was measured.
    pub test_loss: Option<f64>,
    /// Accuracy likewise.
    pub test_accuracy: Option<f64>,
    /// Seconds in which the network waited for images.
    pub waiting_seconds: f64,
    /// Seconds in which it learned.
    pub training_seconds: f64,
    /// Seconds of the evaluation after the epoch.
    pub evaluation_seconds: f64,
}
