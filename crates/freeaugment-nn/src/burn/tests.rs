//! What moves between host and device, and that it is the same training on both.

use super::array::traffic::{Traffic, take};
use crate::optimizer::Sgd;
use crate::{Batch, Classifier, Device, Network, Weights};

const CLASSES: usize = 4;
const COUNT: usize = 6;
const SIZE: usize = 8;
const IMAGES: usize = COUNT * 3 * SIZE * SIZE;
/// The labels go up as one probability per class.
const TARGETS: usize = COUNT * CLASSES;
const LOGITS: usize = COUNT * CLASSES;

fn classifier(device: &str) -> Classifier {
    let network = Network::new("WRN-10-1".parse().unwrap(), CLASSES, 3).unwrap();
    Classifier::new(network, &Device::open(device).unwrap(), 3)
}

fn images() -> Vec<f32> {
    use freeaugment_base::random::{Purpose, Stream};
    let mut images = vec![0.0; IMAGES];
    Stream::new(1, Purpose::named("test/noise"), 0, 0).normal(&mut images);
    images
}

fn batch(images: &[f32]) -> Batch<'_> {
    Batch { images, labels: &[0, 1, 2, 3, 0, 1], height: SIZE, width: SIZE }
}

#[test]
fn a_step_moves_images_up_and_losses_and_logits_down() {
    let images = images();
    let batch = batch(&images);
    let mut classifier = classifier("flex");
    let mut sgd = Sgd::new(0.9, true, 5e-4).unwrap();
    let weights = classifier.layout().parameters();
    let channels = classifier.layout().channels();
    let mut average: Option<Weights> = None;
    take();
    for step in 0..3 {
        let evaluation = classifier.train(batch).unwrap();
        sgd.step(classifier.weights_mut(), &evaluation.gradient, 0.1).unwrap();
        // Only once: weights, running mean and variance, and an empty momentum buffer.
        let first = if step == 0 { 2 * weights + 2 * channels } else { 0 };
        assert_eq!(
            take(),
            Traffic { up: IMAGES + TARGETS + first, down: 1 + LOGITS },
            "training, step {step}"
        );

        let (evaluation, record) = classifier.train_and_keep(batch).unwrap();
        sgd.step(classifier.weights_mut(), &evaluation.gradient, 0.1).unwrap();
        let found = classifier.gradient(batch).unwrap();
        let direction = match average.take() {
            None => found.gradient,
            Some(mut average) => {
                average.blend(0.5, &found.gradient).unwrap();
                average
            }
        };
        record.hypergradient(&direction).unwrap();
        average = Some(direction);
        let down = 2 * (1 + LOGITS) + COUNT + IMAGES;
        assert_eq!(take(), Traffic { up: 2 * (IMAGES + TARGETS), down }, "search, step {step}");
    }
    let gradient = average.unwrap();
    gradient.dot(&gradient);
    assert_eq!(take(), Traffic { up: 0, down: 1 }, "an inner product is one number");
    classifier.logits(batch).unwrap();
    assert_eq!(take(), Traffic { up: IMAGES, down: LOGITS }, "inference");
}

#[test]
fn numbers_come_to_the_host_once_and_go_back_when_they_were_changed() {
    let images = images();
    let batch = batch(&images);
    let mut classifier = classifier("flex");
    let weights = classifier.layout().parameters();
    let before = classifier.gradient(batch).unwrap();
    take();
    assert_eq!(before.gradient.values(), before.gradient.values());
    assert_eq!(take(), Traffic { up: 0, down: weights });
    // The same numbers, but nobody can know that: they go up once more.
    classifier.weights_mut().values_mut();
    let after = classifier.gradient(batch).unwrap();
    assert_eq!(take(), Traffic { up: weights + IMAGES + TARGETS, down: 1 + LOGITS });
    assert_eq!(after.gradient, before.gradient);
    classifier.weights_mut().values_mut()[0] += 1.0;
    assert_ne!(classifier.gradient(batch).unwrap().gradient, before.gradient);
}

/// Every number, relative to the largest.
fn assert_close(found: &[f32], wanted: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let scale = wanted.iter().fold(f32::MIN_POSITIVE, |scale, value| scale.max(value.abs()));
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(
            (found - wanted).abs() <= tolerance * scale,
            "{what}: {found} in place of {wanted} of {scale}"
        );
    }
}

/// With a smooth activation, so that rounding does not decide on which side of zero a value falls.
#[test]
fn several_steps_of_training_are_the_cpus() {
    let images = images();
    let batch = batch(&images);
    for nesterov in [true, false] {
        let run = |device: &str| {
            let fresh = classifier(device);
            let network = fresh.network().clone().with_activation(crate::pass::Activation::Softplus);
            let mut classifier = Classifier::new(network, &Device::open(device).unwrap(), 3);
            let mut sgd = Sgd::new(0.9, nesterov, 5e-4).unwrap();
            let mut losses = Vec::new();
            for _ in 0..5 {
                let evaluation = classifier.train(batch).unwrap();
                losses.push(evaluation.loss as f32);
                sgd.step(classifier.weights_mut(), &evaluation.gradient, 0.05).unwrap();
            }
            let logits = classifier.logits(batch).unwrap();
            let buffer = sgd.buffer().unwrap().values().to_vec();
            let statistics = classifier.statistics();
            let (mean, variance) = (statistics.mean().to_vec(), statistics.variance().to_vec());
            let weights = classifier.weights().values().to_vec();
            [losses, logits, weights, buffer, mean, variance]
        };
        let names = ["losses", "logits", "weights", "momentum", "running mean", "running variance"];
        for ((own, other), name) in run("cpu").iter().zip(&run("flex")).zip(names) {
            assert_close(other, own, 1e-3, name);
        }
    }
}

#[test]
fn arithmetic_on_the_device_is_the_hosts() {
    let classifier = classifier("flex");
    let images = images();
    let device = classifier.gradient(batch(&images)).unwrap().gradient;
    let mut host = device.clone();
    host.values_mut();
    let other = classifier.weights().clone();
    let check = |found: &Weights, wanted: &Weights, what: &str| {
        assert!(found.is_on_device() && !wanted.is_on_device(), "{what}");
        assert_close(found.values(), wanted.values(), 1e-6, what);
    };
    let other_host = {
        let mut host = other.clone();
        host.values_mut();
        host
    };
    let run = |work: fn(&mut Weights, &Weights)| {
        let (mut a, mut b) = (device.clone(), host.clone());
        work(&mut a, &other);
        work(&mut b, &other_host);
        (a, b)
    };
    for (work, what) in [
        ((|a, b| a.add_scaled(-0.3, b).unwrap()) as fn(&mut Weights, &Weights), "add_scaled"),
        (|a, b| a.blend(0.2, b).unwrap(), "blend"),
        (|a, _| a.scale(3.5).unwrap(), "scale"),
    ] {
        let (found, wanted) = run(work);
        check(&found, &wanted, what);
    }
    let (found, wanted) = (device.dot(&other), host.dot(&other_host));
    let scale = (host.dot(&host) * other_host.dot(&other_host)).sqrt();
    assert!((found - wanted).abs() < 1e-5 * scale, "{found} in place of {wanted} of {scale}");
}
