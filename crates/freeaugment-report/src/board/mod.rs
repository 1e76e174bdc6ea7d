//! Event files for TensorBoard: what the metrics of a run say, for those who look at many runs there.
//!
//! A file is a copy of what the run has written, in the folder of each search and of each classifier. It is only added to.
//! Where another process goes on with a run, or a crash has cut a file off, a new file is begun that tells all epochs once
//! more, after a start at step 1, which says to TensorBoard that what older files told is void: no epoch is shown twice.
//! Older files stay, for a TensorBoard that is open would not find its way from one that is gone to the next.

mod chart;
mod event;
mod frame;
mod message;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use freeaugment_search::{Candidate, Error, Run, Task, Trial};

use self::chart::Chart;
use self::event::EventFile;
use self::message::Charts;
use crate::Pictures;
use crate::preview::Preview;
use crate::studio::Studio;
use crate::turn::Turn;

/// Images of a contact sheet, samples of each, the side that they are made smaller to first, and the side on the sheet.
const IMAGES: usize = 4;
const SAMPLES: u32 = 6;
const SIZE: usize = 256;
const SIDE: u32 = 144;

/// The event files of a run.
///
/// They are written from what the run has written, and change none of that. The contact sheet of a search is in them for
/// epochs 1, 2, 4, 8… and the last one: as many as TensorBoard shows; that of a comparison for each policy once.
#[derive(Debug)]
pub struct Board {
    folder: PathBuf,
    files: BTreeMap<PathBuf, EventFile>,
    studio: Studio,
    turn: Turn,
}

/// What has metrics of its own.
enum Part {
    Search(Run),
    Trial { run: Run, trial: Trial, is_first: bool },
}

impl Board {
    /// Of the run in this folder.
    pub fn new(folder: &Path) -> Self {
        let (studio, turn) = (Studio::new(Pictures::With), Turn::new(Duration::ZERO));
        Self { folder: folder.to_owned(), files: BTreeMap::new(), studio, turn }
    }

    /// Whether the run in this folder has event files.
    pub fn is_begun(folder: &Path) -> Result<bool, Error> {
        for part in parts(&Run::open(folder)?)? {
            if !event::names(part.folder())?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An epoch has ended: tells it, and those that are not told yet, if it is time to.
    pub fn epoch(&mut self) -> Result<(), Error> {
        if self.turn.is_due() { self.tell() } else { Ok(()) }
    }

    /// Tells all epochs that are not told yet.
    pub fn tell(&mut self) -> Result<(), Error> {
        let Self { folder, files, studio, turn } = self;
        turn.write(folder, || {
            for part in parts(&Run::open(folder)?)? {
                tell(&part, files, studio)?;
            }
            Ok(())
        })
    }
}

/// The searches and classifiers of a run and of the runs in it.
fn parts(run: &Run) -> Result<Vec<Part>, Error> {
    let mut found = Vec::new();
    match run.task() {
        Task::Search => found.push(Part::Search(run.clone())),
        Task::Comparison => {
            let mut seen: Vec<String> = Vec::new();
            for trial in run.trials()? {
                let name = trial.candidate().name().to_owned();
                let is_first = !seen.contains(&name);
                seen.push(name);
                found.push(Part::Trial { run: run.clone(), trial, is_first });
            }
        }
        Task::Find => {}
    }
    for within in run.parts()? {
        found.extend(parts(&within)?);
    }
    Ok(found)
}

impl Part {
    fn folder(&self) -> &Path {
        match self {
            Self::Search(run) => run.folder(),
            Self::Trial { trial, .. } => trial.folder(),
        }
    }
}

fn tell(part: &Part, files: &mut BTreeMap<PathBuf, EventFile>, studio: &mut Studio) -> Result<(), Error> {
    let folder = part.folder();
    if !folder.is_dir() {
        // Its turn has not come.
        return Ok(());
    }
    if !files.contains_key(folder) {
        files.insert(folder.to_owned(), EventFile::open(folder)?);
    }
    let Some(file) = files.get_mut(folder) else { return Ok(()) };
    match part {
        Part::Search(run) => {
            let last = run.settings()?.epochs;
            let sheet = |epoch: u64| {
                let shown = epoch.is_power_of_two() || epoch == last;
                shown.then(|| sheet_of_epoch(run, epoch, studio)).flatten()
            };
            file.tell(&run.epochs()?, sheet)
        }
        Part::Trial { run, trial, is_first } => {
            let sheet = |epoch: u64| {
                let shown = *is_first && epoch == 1;
                shown.then(|| sheet(run, trial.candidate(), studio)).flatten()
            };
            file.tell(&trial.epochs()?, sheet)
        }
    }
}

fn sheet_of_epoch(run: &Run, epoch: u64, studio: &mut Studio) -> Option<Vec<u8>> {
    let candidate =
        Candidate::policy(&format!("epoch {epoch}"), &run.policy_of(epoch).ok()?, &run.settings().ok()?);
    sheet(run, &candidate.ok()?, studio)
}

/// The contact sheet of a policy as a PNG file; none where the images cannot be read.
fn sheet(run: &Run, candidate: &Candidate, studio: &mut Studio) -> Option<Vec<u8>> {
    let (gallery, settings) = (studio.gallery(run, IMAGES).ok()?, run.settings().ok()?);
    let images: Vec<_> = (gallery.specimens.iter())
        .map(|specimen| (specimen.class.clone(), specimen.picture.clone()))
        .collect();
    let preview = Preview { candidate, samples: SAMPLES, seed: settings.seed, size: SIZE, side: SIDE };
    preview.draw(&images, None).ok()
}
