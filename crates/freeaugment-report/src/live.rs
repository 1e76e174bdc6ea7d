//! The page of a run that is being worked on: written after epochs, and whole at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use freeaugment_search::{Error, Run};

use crate::studio::Studio;
use crate::{Files, PAGE, Pictures, write_with};

/// Nobody looks more often than this.
const EVERY: Duration = Duration::from_secs(2);
/// A page is written again only when so many times as long has gone by as writing it took: a twentieth of the time.
const SHARE: u32 = 20;

/// The page of a run that is being worked on, `report.html` in its folder.
///
/// It reads what the run has written and changes none of that.
#[derive(Debug)]
pub struct Live {
    folder: PathBuf,
    studio: Studio,
    every: Duration,
    written: Instant,
    took: Duration,
}

impl Live {
    /// Of the run in this folder.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            studio: Studio::new(Pictures::With),
            every: EVERY,
            written: Instant::now(),
            took: Duration::ZERO,
        }
    }

    /// Written again not more often than this, in place of every two seconds.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// An epoch has ended: writes the page if it is time to, without the files beside it, and says whether it did.
    pub fn epoch(&mut self) -> Result<bool, Error> {
        let due = is_due(self.written.elapsed(), self.every, self.took);
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
        let began = Instant::now();
        let page = self.folder.join(PAGE);
        let studio = &mut self.studio;
        let work = || write_with(&[Run::open(&self.folder)?], &page, studio, files);
        // A mistake of ours in a figure must not end hours of work that are none of its business.
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let source = std::io::Error::other("a figure of it cannot be drawn: a mistake of this program");
            Err(Error::Io { path: page.clone(), source })
        });
        (self.written, self.took) = (Instant::now(), began.elapsed());
        result
    }
}

/// Whether a page is to be written again, so long after it was written the last time, which took so long.
fn is_due(since: Duration, every: Duration, took: Duration) -> bool {
    since >= every.max(took * SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_a_twentieth_of_the_time_at_most() {
        let seconds = Duration::from_secs_f64;
        assert!(!is_due(seconds(1.9), EVERY, Duration::ZERO) && is_due(seconds(2.0), EVERY, Duration::ZERO));
        assert!(!is_due(seconds(19.0), EVERY, seconds(1.0)) && is_due(seconds(20.0), EVERY, seconds(1.0)));
    }
}
