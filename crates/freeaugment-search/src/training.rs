//! Training a fresh classifier under a policy that stays as it is.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use freeaugment_base::random::Purpose;
use freeaugment_data::{Loader, Order, Pipeline};
use freeaugment_nn::optimizer::{Cosine, Sgd, Warmup};
use freeaugment_nn::{Batch, Classifier, CrossEntropy, Device, Network};
use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, Prepared};
use crate::error::Error;
use crate::evaluate::{Score, evaluate};
use crate::plan::Plan;
use crate::run::Run;
use crate::search::accuracy;
use crate::settings::{Settings, Task};
use crate::state::{Reader, Writer, broken};

const ORDER: Purpose = Purpose::named("training/order");

/// A classifier being trained. Batches are loaded and augmented on other threads meanwhile.
#[derive(Debug)]
pub struct Training {
    settings: Settings,
    plan: Plan,
    candidate: Arc<Candidate>,
    seed: u64,
    classifier: Classifier,
    sgd: Sgd,
    schedule: Cosine,
    warm_up: Warmup,
    step: u64,
    tally: Tally,
    loader: Option<Loader<Prepared, Error>>,
}

/// Sums over the steps of an epoch.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Tally {
    steps: u64,
    loss: f64,
    accuracy: f64,
    waiting_seconds: f64,
    training_seconds: f64,
}

/// What an epoch of a training was like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingEpoch {
    /// The epoch, from 1.
    pub epoch: u64,
    /// The learning rate of its last step.
    pub learning_rate: f64,
    /// Mean training loss, under the policy.
    pub loss: f64,
    /// Training accuracy, under the policy.
    pub accuracy: f64,
    /// Loss on the test images, where it was measured.
    pub test_loss: Option<f64>,
    /// Accuracy likewise.
    pub test_accuracy: Option<f64>,
    /// Seconds in which the network waited for images.
    pub waiting_seconds: f64,
    /// Seconds in which it learned.
    pub training_seconds: f64,
    /// Seconds of the evaluation after the epoch.
    pub evaluation_seconds: f64,
}

impl Training {
    /// A training at its beginning. The seed is that of weights, order and augmentation; the data is the plan's.
    pub fn new(
        settings: &Settings,
        plan: &Plan,
        candidate: &Arc<Candidate>,
        seed: u64,
    ) -> Result<Self, Error> {
        let network =
            Network::new(settings.network.parse()?, plan.dataset.classes.len(), plan.dataset.channels)?;
        let loss = CrossEntropy::new(settings.label_smoothing as f32)?;
        let mut classifier = Classifier::new(network, &Device::open(&settings.device)?, seed).with_loss(loss);
        let warm = !settings.warm_start.is_empty();
        if warm {
            let path = Path::new(&settings.warm_start);
            classifier.load(&if path.is_dir() { Run::classifier_path(path) } else { path.to_owned() })?;
        }
        Ok(Self {
            settings: settings.clone(),
            plan: plan.clone(),
            candidate: Arc::clone(candidate),
            seed,
            classifier,
            sgd: Sgd::new(settings.momentum as f32, true, settings.weight_decay as f32)?,
            schedule: Cosine::new(settings.learning_rate, 0.0, settings.epochs * plan.steps)?,
            warm_up: Warmup::new(if warm { settings.warm_start_epochs * plan.steps } else { 0 }),
            step: 0,
            tally: Tally::default(),
            loader: None,
        })
    }

    /// Steps taken.
    pub fn steps_done(&self) -> u64 {
        self.step
    }

    /// Steps of the whole training.
    pub fn steps_total(&self) -> u64 {
        self.settings.epochs * self.plan.steps
    }

    /// The classifier as it is now.
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// Seconds of the current epoch in which the network waited for images.
    pub fn waiting(&self) -> f64 {
        self.tally.waiting_seconds
    }

    /// Whether it began with trained weights.
    pub(crate) fn is_warm(&self) -> bool {
        !self.settings.warm_start.is_empty()
    }

    /// Steps in an epoch.
    pub(crate) fn steps_per_epoch(&self) -> u64 {
        self.plan.steps
    }

    fn rate(&self, step: u64) -> f64 {
        self.schedule.rate(step) * self.warm_up.factor(step)
    }

    /// One step: the loss and the share of images classified rightly.
    pub fn step(&mut self) -> Result<(f64, f64), Error> {
        let began = Instant::now();
        let prepared = self.next_batch()?;
        let waited = began.elapsed().as_secs_f64();
        let side = self.plan.pipeline.size;
        let batch = Batch { images: &prepared.images, labels: &prepared.labels, height: side, width: side };
        let evaluation = self.classifier.train(batch)?;
        if !evaluation.loss.is_finite() {
            let (epoch, step) = (self.step / self.plan.steps + 1, self.step % self.plan.steps + 1);
            return Err(Error::Diverged { loss: evaluation.loss, epoch, step });
        }
        let rate = self.rate(self.step) as f32;
        self.sgd.step(self.classifier.weights_mut(), &evaluation.gradient, rate)?;
        let accuracy = accuracy(&evaluation.logits, &prepared.labels);
        self.step += 1;
        self.tally.steps += 1;
        self.tally.loss += evaluation.loss;
        self.tally.accuracy += accuracy;
        self.tally.waiting_seconds += waited;
        self.tally.training_seconds += began.elapsed().as_secs_f64() - waited;
        Ok((evaluation.loss, accuracy))
    }

    /// Ends the epoch that the last step belongs to.
    pub(crate) fn end_epoch(&mut self) -> Result<TrainingEpoch, Error> {
        let epoch = self.step / self.plan.steps;
        let tally = std::mem::take(&mut self.tally);
        let every = self.settings.evaluate_every;
        let is_due = epoch == self.settings.epochs || (every > 0 && epoch.is_multiple_of(every));
        let began = Instant::now();
        let score = is_due.then(|| self.score()).transpose()?;
        let mean = |sum: f64| sum / tally.steps.max(1) as f64;
        Ok(TrainingEpoch {
            epoch,
            learning_rate: self.rate(self.step - 1),
            loss: mean(tally.loss),
            accuracy: mean(tally.accuracy),
            test_loss: score.map(|score| score.loss),
            test_accuracy: score.map(|score| score.accuracy),
            waiting_seconds: tally.waiting_seconds,
            training_seconds: tally.training_seconds,
            evaluation_seconds: began.elapsed().as_secs_f64(),
        })
    }

    /// How good the classifier is on the test images.
    pub fn score(&self) -> Result<Score, Error> {
        evaluate(&self.classifier, &self.plan, &self.plan.test, self.settings.batch)
    }

    /// The threads that prepare batches; started when first needed, at the step where the training stands.
    fn next_batch(&mut self) -> Result<Prepared, Error> {
        let range = (self.step, self.steps_total());
        let Self { plan, candidate, settings, seed, .. } = self;
        let loader = self.loader.get_or_insert_with(|| {
            let order = Order {
                purpose: ORDER,
                seed: *seed,
                views: candidate.has_views(),
                ..(*plan.training).clone()
            };
            let pipeline: Pipeline = candidate.pipeline(&plan.pipeline);
            let (dataset, candidate, end) = (Arc::clone(&plan.dataset), Arc::clone(candidate), range.1);
            Loader::new(range, settings.workers, move |number| {
                let batch = order.prepare(&dataset, &pipeline, number)?;
                candidate.prepare(&pipeline, batch, order.seed, number as f64 / end as f64)
            })
        });
        loader.next_batch()
    }

    /// Writes all that changes, to continue from.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        let mut file = Writer::default();
        file.classifier(&self.classifier, &self.sgd);
        file.entry("settings", self.settings.to_toml(Task::Training));
        file.entry("data", format!("{:016x}", self.plan.fingerprint));
        file.entry("seed", self.seed.to_string());
        file.entry("candidate", self.candidate.identity().to_owned());
        file.entry("step", self.step.to_string());
        file.entry("tally", serde_json::to_string(&self.tally).expect("a tally is plain numbers"));
        file.write(path)
    }

    /// Puts a training at its beginning where the checkpoint was.
    pub(crate) fn restore(&mut self, path: &Path) -> Result<(), Error> {
        let bytes = std::fs::read(path).map_err(Error::io(path))?;
        let file = Reader::new(path, &bytes)?;
        let own = [
            ("settings", self.settings.to_toml(Task::Training)),
            ("data", format!("{:016x}", self.plan.fingerprint)),
            ("seed", self.seed.to_string()),
            ("candidate", self.candidate.identity().to_owned()),
        ];
        for (key, value) in own {
            if file.entry(key)? != value {
                let reason = format!("belongs to another training: its {key} differs");
                return Err(Error::Checkpoint { path: path.to_owned(), reason });
            }
        }
        let step: u64 = file.number("step")?;
        if step > self.steps_total() {
            return Err(broken(path, &format!("step {step} lies beyond the end of the training")));
        }
        self.tally = serde_json::from_str(file.entry("tally")?)
            .map_err(|error| broken(path, &format!("its tally: {error}")))?;
        file.classifier(&mut self.classifier, &mut self.sgd)?;
        self.step = step;
        Ok(())
    }
}
