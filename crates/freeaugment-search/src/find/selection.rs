//! Whole trainings decide: candidates compete on validation images, in rounds of which the better ones go on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::DEFAULTS;
use super::plan::Rung;
use crate::compare::{Candidate, Comparison, ComparisonObserver, Row, open_or_create};
use crate::config::Settings;
use crate::error::Error;
use crate::session::{Halt, Setup};

/// What selection found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Images that judged.
    pub images: usize,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// The one that won.
    pub winner: String,
}

/// A round: candidates from best to worst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The candidates.
    pub standings: Vec<Standing>,
}

/// How a candidate stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// Mean accuracy on the validation images.
    pub accuracy: f64,
    /// Mean probability of the right class there: by it the candidates are ordered. Earlier runs lack it, and were ordered by
    /// accuracy.
    pub probability: Option<f64>,
    /// How many classifiers that is the mean of.
    pub seeds: u64,
}

impl Standing {
    /// What decides.
    pub(super) fn score(&self) -> f64 {
        self.probability.unwrap_or(self.accuracy)
    }
}

/// What a selection is made with.
pub(super) struct Competition<'a> {
    pub(super) folder: PathBuf,
    pub(super) rungs: &'a [Rung],
    pub(super) settings: &'a Settings,
    pub(super) setup: &'a Setup,
}

impl Competition<'_> {
    /// Trains what is left of all rounds. `candidates` come from the simplest to the least simple one; after the first
    /// round one more may join them, as `combine` makes of its standings. The best default goes on to the end.
    pub(super) fn run(
        &self,
        candidates: &mut Vec<Arc<Candidate>>,
        combine: impl Fn(&[Standing]) -> Result<Option<Candidate>, Error>,
        observer: &mut dyn ComparisonObserver,
        stop: &AtomicBool,
    ) -> Result<Option<Selection>, Error> {
        let mut left = candidates.clone();
        let mut rounds: Vec<Round> = Vec::new();
        for rung in self.rungs {
            let combined =
                if let [first] = &rounds[..] { combine(&first.standings)?.map(Arc::new) } else { None };
            go_on(&mut left, rung.candidates - usize::from(combined.is_some()), |candidate| candidate.name());
            left.extend(combined.clone());
            candidates.extend(combined);
            let Some(standings) = self.round(&left, rung.seeds, observer, stop)? else {
                return Ok(None);
            };
            let place = |candidate: &Arc<Candidate>| {
                standings.iter().position(|standing| standing.name == candidate.name())
            };
            left.sort_by_key(place);
            rounds.push(Round { standings });
        }
        let simplicity = |name: &str| candidates.iter().position(|candidate| candidate.name() == name);
        let images = self.setup.test.len();
        let last = &rounds.last().expect("there is a round").standings;
        let winner = simplest_of_the_best(last, images, simplicity);
        Ok(Some(Selection { images, rounds, winner }))
    }

    /// How those stand that compete before there is anything learned; none where it was stopped.
    pub(super) fn open(
        &self,
        candidates: &[Arc<Candidate>],
        observer: &mut dyn ComparisonObserver,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Standing>>, Error> {
        self.round(candidates, self.rungs[0].seeds, observer, stop)
    }

    /// Trains what is left of a round: candidates from best to worst, or none where it was stopped.
    fn round(
        &self,
        candidates: &[Arc<Candidate>],
        seeds: u64,
        observer: &mut dyn ComparisonObserver,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Standing>>, Error> {
        let Self { settings, setup, .. } = *self;
        let comparison =
            Comparison::of(candidates.to_vec(), Some(candidates[0].name()), (1..=seeds).collect())?;
        let (run, comparison) = open_or_create(comparison, &self.folder, settings, setup)?;
        if comparison.run(&run, settings, setup, observer, stop)? == Halt::Stopped {
            return Ok(None);
        }
        let summary = comparison.summary(&run)?;
        if summary.rows.iter().any(|row| row.probability.is_none()) {
            let reason = "has classifiers that an earlier version has judged: begin anew".to_owned();
            return Err(Error::NotARun { path: self.folder.clone(), reason });
        }
        let standing = |row: &Row| {
            let Row { accuracy, probability, .. } = *row;
            Standing { name: row.name.clone(), accuracy, probability, seeds }
        };
        let mut standings: Vec<Standing> = summary.rows.iter().map(standing).collect();
        // Equals stay in the order they had, so that ties go to the simpler.
        standings.sort_by(|a, b| b.score().total_cmp(&a.score()));
        Ok(Some(standings))
    }
}

/// Leaves the first so many, and the first default: what wins must have met it with as many classifiers each.
fn go_on<T: Clone>(left: &mut Vec<T>, count: usize, name: impl Fn(&T) -> &str) {
    let default = left.iter().position(|one| DEFAULTS.contains(&name(one)));
    let dropped = default.filter(|at| *at >= count).map(|at| left[at].clone());
    left.truncate(count);
    left.extend(dropped);
}

/// The best; or the simplest of those that so many images cannot tell from it.
fn simplest_of_the_best(
    standings: &[Standing],
    images: usize,
    simplicity: impl Fn(&str) -> Option<usize>,
) -> String {
    let best = &standings[0];
    let error = (best.score() * (1.0 - best.score()) / (images.max(1) as f64 * best.seeds as f64)).sqrt();
    let tied = standings.iter().filter(|standing| best.score() - standing.score() <= 0.25 * error);
    let simplest = tied.min_by_key(|standing| simplicity(&standing.name));
    simplest.unwrap_or(best).name.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_default_goes_on_with_the_best() {
        let after = |names: &[&'static str], count| {
            let mut left = names.to_vec();
            go_on(&mut left, count, |name| name);
            left
        };
        assert_eq!(
            after(&["learned", "initial", "rand:2:9", "standard"], 2),
            ["learned", "initial", "rand:2:9"]
        );
        assert_eq!(after(&["learned", "rand:2:9", "standard", "initial"], 2), ["learned", "rand:2:9"]);
        assert_eq!(after(&["learned", "standard"], 2), ["learned", "standard"]);
        assert_eq!(after(&["learned", "initial"], 1), ["learned"]);
    }

    #[test]
    fn ties_go_to_the_simpler_and_the_rest_to_the_better() {
        let names = ["standard", "trivial-wide", "learned"];
        let simplicity = |name: &str| names.iter().position(|known| *known == name);
        let standing = |name: &str, probability| Standing {
            name: name.to_owned(),
            accuracy: 0.5,
            probability: Some(probability),
            seeds: 2,
        };
        let clear = [standing("learned", 0.60), standing("trivial-wide", 0.58)];
        assert_eq!(simplest_of_the_best(&clear, 1000, simplicity), "learned");
        let tied = [standing("learned", 0.600), standing("trivial-wide", 0.599)];
        assert_eq!(simplest_of_the_best(&tied, 1000, simplicity), "trivial-wide");
    }
}
