//! The folder of a run, held to be written.

use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::environment::Environment;
use super::folder::{RunFolder, write, write_json};
use super::journal::{Journal, restore_from_first};
use super::{About, Run};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::session::{DataIdentity, Halt, Model, Observer, Search, Session as _, drive};

/// A run that this process works in: no other can, as long as this lives.
#[derive(Debug)]
pub struct RunWriter {
    run: Run,
    // The lock ends with the file.
    _lock: File,
}

impl Deref for RunWriter {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.run
    }
}

impl RunWriter {
    /// The first free name among `search-1`, `search-2`… in a folder, or whatever the kind of run is.
    pub fn free_name(parent: &Path, kind: &str) -> PathBuf {
        let names = (1..).map(|number| parent.join(format!("{kind}-{number}")));
        names.into_iter().find(|folder| !folder.exists()).expect("numbers do not end")
    }

    /// Refuses a folder in which a new run would overwrite something.
    pub fn check_free(folder: &Path) -> Result<(), Error> {
        let Ok(mut entries) = std::fs::read_dir(folder) else { return Ok(()) };
        if entries.next().is_none() { Ok(()) } else { Err(Error::RunExists { path: folder.to_owned() }) }
    }

    /// Makes the folder of a new run; one that exists must be empty. The folder is made beside its place and moved there
    /// when it is whole, so that a run is there with all it needs to go on, or not at all.
    pub fn create(
        folder: &Path,
        task: Task,
        settings: &Settings,
        data: &DataIdentity,
        command: &[String],
    ) -> Result<Self, Error> {
        Self::create_with(folder, task, settings, data, command, |_| Ok(()))
    }

    /// As [`Self::create`], with more files that belong to a whole run.
    pub(crate) fn create_with(
        folder: &Path,
        task: Task,
        settings: &Settings,
        data: &DataIdentity,
        command: &[String],
        more: impl FnOnce(&RunFolder) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        Self::check_free(folder)?;
        let draft = RunFolder::new(&draft_of(folder));
        std::fs::create_dir_all(draft.path()).map_err(Error::io(folder))?;
        let lock = draft.lock()?;
        let write = || {
            // What an earlier process left there that died before its run was whole is overwritten.
            write(&draft.configuration(), settings.to_toml(task).as_bytes())?;
            write_json(&draft.environment(), &Environment::now(settings, command))?;
            write_json(&draft.about(), &About::new(task, data.clone()))?;
            more(&draft)?;
            draft.log("begun")
        };
        if let Err(error) = write() {
            // Nothing half-written is left behind; if that fails too, the first error is the one to report.
            let _ = std::fs::remove_dir_all(draft.path());
            return Err(error);
        }
        if folder.exists() {
            // It is empty; not every system moves a folder onto another.
            std::fs::remove_dir(folder).map_err(Error::io(folder))?;
        }
        std::fs::rename(draft.path(), folder).map_err(Error::io(folder))?;
        Ok(Self { run: Run::open(folder)?, _lock: lock })
    }

    /// Opens the folder of a run to go on with it.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let run = Run::open(folder)?;
        let lock = run.files().lock()?;
        Ok(Self { run, _lock: lock })
    }

    /// Adds a line to the log.
    pub fn log(&self, message: &str) -> Result<(), Error> {
        self.files().log(message)
    }

    /// Adds a line on what went wrong, unless the run is another process's by now.
    pub(crate) fn log_failure(&self, about: &str, error: &Error) -> Result<(), Error> {
        if matches!(error, Error::ClaimLost { .. }) {
            return Ok(());
        }
        self.log(&format!("failed: {about}{error}"))
    }

    /// Puts a search at its beginning where the run was left.
    pub fn restore<M: Model>(&self, search: &mut Search<M>) -> Result<(), Error> {
        Journal::new(self.folder()).restore(search)?;
        let progress = search.progress();
        self.log(&format!("resumed at step {} of {}", progress.done, progress.total))
    }

    /// What the other processes do that share [`Self::restore`] with the first one.
    pub fn restore_from_first<M: Model>(search: &mut Search<M>) -> Result<(), Error> {
        restore_from_first(search)
    }

    /// Takes all steps that are left of a search. Other processes that share it [`drive`] it without a folder.
    pub fn search<M: Model>(
        &self,
        search: &mut Search<M>,
        observer: &mut dyn Observer<Search<M>>,
        stop: &AtomicBool,
    ) -> Result<Halt, Error> {
        let before = search.progress().done;
        let halt = drive(search, Some(self.folder()), observer, stop).inspect_err(|error| {
            // If the log cannot be written either, the first error is the one to report.
            let _ = self.log_failure("", error);
        })?;
        let ranks = search.ranks();
        if !ranks.is_alone() {
            let (size, sent, steps) = (ranks.size(), ranks.sent(), search.progress().done - before);
            self.log(&format!("shared by {size} processes: the first sent {sent} bytes in {steps} steps"))?;
        }
        match halt {
            Halt::Finished => {
                observer.before_writing()?;
                search.model().leave(&self.files().classifier())?;
                self.log("finished")?;
            }
            Halt::Stopped => {
                let progress = search.progress();
                self.log(&format!("stopped at step {} of {}", progress.done, progress.total))?;
            }
        }
        Ok(halt)
    }
}

/// Where the folder of a run is made before it is whole.
fn draft_of(folder: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".unfinished-");
    name.push(folder.file_name().unwrap_or_default());
    folder.with_file_name(name)
}
