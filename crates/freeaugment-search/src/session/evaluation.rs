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

/// What judging a trained classifier finds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judgement {
    pub(crate) score: Score,
    /// See [`probability()`].
    pub(crate) probability: f64,
    /// In the order of the data's classes.
    pub(crate) classes: Vec<ClassCount>,
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
    judge(classifier, setup, indices, batch).map(|found| found.score)
}

/// As [`evaluate`], with all that can be told.
pub(crate) fn judge(
    classifier: &Classifier,
    setup: &Setup,
    indices: &[u32],
    batch: usize,
) -> Result<Judgement, Error> {
    let order = Order::new(indices.to_vec(), batch, Sequence::AsGiven, false);
    let (rank, size) = (setup.ranks.rank(), setup.ranks.size());
    // Every process has some of the batches, in whole: no image's logits depend on others.
    let batches = |rank: usize| order.batches() * rank / size..order.batches() * (rank + 1) / size;
    let images = |rank: usize| {
        let [start, end] = [batches(rank).start, batches(rank).end].map(|at| (at * batch).min(indices.len()));
        end - start
    };
    let width = setup.dataset.classes.len();
    let lens: Vec<usize> = (0..size).map(|rank| width * images(rank)).collect();
    let own = batches(rank);
    let (dataset, pipeline) = (Arc::clone(&setup.dataset), Arc::clone(&setup.pipeline));
    let mut loader = Loader::<_, Error>::new((own.start as u64, own.end as u64), 1, move |number| {
        Ok(order.prepare(&dataset, &pipeline, number)?)
    });
    let mut found = Vec::with_capacity(lens[rank]);
    let side = setup.pipeline.size;
    for _ in own {
        let pictures = loader.next_batch()?;
        let mut images = pictures.images.into_vec();
        setup.pipeline.normalise(&mut images);
        let logits = classifier.logits(Batch { images: &images, labels: &[], height: side, width: side })?;
        found.extend(logits.into_iter().map(f64::from));
    }
    let logits: Vec<f32> =
        setup.ranks.gather_doubles(&found, &lens).into_iter().map(|logit| logit as f32).collect();
    let labels: Vec<u32> = indices.iter().map(|&index| setup.dataset.label(index)).collect();
    let loss: f64 = CrossEntropy::default().losses(&logits, &labels)?.into_iter().sum();
    let mut classes = vec![ClassCount::default(); width];
    for (&label, is_right) in labels.iter().zip(rights(&logits, &labels)) {
        let class = &mut classes[label as usize];
        class.images += 1;
        class.right += u32::from(is_right);
    }
    let count = indices.len().max(1) as f64;
    let right: u32 = classes.iter().map(|class| class.right).sum();
    let score = Score { loss: loss / count, accuracy: f64::from(right) / count };
    Ok(Judgement { score, probability: probability(&logits, &labels), classes })
}

/// How far logits may be stretched, and how often the interval is halved in which the best stretching lies.
const STRETCH: f64 = 64.0;
const HALVINGS: u32 = 24;

/// The mean probability of the right class, where the logits `[image, class]` are stretched by the one factor that makes the
/// labels likeliest: a classifier that is surer of itself than it should be gains nothing by that, and one that doubts itself
/// loses nothing. So many images tell classifiers apart far better by this than by the accuracy, which knows of every image
/// only whether it is right.
pub fn probability(logits: &[f32], labels: &[u32]) -> f64 {
    let classes = logits.len() / labels.len().max(1);
    let mean = |of: &dyn Fn(&[f32], usize) -> f64| {
        let rows = logits.chunks_exact(classes.max(1)).zip(labels);
        rows.map(|(row, &label)| of(row, label as usize)).sum::<f64>() / labels.len().max(1) as f64
    };
    // How the likelihood changes with the factor: it rises up to the best one, and falls from there on.
    let slope = |factor: f64| {
        mean(&|row, label| {
            let likely = shares(row, factor);
            let expected: f64 = row.iter().zip(&likely).map(|(&logit, share)| f64::from(logit) * share).sum();
            f64::from(row[label]) - expected
        })
    };
    let (mut low, mut high) = (1.0 / STRETCH, STRETCH);
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        *(if slope(middle) > 0.0 { &mut low } else { &mut high }) = middle;
    }
    mean(&|row, label| shares(row, (low * high).sqrt())[label])
}

/// The probability of each class.
fn shares(logits: &[f32], factor: f64) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> =
        logits.iter().map(|&logit| libm::exp(factor * f64::from(logit - largest))).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// Whether each image has the largest logit at its label.
pub(crate) fn rights<'a>(logits: &'a [f32], labels: &'a [u32]) -> impl Iterator<Item = bool> + 'a {
    let classes = logits.len() / labels.len().max(1);
    logits.chunks_exact(classes.max(1)).zip(labels).map(|(row, label)| {
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
        best == Some(*label as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ten images with two classes, so many are right, all by the same distance of logits.
    fn alike(right: usize, distance: f32) -> f64 {
        let logits: Vec<f32> = (0..10).flat_map(|_| [distance, 0.0]).collect();
        let labels: Vec<u32> = (0..10).map(|image| u32::from(image >= right)).collect();
        probability(&logits, &labels)
    }

    #[test]
    fn a_classifier_is_as_sure_as_it_is_right_whatever_it_says_of_itself() {
        // All images look alike to it, so the honest probability is the share that is right: 0.8 of them have it, and the
        // others have the rest.
        for distance in [0.1, 1.0, 20.0] {
            assert!((alike(8, distance) - (0.8 * 0.8 + 0.2 * 0.2)).abs() < 1e-5, "{distance}");
        }
        assert!(alike(10, 0.5) > 0.999_999);
        // It is worse than guessing, so nothing is left of what it says.
        assert!((alike(3, 1.0) - 0.5).abs() < 0.01);
    }

    #[test]
    fn what_is_nearly_right_counts_more_than_what_is_quite_wrong() {
        let of = |wrong: f32| probability(&[3.0, 0.0, 0.0, 2.0, 2.0, 0.0, wrong, 0.0], &[0, 1, 0, 1]);
        assert!(of(0.5) > of(2.5));
    }

    #[test]
    fn no_images_have_no_probability() {
        assert_eq!(probability(&[], &[]), 0.0);
    }
}
