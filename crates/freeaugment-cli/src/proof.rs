//! Does the policy help? Fresh classifiers trained without one, with the initial and with the learned one.

use std::fmt;
use std::sync::Arc;

use freeaugment::Policy;
use freeaugment_search::{Candidate, Error, Run, Search, Settings, Training};
use serde::{Deserialize, Serialize};

use crate::interrupt;
use crate::output;
use crate::overview::noun;
use crate::progress;
use freeaugment_base::{Table, percent};

/// Changes the seed: what is judged must not have been fitted to the weights of the search's classifier.
const FRESH: u64 = 0x5eed_0f50;
/// The file of the run in which finished classifiers are written down.
const FILE: &str = "proof.json";

/// What was measured so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Proof {
    epochs: u64,
    test_images: usize,
    classifiers: Vec<Judged>,
}

/// A classifier on the test images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Judged {
    policy: Under,
    accuracy: f64,
    loss: f64,
}

/// The policy that a classifier was trained under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Under {
    None,
    Initial,
    Learned,
}

impl Under {
    const ALL: [Self; 3] = [Self::None, Self::Initial, Self::Learned];

    fn shown(self) -> &'static str {
        match self {
            Self::None => "without a policy",
            Self::Initial => "with the initial policy",
            Self::Learned => "with the learned policy",
        }
    }
}

/// Whether settings and data ask for a proof.
pub(crate) fn is_wanted(search: &Search) -> bool {
    search.settings().proof_epochs > 0 && !search.plan().test.is_empty()
}

/// How many classifiers a proof trains.
pub(crate) const CLASSIFIERS: usize = Under::ALL.len();

/// Trains and judges the classifiers that are not written down yet. None if someone stopped it.
pub(crate) fn prove(search: &Search, run: &Run, quiet: bool) -> Result<Option<Proof>, Error> {
    let settings = search.settings();
    let plan = search.plan();
    let empty =
        Proof { epochs: settings.proof_epochs, test_images: plan.test.len(), classifiers: Vec::new() };
    let mut proof = read(run)
        .filter(|found| (found.epochs, found.test_images) == (empty.epochs, empty.test_images))
        .unwrap_or(empty);
    let is_done = |proof: &Proof, policy| proof.classifiers.iter().any(|judged| judged.policy == policy);
    let left: Vec<Under> = Under::ALL.into_iter().filter(|&policy| !is_done(&proof, policy)).collect();
    let steps = settings.proof_epochs * plan.steps;
    let bar = progress::bar(left.len() as u64 * steps, "steps, {eta} left", quiet);
    for kind in left {
        let about = format!("a fresh classifier trained {}", kind.shown());
        bar.set_message(about.clone());
        if progress::in_lines(quiet) {
            output::say(&about);
        }
        let candidate = Arc::new(candidate(kind, settings, search.policy())?);
        let short = Settings { epochs: settings.proof_epochs, ..settings.clone() };
        let mut training = Training::new(&short, plan, &candidate, settings.seed ^ FRESH)?;
        while training.steps_done() < training.steps_total() {
            if interrupt::is_wanted() {
                bar.finish_and_clear();
                return Ok(None);
            }
            training.step()?;
            bar.inc(1);
        }
        let score = training.score()?;
        proof.classifiers.push(Judged { policy: kind, accuracy: score.accuracy, loss: score.loss });
        let text = serde_json::to_string_pretty(&proof).expect("plain values");
        run.write(FILE, format!("{text}\n").as_bytes())?;
    }
    bar.finish_and_clear();
    Ok(Some(proof))
}

fn candidate(kind: Under, settings: &Settings, learned: &Policy) -> Result<Candidate, Error> {
    match kind {
        Under::None => Ok(Candidate::standard()),
        Under::Initial => Candidate::policy("initial", &settings.policy_config()?.init()?, settings),
        Under::Learned => Candidate::policy("learned", learned, settings),
    }
}

/// What an earlier process wrote down; a file that cannot be read is as good as none.
fn read(run: &Run) -> Option<Proof> {
    serde_json::from_slice(&run.read(FILE)?).ok()
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new("<>");
        for judged in &self.classifiers {
            table.row([judged.policy.shown().to_owned(), percent(judged.accuracy)]);
        }
        let (images, epochs) = (self.test_images, self.epochs);
        write!(
            f,
            "test accuracy of fresh classifiers ({images} images, {epochs} {})\n{table}",
            noun(epochs as usize, "epoch", "epochs")
        )
    }
}
