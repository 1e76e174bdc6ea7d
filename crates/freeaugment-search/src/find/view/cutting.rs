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
use crate::find::{Find, FindObserver, RELATIVES, Standing, score};
use crate::run::RunWriter;

/// A way to cut is worth what these reach with it: nothing else, and something mild. One that is not usual has to be better
/// for both: a classifier each is a noisy judge, and what is usual needs no words to anybody.
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
    /// Mean accuracy of the judges.
    pub accuracy: f64,
    /// Mean probability of the right class, by which it was chosen.
    pub probability: f64,
}

impl WayToCut {
    fn new(cut: Cut, judges: &[Standing]) -> Self {
        let mean = |of: fn(&Standing) -> f64| judges.iter().map(of).sum::<f64>() / judges.len() as f64;
        Self {
            flags: cut.flags(),
            accuracy: mean(|judge| judge.accuracy),
            probability: mean(Standing::score),
        }
    }
}

/// Which way is taken, by what all judges reached with each, the usual way first.
fn best(judged: &[Vec<Standing>]) -> usize {
    let usual = &judged[0];
    // None where a judge does worse than as usual; else by how much they do better together.
    let gain = |standings: &[Standing]| {
        let gains = standings.iter().map(|judge| Some(judge.score() - score(usual, &judge.name)?));
        let gains: Vec<f64> = gains.collect::<Option<_>>()?;
        gains.iter().all(|gain| *gain > 0.0).then(|| gains.iter().sum::<f64>())
    };
    let gains = judged.iter().enumerate().filter_map(|(at, standings)| Some((at, gain(standings)?)));
    gains.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at)
}

impl Cutting {
    /// What has to be said to any other command; none where images are cut as usual.
    pub fn flags(&self) -> Option<&str> {
        self.tried[self.chosen].flags.as_deref()
    }
}

impl fmt::Display for Cutting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [usual, chosen] = [0, self.chosen].map(|at| percent(self.tried[at].probability));
        match self.flags() {
            None => write!(f, "these images are best cut as usual"),
            Some(flags) => write!(
                f,
                "these images are better cut in another way than usual (on validation images the right class is given {chosen} \
                 in place of {usual}), so all of this was done so: do it in your training too (`{flags}`)"
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
        let mut judged = Vec::new();
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
            judged.push(standings);
        }
        let tried = judged.iter().zip(&cuts).map(|(standings, cut)| WayToCut::new(*cut, standings)).collect();
        let chosen = best(&judged);
        Ok(Some((cuts[chosen], Some(Cutting { tried, chosen }))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the two judges reached, the better one first as in any standings.
    fn judges(standard: f64, mild: f64) -> Vec<Standing> {
        let standing = |name: &str, probability| Standing {
            name: name.to_owned(),
            accuracy: 0.5,
            probability: Some(probability),
            seeds: 1,
        };
        let mut standings = vec![standing(JUDGES[0], standard), standing(JUDGES[1], mild)];
        standings.sort_by(|a, b| b.score().total_cmp(&a.score()));
        standings
    }

    #[test]
    fn another_cut_is_taken_where_both_judges_are_better_for_it() {
        let usual = || judges(0.60, 0.62);
        assert_eq!(best(&[usual(), judges(0.63, 0.65), judges(0.62, 0.64)]), 1);
        assert_eq!(best(&[usual(), judges(0.62, 0.64), judges(0.66, 0.63)]), 2);
        // One of the two is not enough, however much it gains.
        assert_eq!(best(&[usual(), judges(0.59, 0.70), judges(0.70, 0.62)]), 0);
        assert_eq!(best(&[usual()]), 0);
    }

    #[test]
    fn what_is_chosen_is_told_with_its_flags() {
        let tried = vec![
            WayToCut::new(Cut::Usual, &judges(0.7, 0.7)),
            WayToCut::new(Cut::Boxes(35), &judges(0.7, 0.8)),
        ];
        let cutting = Cutting { tried: tried.clone(), chosen: 1 };
        let text = cutting.to_string();
        assert!(
            text.contains("given 75.0 % in place of 70.0 %")
                && text.contains("`--crop resized --smallest-box 0.35`"),
            "{text}"
        );
        assert_eq!(Cutting { tried, chosen: 0 }.flags(), None);
    }
}
