//! How good a classifier is on images that are not augmented.

use std::sync::Arc;

use freeaugment_data::{Loader, Order, Sequence};
use freeaugment_nn::{Batch, Classifier, CrossEntropy};
use serde::{Deserialize, Serialize};

use super::Setup;
use crate::error::Error;

/// Loss and accuracy of a classifier, with running statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The mean cross entropy.
    pub loss: f64,
    /// The share of images classified rightly.
    pub accuracy: f64,
}

/// How many images of a class were classified rightly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassCount {
    /// The images that judged.
    pub images: u32,
    /// Of these, the ones that were right.
    pub right: u32,
}

/// Evaluates on the images with these indices.
pub fn evaluate(
    classifier: &Classifier,
    setup: &Setup,
    indices: &[u32],
    batch: usize,
) -> Result<Score, Error> {
    evaluate_by_class(classifier, setup, indices, batch).map(|(score, _)| score)
}

/// As [`evaluate`], with the count of each class, in the order of the data's classes.
pub(crate) fn evaluate_by_class(
    classifier: &Classifier,
    setup: &Setup,
    indices: &[u32],
    batch: usize,
) -> Result<(Score, Vec<ClassCount>), Error> {
    let order = Order::new(indices.to_vec(), batch, Sequence::AsGiven, false);
    let batches = order.batches() as u64;
    let (dataset, pipeline) = (Arc::clone(&setup.dataset), Arc::clone(&setup.pipeline));
    let mut loader = Loader::<_, Error>::new((0, batches), 1, move |number| {
        Ok(order.prepare(&dataset, &pipeline, number)?)
    });
    let mut losses = Vec::with_capacity(indices.len());
    let mut counts = vec![ClassCount::default(); setup.dataset.classes.len()];
    let side = setup.pipeline.size;
    for _ in 0..batches {
        let pictures = loader.next_batch()?;
        let mut images = pictures.images.into_vec();
        setup.pipeline.normalise(&mut images);
        let logits = classifier.logits(Batch { images: &images, labels: &[], height: side, width: side })?;
        for (is_right, &label) in rights(&logits, &pictures.labels).zip(&pictures.labels) {
            let count = &mut counts[label as usize];
            count.images += 1;
            count.right += u32::from(is_right);
        }
        losses.extend(CrossEntropy::default().losses(&logits, &pictures.labels)?);
    }
    let count = indices.len().max(1) as f64;
    let right: u32 = counts.iter().map(|count| count.right).sum();
    let score = Score { loss: losses.iter().sum::<f64>() / count, accuracy: f64::from(right) / count };
    Ok((score, counts))
}

/// The share of images whose label has the largest logit.
pub(crate) fn accuracy(logits: &[f32], labels: &[u32]) -> f64 {
    rights(logits, labels).filter(|is_right| *is_right).count() as f64 / labels.len().max(1) as f64
}

/// Whether each image has the largest logit at its label.
fn rights<'a>(logits: &'a [f32], labels: &'a [u32]) -> impl Iterator<Item = bool> + 'a {
    let classes = logits.len() / labels.len().max(1);
    logits.chunks_exact(classes.max(1)).zip(labels).map(|(row, label)| {
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
        best == Some(*label as usize)
    })
}
