//! What can go wrong with the files of others and with our own.

use std::io;
use std::path::{Path, PathBuf};

use freeaugment_base::document;
use thiserror::Error;

use super::kind::Kind;
use crate::BaselineError;
use crate::file::{FORMAT, VERSION};

/// Why a published policy or the file of a baseline could not be read, written or turned into a policy.
#[derive(Debug, Error)]
#[error("{}{problem}", shown(.path.as_deref()))]
pub struct Error {
    /// The file, where there is one.
    pub path: Option<PathBuf>,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// The file is larger than any of its kind.
    #[error("is larger than {most} bytes, which no such file is")]
    TooLarge {
        /// How large it may be.
        most: u64,
    },
    /// The file is not what its kind promises.
    #[error("cannot be read as a file of {}: {reason}", .kind.title())]
    Content {
        /// Whose file it should be.
        kind: Kind,
        /// What is wrong with it.
        reason: String,
    },
    /// The file holds several policies and none was chosen.
    #[error("holds several policies, one must be chosen by its name: {}", .names.join(", "))]
    Several {
        /// What they are called.
        names: Vec<String>,
    },
    /// The file holds no policy of this name.
    #[error("holds no policy `{name}`: it must be one of {}{}", .names.join(", "), because(.reason.as_deref()))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        names: Vec<String>,
        /// Why something of that name is no policy, where there is something.
        reason: Option<String>,
    },
    /// A name was given where there is nothing to choose.
    #[error("holds one policy, so that `{name}` chooses nothing: leave the name out")]
    NothingToChoose {
        /// What was asked for.
        name: String,
    },
    /// Our own file: no JSON, or a key is unknown, missing, or holds what it must not.
    #[error(transparent)]
    Document(#[from] document::Problem),
    /// Our own file: JSON of another kind.
    #[error("is not a baseline of FreeAugment: its `format` must be \"{FORMAT}\"")]
    NotABaseline,
    /// Our own file: a version that this program does not know.
    #[error("has version {found}, but this program reads version {VERSION}")]
    Version {
        /// The version of the file.
        found: u64,
    },
    /// Our own file: it names a baseline that there is not.
    #[error("at `baseline`: {0}")]
    Baseline(BaselineError),
    /// A policy of FreeAugment cannot hold it.
    #[error("cannot be turned into a policy: {reason}")]
    NoPolicy {
        /// What a policy cannot hold.
        reason: String,
    },
}

impl Problem {
    pub(crate) fn at(self, path: &Path) -> Error {
        Error { path: Some(path.to_owned()), problem: self }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self { path: None, problem }
    }
}

fn shown(path: Option<&Path>) -> String {
    path.map(|path| format!("{}: ", path.display())).unwrap_or_default()
}

fn because(reason: Option<&str>) -> String {
    reason.map(|reason| format!(" ({reason})")).unwrap_or_default()
}
