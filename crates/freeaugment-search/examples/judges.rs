//! What do a few images know of a policy? The classifiers of a find's selection are judged by many images they have not seen
//! (the test images of DATA), and by a few of them, again and again: once by how many are right, once by the mean probability
//! of the right class. Printed is how well that predicts the accuracy on all the others, across policies (Spearman's rank
//! correlation), and how much accuracy is lost by taking the policy that does best on the few.
//!
//!     cargo run --release -p freeaugment-search --example judges -- RUN DATA
//!
//! DATA has the training images that RUN has, and its test images must not decide about the policies that are compared with
//! each other in the end: they judge the judges here.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::{Path, PathBuf};

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_data::{Order, Sequence};
use freeaugment_nn::{Batch, Classifier, Device, Network};
use freeaugment_search::{Run, Settings, Setup, probability};

const FEW: [usize; 5] = [60, 125, 250, 500, 1000];
const TIMES: u32 = 200;

/// What a classifier says of every image.
struct Said {
    policy: String,
    logits: Vec<f32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(run), Some(data)) = (arguments.next(), arguments.next()) else {
        return Err("which run, and which data?".into());
    };
    let run = Run::open(Path::new(&run))?;
    let settings = Settings { data, ..run.settings()? };
    let setup = Setup::for_training(&settings, &())?;
    let labels: Vec<u32> = setup.test.iter().map(|&index| setup.dataset.label(index)).collect();
    let classes = setup.dataset.classes.len();
    let said = (weights(&run.folder().join("selection"))?.into_iter())
        .map(|(policy, path)| Ok(Said { policy, logits: logits(&path, &settings, &setup)? }))
        .collect::<Result<Vec<Said>, Box<dyn Error>>>()?;
    let mut policies: Vec<&str> = said.iter().map(|said| &*said.policy).collect();
    policies.dedup();
    // Of every policy the mean over its classifiers.
    let scores = |images: &[usize], score: fn(&[f32], &[u32]) -> f64| -> Vec<f64> {
        let labels: Vec<u32> = images.iter().map(|&image| labels[image]).collect();
        let of = |policy: &&str| {
            let own: Vec<f64> = (said.iter().filter(|said| said.policy == **policy))
                .map(|said| {
                    let rows = images.iter().flat_map(|&image| &said.logits[image * classes..][..classes]);
                    score(&rows.copied().collect::<Vec<f32>>(), &labels)
                })
                .collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        policies.iter().map(of).collect()
    };
    let all: Vec<usize> = (0..labels.len()).collect();
    println!("{} policies, {} classifiers, {} images", policies.len(), said.len(), labels.len());
    println!(
        "with all images, the two agree by {:.2}",
        correlation(&scores(&all, accuracy), &scores(&all, probability))
    );
    println!("| images | by accuracy | points lost | by probability | points lost |\n|--:|--:|--:|--:|--:|");
    for few in FEW.into_iter().filter(|few| 2 * few <= labels.len()) {
        let mut sums = [0.0; 4];
        for time in 0..TIMES {
            let mut images = all.clone();
            let mut stream = Stream::new(1, Purpose::named("judges"), time, few as u32);
            for at in 0..few {
                let other = at + stream.below((labels.len() - at) as u32) as usize;
                images.swap(at, other);
            }
            let (chosen, others) = images.split_at(few);
            let truth = scores(others, accuracy);
            let best = truth.iter().copied().fold(0.0, f64::max);
            for (judge, score) in [accuracy as fn(&[f32], &[u32]) -> f64, probability].into_iter().enumerate()
            {
                let found = scores(chosen, score);
                let taken = (0..found.len()).max_by(|&a, &b| found[a].total_cmp(&found[b])).unwrap_or(0);
                sums[2 * judge] += correlation(&found, &truth);
                sums[2 * judge + 1] += 100.0 * (best - truth[taken]);
            }
        }
        let [by_accuracy, lost, by_probability, lost_less] = sums.map(|sum| sum / f64::from(TIMES));
        println!("| {few} | {by_accuracy:.2} | {lost:.2} | {by_probability:.2} | {lost_less:.2} |");
    }
    Ok(())
}

/// The weights of all finished classifiers below a comparison, by policy.
fn weights(folder: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let mut found = Vec::new();
    for policy in std::fs::read_dir(folder)? {
        let policy = policy?;
        if !policy.path().is_dir() {
            continue;
        }
        for seed in std::fs::read_dir(policy.path())? {
            let path = seed?.path().join("weights.safetensors");
            if path.exists() {
                found.push((policy.file_name().to_string_lossy().into_owned(), path));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn logits(path: &Path, settings: &Settings, setup: &Setup) -> Result<Vec<f32>, Box<dyn Error>> {
    let network =
        Network::new(settings.network.parse()?, setup.dataset.classes.len(), setup.dataset.channels)?;
    let mut classifier = Classifier::new(network, &Device::open(&settings.device)?, 0);
    classifier.load(path)?;
    let order = Order::new(setup.test.clone(), settings.batch, Sequence::AsGiven, false);
    let side = setup.pipeline.size;
    let mut logits = Vec::new();
    for number in 0..order.batches() as u64 {
        let mut images = order.prepare(&setup.dataset, &setup.pipeline, number)?.images.into_vec();
        setup.pipeline.normalise(&mut images);
        logits.extend(classifier.logits(Batch {
            images: &images,
            labels: &[],
            height: side,
            width: side,
        })?);
    }
    Ok(logits)
}

fn accuracy(logits: &[f32], labels: &[u32]) -> f64 {
    let classes = logits.len() / labels.len();
    let right = |(row, label): &(&[f32], &u32)| row.iter().all(|logit| *logit <= row[**label as usize]);
    logits.chunks_exact(classes).zip(labels).filter(right).count() as f64 / labels.len() as f64
}

/// Spearman's.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let below = |value: &f64| values.iter().filter(|other| *other < value).count() as f64;
        let same = |value: &f64| values.iter().filter(|other| *other == value).count() as f64;
        values.iter().map(|value| below(value) + 0.5 * same(value) - 0.5 * values.len() as f64).collect()
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (one, other) = (ranks(one), ranks(other));
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt().max(f64::MIN_POSITIVE)
}
