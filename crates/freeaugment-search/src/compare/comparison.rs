//! Candidates under the same budget and the same seeds: which cells there are, and training those that are left.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::listing::{Entry, Listing, folder_name};
use super::{Budget, Candidate, Report, Summary, Trial, TrialResult};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::run::{
    Run, RunFolder, RunWriter, TrainingEpoch, make_folder, restore_from_first, write, write_json,
};
use crate::session::{Halt, Observer, Setup, Step, Training, drive};

/// The candidates of a run and the seeds that each of them has.
#[derive(Debug)]
pub struct Comparison {
    entries: Vec<Entry>,
    candidates: Vec<Arc<Candidate>>,
    seeds: Vec<u64>,
    baseline: usize,
}

/// Told what happens in a comparison.
pub trait ComparisonObserver {
    /// Something is about to be written; an error leaves it as it is and ends the work.
    fn before_writing(&mut self) -> Result<(), Error> {
        Ok(())
    }
    /// So many cells there are, and so many are finished already.
    fn begin(&mut self, _cells: usize, _finished: usize) {}
    /// A cell took a step. `number` counts all cells of the comparison from 1.
    fn step(&mut self, _number: usize, _trial: &Trial, _training: &Training, _step: &Step) {}
    /// An epoch of a cell has ended and is written down.
    fn epoch(&mut self, _number: usize, _trial: &Trial, _epoch: &TrainingEpoch) {}
    /// A cell is finished.
    fn finished(&mut self, _number: usize, _trial: &Trial, _result: &TrialResult) {}
}

/// No one is told.
impl ComparisonObserver for () {}

/// The copy of a candidate's file.
const FILE: &str = "policy.json";

impl Comparison {
    /// Candidates by name with the seeds 1, 2, 3…, compared with one of them: `standard` where it is among them, else the
    /// first.
    pub fn new(
        names: &[String],
        baseline: Option<&str>,
        seeds: u64,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let mut unique: Vec<&String> = Vec::new();
        for name in names {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        let candidates = (unique.iter())
            .map(|name| Candidate::open(name, settings).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()?;
        Self::of(candidates, baseline, (1..=seeds).collect())
    }

    /// Candidates that are at hand.
    pub fn of(
        candidates: Vec<Arc<Candidate>>,
        baseline: Option<&str>,
        seeds: Vec<u64>,
    ) -> Result<Self, Error> {
        if candidates.is_empty() {
            let reason = "there is nothing to train".to_owned();
            return Err(Error::Candidate { name: String::new(), reason });
        }
        let at = |name: &str| candidates.iter().position(|candidate| candidate.name() == name);
        let baseline = match baseline {
            None => at("standard").unwrap_or(0),
            Some(name) => at(name).ok_or_else(|| {
                let names: Vec<&str> = candidates.iter().map(|candidate| candidate.name()).collect();
                let reason = format!("the baseline must be one of those compared: {}", names.join(", "));
                Error::Candidate { name: name.to_owned(), reason }
            })?,
        };
        let mut entries: Vec<Entry> = Vec::new();
        for candidate in &candidates {
            entries.push(Entry {
                name: candidate.name().to_owned(),
                folder: free_folder(candidate.name(), &entries),
                identity: candidate.identity().to_owned(),
            });
        }
        Ok(Self { entries, candidates, seeds, baseline })
    }

    /// The comparison that a run has written down, with the files as they were then.
    pub(crate) fn load(run: &Path, settings: &Settings) -> Result<Self, Error> {
        let listing = Listing::read(run)?;
        let read = |entry: &Entry| {
            let path = run.join(&entry.folder).join(FILE);
            if path.exists() {
                return Candidate::read(&entry.name, &path, settings).map(Arc::new);
            }
            Candidate::open(&entry.name, settings).map(Arc::new)
        };
        let candidates = listing.candidates.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let found = Self::of(candidates, Some(&listing.baseline), listing.seeds.clone())?;
        found.check(&listing, run)?;
        Ok(Self { entries: listing.candidates, ..found })
    }

    fn check(&self, listing: &Listing, run: &Path) -> Result<(), Error> {
        for entry in &self.entries {
            let known = listing.candidates.iter().find(|known| known.name == entry.name);
            if known.is_some_and(|known| known.identity != entry.identity) {
                let reason = format!(
                    "`{}` is not what it was when this run began: put it back, or compare in another folder",
                    entry.name
                );
                return Err(Error::NotARun { path: run.to_owned(), reason });
            }
        }
        Ok(())
    }

    /// Makes the run of a comparison, whole or not at all.
    pub fn create(
        &self,
        folder: &Path,
        settings: &Settings,
        setup: &Setup,
        command: &[String],
    ) -> Result<RunWriter, Error> {
        // What is wrong with settings or candidates is known before a folder is made.
        for candidate in &self.candidates {
            Training::new(settings, setup, candidate, 1)?;
        }
        let data = &setup.identity;
        RunWriter::create_with(folder, Task::Comparison, settings, data, command, |files| {
            self.write(files, &[])
        })
    }

    /// The same comparison in a run that was begun before: candidates that it has already keep their folders, others join
    /// them. Settings, data and what names stand for must be the same as then.
    pub fn join(mut self, run: &RunWriter, settings: &Settings, setup: &Setup) -> Result<Self, Error> {
        run.require(Task::Comparison)?;
        if let Some((key, own, others)) = settings.difference(Task::Comparison, &run.settings()?) {
            return Err(Error::OtherSettings { path: run.folder().to_owned(), key, own, others });
        }
        run.require_data(&setup.identity)?;
        let listing = Listing::read(run.folder())?;
        self.check(&listing, run.folder())?;
        let mut known = listing.candidates;
        for entry in &mut self.entries {
            if let Some(known) = known.iter().find(|known| known.name == entry.name) {
                *entry = known.clone();
            } else {
                entry.folder = free_folder(&entry.name, &known);
                known.push(entry.clone());
            }
        }
        // Candidates that were compared before and are not asked for now stay on the list: their cells are there.
        known.retain(|known| !self.entries.iter().any(|entry| entry.name == known.name));
        self.write(run.files(), &known)?;
        run.log("continued")?;
        Ok(self)
    }

    /// Writes down what there is to do: first the files that candidates come from, then the list.
    fn write(&self, files: &RunFolder, others: &[Entry]) -> Result<(), Error> {
        for (entry, candidate) in self.entries.iter().zip(&self.candidates) {
            if let Some(bytes) = candidate.file() {
                let folder = files.path().join(&entry.folder);
                make_folder(&folder)?;
                write(&folder.join(FILE), bytes)?;
            }
        }
        let listing = Listing {
            seeds: self.seeds.clone(),
            baseline: self.entries[self.baseline].name.clone(),
            candidates: [&self.entries[..], others].concat(),
        };
        write_json(&files.candidates(), &listing)
    }

    /// The candidates.
    pub fn candidates(&self) -> &[Arc<Candidate>] {
        &self.candidates
    }

    /// The seeds that each of them has.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// All cells, seed after seed, so that an interrupted comparison has whole rows of pairs.
    pub fn trials(&self, run: &Run) -> Vec<Trial> {
        let each = |&seed: &u64| {
            self.entries.iter().zip(&self.candidates).map(move |(entry, candidate)| {
                Trial::new(run.folder(), candidate, &entry.folder, seed, run.data())
            })
        };
        self.seeds.iter().flat_map(each).collect()
    }

    /// What the finished cells say.
    pub fn summary(&self, run: &Run) -> Result<Summary, Error> {
        let mut results: Vec<(&str, Vec<TrialResult>)> =
            self.entries.iter().map(|entry| (&*entry.name, Vec::new())).collect();
        for (at, trial) in self.trials(run).iter().enumerate() {
            results[at % self.entries.len()].1.extend(trial.result()?);
        }
        Ok(Summary::new(&results, self.baseline))
    }

    /// Trains all cells that are left. After each of them the table so far is written: whoever looks in the meantime finds
    /// it. When `stop` is set, the step is finished and the cell's state saved.
    pub fn run(
        &self,
        run: &RunWriter,
        settings: &Settings,
        setup: &Setup,
        observer: &mut dyn ComparisonObserver,
        stop: &AtomicBool,
    ) -> Result<Halt, Error> {
        run.require_data(&setup.identity)?;
        let trials = self.trials(run);
        let mut left = Vec::new();
        for (at, trial) in trials.iter().enumerate() {
            if trial.result()?.is_none() {
                left.push((at + 1, trial));
            }
        }
        let numbers: Vec<u8> = left.iter().flat_map(|(number, _)| (*number as u64).to_le_bytes()).collect();
        setup.ranks.from_first(&numbers);
        observer.begin(trials.len(), trials.len() - left.len());
        for (number, trial) in left {
            let about =
                format!("[{number}/{}] {}, seed {}", trials.len(), trial.candidate().name(), trial.seed());
            let training = Training::new(settings, setup, trial.candidate(), trial.seed())?;
            let mut cell = Cell { number, trial, observer: &mut *observer };
            let result = trial
                .carry_out(training, !settings.warm_start.is_empty(), &mut cell, stop)
                .inspect_err(|error| {
                    // If the log cannot be written either, the first error is the one to report.
                    let _ = run.log_failure(&format!("{about}: "), error);
                })?;
            observer.before_writing()?;
            let Some(result) = result else {
                run.log("stopped")?;
                return Ok(Halt::Stopped);
            };
            // Test images, or in the selection of a find those for validation.
            run.log(&format!("{about}: {}", result.line("held-out")))?;
            self.report(run, settings, setup)?.write(run)?;
            observer.finished(number, trial, &result);
        }
        observer.before_writing()?;
        self.report(run, settings, setup)?.write(run)?;
        run.log("finished")?;
        Ok(Halt::Finished)
    }

    /// What the other processes do that share [`Self::run`] with the first one: the same trainings, and no files.
    pub fn follow(&self, settings: &Settings, setup: &Setup, stop: &AtomicBool) -> Result<Halt, Error> {
        for number in setup.ranks.from_first(&[]).as_chunks().0 {
            let at = u64::from_le_bytes(*number) as usize - 1;
            let (seed, candidate) =
                (self.seeds[at / self.candidates.len()], &self.candidates[at % self.candidates.len()]);
            let mut training = Training::new(settings, setup, candidate, seed)?;
            restore_from_first(&mut training)?;
            if drive(&mut training, None, &mut (), stop)? == Halt::Stopped {
                return Ok(Halt::Stopped);
            }
            // As the first process does when it writes the result.
            training.score()?;
        }
        Ok(Halt::Finished)
    }

    /// What all processes that share it must agree on.
    pub fn work(&self) -> String {
        let names: Vec<String> =
            self.entries.iter().map(|entry| format!("{} ({})", entry.name, entry.identity)).collect();
        format!("{} with seeds {:?}", names.join(", "), self.seeds)
    }

    /// The table so far, with the budget that all cells have.
    pub fn report(&self, run: &Run, settings: &Settings, setup: &Setup) -> Result<Report, Error> {
        Ok(Report { budget: Budget::new(settings, setup), summary: self.summary(run)? })
    }
}

/// The run of a comparison that is a part of something larger: begun, or gone on with where it was begun before.
pub(crate) fn open_or_create(
    comparison: Comparison,
    folder: &Path,
    settings: &Settings,
    setup: &Setup,
) -> Result<(RunWriter, Comparison), Error> {
    if folder.exists() {
        let run = RunWriter::open(folder)?;
        let comparison = comparison.join(&run, settings, setup)?;
        return Ok((run, comparison));
    }
    Ok((comparison.create(folder, settings, setup, &[])?, comparison))
}

/// Tells the observer of a comparison what happens in a cell.
struct Cell<'a> {
    number: usize,
    trial: &'a Trial,
    observer: &'a mut dyn ComparisonObserver,
}

impl Observer<Training> for Cell<'_> {
    fn before_writing(&mut self) -> Result<(), Error> {
        self.observer.before_writing()
    }

    fn step(&mut self, training: &Training, step: &Step) {
        self.observer.step(self.number, self.trial, training, step);
    }

    fn epoch(&mut self, _training: &Training, epoch: &TrainingEpoch) {
        self.observer.epoch(self.number, self.trial, epoch);
    }
}

/// A folder for a candidate that no other has.
fn free_folder(name: &str, others: &[Entry]) -> String {
    let plain = folder_name(name);
    let taken = |folder: &str| others.iter().any(|entry| entry.folder == folder);
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|folder| !taken(folder)).expect("numbers do not end")
}
