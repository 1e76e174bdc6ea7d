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
    let (rank, size) = (setup.ranks.rank(), setup.ranks.size());
    // Every process has some of the batches, in whole: no image's logits depend on others.
    let batches = |rank: usize| order.batches() * rank / size..order.batches() * (rank + 1) / size;
    let images = |rank: usize| {
        let [start, end] = [batches(rank).start, batches(rank).end].map(|at| (at * batch).min(indices.len()));
        end - start
    };
    let lens: Vec<usize> = (0..size).map(|rank| 2 * images(rank)).collect();
    let own = batches(rank);
    let (dataset, pipeline) = (Arc::clone(&setup.dataset), Arc::clone(&setup.pipeline));
    let mut loader = Loader::<_, Error>::new((own.start as u64, own.end as u64), 1, move |number| {
        Ok(order.prepare(&dataset, &pipeline, number)?)
    });
    // Of every image its loss, and 1 where it is right.
    let mut found = Vec::with_capacity(lens[rank]);
    let side = setup.pipeline.size;
    for _ in own {
        let pictures = loader.next_batch()?;
        let mut images = pictures.images.into_vec();
        setup.pipeline.normalise(&mut images);
        let logits = classifier.logits(Batch { images: &images, labels: &[], height: side, width: side })?;
        let losses = CrossEntropy::default().losses(&logits, &pictures.labels)?;
        for (loss, is_right) in losses.into_iter().zip(rights(&logits, &pictures.labels)) {
            found.extend([loss, f64::from(u8::from(is_right))]);
        }
    }
    let found = setup.ranks.gather_doubles(&found, &lens);
    let mut loss = 0.0;
    let mut counts = vec![ClassCount::default(); setup.dataset.classes.len()];
    for (&index, [own, is_right]) in indices.iter().zip(found.as_chunks().0) {
        let class = &mut counts[setup.dataset.label(index) as usize];
        class.images += 1;
        class.right += *is_right as u32;
        loss += own;
    }
    let count = indices.len().max(1) as f64;
    let right: u32 = counts.iter().map(|count| count.right).sum();
    let score = Score { loss: loss / count, accuracy: f64::from(right) / count };
    Ok((score, counts))
}

/// Whether each image has the largest logit at its label.
pub(crate) fn rights<'a>(logits: &'a [f32], labels: &'a [u32]) -> impl Iterator<Item = bool> + 'a {
    let classes = logits.len() / labels.len().max(1);
    logits.chunks_exact(classes.max(1)).zip(labels).map(|(row, label)| {
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
        best == Some(*label as usize)
    })
}
