//! What `find` ends with: does the policy help, by how much, and how sure is that.

use std::fmt;

use freeaugment_base::percent;
use serde::{Deserialize, Serialize};

use super::selection::Selection;
use super::{Cutting, DEFAULTS, Mirroring, RELATIVES};
use crate::compare::{Report, Row, statistics};

/// Differences this improbable by chance are taken for real.
const LEVEL: f64 = 0.05;

/// The end of a run of `find`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// What is handed out as the policy.
    pub policy: String,
    /// Why.
    pub reason: Reason,
    /// What was learned says nothing: none of its slopes is beyond noise.
    pub learned_nothing: bool,
    /// What mirroring is worth; none where the settings or the data decided about it.
    pub mirroring: Option<Mirroring>,
    /// The ways to cut images that were tried; none where the settings or the data decided about it.
    pub cutting: Option<Cutting>,
    /// How the candidates stood on validation images.
    pub selection: Selection,
    /// What fresh classifiers reached on the test images.
    pub proof: Report,
}

/// Why a policy is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A learned one won on the validation images, and the test images do not say otherwise.
    Learned,
    /// Nothing did better than this default, or relative of one, on the validation images.
    Default,
    /// What won on the validation images is worse than this default on the test images, beyond noise.
    Overruled,
}

impl Verdict {
    /// Judges by the proof, which holds the winner and the defaults.
    pub(super) fn new(selection: Selection, proof: Report, learned_nothing: bool) -> Self {
        let winner = selection.winner.clone();
        let is_default = DEFAULTS.iter().chain(&RELATIVES).any(|name| **name == *winner);
        let better = proof.summary.rows.iter().filter(|row| DEFAULTS.contains(&&*row.name)).filter(|row| {
            difference(&proof, &winner, &row.name)
                .is_some_and(|found| found.value < 0.0 && found.p.is_some_and(|p| p < LEVEL))
        });
        let best = better.max_by(|a, b| a.accuracy.total_cmp(&b.accuracy)).map(|row| row.name.clone());
        let (policy, reason) = match best {
            Some(default) => (default, Reason::Overruled),
            None if is_default => (winner, Reason::Default),
            None => (winner, Reason::Learned),
        };
        Self { policy, reason, learned_nothing, mirroring: None, cutting: None, selection, proof }
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.proof.summary.rows.iter().find(|row| row.name == name)
    }

    /// The default that did best on the test images, other than what is handed out.
    fn best_default(&self) -> Option<&Row> {
        let rows = DEFAULTS.iter().filter(|name| ***name != *self.policy).filter_map(|name| self.row(name));
        rows.max_by(|a, b| a.accuracy.total_cmp(&b.accuracy))
    }
}

/// A paired difference.
struct Difference {
    value: f64,
    interval: Option<f64>,
    p: Option<f64>,
}

fn difference(proof: &Report, name: &str, other: &str) -> Option<Difference> {
    let row = |name: &str| proof.summary.rows.iter().find(|row| row.name == name);
    let (one, two) = (row(name)?, row(other)?);
    let pairs = one.seeds.iter().zip(&one.accuracies).filter_map(|(seed, accuracy)| {
        let at = two.seeds.iter().position(|other| other == seed)?;
        Some(accuracy - two.accuracies[at])
    });
    let pairs: Vec<f64> = pairs.collect();
    if pairs.is_empty() {
        return None;
    }
    let mean = statistics::mean(&pairs);
    Some(Difference { value: mean.value, interval: mean.interval, p: statistics::paired_test(&pairs) })
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reached = |row: &Row| match row.interval {
            Some(interval) => format!("{:.1} ± {:.1} %", 100.0 * row.accuracy, 100.0 * interval),
            None => percent(row.accuracy),
        };
        let images = self.proof.budget.test_images;
        if let Some(row) = self.row(&self.policy) {
            write!(f, "on {images} test images your classifier reaches {} with this policy", reached(row))?;
            for name in DEFAULTS.iter().filter(|name| ***name != *self.policy) {
                if let Some(row) = self.row(name) {
                    write!(f, ", {} with {name}", reached(row))?;
                }
            }
        }
        if let Some(default) = self.best_default()
            && let Some(found) = difference(&self.proof, &self.policy, &default.name)
        {
            let interval =
                found.interval.map(|interval| format!(" ± {:.1}", 100.0 * interval)).unwrap_or_default();
            let p = found.p.map(|p| format!(", {}", statistics::p_in_words(p))).unwrap_or_default();
            write!(f, ": {:+.1}{interval} against {}{p}", 100.0 * found.value, default.name)?;
            let sure = found.p.is_some_and(|p| p < LEVEL);
            let words = match (sure, found.value > 0.0) {
                (true, true) if DEFAULTS.contains(&self.policy.as_str()) => {
                    "it is better than every other default, beyond noise"
                }
                (true, true) => "it is better than every default, beyond noise",
                (true, false) => "it is worse than that default, beyond noise",
                (false, _) => "the difference to the best default is within noise",
            };
            write!(f, "\n{words}")?;
        }
        let why = match self.reason {
            Reason::Learned => format!("the policy is `{}`, which won on the validation images", self.policy),
            Reason::Default => format!(
                "nothing that was learned did better than `{}` on the validation images, so that is the policy",
                self.policy
            ),
            Reason::Overruled => format!(
                "`{}` won on the validation images, but on the test images `{}` is better beyond noise, so that is the \
                 policy",
                self.selection.winner, self.policy
            ),
        };
        write!(f, "\n{why}")?;
        if let Some(mirroring) = self.mirroring.filter(Mirroring::hurts) {
            write!(f, "\n{mirroring}")?;
        }
        if let Some(cutting) = self.cutting.as_ref().filter(|cutting| cutting.flags().is_some()) {
            write!(f, "\n{cutting}")?;
        }
        if self.learned_nothing {
            write!(f, "\nthe search itself learned nothing: none of its slopes was beyond noise")?;
        }
        Ok(())
    }
}
