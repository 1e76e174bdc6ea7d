//! What a session leaves in its folder while it runs: metrics, a line per epoch, and the state to continue from.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::SearchEpoch;
use super::codec::{StateReader, StateWriter};
use super::folder::write;
use super::lines::{append, count_lines, whole_lines};
use crate::config::Settings;
use crate::error::Error;
use crate::session::{DataIdentity, Session};

/// The metrics and the state of one session.
pub(crate) struct Journal {
    metrics: PathBuf,
    state: PathBuf,
}

impl Journal {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { metrics: folder.join("metrics.jsonl"), state: folder.join("checkpoint.safetensors") }
    }

    /// Writes down an epoch.
    pub(crate) fn append(&self, epoch: &impl Serialize) -> Result<(), Error> {
        append(&self.metrics, &serde_json::to_string(epoch).expect("metrics are plain values"))
    }

    /// The epochs that are written down; a line that was cut off by a crash is not one.
    pub(crate) fn epochs<E: DeserializeOwned>(&self) -> Result<Vec<E>, Error> {
        let lines = whole_lines::<E>(&self.metrics)?;
        Ok(lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// How many lines of the metrics of a search are not whole.
    pub(crate) fn lost_lines(&self) -> Result<usize, Error> {
        Ok(count_lines(&self.metrics)? - whole_lines::<SearchEpoch>(&self.metrics)?.len())
    }

    /// Writes the state to continue from.
    pub(crate) fn save<S: Session>(&self, session: &S) -> Result<(), Error> {
        let mut state = StateWriter::default();
        let (task, settings) = session.settings();
        state.entry("settings", settings.to_toml(task));
        state.json("data", session.data());
        for (key, value) in session.identity() {
            state.entry(key, value);
        }
        session.save(&mut state)?;
        state.write(&self.state)
    }

    /// Puts a session at its beginning where it was left, if it was. A state of other settings or of other data is
    /// refused; epochs that have to be done again are dropped from the metrics.
    pub(crate) fn restore<S: Session>(&self, session: &mut S) -> Result<(), Error> {
        let bytes = match std::fs::read(&self.state) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            read => Some(read.map_err(Error::io(&self.state))?),
        };
        // Others are told whether there is one, and which.
        session.ranks().from_first(&[u8::from(bytes.is_some())]);
        session.ranks().from_first(bytes.as_deref().unwrap_or_default());
        if let Some(bytes) = bytes {
            take_up(session, &self.state, &bytes)?;
        }
        let done = session.progress().epochs_done() as usize;
        let kept = whole_lines::<S::Epoch>(&self.metrics)?.into_iter().take(done);
        let text: String = kept.map(|line| line + "\n").collect();
        write(&self.metrics, text.as_bytes())
    }

    /// How many steps the state has, and how many there are; none where there is no state.
    pub(crate) fn steps(&self) -> Result<Option<(u64, u64)>, Error> {
        if !self.state.exists() {
            return Ok(None);
        }
        let bytes = std::fs::read(&self.state).map_err(Error::io(&self.state))?;
        let state = StateReader::new(&self.state, &bytes)?;
        Ok(Some((state.number("step")?, state.number("steps")?)))
    }

    /// Removes the state: what is finished needs none.
    pub(crate) fn forget(&self) -> Result<(), Error> {
        match std::fs::remove_file(&self.state) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(&self.state)(error)),
            _ => Ok(()),
        }
    }
}

/// Puts a session where the first of the processes that share it does: [`Journal::restore`] without a folder.
pub(crate) fn restore_from_first<S: Session>(session: &mut S) -> Result<(), Error> {
    let is_there = session.ranks().from_first(&[]) == [1];
    let bytes = session.ranks().from_first(&[]);
    if is_there { take_up(session, Path::new("the state of process 0"), &bytes) } else { Ok(()) }
}

/// Puts a session at its beginning where a state says; `path` is where that comes from.
fn take_up<S: Session>(session: &mut S, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let state = StateReader::new(path, bytes)?;
    check(session, path, &state)?;
    session.restore(&state)
}

fn check<S: Session>(session: &S, path: &Path, state: &StateReader) -> Result<(), Error> {
    let refuse = |reason: String| Error::Checkpoint { path: path.to_owned(), reason };
    let (task, settings) = session.settings();
    let mut others = Settings::from_toml(task, state.entry("settings")?)
        .map_err(|reason| state.broken(&format!("its settings: {reason}")))?;
    others.take_places(settings);
    if let Some((key, own, others)) = settings.difference(task, &others) {
        return Err(refuse(format!(
            "belongs to another configuration: `{key}` is {own} in the run's configuration, but {others} here"
        )));
    }
    let data: DataIdentity = state.json("data")?;
    if data != *session.data() {
        return Err(Error::other_data(path, &data, session.data()));
    }
    for (key, value) in session.identity() {
        if state.entry(key)? != value {
            return Err(refuse(format!("belongs to another training: its {key} differs")));
        }
    }
    Ok(())
}
