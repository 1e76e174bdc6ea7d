//! Whether images bear mirroring. Photographs do; a mirrored letter or traffic sign is another one or none.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use freeaugment_base::percent;
use serde::{Deserialize, Serialize};

use super::{Cut, View};
use crate::compare::Candidate;
use crate::config::Settings;
use crate::error::Error;
use crate::find::{Find, FindObserver, Setups};
use crate::run::RunWriter;

/// How many standard errors better classifiers must be without: mirroring is what people expect.
const BEYOND_DOUBT: f64 = 2.0;

/// What classifiers reach on the validation images under crop and flip, and under crop alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirroring {
    /// Accuracy where training images are mirrored.
    pub with: f64,
    /// Accuracy where none is.
    pub without: f64,
    /// Images that judged.
    pub images: usize,
}

impl Mirroring {
    /// Whether classifiers are better without, beyond doubt.
    pub fn hurts(&self) -> bool {
        let variance = |share: f64| share * (1.0 - share) / self.images.max(1) as f64;
        let error = (variance(self.with) + variance(self.without)).sqrt();
        self.without - self.with > BEYOND_DOUBT * error
    }
}

impl fmt::Display for Mirroring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "mirroring hurts here ({} of the validation images with it, {} without), so nothing was mirrored: leave it out of \
             your training too (`--flip 0`)",
            percent(self.with),
            percent(self.without)
        )
    }
}

impl Setups {
    /// Whether images are mirrored because nobody said anything about it.
    pub(super) fn mirror_unasked(&self, settings: &Settings) -> bool {
        settings.flip < 0.0 && self.selection.pipeline.flip > 0.0
    }
}

/// What trying came to.
pub(in crate::find) enum Tried {
    /// Someone stopped it.
    Stopped,
    /// The settings or the data have decided it.
    NotAsked,
    /// Both were trained.
    Found(Mirroring),
}

impl Find {
    /// Trains `standard` with and without, where that is open: each is the first cell of the selection that would follow.
    pub(in crate::find) fn try_mirroring(
        &self,
        run: &RunWriter,
        observer: &mut dyn FindObserver,
        stop: &AtomicBool,
    ) -> Result<Tried, Error> {
        if !self.setups.mirror_unasked(&self.settings) {
            return Ok(Tried::NotAsked);
        }
        let mut reached = Vec::new();
        for unmirrored in [false, true] {
            let view = View { cut: Cut::Usual, unmirrored };
            let find = self.viewed(view);
            let settings = find.selection_settings();
            let standard = [Arc::new(Candidate::standard())];
            let competition = find.competition(run, view, &settings);
            let Some(standings) = competition.open(&standard, observer.trainings(), stop)? else {
                return Ok(Tried::Stopped);
            };
            reached.push(standings[0].accuracy);
        }
        let images = self.setups.selection.test.len();
        Ok(Tried::Found(Mirroring { with: reached[0], without: reached[1], images }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirroring_hurts_where_that_is_beyond_doubt() {
        let of = |with, without, images| Mirroring { with, without, images };
        assert!(of(0.5, 0.75, 400).hurts());
        assert!(!of(0.5, 0.55, 400).hurts() && of(0.5, 0.55, 4000).hurts());
        assert!(!of(0.75, 0.5, 400).hurts() && !of(1.0, 1.0, 0).hurts());
    }
}
