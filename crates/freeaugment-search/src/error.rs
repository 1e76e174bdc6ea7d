//! What can go wrong in a search.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::session::DataIdentity;

/// Why a search could not be done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting that is unknown or cannot be.
    #[error("{place}: `{key}`: {reason}")]
    Setting {
        /// Where it was given: a file, `the command line`…
        place: String,
        /// The setting.
        key: String,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// A configuration file that is not TOML.
    #[error("{}: not valid TOML: {reason}", .path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// There is no such preset.
    #[error("there is no preset `{name}`; there are {}", crate::config::preset::NAMES.join(", "))]
    UnknownPreset {
        /// The name that was given.
        name: String,
    },
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] freeaugment_data::Error),
    /// The network, its device or its weights.
    #[error(transparent)]
    Network(#[from] freeaugment_nn::Error),
    /// The policy.
    #[error(transparent)]
    Policy(#[from] freeaugment::Error),
    /// A policy file.
    #[error(transparent)]
    PolicyFile(#[from] freeaugment::FileError),
    /// Nothing of this name can be trained under.
    #[error("`{name}`: {reason}")]
    Candidate {
        /// The name that was given.
        name: String,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// A policy of another search.
    #[error(transparent)]
    Published(#[from] freeaugment_baseline::PublishedError),
    /// A file of the run cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The folder for a new run is not empty.
    #[error("{}: exists and is not empty", .path.display())]
    RunExists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is no run.
    #[error("{}: {reason}", .path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// A run that was begun with other settings.
    #[error("{}: `{key}` is {others} in this run, but {own} was asked for now", .path.display())]
    OtherSettings {
        /// The folder.
        path: PathBuf,
        /// The setting.
        key: &'static str,
        /// What was asked for.
        own: String,
        /// What the run has.
        others: String,
    },
    /// Something that was made with other data.
    #[error(
        "{}: was made with other data than there is now: then {then}; now {now}; put the data back as it was, or begin a new run",
        .path.display()
    )]
    OtherData {
        /// The run, or the file of it.
        path: PathBuf,
        /// The data it was made with.
        then: Box<DataIdentity>,
        /// The data there is now.
        now: Box<DataIdentity>,
    },
    /// A folder that files are written to which must not be written, or not by this.
    #[error("{}: {reason}", .path.display())]
    Target {
        /// The folder.
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
    /// Another process works in the run.
    #[error("{}: another process is working in this run", .path.display())]
    RunLocked {
        /// The folder.
        path: PathBuf,
    },
    /// A data set that an experiment needs is not where it should be.
    #[error("{}: {reason}", .path.display())]
    DataMissing {
        /// Where it is looked for.
        path: PathBuf,
        /// What to download, and how it must lie.
        reason: String,
    },
    /// A plan that cannot be worked on as it is.
    #[error("{}: {reason}", .path.display())]
    Plan {
        /// The plan, or a file of it.
        path: PathBuf,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// A cell of a plan that needs another one first.
    #[error("the cell {cell} needs the cell {needed} (index {index}), which is not finished")]
    CellNotReady {
        /// The cell.
        cell: String,
        /// What it needs.
        needed: String,
        /// The index of that.
        index: usize,
    },
    /// Another process works on a cell of a plan.
    #[error("the cell {cell} is being worked on by {holder}")]
    CellTaken {
        /// The cell.
        cell: String,
        /// Who that is.
        holder: String,
    },
    /// Another process has taken over a cell that this one worked on.
    #[error("{}: another process has taken this cell over; nothing was written since", .path.display())]
    ClaimLost {
        /// The claim.
        path: PathBuf,
    },
    /// A checkpoint that does not belong to the run's configuration or data.
    #[error("{}: {reason}", .path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Processes that share a session and do not have the same before them.
    #[error(
        "process {rank} differs from process 0 in {what}: {other} there, {first} on process 0; start all of them alike"
    )]
    RanksDiffer {
        /// Which process, from 0.
        rank: usize,
        /// In what.
        what: String,
        /// What the first process has.
        first: String,
        /// What this one has.
        other: String,
    },
    /// A model that lives elsewhere failed, in its own words.
    #[error(transparent)]
    Model(Box<dyn std::error::Error + Send + Sync>),
    /// The loss is no longer a number.
    #[error(
        "the loss became {loss} in epoch {epoch}, step {step}: the training diverged; try a smaller `learning_rate`"
    )]
    Diverged {
        /// The loss.
        loss: f64,
        /// The epoch, from 1.
        epoch: u64,
        /// The step within it, from 1.
        step: u64,
    },
}

impl Error {
    pub(crate) fn other_data(path: &Path, then: &DataIdentity, now: &DataIdentity) -> Self {
        Self::OtherData { path: path.to_owned(), then: Box::new(then.clone()), now: Box::new(now.clone()) }
    }

    pub(crate) fn target(path: &Path, reason: impl Into<String>) -> Self {
        Self::Target { path: path.to_owned(), reason: reason.into() }
    }

    /// An error of the system, with the path it is about.
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}
