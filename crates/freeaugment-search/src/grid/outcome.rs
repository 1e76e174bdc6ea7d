//! How far a cell is, and what it found.

use super::manifest::{Cell, CellTask, Grid};
use crate::compare::TrialResult;
use crate::error::Error;
use crate::run::{Run, RunFolder};

/// How far a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// Nothing is written yet.
    New,
    /// Its run is there.
    Begun,
    /// Nothing is left to do.
    Finished,
}

impl Grid {
    /// How far a cell is.
    pub fn state(&self, cell: &Cell) -> Result<CellState, Error> {
        let folder = self.folder_of(cell);
        if !folder.exists() {
            return Ok(CellState::New);
        }
        let is_finished = match cell.task {
            // A search writes its classifier last of all.
            CellTask::Search => RunFolder::new(&folder).classifier().exists(),
            CellTask::Train { .. } => self.result(cell)?.is_some(),
        };
        Ok(if is_finished { CellState::Finished } else { CellState::Begun })
    }

    /// What a training found, if it is finished.
    pub(super) fn result(&self, cell: &Cell) -> Result<Option<TrialResult>, Error> {
        let folder = self.folder_of(cell);
        if !folder.exists() {
            return Ok(None);
        }
        match &Run::open(&folder)?.trials()?[..] {
            [trial] if trial.seed() == cell.seed => trial.result(),
            _ => Err(Error::NotARun { path: folder, reason: "is not the run of this cell".to_owned() }),
        }
    }

    /// Fails where a cell that is needed first is not finished.
    pub fn require_needs(&self, cell: &Cell) -> Result<(), Error> {
        for needed in &cell.needs {
            if self.state(self.named(needed))? != CellState::Finished {
                let index = self.cells().iter().position(|other| other.name == *needed).unwrap_or_default();
                return Err(Error::CellNotReady { cell: cell.name.clone(), needed: needed.clone(), index });
            }
        }
        Ok(())
    }
}
