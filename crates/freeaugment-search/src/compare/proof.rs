//! Does the policy help? A comparison of three fresh classifiers after a search: trained without a policy, with the
//! initial and with the learned one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use freeaugment_base::{Table, percent};
use serde::{Deserialize, Serialize};

use super::{Candidate, Comparison, ComparisonObserver, open_or_create};
use crate::config::Settings;
use crate::describe::noun;
use crate::error::Error;
use crate::run::{RunWriter, write_json};
use crate::session::{Halt, Search};

/// Changes the seed: what is judged must not have been fitted to the weights of the search's classifier.
const FRESH: u64 = 0x5eed_0f50;

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Epochs of each classifier.
    pub epochs: u64,
    /// Images that they were judged by.
    pub test_images: usize,
    /// The classifiers.
    pub classifiers: Vec<Judged>,
}

/// A classifier on the test images.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// What it was trained under.
    pub policy: Under,
    /// Top-1 accuracy.
    pub accuracy: f64,
    /// The mean cross entropy.
    pub loss: f64,
}

/// The policy that a classifier was trained under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Under {
    /// None: crop, flip and cutout alone, as the settings have them.
    None,
    /// The one that the search began with.
    Initial,
    /// The one that it learned.
    Learned,
}

impl Under {
    /// All of them, in the order in which they are trained.
    pub const ALL: [Self; 3] = [Self::None, Self::Initial, Self::Learned];

    fn candidate(self, search: &Search, settings: &Settings) -> Result<Candidate, Error> {
        match self {
            Self::None => Ok(Candidate::standard()),
            Self::Initial => Candidate::policy("initial", &settings.policy_config()?.init()?, settings),
            Self::Learned => Candidate::policy("learned", search.policy(), settings),
        }
    }
}

impl fmt::Display for Under {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "without a policy",
            Self::Initial => "with the initial policy",
            Self::Learned => "with the learned policy",
        })
    }
}

/// Whether settings and data ask for a proof.
fn is_wanted(search: &Search) -> bool {
    search.settings().proof_epochs > 0 && !search.setup().test.is_empty()
}

/// Trains and judges the classifiers that are left. None where neither settings nor data ask for a proof, or where someone
/// stopped it.
pub fn prove(
    search: &Search,
    run: &RunWriter,
    observer: &mut dyn ComparisonObserver,
    stop: &AtomicBool,
) -> Result<(Halt, Option<Proof>), Error> {
    if !is_wanted(search) {
        return Ok((Halt::Finished, None));
    }
    let (short, setup) = (short(search), search.setup());
    let comparison = comparison(search, &short)?;
    let folder = run.files().proof();
    let (proof_run, comparison) = open_or_create(comparison, &folder, &short, setup)?;
    if comparison.run(&proof_run, &short, setup, observer, stop)? == Halt::Stopped {
        return Ok((Halt::Stopped, None));
    }
    let mut classifiers = Vec::new();
    for (policy, trial) in Under::ALL.into_iter().zip(comparison.trials(&proof_run)) {
        if let Some(result) = trial.result()? {
            classifiers.push(Judged { policy, accuracy: result.test_accuracy, loss: result.test_loss });
        }
    }
    let proof = Proof { epochs: short.epochs, test_images: setup.test.len(), classifiers };
    write_json(&run.files().proof_result(), &proof)?;
    Ok((Halt::Finished, Some(proof)))
}

/// What the other processes do that share [`prove`] with the first one.
pub fn follow_proof(search: &Search, stop: &AtomicBool) -> Result<Halt, Error> {
    if !is_wanted(search) {
        return Ok(Halt::Finished);
    }
    let short = short(search);
    comparison(search, &short)?.follow(&short, search.setup(), stop)
}

/// The settings of the classifiers that prove something.
fn short(search: &Search) -> Settings {
    let settings = search.settings();
    Settings { epochs: settings.proof_epochs, evaluate_every: 0, ..settings.clone() }
}

fn comparison(search: &Search, short: &Settings) -> Result<Comparison, Error> {
    let candidates = Under::ALL.map(|under| under.candidate(search, short).map(Arc::new));
    let candidates = candidates.into_iter().collect::<Result<Vec<_>, _>>()?;
    Comparison::of(candidates, None, vec![short.seed ^ FRESH])
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new("<>");
        for judged in &self.classifiers {
            table.row([judged.policy.to_string(), percent(judged.accuracy)]);
        }
        let (images, epochs) = (self.test_images, self.epochs);
        write!(
            f,
            "test accuracy of fresh classifiers ({images} images, {epochs} {})\n{table}",
            noun(epochs as usize, "epoch", "epochs")
        )
    }
}
