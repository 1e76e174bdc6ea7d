//! Training a fresh classifier under a policy that stays as it is.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use freeaugment_base::random::Purpose;
use freeaugment_data::Loader;
use freeaugment_nn::ranks::Ranks;
use freeaugment_nn::{Batch, Classifier};
use serde::{Deserialize, Serialize};

use super::evaluation::{Judgement, Score, judge};
use super::pace::Pace;
use super::shared::Shared;
use super::trainer::{Trainer, classifier};
use super::{DataIdentity, Progress, Session, Setup, Step};
use crate::compare::{Augmented, Candidate};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::run::{RunFolder, StateReader, StateWriter, TrainingEpoch};

const ORDER: Purpose = Purpose::named("training/order");

/// A classifier being trained. Batches are loaded and augmented on other threads meanwhile.
#[derive(Debug)]
pub struct Training {
    settings: Settings,
    setup: Setup,
    shared: Shared,
    candidate: Arc<Candidate>,
    seed: u64,
    trainer: Trainer,
    tally: Tally,
    /// What the last evaluation found.
    judged: Option<Judgement>,
    loader: Option<Loader<Augmented, Error>>,
}

/// Seconds of the steps of an epoch.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Tally {
    waiting_seconds: f64,
    training_seconds: f64,
}

impl Training {
    /// A training at its beginning. The seed is that of weights, order and augmentation; the data is the setup's.
    pub fn new(
        settings: &Settings,
        setup: &Setup,
        candidate: &Arc<Candidate>,
        seed: u64,
    ) -> Result<Self, Error> {
        let mut classifier = classifier(settings, setup, seed)?;
        let mut rise = 0;
        if !settings.warm_start.is_empty() {
            let path = Path::new(&settings.warm_start);
            let path = if path.is_dir() { RunFolder::new(path).classifier() } else { path.to_owned() };
            classifier.load(&path)?;
            rise = settings.warm_start_epochs * setup.steps_per_epoch;
        }
        Ok(Self {
            settings: settings.clone(),
            setup: setup.clone(),
            shared: Shared::new(Arc::clone(&setup.ranks), settings.batch)?,
            candidate: Arc::clone(candidate),
            seed,
            trainer: Trainer::new(
                settings,
                classifier,
                Pace::new(settings, setup.steps_per_epoch, 0.0, rise)?,
            )?,
            tally: Tally::default(),
            judged: None,
            loader: None,
        })
    }

    /// The classifier as it is now.
    pub fn classifier(&self) -> &Classifier {
        &self.trainer.classifier
    }

    /// Seconds of the current epoch in which the network waited for images.
    pub fn waiting(&self) -> f64 {
        self.tally.waiting_seconds
    }

    /// How good the classifier is on the test images.
    pub fn score(&self) -> Result<Score, Error> {
        self.judged().map(|found| found.score)
    }

    /// As [`Self::score`], with all that can be told; what an evaluation of this process has found since the last step is
    /// not looked for again.
    pub(crate) fn judged(&self) -> Result<Judgement, Error> {
        self.judged.clone().map_or_else(|| self.judge(), Ok)
    }

    fn judge(&self) -> Result<Judgement, Error> {
        judge(&self.trainer.classifier, &self.setup, &self.setup.test, self.settings.batch)
    }

    /// The threads that prepare batches; started when first needed, at the step where the training stands.
    fn next_batch(&mut self) -> Result<Augmented, Error> {
        let Progress { done, total, .. } = self.trainer.pace.progress();
        let Self { setup, shared, candidate, settings, seed, .. } = self;
        let loader = self.loader.get_or_insert_with(|| {
            let order = setup.training_order(ORDER, *seed, candidate.has_views());
            let pipeline = candidate.pipeline(&setup.pipeline);
            let (dataset, candidate, seed) = (Arc::clone(&setup.dataset), Arc::clone(candidate), *seed);
            let part = shared.own();
            Loader::new((done, total), settings.workers, move |number| {
                let batch = order.prepare_part(&dataset, &pipeline, number, part.clone())?;
                candidate.prepare(&pipeline, batch, seed, number as f64 / total as f64)
            })
        });
        loader.next_batch()
    }
}

impl Session for Training {
    type Epoch = TrainingEpoch;

    fn progress(&self) -> Progress {
        self.trainer.pace.progress()
    }

    fn step(&mut self) -> Result<Step, Error> {
        let began = Instant::now();
        self.judged = None;
        let augmented = self.next_batch()?;
        let waited = began.elapsed().as_secs_f64();
        let side = self.setup.pipeline.size;
        let batch = Batch { images: &augmented.images, labels: &augmented.labels, height: side, width: side };
        let (evaluation, _) = self.trainer.train(batch, false)?;
        self.trainer.descend(&evaluation.gradient)?;
        let accuracy = self.shared.accuracy(&evaluation.logits, &augmented.labels);
        let seen = self.trainer.pace.seen(evaluation.loss, accuracy);
        self.trainer.pace.advance(&seen, 0.0);
        self.tally.waiting_seconds += waited;
        self.tally.training_seconds += began.elapsed().as_secs_f64() - waited;
        Ok(seen)
    }

    fn end_epoch(&mut self) -> Result<TrainingEpoch, Error> {
        let epoch = self.trainer.pace.epoch();
        let tally = std::mem::take(&mut self.tally);
        let training = std::mem::take(&mut self.trainer.pace.tally);
        let began = Instant::now();
        self.judged = self.settings.evaluates_after(epoch).then(|| self.judge()).transpose()?;
        let score = self.judged.as_ref().map(|found| found.score);
        Ok(TrainingEpoch {
            epoch,
            learning_rate: self.trainer.pace.last_rate(),
            loss: training.loss(),
            accuracy: training.accuracy(),
            test_loss: score.map(|score| score.loss),
            test_accuracy: score.map(|score| score.accuracy),
            waiting_seconds: tally.waiting_seconds,
            training_seconds: tally.training_seconds,
            evaluation_seconds: began.elapsed().as_secs_f64(),
        })
    }

    fn settings(&self) -> (Task, &Settings) {
        (Task::Comparison, &self.settings)
    }

    fn data(&self) -> &DataIdentity {
        &self.setup.identity
    }

    fn ranks(&self) -> Arc<dyn Ranks> {
        Arc::clone(self.shared.ranks())
    }

    fn identity(&self) -> Vec<(&'static str, String)> {
        vec![("seed", self.seed.to_string()), ("candidate", self.candidate.identity().to_owned())]
    }

    fn save(&self, state: &mut StateWriter) -> Result<(), Error> {
        state.json("training_tally", &self.tally);
        self.trainer.moment().save(state)
    }

    fn restore(&mut self, state: &StateReader) -> Result<(), Error> {
        self.trainer.restore(state)?;
        self.tally = state.json("training_tally")?;
        Ok(())
    }
}
