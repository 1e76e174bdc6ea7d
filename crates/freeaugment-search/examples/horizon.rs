//! How much of what a policy is worth in the long run is seen by a search that looks T steps ahead?
//!
//! One training under the initial policy; what each image of each step adds to the validation loss at its very end is
//! computed exactly, and beside it what it adds to the validation loss T steps later at most. Printed for every T: the
//! cosine between the two, image by image (parts) and for the policy's slopes (depth, types, magnitudes).
//!
//!     cargo run --release -p freeaugment-search --example horizon -- DATA [EPOCHS] [SEED] [NETWORK] [BATCH]

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use freeaugment::{Groups, Policy};
use freeaugment_data::PictureBatch;
use freeaugment_nn::optimizer::{Cosine, Sgd, SgdAdjoint};
use freeaugment_nn::{Batch, Classifier, Device, Network, Weights};
use freeaugment_search::{Patch, Settings, Setup, Task, resolve};

/// Learning begins here, as in a search.
const WARM_UP: f64 = 0.3;
/// What lies so near the end of the training is not compared: there the truth looks no further ahead itself.
const END: u64 = 150;
const HORIZONS: [u64; 6] = [1, 5, 15, 50, 150, 450];

/// What images add to a loss: each one's part, and the slopes of the policy.
#[derive(Default)]
struct Credit {
    parts: Vec<f32>,
    depth: Vec<f32>,
    types: Vec<f32>,
    magnitudes: Vec<f32>,
}

struct Past {
    settings: Settings,
    setup: Setup,
    policy: Policy,
    classifier: Classifier,
    sgd: Sgd,
    cosine: Cosine,
    /// The weights before every step, and those at the end.
    weights: Vec<Weights>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let data = arguments.first().ok_or("which data?")?;
    let given = |at: usize, usual: &'static str| arguments.get(at).map_or(usual, String::as_str);
    let (epochs, seed, network, batch) =
        (given(1, "200"), given(2, "0"), given(3, "WRN-16-1"), given(4, "64"));
    let text = format!(
        "data = '{data}'\nimages = 0\nsize = 32\nepochs = {epochs}\nseed = {seed}\nnetwork = '{network}'\nbatch = {batch}"
    );
    let patch = Patch { place: "the command line".to_owned(), values: text.parse()? };
    let past = Past::train(resolve(Task::Search, "quick", &[patch])?)?;
    let steps = past.weights.len() as u64 - 1;
    let compared = (WARM_UP * steps as f64) as u64..steps - END;
    println!("steps {}..{} of {steps}", compared.start, compared.end);
    println!("T,parts,depth,types,magnitudes");
    let truth = past.look_back(compared.start..steps, compared.end)?;
    for horizon in HORIZONS {
        let mut seen = Credit::default();
        let mut start = compared.start;
        while start < compared.end {
            let end = (start + horizon).min(compared.end);
            seen.extend(past.look_back(start..end, end)?);
            start = end;
        }
        let cosines = [
            cosine(&seen.parts, &truth.parts),
            cosine(&seen.depth, &truth.depth),
            cosine(&seen.types, &truth.types),
            cosine(&seen.magnitudes, &truth.magnitudes),
        ];
        println!("{horizon},{}", cosines.map(|cosine| format!("{cosine:.3}")).join(","));
    }
    Ok(())
}

impl Past {
    fn train(settings: Settings) -> Result<Self, Box<dyn Error>> {
        let setup = Setup::for_search(&settings, &())?;
        let policy = settings.policy_config()?.init()?;
        let network =
            Network::new(settings.network.parse()?, setup.dataset.classes.len(), setup.dataset.channels)?;
        let classifier = Classifier::new(network, &Device::cpu(), settings.seed);
        let sgd = Sgd::new(settings.momentum as f32, true, settings.weight_decay as f32)?;
        let steps = settings.epochs * setup.steps_per_epoch;
        let cosine = Cosine::new(settings.learning_rate, 0.0, steps)?;
        let mut past = Self { settings, setup, policy, classifier, sgd, cosine, weights: Vec::new() };
        for step in 0..steps {
            past.weights.push(past.classifier.weights().clone());
            let (pictures, images, _) = past.batch(step)?;
            let evaluation = past.classifier.train(past.as_batch(&images, &pictures.labels))?;
            let rate = past.cosine.rate(step) as f32;
            past.sgd.step(past.classifier.weights_mut(), &evaluation.gradient, rate)?;
        }
        past.weights.push(past.classifier.weights().clone());
        Ok(past)
    }

    /// Training batch `step`, as the policy and as the network sees it.
    fn batch(&self, step: u64) -> Result<(PictureBatch, Vec<f32>, freeaugment::Sample), Box<dyn Error>> {
        let pictures = self.setup.training.prepare(&self.setup.dataset, &self.setup.pipeline, step)?;
        let noise = self.policy.draw(self.settings.seed, pictures.epoch, &pictures.indices);
        let sample = self.policy.sample(noise, 1.0)?;
        let augmented = self.policy.apply(&pictures.images, &sample)?;
        let images = self.setup.pipeline.after(augmented.as_slice(), &pictures.views);
        Ok((pictures, images, sample))
    }

    fn as_batch<'a>(&self, images: &'a [f32], labels: &'a [u32]) -> Batch<'a> {
        let side = self.setup.pipeline.size;
        Batch { images, labels, height: side, width: side }
    }

    /// The gradient of the validation loss at the weights before a step, over several batches.
    fn validation(&self, step: u64) -> Result<Weights, Box<dyn Error>> {
        let batches = self.setup.validation.batches().min(8) as u64;
        let mut total = Weights::zeros(self.classifier.layout().clone());
        for number in 0..batches {
            let pictures =
                self.setup.validation.prepare(&self.setup.dataset, &self.setup.pipeline, number)?;
            let mut images = pictures.images.into_vec();
            self.setup.pipeline.normalise(&mut images);
            let batch = self.as_batch(&images, &pictures.labels);
            let (evaluation, _) = self.classifier.gradient_at(&self.weights[step as usize], batch)?;
            total.add_scaled(1.0 / batches as f32, &evaluation.gradient)?;
        }
        Ok(total)
    }

    /// What the images of the steps before `until` add to the validation loss at the end of `steps`.
    fn look_back(&self, steps: std::ops::Range<u64>, until: u64) -> Result<Credit, Box<dyn Error>> {
        let mut adjoint = SgdAdjoint::new(&self.sgd, self.validation(steps.end)?);
        let mut credits = Vec::new();
        for step in steps.rev() {
            let (pictures, images, sample) = self.batch(step)?;
            let batch = self.as_batch(&images, &pictures.labels);
            let (_, record) = self.classifier.gradient_at(&self.weights[step as usize], batch)?;
            let direction = adjoint.direction(self.cosine.rate(step) as f32)?;
            let (found, product) = record.hypergradient_and_product(&direction)?;
            adjoint.step_back(&direction, &product)?;
            if step >= until {
                continue;
            }
            let cotangent = self.setup.pipeline.after_pullback(&found.q, &pictures.views);
            let gradient = self
                .policy
                .pullback_with_losses(&pictures.images, &sample, &cotangent, &found.parts, Groups::ALL)?
                .parameters;
            let mean = found.parts.iter().sum::<f32>() / found.parts.len() as f32;
            credits.push(Credit {
                parts: found.parts.iter().map(|part| part - mean).collect(),
                depth: gradient.depth().to_vec(),
                types: gradient.types().to_vec(),
                magnitudes: gradient.magnitudes().concat(),
            });
        }
        let mut all = Credit::default();
        for credit in credits.into_iter().rev() {
            all.extend(credit);
        }
        Ok(all)
    }
}

impl Credit {
    /// Parts stand one after the other, slopes add up.
    fn extend(&mut self, later: Self) {
        self.parts.extend(later.parts);
        for (sums, values) in [
            (&mut self.depth, later.depth),
            (&mut self.types, later.types),
            (&mut self.magnitudes, later.magnitudes),
        ] {
            sums.resize(values.len(), 0.0);
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
