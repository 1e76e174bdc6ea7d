//! One cell of a comparison: a classifier trained under one candidate with one seed, in a folder of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::error::Error;
use crate::run::{Journal, TrainingEpoch, make_folder, read_json, write_json};
use crate::session::{ClassCount, DataIdentity, Halt, Observer, Session as _, Training, drive};

/// What a finished training found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialResult {
    /// What it was trained under.
    pub candidate: String,
    /// The seed.
    pub seed: u64,
    /// The data it was trained and tested with.
    pub data: DataIdentity,
    /// Top-1 accuracy on the test images.
    pub test_accuracy: f64,
    /// Loss on the test images.
    pub test_loss: f64,
    /// The mean probability of the right class on the test images, where one temperature for all of them has made
    /// probabilities as honest as it can. Older results lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_probability: Option<f64>,
    /// Mean loss of the last epoch's training batches.
    pub training_loss: f64,
    /// Accuracy likewise.
    pub training_accuracy: f64,
    /// Seconds of all epochs, without evaluations.
    pub seconds: f64,
    /// Of these, seconds in which the network waited for images.
    pub waiting_seconds: f64,
    /// Whether it began with trained weights.
    pub warm_start: bool,
    /// How many test images of each class it has right, in the order of the data's classes. Older results lack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassCount>,
}

/// A cell: what is trained, and where it is written down.
#[derive(Clone, Debug)]
pub struct Trial {
    candidate: Arc<Candidate>,
    seed: u64,
    folder: PathBuf,
    data: DataIdentity,
}

impl Trial {
    /// The cell of a candidate and a seed in the folder of a run that was begun with this data.
    pub(super) fn new(
        run: &Path,
        candidate: &Arc<Candidate>,
        folder: &str,
        seed: u64,
        data: &DataIdentity,
    ) -> Self {
        let folder = run.join(folder).join(format!("seed-{seed}"));
        Self { candidate: Arc::clone(candidate), seed, folder, data: data.clone() }
    }

    /// What is trained under.
    pub fn candidate(&self) -> &Arc<Candidate> {
        &self.candidate
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The trained weights, once it is finished.
    pub fn weights_path(&self) -> PathBuf {
        self.folder.join("weights.safetensors")
    }

    fn result_path(&self) -> PathBuf {
        self.folder.join("result.json")
    }

    /// The epochs that have ended.
    pub fn epochs(&self) -> Result<Vec<TrainingEpoch>, Error> {
        Journal::new(&self.folder).epochs()
    }

    /// What it found, if it is finished. A result of something else, or of other data, is refused.
    pub fn result(&self) -> Result<Option<TrialResult>, Error> {
        let path = self.result_path();
        if !path.exists() {
            return Ok(None);
        }
        let result: TrialResult = read_json(&path, "a result")?;
        if (&*result.candidate, result.seed) != (self.candidate.name(), self.seed) {
            let reason = format!("is the result of {} with seed {}", result.candidate, result.seed);
            return Err(Error::NotARun { path, reason });
        }
        if result.data != self.data {
            return Err(Error::other_data(&path, &result.data, &self.data));
        }
        Ok(Some(result))
    }

    /// Trains to the end, or until `stop` is set: then the state is saved and there is no result yet.
    pub(super) fn carry_out(
        &self,
        mut training: Training,
        warm_start: bool,
        observer: &mut dyn Observer<Training>,
        stop: &AtomicBool,
    ) -> Result<Option<TrialResult>, Error> {
        make_folder(&self.folder)?;
        let journal = Journal::new(&self.folder);
        journal.restore(&mut training)?;
        match drive(&mut training, Some(&self.folder), observer, stop)? {
            Halt::Stopped => Ok(None),
            Halt::Finished => {
                observer.before_writing()?;
                self.finish(&training, &journal, warm_start).map(Some)
            }
        }
    }

    fn finish(&self, training: &Training, journal: &Journal, warm_start: bool) -> Result<TrialResult, Error> {
        let epochs: Vec<TrainingEpoch> = journal.epochs()?;
        let Some(last) = epochs.last() else {
            let reason = "its metrics are gone: remove this folder, and it will be trained again".to_owned();
            return Err(Error::NotARun { path: self.folder.clone(), reason });
        };
        let judged = training.judged()?;
        let sum = |of: fn(&TrainingEpoch) -> f64| epochs.iter().map(of).sum::<f64>();
        let waiting_seconds = sum(|epoch| epoch.waiting_seconds);
        let result = TrialResult {
            candidate: self.candidate.name().to_owned(),
            seed: self.seed,
            data: training.data().clone(),
            test_accuracy: judged.score.accuracy,
            test_loss: judged.score.loss,
            test_probability: Some(judged.probability),
            training_loss: last.loss,
            training_accuracy: last.accuracy,
            seconds: waiting_seconds + sum(|epoch| epoch.training_seconds),
            waiting_seconds,
            warm_start,
            classes: judged.classes,
        };
        training.classifier().save(&self.weights_path())?;
        write_json(&self.result_path(), &result)?;
        // The result says that the cell is finished; what it would continue from is not needed any more.
        journal.forget()?;
        Ok(result)
    }
}
