//! One event file after the other in the folder of a search or a classifier.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use freeaugment_search::Error;

use super::message::{Message, start, version};
use super::{Chart, Charts, frame};
use crate::failed;

/// TensorBoard takes every file for one of its own that has this in its name, and reads them in the order of their names.
const NAME: &str = "events.out.tfevents.";
/// What a file begins with: its version, and the start.
const PREAMBLE: usize = 2;

/// The event file of a search or a classifier.
#[derive(Debug)]
pub(super) struct EventFile {
    folder: PathBuf,
    /// Epochs that are told, by this process or by the one before.
    told: usize,
    /// What this process writes to.
    file: Option<(PathBuf, File)>,
}

impl EventFile {
    /// Looks how far the last file in a folder goes.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let last = names(folder)?.into_iter().max();
        let bytes = last.map(|(_, path)| std::fs::read(&path).map_err(failed(&path))).transpose()?;
        let told = bytes.map_or(0, |bytes| frame::count(&bytes).saturating_sub(PREAMBLE));
        Ok(Self { folder: folder.to_owned(), told, file: None })
    }

    /// Tells the epochs that are not told yet, with a picture where there is one.
    pub(super) fn tell<E: Chart>(
        &mut self,
        epochs: &[E],
        mut sheet: impl FnMut(u64) -> Option<Vec<u8>>,
    ) -> Result<(), Error> {
        if epochs.len() <= self.told {
            return Ok(());
        }
        if self.file.is_none() {
            self.begin()?;
        }
        for epoch in &epochs[self.told..] {
            let mut charts = Charts::default();
            epoch.chart(&mut charts);
            if let Some(png) = sheet(epoch.number()) {
                charts.image("what the policy does", &png);
            }
            self.write(&[charts.event(now(), epoch.number())])?;
            self.told += 1;
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Error> {
        let last = names(&self.folder)?.into_iter().map(|(number, _)| number).max();
        let number = (now() as u64).max(last.map_or(0, |last| last + 1));
        let path = self.folder.join(format!("{NAME}{number:010}.freeaugment"));
        let file = OpenOptions::new().create_new(true).append(true).open(&path).map_err(failed(&path))?;
        (self.told, self.file) = (0, Some((path, file)));
        self.write(&[version(now()), start(now(), 1)])
    }

    fn write(&mut self, messages: &[Message]) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let bytes: Vec<u8> = messages.iter().flat_map(|message| frame::framed(message.bytes())).collect();
        let written = file.write_all(&bytes).map_err(failed(path));
        if written.is_err() {
            // Half a record may stand there, after which nothing is read: the next attempt begins a new file.
            (self.told, self.file) = (0, None);
        }
        written
    }
}

/// The event files of a folder that are ours, with their numbers; none where there is no folder.
pub(super) fn names(folder: &Path) -> Result<Vec<(u64, PathBuf)>, Error> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        found.extend(number(&path).map(|number| (number, path)));
    }
    Ok(found)
}

/// The number in the name of a file of ours.
fn number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix(NAME)?.strip_suffix(".freeaugment")?.parse().ok()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
