//! Training on a small problem with an answer: which way do stripes run?

mod common;

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_nn::optimizer::{Cosine, Sgd};
use freeaugment_nn::{Batch, Classifier, Device, Network};

const SIZE: usize = 12;
const COUNT: usize = 48;

/// Noisy gray stripes: along rows, along columns, or along either diagonal, at a random phase.
fn stripes() -> (Vec<f32>, Vec<u32>) {
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for index in 0..COUNT as u32 {
        let mut stream = Stream::new(11, Purpose::named("test/stripes"), 0, index);
        let mut draws = [0.0; SIZE * SIZE + 1];
        stream.uniform(&mut draws);
        let label = index % 4;
        for y in 0..SIZE {
            for x in 0..SIZE {
                let (x, y) = (x as f32, y as f32);
                let along = [y, x, x + y, x - y][label as usize];
                let noise = draws[1 + images.len() % (SIZE * SIZE)] - 0.5;
                images.push((1.5 * along + 6.3 * draws[0]).sin() + noise);
            }
        }
        labels.push(label);
    }
    (images, labels)
}

fn accuracy(logits: &[f32], labels: &[u32]) -> f64 {
    let hits = logits.chunks(4).zip(labels).filter(|(row, label)| {
        let largest = (0..4).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        largest == **label as usize
    });
    hits.count() as f64 / labels.len() as f64
}

/// Accuracy on the training images before and after, by running statistics, and the final weights.
fn train(device: &Device, steps: u64) -> (f64, f64, Vec<f32>) {
    let (images, labels) = stripes();
    let batch = Batch { images: &images, labels: &labels, height: SIZE, width: SIZE };
    let network = Network::new("WRN-10-1".parse().unwrap(), 4, 1).unwrap();
    let mut classifier = Classifier::new(network, device, 5);
    let before = accuracy(&classifier.logits(batch).unwrap(), &labels);
    let mut sgd = Sgd::new(0.9, true, 5e-4).unwrap();
    let schedule = Cosine::new(0.1, 0.0, steps).unwrap();
    for step in 0..steps {
        let evaluation = classifier.train(batch).unwrap();
        sgd.step(classifier.weights_mut(), &evaluation.gradient, schedule.rate(step) as f32).unwrap();
    }
    let after = accuracy(&classifier.logits(batch).unwrap(), &labels);
    (before, after, classifier.weights().values().to_vec())
}

#[test]
fn a_small_network_learns_all_training_images() {
    let (before, after, weights) = train(&Device::cpu(), 60);
    assert!(before < 0.6, "a fresh network knows nothing, but got {before} right");
    assert!((after - 1.0).abs() < f64::EPSILON, "{after} right after training");
    assert_eq!(weights, train(&Device::cpu(), 60).2, "the same seed gives the same bits");
}

/// Run where a driver is, with `--features webgpu -- --ignored`.
#[cfg(feature = "webgpu")]
#[test]
#[ignore = "needs a driver for WebGPU"]
fn a_small_network_learns_on_webgpu() {
    let (_, after, _) = train(&Device::open("webgpu").unwrap(), 60);
    assert!((after - 1.0).abs() < f64::EPSILON, "{after} right after training");
}
