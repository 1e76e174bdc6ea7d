//! Whose file it is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The searches whose published files can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// SLACK: a checkpoint of PyTorch (`*.ckpt`).
    Slack,
    /// Deep AutoAugment: arrays of NumPy (`*.npz`).
    #[serde(rename = "deepaa")]
    DeepAa,
    /// DADA: Python lists (`genotype.py`).
    Dada,
    /// Fast AutoAugment: Python lists (`archive.py`).
    #[serde(rename = "fast-autoaugment")]
    FastAutoAugment,
    /// Differentiable RandAugment: Python lists (`policy.py`).
    Dra,
    /// Population Based Augmentation: a schedule (`*.txt`).
    Pba,
}

/// A kind that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no kind `{name}` of published policies: it must be one of {}", Kind::names().join(", "))]
pub struct UnknownKind {
    /// What was asked for.
    pub name: String,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Slack, Self::DeepAa, Self::Dada, Self::FastAutoAugment, Self::Dra, Self::Pba];

    /// Its name, such as `slack`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Slack => "slack",
            Self::DeepAa => "deepaa",
            Self::Dada => "dada",
            Self::FastAutoAugment => "fast-autoaugment",
            Self::Dra => "dra",
            Self::Pba => "pba",
        }
    }

    /// The names of all kinds.
    pub fn names() -> [&'static str; 6] {
        Self::ALL.map(Self::name)
    }

    /// What its authors call the method.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Slack => "SLACK",
            Self::DeepAa => "Deep AutoAugment",
            Self::Dada => "DADA",
            Self::FastAutoAugment => "Fast AutoAugment",
            Self::Dra => "Differentiable RandAugment",
            Self::Pba => "Population Based Augmentation",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let unknown = || UnknownKind { name: name.chars().take(40).collect() };
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(unknown)
    }
}
