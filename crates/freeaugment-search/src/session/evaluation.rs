//! How good a classifier is on images that are not augmented.

use std::sync::Arc;

use freeaugment_data::{Loader, Order, Sequence};
use freeaugment_nn::{Batch, Classifier, CrossEntropy};

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

/// Evaluates on the images with these indices.
pub fn evaluate(
    classifier: &Classifier,
    setup: &Setup,
    indices: &[u32],
    batch: usize,
) -> Result<Score, Error> {
    let order = Order::new(indices.to_vec(), batch, Sequence::AsGiven, false);
    let batches = order.batches() as u64;
    let (dataset, pipeline) = (Arc::clone(&setup.dataset), Arc::clone(&setup.pipeline));
    let mut loader = Loader::<_, Error>::new((0, batches), 1, move |number| {
        Ok(order.prepare(&dataset, &pipeline, number)?)
    });
    let (mut losses, mut correct) = (Vec::with_capacity(indices.len()), 0);
    let side = setup.pipeline.size;
    for _ in 0..batches {
        let pictures = loader.next_batch()?;
        let mut images = pictures.images.into_vec();
        setup.pipeline.normalise(&mut images);
        let logits = classifier.logits(Batch { images: &images, labels: &[], height: side, width: side })?;
        correct += right(&logits, &pictures.labels);
        losses.extend(CrossEntropy::default().losses(&logits, &pictures.labels)?);
    }
    let count = indices.len().max(1) as f64;
    Ok(Score { loss: losses.iter().sum::<f64>() / count, accuracy: correct as f64 / count })
}

/// The share of images whose label has the largest logit.
pub(crate) fn accuracy(logits: &[f32], labels: &[u32]) -> f64 {
    right(logits, labels) as f64 / labels.len().max(1) as f64
}

/// How many images have the largest logit at their label.
fn right(logits: &[f32], labels: &[u32]) -> usize {
    let classes = logits.len() / labels.len().max(1);
    let is_right = |(row, label): &(&[f32], &u32)| {
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
        best == Some(**label as usize)
    };
    logits.chunks_exact(classes.max(1)).zip(labels).filter(is_right).count()
}
