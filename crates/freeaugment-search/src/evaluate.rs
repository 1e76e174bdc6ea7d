//! How good a classifier is on images that are not augmented.

use std::sync::Arc;

use freeaugment_base::random::Purpose;
use freeaugment_data::{Loader, Order};
use freeaugment_nn::{Batch, Classifier};

use crate::error::Error;
use crate::plan::Plan;
use crate::search::right;

/// Loss and accuracy of a classifier, with running statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The mean cross entropy.
    pub loss: f64,
    /// The share of images classified rightly.
    pub accuracy: f64,
}

/// Evaluates on the images with these indices.
pub fn evaluate(classifier: &Classifier, plan: &Plan, indices: &[u32], batch: usize) -> Result<Score, Error> {
    let order = Order {
        indices: indices.to_vec(),
        batch,
        purpose: Purpose::named("search/evaluation"),
        seed: 0,
        training: false,
        views: false,
    };
    let batches = order.batches() as u64;
    let (dataset, pipeline) = (Arc::clone(&plan.dataset), Arc::clone(&plan.pipeline));
    let mut loader = Loader::new((0, batches), 1, move |number| order.prepare(&dataset, &pipeline, number));
    let (mut loss, mut correct) = (0.0, 0);
    let side = plan.pipeline.size;
    for _ in 0..batches {
        let pictures = loader.next_batch()?;
        let mut images = pictures.images.into_vec();
        plan.pipeline.normalise(&mut images);
        let logits = classifier.logits(Batch { images: &images, labels: &[], height: side, width: side })?;
        correct += right(&logits, &pictures.labels);
        let classes = logits.len() / pictures.labels.len();
        for (row, &label) in logits.chunks_exact(classes).zip(&pictures.labels) {
            loss += cross_entropy(row, label);
        }
    }
    let count = indices.len().max(1) as f64;
    Ok(Score { loss: loss / count, accuracy: correct as f64 / count })
}

fn cross_entropy(logits: &[f32], label: u32) -> f64 {
    let largest = logits.iter().fold(f64::NEG_INFINITY, |largest, &logit| largest.max(f64::from(logit)));
    let sum: f64 = logits.iter().map(|&logit| (f64::from(logit) - largest).exp()).sum();
    largest + sum.ln() - f64::from(logits[label as usize])
}
