//! The page of a run that is being worked on: written after epochs, and whole at the end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use freeaugment_search::{Error, Run};

use crate::studio::Studio;
use crate::turn::Turn;
use crate::{Files, PAGE, Pictures, write_with};

/// Nobody looks more often than this.
const EVERY: Duration = Duration::from_secs(2);

/// The page of a run that is being worked on, `report.html` in its folder.
///
/// It reads what the run has written and changes none of that.
#[derive(Debug)]
pub struct Live {
    folder: PathBuf,
    studio: Studio,
    turn: Turn,
}

impl Live {
    /// Of the run in this folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), studio: Studio::new(Pictures::With), turn: Turn::new(EVERY) }
    }

    /// Written again not more often than this, in place of every two seconds.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { turn: Turn::new(every), ..self }
    }

    /// An epoch has ended: writes the page if it is time to, without the files beside it, and says whether it did.
    pub fn epoch(&mut self) -> Result<bool, Error> {
        let due = self.turn.is_due();
        if due {
            self.write(Files::Without)?;
        }
        Ok(due)
    }

    /// Work has come to its end, or to an interruption: writes the page and all files beside it.
    pub fn end(&mut self) -> Result<(), Error> {
        self.write(Files::With)
    }

    fn write(&mut self, files: Files) -> Result<(), Error> {
        let Self { folder, studio, turn } = self;
        let page = folder.join(PAGE);
        turn.write(&page, || write_with(&[Run::open(folder)?], &page, studio, files))
    }
}
