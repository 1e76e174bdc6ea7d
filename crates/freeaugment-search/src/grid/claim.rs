//! Who works on a cell: one process at a time, on however many machines, and on whatever holds the files.
//!
//! The claims of a cell are files with numbers, `NAME.1.json`, `NAME.2.json`…, and the one with the highest number holds
//! the cell. A claim is made by creating the next file, which must not exist: of two that try, one fails, on local disks as
//! on NFS from version 3 on. Nothing is locked, so nothing has to be unlocked when a machine is gone; and as numbers are
//! never used again, whoever was too slow to take one over cannot take away what another has taken in the meantime.
//!
//! A claim holds until it is released, or is found dead:
//! - on the machine of its process, when there is no such process any more: at once;
//! - elsewhere, when it has not changed for as long as the plan says while someone watched, by the watcher's own clock. Clocks
//!   of two machines are never compared.
//!
//! Whoever holds a claim renews it all the time, and looks before it writes anything whether it still has it.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::host;
use super::manifest::{Cell, Grid, Patience};
use crate::compare::{ComparisonObserver, Trial, TrialResult};
use crate::error::Error;
use crate::run::{TrainingEpoch, make_folder, write_json};
use crate::session::{Observer, Session, Step, Training};

/// What stands in the file of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The machine.
    pub(super) host: String,
    /// Which processes can see each other.
    processes: String,
    /// The process.
    process: u32,
    /// When it began: numbers of processes are used again.
    began: Option<u64>,
    /// What nobody else has.
    token: String,
    /// Processor and instruction set, for whoever reads the results.
    pub(super) instructions: String,
    /// Goes up as long as someone works.
    beat: u64,
    /// Whether it was given back.
    released: bool,
}

impl Record {
    fn new() -> Self {
        let process = std::process::id();
        Self {
            host: host::name(),
            processes: host::processes(),
            process,
            began: host::began(process),
            token: host::token(),
            instructions: host::instructions(),
            beat: 0,
            released: false,
        }
    }

    /// Whether its process can be seen from here, and is gone or another by now.
    fn is_dead(&self) -> bool {
        self.is_here() && (self.began.is_none() || host::began(self.process) != self.began)
    }

    fn is_here(&self) -> bool {
        !self.processes.is_empty() && (&self.host, &self.processes) == (&host::name(), &host::processes())
    }

    fn holder(&self) -> String {
        format!(
            "process {} on {}",
            self.process,
            if self.host.is_empty() { "an unnamed host" } else { &self.host }
        )
    }
}

/// A cell that this process works on, until it is released or taken over.
#[derive(Debug)]
pub struct Claim {
    held: Arc<Held>,
    end: Option<Sender<()>>,
    heart: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Held {
    path: PathBuf,
    next: PathBuf,
    record: Mutex<Record>,
    lost: AtomicBool,
}

impl Grid {
    /// Claims a cell. Where a claim of another machine may be dead it is watched, for as long as the plan says at most, and
    /// `watching` is told once. None where `stop` was set meanwhile.
    pub fn claim(
        &self,
        cell: &Cell,
        watching: &mut dyn FnMut(&str, f64),
        stop: &AtomicBool,
    ) -> Result<Option<Claim>, Error> {
        let folder = self.claims();
        make_folder(&folder)?;
        let patience = self.manifest.claims;
        loop {
            let Some((number, bytes)) = newest(&folder, &cell.name)? else {
                if let Some(claim) = Claim::make(&folder, &cell.name, 1, patience)? {
                    return Ok(Some(claim));
                }
                continue;
            };
            // What cannot be read may be half-written by someone who lives, or by someone who died over it.
            let record: Option<Record> = serde_json::from_slice(&bytes).ok();
            let is_free = record.as_ref().is_some_and(|record| record.released || record.is_dead());
            if !is_free {
                let holder = record.as_ref().map_or_else(|| "an unknown process".to_owned(), Record::holder);
                let taken = || Err(Error::CellTaken { cell: cell.name.clone(), holder: holder.clone() });
                if record.as_ref().is_some_and(Record::is_here) {
                    return taken();
                }
                watching(&holder, patience.stale_seconds);
                match watch(&folder, &cell.name, (number, &bytes), patience, stop)? {
                    Watched::Stopped => return Ok(None),
                    // It was being written, and says now whose it is.
                    Watched::Changed if record.is_none() => continue,
                    Watched::Changed => {
                        let now = newest(&folder, &cell.name)?;
                        let is_released = now.is_some_and(|(_, bytes)| {
                            serde_json::from_slice(&bytes).is_ok_and(|record: Record| record.released)
                        });
                        if !is_released {
                            return taken();
                        }
                        continue;
                    }
                    Watched::Dead => {}
                }
            }
            if let Some(claim) = Claim::make(&folder, &cell.name, number + 1, patience)? {
                return Ok(Some(claim));
            }
        }
    }

    fn claims(&self) -> PathBuf {
        self.folder.join("claims")
    }

    /// All claims there have been on a cell, first to last.
    pub(super) fn records(&self, cell: &Cell) -> Result<Vec<Record>, Error> {
        let mut found = numbers(&self.claims(), &cell.name)?;
        found.sort_unstable();
        let read = |number: u64| fs::read(file(&self.claims(), &cell.name, number));
        Ok(found.into_iter().filter_map(|number| serde_json::from_slice(&read(number).ok()?).ok()).collect())
    }
}

fn file(folder: &Path, name: &str, number: u64) -> PathBuf {
    folder.join(format!("{name}.{number}.json"))
}

/// The numbers of a cell's claims.
fn numbers(folder: &Path, name: &str) -> Result<Vec<u64>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(Error::io(folder))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io(folder))?.file_name();
        let number =
            entry.to_str().and_then(|text| text.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".json"));
        found.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    Ok(found)
}

/// The claim that holds a cell.
fn newest(folder: &Path, name: &str) -> Result<Option<(u64, Vec<u8>)>, Error> {
    let Some(number) = numbers(folder, name)?.into_iter().max() else { return Ok(None) };
    let path = file(folder, name, number);
    Ok(Some((number, fs::read(&path).map_err(Error::io(&path))?)))
}

enum Watched {
    Changed,
    Dead,
    Stopped,
}

/// Looks at a claim until it changes, or has not for long enough.
fn watch(
    folder: &Path,
    name: &str,
    (number, bytes): (u64, &[u8]),
    patience: Patience,
    stop: &AtomicBool,
) -> Result<Watched, Error> {
    let long = Duration::from_secs_f64(patience.stale_seconds);
    let began = Instant::now();
    while began.elapsed() < long {
        if stop.load(Ordering::Relaxed) {
            return Ok(Watched::Stopped);
        }
        if newest(folder, name)?.as_ref().map(|(number, bytes)| (*number, &bytes[..]))
            != Some((number, bytes))
        {
            return Ok(Watched::Changed);
        }
        std::thread::sleep(
            Duration::from_secs_f64(patience.stale_seconds / 20.0).min(Duration::from_millis(200)),
        );
    }
    Ok(Watched::Dead)
}

impl Claim {
    /// Makes the claim of a number; none where another was first.
    fn make(folder: &Path, name: &str, number: u64, patience: Patience) -> Result<Option<Self>, Error> {
        let path = file(folder, name, number);
        let mut created = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
            other => other.map_err(Error::io(&path))?,
        };
        let record = Record::new();
        let text = serde_json::to_vec_pretty(&record).expect("claims are plain values");
        if let Err(error) = created.write_all(&text).and_then(|()| created.sync_all()) {
            // A disk that is full would leave a claim that says nothing, and whoever comes next would watch it.
            let _ = fs::remove_file(&path);
            return Err(Error::io(&path)(error));
        }
        let next = file(folder, name, number + 1);
        let held = Arc::new(Held { path, next, record: Mutex::new(record), lost: AtomicBool::new(false) });
        let (end, ended) = channel();
        let heart = {
            let held = Arc::clone(&held);
            let pause = Duration::from_secs_f64(patience.beat_seconds);
            std::thread::spawn(move || {
                while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    // A disk that is full for a moment is no reason to end: the next beat may be written again.
                    let _ = held.beat();
                }
            })
        };
        Ok(Some(Self { held, end: Some(end), heart: Some(heart) }))
    }

    /// Fails where another process has the cell by now. Asked before anything is written.
    pub fn check(&self) -> Result<(), Error> {
        self.held.check()
    }

    /// Gives the cell back.
    pub fn release(mut self) -> Result<(), Error> {
        self.stop();
        self.held.check()?;
        let mut record = self.held.record.lock().expect("no thread panics with it");
        record.released = true;
        write_json(&self.held.path, &*record)
    }

    fn stop(&mut self) {
        drop(self.end.take());
        if let Some(heart) = self.heart.take() {
            let _ = heart.join();
        }
    }
}

impl Drop for Claim {
    /// What was not released is found dead by others: something went wrong.
    fn drop(&mut self) {
        self.stop();
    }
}

impl Held {
    fn beat(&self) -> Result<(), Error> {
        self.check()?;
        let mut record = self.record.lock().expect("no thread panics with it");
        record.beat += 1;
        write_json(&self.path, &*record)
    }

    fn check(&self) -> Result<(), Error> {
        let taken = || Error::ClaimLost { path: self.path.clone() };
        if self.lost.load(Ordering::Relaxed) {
            return Err(taken());
        }
        let token = &self.record.lock().expect("no thread panics with it").token.clone();
        let is_mine = match fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            other => serde_json::from_slice(&other.map_err(Error::io(&self.path))?)
                .is_ok_and(|record: Record| record.token == *token),
        };
        if is_mine && !self.next.try_exists().map_err(Error::io(&self.next))? {
            return Ok(());
        }
        self.lost.store(true, Ordering::Relaxed);
        Err(taken())
    }
}

/// Tells an observer what happens, and looks before anything is written whether the cell is still ours.
#[derive(Debug)]
pub struct Fenced<'a, O: ?Sized> {
    /// The claim.
    pub claim: &'a Claim,
    /// Who is told.
    pub observer: &'a mut O,
}

impl<S: Session, O: Observer<S> + ?Sized> Observer<S> for Fenced<'_, O> {
    fn before_writing(&mut self) -> Result<(), Error> {
        self.claim.check()?;
        self.observer.before_writing()
    }

    fn step(&mut self, session: &S, step: &Step) {
        self.observer.step(session, step);
    }

    fn epoch(&mut self, session: &S, epoch: &S::Epoch) {
        self.observer.epoch(session, epoch);
    }
}

impl<O: ComparisonObserver + ?Sized> ComparisonObserver for Fenced<'_, O> {
    fn before_writing(&mut self) -> Result<(), Error> {
        self.claim.check()?;
        self.observer.before_writing()
    }

    fn begin(&mut self, cells: usize, finished: usize) {
        self.observer.begin(cells, finished);
    }

    fn step(&mut self, number: usize, trial: &Trial, training: &Training, step: &Step) {
        self.observer.step(number, trial, training, step);
    }

    fn epoch(&mut self, number: usize, trial: &Trial, epoch: &TrainingEpoch) {
        self.observer.epoch(number, trial, epoch);
    }

    fn finished(&mut self, number: usize, trial: &Trial, result: &TrialResult) {
        self.observer.finished(number, trial, result);
    }
}
