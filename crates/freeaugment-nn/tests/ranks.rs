//! However many ranks share a batch: what they compute has the same bits.

mod common;

use std::sync::Arc;

use common::{Problem, own_problems};
use freeaugment_nn::pass::Activation;
use freeaugment_nn::ranks::{self, Ranks, in_threads, share};
use freeaugment_nn::{Batch, Device, Error};

/// What belongs to the whole batch and what to single images, by name.
type Found = Vec<(&'static str, Vec<u32>)>;

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Everything that a rank gets of its share of a batch.
fn run(problem: &Problem, ranks: Arc<dyn Ranks>) -> [Found; 2] {
    let own = share(problem.labels.len(), ranks.rank(), ranks.size());
    let image = problem.images.len() / problem.labels.len();
    let batch = Batch {
        images: &problem.images[own.start * image..own.end * image],
        labels: &problem.labels[own],
        ..problem.batch()
    };
    let mut classifier = problem.classifier(&Device::cpu()).with_ranks(ranks).unwrap();
    let direction = Problem::direction(&classifier);
    let (step, record) = classifier.train_and_keep(batch).unwrap();
    let (found, product) = record.hypergradient_and_product(&direction).unwrap();
    let (loss, input) = classifier.input_gradient(batch).unwrap();
    let parts = classifier.parts_at(&direction, batch, &step.gradient).unwrap();
    let single = |value: f64| vec![(value.to_bits() >> 32) as u32, value.to_bits() as u32];
    let whole = vec![
        ("loss", single(step.loss)),
        ("loss of the input gradient", single(loss)),
        ("gradient", bits(step.gradient.values())),
        ("product", bits(product.values())),
        ("running mean", bits(classifier.statistics().mean())),
        ("running variance", bits(classifier.statistics().variance())),
    ];
    let images = vec![
        ("logits", bits(&step.logits)),
        ("parts", bits(&found.parts)),
        ("q", bits(&found.q)),
        ("input gradient", bits(&input)),
        ("parts at other weights", bits(&parts)),
        ("inference", bits(&classifier.logits(batch).unwrap())),
    ];
    [whole, images]
}

fn assert_ranks_agree(problem: &Problem) {
    let name = format!("{}, {} images", problem.network.name(), problem.labels.len());
    let [whole, images] = in_threads(1, |ranks| run(problem, ranks)).swap_remove(0);
    for size in 2..=ranks::most(problem.labels.len()).min(4) {
        let found = in_threads(size, |ranks| run(problem, ranks));
        for (rank, [own_whole, _]) in found.iter().enumerate() {
            for ((what, own), (_, wanted)) in own_whole.iter().zip(&whole) {
                assert!(own == wanted, "{name}: {what} on rank {rank} of {size}");
            }
        }
        for (at, (what, wanted)) in images.iter().enumerate() {
            let own: Vec<u32> = found.iter().flat_map(|[_, images]| images[at].1.clone()).collect();
            assert!(own == *wanted, "{name}: {what} of {size} ranks");
        }
    }
}

#[test]
fn built_in_networks_compute_the_same_bits_on_any_number_of_ranks() {
    for (name, size, batch) in
        [("WRN-10-1", 8, 32), ("WRN-16-2", 12, 29), ("ResNet-18", 12, 9), ("ResNet-50", 8, 9)]
    {
        assert_ranks_agree(&Problem::new(name, 3, size, batch, Activation::Relu));
    }
}

#[test]
fn own_networks_compute_the_same_bits_on_any_number_of_ranks() {
    for problem in own_problems() {
        let Problem { network, size, .. } = problem;
        assert_ranks_agree(&Problem::of(network.clone(), size, 32));
        assert_ranks_agree(&Problem::of(network, size, 19));
    }
}

#[test]
fn a_rank_with_another_share_than_its_own_is_told_so() {
    let problem = Problem::new("WRN-10-1", 3, 8, 24, Activation::Relu);
    let said = in_threads(2, |ranks| {
        let images = problem.images.len() / 2;
        let half =
            Batch { images: &problem.images[..images], labels: &problem.labels[..12], ..problem.batch() };
        let classifier = problem.classifier(&Device::cpu()).with_ranks(ranks).unwrap();
        let error = classifier.gradient(half).unwrap_err();
        assert!(matches!(error, Error::BadShare { .. }));
        error.to_string()
    });
    assert_eq!(said, ["process 0 has 12 images of a batch of 24: its share is 8"; 2]);
}

#[test]
fn what_is_sent_is_little_more_than_the_gradients() {
    let problem = Problem::new("WRN-16-2", 3, 8, 32, Activation::Relu);
    for size in [2, 4] {
        let sent = in_threads(size, |ranks| {
            let own = share(32, ranks.rank(), size);
            let images = &problem.images[own.start * 192..own.end * 192];
            let batch = Batch { images, labels: &problem.labels[own], ..problem.batch() };
            let mut classifier = problem.classifier(&Device::cpu()).with_ranks(Arc::clone(&ranks)).unwrap();
            classifier.train(batch).unwrap();
            ranks.sent() as f64 / (4.0 * classifier.layout().parameters() as f64)
        });
        // Every number goes out once to be summed and once as a sum, but for what the rank keeps.
        let wanted = 2.0 * (size as f64 - 1.0) / size as f64;
        for sent in sent {
            assert!(sent > 0.99 * wanted && sent < 1.2 * wanted + 0.1, "{sent} gradients, expected {wanted}");
        }
    }
}
