//! Event files for TensorBoard: what the metrics say, for those who look at many runs there.
//!
//! An event file is a picture of the metrics and nothing is ever read from it. When a session is taken up again, a new file
//! is begun and tells all epochs that are in the metrics once more, after a start at step 1, which says to TensorBoard that
//! what older files told is void. So a file that a crash cut off does no harm, and no epoch is shown twice. Older files stay:
//! a TensorBoard that is open would not find its way from one that is gone to the next.

mod chart;
mod frame;
mod message;

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub use self::chart::Chart;
pub use self::message::Charts;
use self::message::{Message, start, version};
use crate::error::Error;

/// TensorBoard takes every file for one of its own that has this in its name, and reads them in the order of their names.
const NAME: &str = "events.out.tfevents.";

/// The event file of a session.
#[derive(Debug)]
pub(crate) struct Events {
    path: PathBuf,
    file: File,
}

impl Events {
    /// Begins a file in the folder of a session with the epochs that have ended.
    pub(crate) fn begin<E: Chart>(folder: &Path, epochs: &[E]) -> Result<Self, Error> {
        let old = files(folder)?;
        let last = old.iter().filter_map(|path| number(path)).max();
        let name = (now() as u64).max(last.map_or(0, |last| last + 1));
        let path = folder.join(format!("{NAME}{name:010}.freeaugment"));
        let file = OpenOptions::new().create_new(true).append(true).open(&path).map_err(Error::io(&path))?;
        let mut events = Self { path, file };
        let time = now();
        let mut messages = vec![version(time), start(time, 1)];
        messages.extend(epochs.iter().map(|epoch| told(epoch, time)));
        events.write(&messages)?;
        Ok(events)
    }

    /// Tells an epoch that has ended.
    pub(crate) fn epoch(&mut self, epoch: &impl Chart) -> Result<(), Error> {
        self.write(&[told(epoch, now())])
    }

    fn write(&mut self, messages: &[Message]) -> Result<(), Error> {
        let bytes: Vec<u8> = messages.iter().flat_map(|message| frame::framed(message.bytes())).collect();
        self.file.write_all(&bytes).map_err(Error::io(&self.path))
    }
}

fn told(epoch: &impl Chart, time: f64) -> Message {
    let mut charts = Charts::default();
    epoch.chart(&mut charts);
    charts.event(time, epoch.number())
}

/// The event files of a folder that are ours.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        if number(&path).is_some() {
            found.push(path);
        }
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
