//! What is each transformation worth, and what do the estimators say? A measurement of a few minutes:
//!
//!     PLANT=Rotate:-30..30 SEED=2 EPOCHS=4,6,9 cargo test --workspace --test estimators -- --ignored --nocapture
//!
//! A classifier is trained under the initial policy. Then, with its weights as they are: the inner product of the
//! gradient on training images that underwent one transformation with the gradient on all validation images (positive:
//! a step on such images lowers the validation loss), and the slope that the straight-through estimator gives the
//! transformation's logits with the same validation gradient. Both as mean ± standard deviation over batches.
#![allow(clippy::print_stdout)] // it is there to be read

use freeaugment::{DepthKind, Estimator, Groups, Policy, PolicyConfig, RangedTransformation};
use freeaugment_data::PictureBatch;
use freeaugment_nn::{Batch, Classifier, Device, Weights};
use freeaugment_search::{Patch, Search, Session as _, Setup, Task, resolve};

const BATCHES: u64 = 40;

#[test]
#[ignore = "a measurement of a few minutes"]
fn a_step_on_the_planted_transformation_gains_most() {
    let read = |key: &str, default: &str| std::env::var(key).unwrap_or_else(|_| default.to_owned());
    let plant = read("PLANT", "Rotate:-30..30");
    let flags = format!(
        "plant = ['{}']\nseed = {}\nepochs = 12\nlearning_rate_floor = 0.0\nmagnitude_start = 12\ntype_start = 12\ndepth_start = 12",
        plant.replace(',', "','"),
        read("SEED", "2")
    );
    let patch = Patch { place: "a test".to_owned(), values: flags.parse().unwrap() };
    let settings = resolve(Task::Search, "drawings", &[patch]).unwrap();
    let setup = Setup::for_search(&settings, &()).unwrap();
    let mut search = Search::new(settings, setup.clone()).unwrap();
    let mut elsewhere = Vec::new();
    for epochs in read("EPOCHS", "9").split(',') {
        let epochs: u64 = epochs.parse().unwrap();
        while search.progress().done < epochs * setup.steps_per_epoch {
            search.step().unwrap();
        }
        let worth = measure(&search, &setup, epochs);
        let planted = plant.split([',', ':']).next().unwrap();
        let best = worth.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        if epochs >= 4 && best.0 != planted {
            elsewhere.push(format!("after {epochs} epochs: {best:?} in place of {planted}"));
        }
    }
    // Only now, so that every table is printed.
    assert!(elsewhere.is_empty(), "{}", elsewhere.join("; "));
}

/// Prints the table; returns the mean inner product of each transformation.
fn measure(search: &Search, setup: &Setup, epochs: u64) -> Vec<(&'static str, f64)> {
    let side = setup.pipeline.size;
    let classifier = search.classifier();
    let gradient = |images: &[f32], labels: &[u32]| {
        classifier.gradient(Batch { images, labels, height: side, width: side }).unwrap().gradient
    };
    let validation: Vec<Weights> = (0..setup.validation.batches() as u64)
        .map(|number| {
            let batch = setup.validation.prepare(&setup.dataset, &setup.pipeline, number).unwrap();
            let mut images = batch.images.into_vec();
            setup.pipeline.normalise(&mut images);
            gradient(&images, &batch.labels)
        })
        .collect();
    let mut direction = validation[0].clone();
    for (i, value) in direction.values_mut().iter_mut().enumerate() {
        *value =
            validation.iter().map(|gradient| gradient.values()[i]).sum::<f32>() / validation.len() as f32;
    }
    // A training pass changes running statistics, so it needs a classifier of its own.
    let file = tempfile::NamedTempFile::new().unwrap();
    classifier.save(file.path()).unwrap();
    let mut own = Classifier::new(classifier.network().clone(), &Device::cpu(), 0);
    own.load(file.path()).unwrap();
    let policy = search.policy();
    let singles: Vec<Policy> = policy.config().transformations.iter().map(single).collect();
    let augment = |policy: &Policy, pictures: &PictureBatch, number: u64| {
        let sample = policy.sample(policy.draw(7, number as u32, &pictures.indices), 0.8).unwrap();
        let images = policy.apply(&pictures.images, &sample).unwrap();
        (setup.pipeline.after(images.as_slice(), &pictures.views), sample)
    };
    let mut rows = vec![(Vec::new(), Vec::new()); singles.len()];
    for number in 0..BATCHES {
        let pictures = setup.training.prepare(&setup.dataset, &setup.pipeline, number).unwrap();
        let (images, sample) = augment(policy, &pictures, number);
        let batch = Batch { images: &images, labels: &pictures.labels, height: side, width: side };
        let (_, record) = own.train_and_keep(batch).unwrap();
        let q: Vec<f32> = record.hypergradient(&direction).unwrap().q.iter().map(|q| -q).collect();
        let cotangent = setup.pipeline.after_pullback(&q, &pictures.views);
        let straight = Policy::new(
            PolicyConfig { estimator: Estimator::StraightThrough, ..policy.config().clone() },
            policy.parameters().clone(),
        );
        let slopes = straight.unwrap().pullback(&pictures.images, &sample, &cotangent, Groups::ALL).unwrap();
        let layers = policy.config().layers;
        for (i, single) in singles.iter().enumerate() {
            let (images, _) = augment(single, &pictures, number);
            rows[i].0.push(gradient(&images, &pictures.labels).dot(&direction));
            let slope = &slopes.parameters.types()[i * layers..][..layers];
            rows[i].1.push(-slope.iter().copied().map(f64::from).sum::<f64>());
        }
    }
    println!("after {epochs} epochs   exact inner product    straight-through slope");
    let mut worth = Vec::new();
    for (ranged, (exact, slope)) in policy.config().transformations.iter().zip(&rows) {
        let (name, exact, slope) = (ranged.transformation.name(), spread(exact), spread(slope));
        println!("{name:14} {:9.4} ± {:.4}   {:12.5} ± {:.5}", exact.0, exact.1, slope.0, slope.1);
        worth.push((name, exact.0));
    }
    worth
}

/// The policy that applies one transformation to every image, in its initial range.
fn single(ranged: &RangedTransformation) -> Policy {
    let depth = DepthKind::Fixed { depth: 1 };
    PolicyConfig { transformations: vec![*ranged], layers: 1, depth, ..PolicyConfig::default() }
        .init()
        .unwrap()
}

fn spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}
