//! Policies that the authors of other searches published, read from their own files at run time.
//!
//! ```no_run
//! use freeaugment_baseline::{Kind, import};
//!
//! let policy = import(Kind::Slack, "c10-28x10-s0.ckpt".as_ref(), None)?;
//! policy.save("slack.json")?;
//! # Ok::<(), freeaugment_baseline::PublishedError>(())
//! ```

mod deepaa;
mod dra;
mod draw;
mod error;
mod import;
mod json;
mod kind;
mod name;
mod pba;
mod policy;
mod python;
mod slack;
mod subpolicy;
mod torch;

pub use error::{Error, Problem};
pub use import::{import, import_bytes};
pub use kind::{Kind, UnknownKind};

use std::path::Path;

use freeaugment::Policy;
use freeaugment_base::random::Stream;
use freeaugment_base::write_atomically;
use serde::{Deserialize, Serialize};

use crate::action::{Action, Augmentation, Moment};
use crate::file;
use crate::recipe::{Crop, Order, Recipe};
use deepaa::DeepAa;
use dra::Dra;
use draw::Draw;
use pba::Schedule;
use slack::Slack;
use subpolicy::SubPolicies;

/// A policy that others found, with the sampling of their code.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    name: String,
    source: Source,
    notes: Vec<String>,
    scheme: Scheme,
}

/// Where a policy was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Whose file.
    pub kind: Kind,
    /// The name of the file, without folders.
    pub file: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// How actions are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Scheme {
    Slack(Slack),
    #[serde(rename = "deepaa")]
    DeepAa(DeepAa),
    SubPolicies(SubPolicies),
    Dra(Dra),
    Pba(Schedule),
}

impl Scheme {
    fn check(&self, kind: Kind) -> Result<(), String> {
        match (self, kind) {
            (Self::Slack(slack), Kind::Slack) => slack.check(),
            (Self::DeepAa(deepaa), Kind::DeepAa) => deepaa.check(),
            (Self::SubPolicies(policies), Kind::Dada | Kind::FastAutoAugment) => policies.check(),
            (Self::Dra(dra), Kind::Dra) => dra.check(),
            (Self::Pba(schedule), Kind::Pba) => schedule.check(),
            _ => Err(format!("it is not a policy of the kind `{kind}` that `source` names")),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Slack(slack) => {
                format!(
                    "{} layers, one of {} operations each, magnitudes up to a learned bound",
                    slack.logits.len(),
                    slack.operations.len()
                )
            }
            Self::DeepAa(deepaa) => format!(
                "{} layers, one of {} pairs of operation and level each",
                deepaa.probabilities.len(),
                deepaa.choices.len()
            ),
            Self::SubPolicies(policies) => {
                format!("one of {} short sequences of operations", policies.sub_policies.len())
            }
            Self::Dra(dra) => format!(
                "{} layers, one of {} operations each, normal magnitudes",
                dra.logits.len(),
                dra.operations.len()
            ),
            Self::Pba(schedule) => format!(
                "up to 2 operations, by a schedule of {} stages over {} epochs",
                schedule.stages.len(),
                schedule.epochs()
            ),
        }
    }
}

impl Published {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it was read.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What differs from its authors' code, and what had to be guessed.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What it does, for people: one line, then the notes, a line each.
    pub fn description(&self) -> String {
        let first = format!("{} ({}): {}", self.name, self.source.kind.title(), self.scheme.describe());
        let notes = self.notes.iter().map(|note| format!("\n  note: {note}"));
        first + &notes.collect::<String>()
    }

    /// What is done beside its operations: crop and flip as is usual, the operations before them, as all of these
    /// searches' code has it.
    pub const fn recipe(&self) -> Recipe {
        Recipe { crop: Crop::Standard, flip: true, order: Order::Before }
    }

    /// The text of our own file.
    pub fn to_json(&self) -> String {
        json::to_json(self)
    }

    /// From the text of our own file.
    pub fn from_json(text: &[u8]) -> Result<Self, Error> {
        Ok(Self::parse(text)?)
    }

    pub(crate) fn parse(text: &[u8]) -> Result<Self, Problem> {
        json::from_json(text)
    }

    /// Reads our own file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        file::read(path).and_then(|bytes| Self::parse(&bytes)).map_err(|problem| problem.at(path))
    }

    /// Writes our own file: whole or not at all, in place of one that is there.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        write_atomically(path, self.to_json().as_bytes()).map_err(|error| Problem::Write(error).at(path))
    }

    /// As a policy of FreeAugment, where that can hold it. Its provenance says what is approximate.
    pub fn to_policy(&self) -> Result<Policy, Error> {
        Ok(policy::to_policy(self, false)?)
    }

    /// As [`Self::to_policy`], but operations that no policy has are left out: where they are drawn, nothing is done.
    pub fn to_policy_leaving_out(&self) -> Result<Policy, Error> {
        Ok(policy::to_policy(self, true)?)
    }
}

impl Augmentation for Published {
    fn actions(&self, stream: &mut Stream, moment: Moment) -> Vec<Action> {
        let mut draw = Draw::new(stream, moment);
        match &self.scheme {
            Scheme::Slack(slack) => slack.draw(&mut draw),
            Scheme::DeepAa(deepaa) => deepaa.draw(&mut draw),
            Scheme::SubPolicies(policies) => policies.draw(&mut draw),
            Scheme::Dra(dra) => dra.draw(&mut draw),
            Scheme::Pba(schedule) => schedule.draw(&mut draw),
        }
        draw.actions
    }
}
