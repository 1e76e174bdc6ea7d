//! What takes steps: a search, or the training of a classifier. One trait, one loop.

mod cycles;
mod drive;
mod evaluation;
mod gallery;
mod lookahead;
mod model;
mod native;
mod pace;
mod search;
mod setup;
mod shared;
mod slopes;
mod trail;
mod trainer;
mod training;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use freeaugment_nn::ranks::{Alone, Ranks};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use drive::{Halt, Observer, drive};
pub use evaluation::{ClassCount, Score, evaluate, probability};
pub use gallery::{Gallery, Specimen};
pub use model::{Augment, Model, Shown, Trained};
pub use native::Native;
pub use pace::Pace;
pub use search::Search;
pub use setup::{DataIdentity, ReadProgress, Setup, open_data};
pub use shared::agree;
pub use training::Training;

use crate::config::{Settings, Task};
use crate::error::Error;
use crate::run::{StateReader, StateWriter};

/// Something that is trained step by step, in epochs, and can be left and taken up again.
///
/// [`drive`] needs no more of it than this. What a step is made of is the session's own affair: one batch, or one batch
/// of a cycle whose last step goes through all of them backwards; a network of this library, or one that lives elsewhere.
pub trait Session {
    /// What an epoch was like: a line of the metrics.
    type Epoch: Serialize + DeserializeOwned;

    /// Where it stands.
    fn progress(&self) -> Progress;

    /// Takes one step.
    fn step(&mut self) -> Result<Step, Error>;

    /// Ends the epoch that the last step belongs to.
    fn end_epoch(&mut self) -> Result<Self::Epoch, Error>;

    /// Writes what an epoch leaves in the session's folder beside its line in the metrics.
    fn write_epoch(&self, _folder: &Path, _epoch: &Self::Epoch) -> Result<(), Error> {
        Ok(())
    }

    /// What it does, and the settings that decide it.
    fn settings(&self) -> (Task, &Settings);

    /// The data it works with.
    fn data(&self) -> &DataIdentity;

    /// What else a state must have in common with it, by name.
    fn identity(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Writes all that changes, to continue from.
    fn save(&self, state: &mut StateWriter) -> Result<(), Error>;

    /// Puts a session at its beginning where the state was.
    fn restore(&mut self, state: &StateReader) -> Result<(), Error>;

    /// The processes that share it, each with a part of every batch.
    fn ranks(&self) -> Arc<dyn Ranks> {
        Arc::new(Alone)
    }

    /// How much work steps are, counted in steps that only train: for telling the time that is left.
    fn work(&self, steps: Range<u64>) -> f64 {
        (steps.end - steps.start) as f64
    }
}

/// Where a session stands, counted in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps taken since the beginning.
    pub done: u64,
    /// Steps of the whole session.
    pub total: u64,
    /// Steps in an epoch.
    pub per_epoch: u64,
}

impl Progress {
    /// Whether no step is left.
    pub fn is_finished(&self) -> bool {
        self.done >= self.total
    }

    /// Epochs that have ended.
    pub fn epochs_done(&self) -> u64 {
        self.done / self.per_epoch
    }

    /// Epochs of the whole session.
    pub fn epochs(&self) -> u64 {
        self.total / self.per_epoch
    }
}

/// What one step saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The step within the epoch, from 0.
    pub step: u64,
    /// The training loss.
    pub loss: f64,
    /// The share of training images that were classified rightly.
    pub accuracy: f64,
    /// The validation loss and accuracy, where a policy learned.
    pub validation: Option<(f64, f64)>,
    /// Where a cycle of steps is gone through backwards: how many of how many are done.
    pub looking_back: Option<(u64, u64)>,
}
