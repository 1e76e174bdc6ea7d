//! One cell of a comparison: a classifier trained under one candidate with one seed, in a folder of its own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files::{append, whole_lines};
use crate::training::{Training, TrainingEpoch};

const METRICS: &str = "metrics.jsonl";
const RESULT: &str = "result.json";
const WEIGHTS: &str = "weights.safetensors";
const CHECKPOINT: &str = "checkpoint.safetensors";
/// How long work may be lost to a crash.
const SAVE_EVERY: Duration = Duration::from_mins(1);

/// What a finished training found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What it was trained under.
    pub candidate: String,
    /// The seed.
    pub seed: u64,
    /// Top-1 accuracy on the test images.
    pub test_accuracy: f64,
    /// Loss on the test images.
    pub test_loss: f64,
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
}

/// A cell: where it is written down.
#[derive(Clone, Debug)]
pub struct Trial {
    folder: PathBuf,
    candidate: String,
    seed: u64,
}

impl Trial {
    /// The cell of a candidate and a seed in the folder of a run.
    pub(crate) fn new(run: &Path, candidate: &str, folder: &str, seed: u64) -> Self {
        let folder = run.join(folder).join(format!("seed-{seed}"));
        Self { folder, candidate: candidate.to_owned(), seed }
    }

    /// What it found, if it is finished.
    pub fn outcome(&self) -> Result<Option<Outcome>, Error> {
        let path = self.folder.join(RESULT);
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read(&path).map_err(Error::io(&path))?;
        let outcome: Outcome = serde_json::from_slice(&text).map_err(|error| Error::NotARun {
            path: path.clone(),
            reason: format!("is not a result: {error}"),
        })?;
        if (&outcome.candidate, outcome.seed) != (&self.candidate, self.seed) {
            let reason = format!("is the result of {} with seed {}", outcome.candidate, outcome.seed);
            return Err(Error::NotARun { path, reason });
        }
        Ok(Some(outcome))
    }

    /// Trains to the end, or until `stop` is set: then the state is saved and there is no outcome yet. `told` hears of
    /// every step: how many are done, loss and accuracy.
    pub fn carry_out(
        &self,
        training: Training,
        stop: &AtomicBool,
        told: &mut dyn FnMut(u64, f64, f64),
    ) -> Result<Option<Outcome>, Error> {
        std::fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
        let mut training = training;
        let (checkpoint, metrics) = (self.folder.join(CHECKPOINT), self.folder.join(METRICS));
        if checkpoint.exists() {
            training.restore(&checkpoint)?;
        }
        // Epochs that have to be done again are dropped.
        let done = (training.steps_done() / training.steps_per_epoch()) as usize;
        let mut lines = whole_lines::<TrainingEpoch>(&metrics)?;
        lines.truncate(done);
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        freeaugment_base::write_atomically(&metrics, text.as_bytes()).map_err(Error::io(&metrics))?;

        let mut saved = Instant::now();
        while training.steps_done() < training.steps_total() {
            if stop.load(Ordering::Relaxed) {
                training.save(&checkpoint)?;
                return Ok(None);
            }
            let (loss, accuracy) = training.step()?;
            if training.steps_done().is_multiple_of(training.steps_per_epoch()) {
                let epoch = training.end_epoch()?;
                let line = serde_json::to_string(&epoch).expect("metrics are plain values");
                append(&metrics, &line)?;
                lines.push(line);
            }
            if saved.elapsed() >= SAVE_EVERY {
                training.save(&checkpoint)?;
                saved = Instant::now();
            }
            told(training.steps_done(), loss, accuracy);
        }
        self.finish(&training, &lines).map(Some)
    }

    fn finish(&self, training: &Training, lines: &[String]) -> Result<Outcome, Error> {
        let epochs: Vec<TrainingEpoch> =
            lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
        // Without epochs nothing was trained; a checkpoint at the very end has lost none of them.
        let last = epochs.last();
        let score = match last.and_then(|epoch| epoch.test_loss.zip(epoch.test_accuracy)) {
            Some(score) => score,
            None => training.score().map(|score| (score.loss, score.accuracy))?,
        };
        let sum = |of: fn(&TrainingEpoch) -> f64| epochs.iter().map(of).sum::<f64>();
        let waiting_seconds = sum(|epoch| epoch.waiting_seconds);
        let outcome = Outcome {
            candidate: self.candidate.clone(),
            seed: self.seed,
            test_accuracy: score.1,
            test_loss: score.0,
            training_loss: last.map_or(f64::NAN, |epoch| epoch.loss),
            training_accuracy: last.map_or(f64::NAN, |epoch| epoch.accuracy),
            seconds: waiting_seconds + sum(|epoch| epoch.training_seconds),
            waiting_seconds,
            warm_start: training.is_warm(),
        };
        training.classifier().save(&self.folder.join(WEIGHTS))?;
        let text = serde_json::to_string_pretty(&outcome).expect("plain values") + "\n";
        let path = self.folder.join(RESULT);
        freeaugment_base::write_atomically(&path, text.as_bytes()).map_err(Error::io(&path))?;
        // The result says that the cell is finished; what it would continue from is not needed any more.
        let checkpoint = self.folder.join(CHECKPOINT);
        match std::fs::remove_file(&checkpoint) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(&checkpoint)(error)),
            _ => Ok(outcome),
        }
    }
}
