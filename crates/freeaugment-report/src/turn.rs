//! Writing beside work that must not be in its way: seldom enough, and without ending it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use freeaugment_search::Error;

/// Something is written again only when so many times as long has gone by as that took: a twentieth of the time.
const SHARE: u32 = 20;

/// When something was written, and how long that took.
#[derive(Debug)]
pub(crate) struct Turn {
    every: Duration,
    ended: Instant,
    took: Duration,
}

impl Turn {
    /// Not more often than this.
    pub(crate) fn new(every: Duration) -> Self {
        Self { every, ended: Instant::now(), took: Duration::ZERO }
    }

    /// Whether it is time to write again.
    pub(crate) fn is_due(&self) -> bool {
        is_due(self.ended.elapsed(), self.every, self.took)
    }

    /// Writes. A mistake of ours in a figure must not end hours of work that are none of its business.
    pub(crate) fn write(
        &mut self,
        path: &Path,
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let began = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let source = std::io::Error::other("a figure of it cannot be drawn: a mistake of this program");
            Err(Error::Io { path: path.to_owned(), source })
        });
        (self.ended, self.took) = (Instant::now(), began.elapsed());
        result
    }
}

/// Whether it is time to write again, so long after it was written the last time, which took so long.
fn is_due(since: Duration, every: Duration, took: Duration) -> bool {
    since >= every.max(took * SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_takes_a_twentieth_of_the_time_at_most() {
        let seconds = Duration::from_secs_f64;
        let every = seconds(2.0);
        assert!(!is_due(seconds(1.9), every, Duration::ZERO) && is_due(seconds(2.0), every, Duration::ZERO));
        assert!(!is_due(seconds(19.0), every, seconds(1.0)) && is_due(seconds(20.0), every, seconds(1.0)));
    }
}
