//! What goes wrong, and the number that the program ends with.

use std::io;

use freeaugment::{FileError, FileProblem};
use freeaugment_baseline::{PublishedError, PublishedProblem};
use freeaugment_data::Error as DataError;
use freeaugment_nn::Error as NetworkError;
use freeaugment_search::Error;
use thiserror::Error as ThisError;

use crate::output;

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Done,
    /// Someone stopped it; what was done is saved.
    Interrupted,
    /// Some of what a table is made of is not there yet.
    Incomplete,
}

/// Why a command failed.
#[derive(Debug, ThisError)]
pub(crate) enum Failure {
    #[error(transparent)]
    Work(#[from] Error),
    #[error("the results cannot be printed: {0}")]
    Output(#[from] io::Error),
    #[error("{0}")]
    Unforeseen(String),
    /// What ends all processes that share something; told by the first of them.
    #[error("{message}")]
    Common { number: u8, message: String },
    /// Another process says why.
    #[error("another process has said why")]
    Told(u8),
}

// Number 2 is clap's.
pub(crate) const UNFORESEEN: u8 = 1;
pub(crate) const CONFIGURATION: u8 = 3;
const DATA: u8 = 4;
const RUN: u8 = 5;
const FILE_SYSTEM: u8 = 6;
pub(crate) const DIVERGED: u8 = 7;
const WAITING: u8 = 8;
pub(crate) const INTERRUPTED: u8 = 130;

/// Says why the arguments are refused, or what was asked of the arguments themselves (help, version).
pub(crate) fn refused(message: &clap::Error) -> u8 {
    // Nobody being there to read it is no error.
    let _ = message.print();
    refused_silently(message)
}

/// The same, where another process says it.
pub(crate) fn refused_silently(message: &clap::Error) -> u8 {
    u8::try_from(message.exit_code()).unwrap_or(UNFORESEEN)
}

/// Says what went wrong, if anything did, and gives the number to end with.
pub(crate) fn code(ending: Result<Ending, Failure>) -> u8 {
    match ending {
        Ok(Ending::Done) => 0,
        Ok(Ending::Interrupted) => INTERRUPTED,
        Ok(Ending::Incomplete) => WAITING,
        Err(failure) => {
            if !matches!(failure, Failure::Told(_)) {
                output::say(&line(&failure.text()));
            }
            failure.number()
        }
    }
}

/// A message is one line, whatever the system put into it.
pub(crate) fn line(message: &str) -> String {
    format!("error: {message}").replace('\n', " ")
}

impl Failure {
    /// The same for all processes that share something: one of them says it.
    pub(crate) fn common(says: bool, number: u8, message: String) -> Self {
        if says { Self::Common { number, message } } else { Self::Told(number) }
    }

    /// All of the message.
    pub(crate) fn text(&self) -> String {
        format!("{self}{}", self.hint())
    }

    /// What to type: the library knows of no flags.
    fn hint(&self) -> &'static str {
        match self {
            Self::Work(Error::RunExists { .. }) => {
                "; continue it with `freeaugment resume`, or choose another folder with --out"
            }
            Self::Work(Error::OtherSettings { .. }) => "; another folder is chosen with --out",
            _ => "",
        }
    }

    pub(crate) fn number(&self) -> u8 {
        match self {
            Self::Common { number, .. } | Self::Told(number) => *number,
            Self::Work(error) => of_work(error),
            Self::Output(_) => FILE_SYSTEM,
            Self::Unforeseen(_) => UNFORESEEN,
        }
    }
}

fn of_work(error: &Error) -> u8 {
    match error {
        Error::Setting { .. }
        | Error::NotToml { .. }
        | Error::UnknownPreset { .. }
        | Error::Candidate { .. }
        | Error::RanksDiffer { .. } => CONFIGURATION,
        Error::Data(error) => of_data(error),
        Error::DataMissing { .. } => DATA,
        Error::Network(error) => of_network(error),
        Error::PolicyFile(error) => of_policy_file(error),
        Error::Published(error) => of_published(error),
        Error::Io { .. } => FILE_SYSTEM,
        Error::RunExists { .. }
        | Error::NotARun { .. }
        | Error::OtherSettings { .. }
        | Error::OtherData { .. }
        | Error::Target { .. }
        | Error::RunLocked { .. }
        | Error::Plan { .. }
        | Error::Checkpoint { .. } => RUN,
        Error::CellNotReady { .. } | Error::CellTaken { .. } | Error::ClaimLost { .. } => WAITING,
        Error::Diverged { .. } => DIVERGED,
        _ => UNFORESEEN,
    }
}

fn of_data(error: &DataError) -> u8 {
    match error {
        DataError::Io { source, .. } => of_reading(source),
        DataError::Setting { .. } => CONFIGURATION,
        DataError::Panicked { .. } | DataError::NoBatchLeft => UNFORESEEN,
        _ => DATA,
    }
}

fn of_network(error: &NetworkError) -> u8 {
    match error {
        NetworkError::UnknownArchitecture { .. }
        | NetworkError::UnknownDevice { .. }
        | NetworkError::DeviceNotBuilt { .. }
        | NetworkError::DeviceAbsent { .. }
        | NetworkError::DeviceAlone { .. }
        | NetworkError::BadSetting { .. }
        | NetworkError::BadSmoothing { .. } => CONFIGURATION,
        NetworkError::File { .. } => FILE_SYSTEM,
        _ => UNFORESEEN,
    }
}

fn of_policy_file(error: &FileError) -> u8 {
    match &error.problem {
        FileProblem::Read(source) => of_reading(source),
        FileProblem::Write(_) => FILE_SYSTEM,
        _ => DATA,
    }
}

fn of_published(error: &PublishedError) -> u8 {
    match &error.problem {
        PublishedProblem::Read(source) => of_reading(source),
        PublishedProblem::Write(_) => FILE_SYSTEM,
        _ => DATA,
    }
}

/// What is not there was misnamed; anything else is the system's doing.
fn of_reading(source: &io::Error) -> u8 {
    if source.kind() == io::ErrorKind::NotFound { DATA } else { FILE_SYSTEM }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io_error(kind: io::ErrorKind) -> Error {
        Error::Io { path: "run/metrics.jsonl".into(), source: kind.into() }
    }

    #[test]
    fn every_kind_of_failure_has_its_number() {
        let data = |error: DataError| Error::Data(error);
        let path = || "somewhere".into();
        let reason = || "because".to_owned();
        let read = |kind: io::ErrorKind| DataError::Io { path: path(), source: kind.into() };
        let policy = |problem| Error::PolicyFile(FileError { path: None, problem });
        let cases = [
            (Error::UnknownPreset { name: reason() }, CONFIGURATION),
            (Error::NotToml { path: path(), reason: reason() }, CONFIGURATION),
            (data(DataError::Setting { key: "plant", reason: reason() }), CONFIGURATION),
            (
                Error::Network(NetworkError::UnknownDevice { name: reason(), available: vec![] }),
                CONFIGURATION,
            ),
            (data(read(io::ErrorKind::NotFound)), DATA),
            (data(DataError::BadFile { path: path(), reason: reason() }), DATA),
            (policy(FileProblem::Read(io::ErrorKind::NotFound.into())), DATA),
            (policy(FileProblem::NotAPolicy), DATA),
            (Error::RunExists { path: path() }, RUN),
            (Error::RunLocked { path: path() }, RUN),
            (Error::Target { path: path(), reason: reason() }, RUN),
            (Error::NotARun { path: path(), reason: reason() }, RUN),
            (Error::Checkpoint { path: path(), reason: reason() }, RUN),
            (Error::Plan { path: path(), reason: reason() }, RUN),
            (Error::CellNotReady { cell: reason(), needed: reason(), index: 0 }, WAITING),
            (Error::CellTaken { cell: reason(), holder: reason() }, WAITING),
            (Error::ClaimLost { path: path() }, WAITING),
            (data(read(io::ErrorKind::PermissionDenied)), FILE_SYSTEM),
            (io_error(io::ErrorKind::StorageFull), FILE_SYSTEM),
            (io_error(io::ErrorKind::PermissionDenied), FILE_SYSTEM),
            (policy(FileProblem::Write(io::ErrorKind::StorageFull.into())), FILE_SYSTEM),
            (
                Error::Network(NetworkError::File {
                    path: path(),
                    source: io::ErrorKind::StorageFull.into(),
                }),
                FILE_SYSTEM,
            ),
            (Error::Diverged { loss: f64::NAN, epoch: 1, step: 1 }, DIVERGED),
            (Error::Network(NetworkError::EmptyBatch), UNFORESEEN),
            (data(DataError::Panicked { message: reason() }), UNFORESEEN),
        ];
        for (error, number) in cases {
            let failure = Failure::from(error);
            assert_eq!(failure.number(), number, "{failure}");
        }
        assert_eq!(Failure::Output(io::ErrorKind::StorageFull.into()).number(), FILE_SYSTEM);
    }
}
