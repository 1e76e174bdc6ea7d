//! How images are best cut. Padding and cutting shifts an image by some pixels; a random box, resized, also shows it from
//! nearer and squeezed, which is right where size tells little about the class.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use freeaugment_base::percent;
use serde::{Deserialize, Serialize};

use super::{Cut, View};
use crate::compare::Candidate;
use crate::error::Error;
use crate::find::selection::simplest_of_the_best;
use crate::find::{Find, FindObserver, RELATIVES, Standing};
use crate::run::RunWriter;

/// A way to cut is worth what the better of these reaches with it: nothing else, and something mild.
pub(super) const JUDGES: [&str; 2] = ["standard", RELATIVES[0]];

/// The ways to cut training images that were tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cutting {
    /// What each came to on the validation images, the usual one first.
    pub tried: Vec<WayToCut>,
    /// The one that was taken.
    pub chosen: usize,
}

/// A way to cut training images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WayToCut {
    /// The flags that ask for it; none for what is usual.
    pub flags: Option<String>,
    /// Mean accuracy of the better judge.
    pub accuracy: f64,
    /// Mean probability of the right class, by which it was chosen.
    pub probability: f64,
}

impl Cutting {
    /// What has to be said to any other command; none where images are cut as usual.
    pub fn flags(&self) -> Option<&str> {
        self.tried[self.chosen].flags.as_deref()
    }
}

impl fmt::Display for Cutting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [usual, chosen] = [0, self.chosen].map(|at| percent(self.tried[at].accuracy));
        match self.flags() {
            None => write!(f, "these images are best cut as usual"),
            Some(flags) => write!(
                f,
                "these images are better cut in another way than usual ({chosen} of the validation images in place of {usual}), \
                 so all of this was done so: do it in your training too (`{flags}`)"
            ),
        }
    }
}

impl Cut {
    fn flags(self) -> Option<String> {
        match self {
            Self::Usual => None,
            Self::Padded => Some("--crop pad".to_owned()),
            Self::Boxes(smallest) => {
                Some(format!("--crop resized --smallest-box {}", f64::from(smallest) / 100.0))
            }
        }
    }
}

impl Find {
    /// Trains the judges with every way to cut, where that is open; none where someone stopped it.
    pub(in crate::find) fn try_cuts(
        &self,
        unmirrored: bool,
        run: &RunWriter,
        observer: &mut dyn FindObserver,
        stop: &AtomicBool,
    ) -> Result<Option<(Cut, Option<Cutting>)>, Error> {
        let mut cuts = Cut::others(&self.settings, self.setups.selection.pipeline.crop);
        if cuts.is_empty() {
            return Ok(Some((Cut::Usual, None)));
        }
        cuts.insert(0, Cut::Usual);
        let mut best = Vec::new();
        for &cut in &cuts {
            let view = View { cut, unmirrored };
            let find = self.viewed(view);
            let settings = find.selection_settings();
            let judges = JUDGES.iter().map(|name| Candidate::open(name, &settings).map(Arc::new));
            let judges = judges.collect::<Result<Vec<_>, _>>()?;
            let competition = find.competition(run, view, &settings);
            let Some(standings) = competition.open(&judges, observer.trainings(), stop)? else {
                return Ok(None);
            };
            best.push(Standing { name: view.folder(), ..standings[0].clone() });
        }
        let names: Vec<String> = best.iter().map(|standing| standing.name.clone()).collect();
        let place = |name: &str| names.iter().position(|known| known == name);
        let tried = best.iter().zip(&cuts).map(|(standing, cut)| WayToCut {
            flags: cut.flags(),
            accuracy: standing.accuracy,
            probability: standing.score(),
        });
        let tried = tried.collect();
        best.sort_by(|a, b| b.score().total_cmp(&a.score()));
        let chosen = simplest_of_the_best(&best, self.setups.selection.test.len(), place);
        let chosen = place(&chosen).expect("it is one of them");
        Ok(Some((cuts[chosen], Some(Cutting { tried, chosen }))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_is_told_with_its_flags() {
        let tried = |cut: Cut, accuracy| WayToCut { flags: cut.flags(), accuracy, probability: accuracy };
        let tried = vec![tried(Cut::Usual, 0.7), tried(Cut::Boxes(35), 0.75)];
        let cutting = Cutting { tried: tried.clone(), chosen: 1 };
        let text = cutting.to_string();
        assert!(text.contains("75.0 %") && text.contains("`--crop resized --smallest-box 0.35`"), "{text}");
        assert_eq!(Cutting { tried, chosen: 0 }.flags(), None);
    }
}
