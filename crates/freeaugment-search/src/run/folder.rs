//! The files of a run: where each of them is, and how they are written.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lines::append;
use super::time::timestamp;
use crate::error::Error;

/// The places of a run's files.
#[derive(Clone, Debug)]
pub(crate) struct RunFolder(PathBuf);

impl RunFolder {
    pub(crate) fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// What the run is: its task, its program, its data.
    pub(crate) fn about(&self) -> PathBuf {
        self.0.join("run.json")
    }

    pub(crate) fn configuration(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    pub(crate) fn environment(&self) -> PathBuf {
        self.0.join("environment.json")
    }

    pub(crate) fn policy(&self) -> PathBuf {
        self.0.join("policy.json")
    }

    pub(crate) fn policies(&self) -> PathBuf {
        self.0.join("policies")
    }

    pub(crate) fn policy_of(&self, epoch: u64) -> PathBuf {
        self.policies().join(format!("epoch-{epoch:04}.json"))
    }

    /// The weights that a search ends with, which a training may begin with.
    pub(crate) fn classifier(&self) -> PathBuf {
        self.0.join("classifier.safetensors")
    }

    pub(crate) fn candidates(&self) -> PathBuf {
        self.0.join("candidates.json")
    }

    /// The table of a comparison, for programs and for people.
    pub(crate) fn report(&self) -> [PathBuf; 2] {
        ["result.json", "result.md"].map(|name| self.0.join(name))
    }

    /// The comparison that proves a search.
    pub(crate) fn proof(&self) -> PathBuf {
        self.0.join("proof")
    }

    pub(crate) fn proof_result(&self) -> PathBuf {
        self.0.join("proof.json")
    }

    fn lock_file(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// Adds a line to the log.
    pub(crate) fn log(&self, message: &str) -> Result<(), Error> {
        append(&self.0.join("log.txt"), &format!("{} {message}", timestamp()))
    }

    /// Holds the folder against other processes, as long as the file lives.
    pub(crate) fn lock(&self) -> Result<File, Error> {
        hold(&self.lock_file())?.ok_or_else(|| Error::RunLocked { path: self.0.clone() })
    }
}

/// Holds a file against other processes, as long as it lives; none where another process holds it.
pub(crate) fn hold(path: &Path) -> Result<Option<File>, Error> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(Error::io(path))?;
    // A process that was killed holds its lock until it is gone, which takes a moment.
    for _ in 0..10 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(100)),
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(source)) => return Err(Error::Io { path: path.to_owned(), source }),
        }
    }
    Ok(None)
}

/// Makes a folder, where there is none.
pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(Error::io(path))
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    freeaugment_base::write_atomically(path, bytes).map_err(Error::io(path))
}

/// Writes a value for programs and people.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).expect("what runs hold are plain values");
    write(path, format!("{text}\n").as_bytes())
}

/// Reads what [`write_json`] wrote; `what` says what it should be.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T, Error> {
    let bytes = std::fs::read(path).map_err(Error::io(path))?;
    freeaugment_base::document::parse(&bytes).map_err(|problem| Error::NotARun {
        path: path.to_owned(),
        reason: format!("is not {what}: {problem}"),
    })
}
