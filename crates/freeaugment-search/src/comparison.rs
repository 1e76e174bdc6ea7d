//! Candidates under the same budget and the same seeds: which cells there are, and what they found together.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::error::Error;
use crate::run::{CANDIDATES, Run};
use crate::settings::{Settings, Task};
use crate::statistics::{mean, paired_test};
use crate::trial::{Outcome, Trial};

/// The candidates of a run and how many seeds each of them has.
#[derive(Debug)]
pub struct Comparison {
    entries: Vec<Entry>,
    candidates: Vec<Arc<Candidate>>,
    seeds: u64,
    baseline: usize,
}

/// What a run has written down about its candidates.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listing {
    seeds: u64,
    baseline: String,
    candidates: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// Its folder in the run.
    folder: String,
    identity: String,
}

/// The copy of a candidate's file.
const FILE: &str = "policy.json";

impl Comparison {
    /// Candidates by name, compared with one of them: `standard` where it is among them, else the first.
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
        Self::of(candidates, baseline, seeds)
    }

    fn of(candidates: Vec<Arc<Candidate>>, baseline: Option<&str>, seeds: u64) -> Result<Self, Error> {
        if candidates.is_empty() {
            return Err(Error::Candidate {
                name: String::new(),
                reason: "there is nothing to train".to_owned(),
            });
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
            let plain = folder_name(candidate.name());
            let taken = |folder: &str| entries.iter().any(|entry| entry.folder == folder);
            let numbered = (2..).map(|number| format!("{plain}-{number}"));
            let mut names = std::iter::once(plain.clone()).chain(numbered);
            entries.push(Entry {
                name: candidate.name().to_owned(),
                folder: names.find(|folder| !taken(folder)).expect("numbers do not end"),
                identity: candidate.identity().to_owned(),
            });
        }
        Ok(Self { entries, candidates, seeds, baseline })
    }

    /// The comparison that a run has written down, with the files as they were then.
    pub fn load(run: &Path, settings: &Settings) -> Result<Self, Error> {
        let listing = listing(run)?;
        let read = |entry: &Entry| {
            let path = run.join(&entry.folder).join(FILE);
            if path.exists() {
                return Candidate::read(&entry.name, &path, settings).map(Arc::new);
            }
            Candidate::open(&entry.name, settings).map(Arc::new)
        };
        let candidates = listing.candidates.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let found = Self::of(candidates, Some(&listing.baseline), listing.seeds)?;
        found.check(&listing, run)?;
        Ok(Self { entries: listing.candidates, ..found })
    }

    /// The same with those candidates that a run has already, which keep their folders. What a name stands for must not
    /// have changed.
    pub fn joined(mut self, run: &Path) -> Result<Self, Error> {
        let listing = listing(run)?;
        self.check(&listing, run)?;
        let mut entries = listing.candidates.clone();
        for entry in &self.entries {
            if !entries.iter().any(|known| known.name == entry.name) {
                let taken = entries.iter().any(|known| known.folder == entry.folder);
                let folder =
                    if taken { format!("{}-{}", entry.folder, entries.len()) } else { entry.folder.clone() };
                entries.push(Entry { folder, ..entry.clone() });
            }
        }
        for entry in &mut self.entries {
            if let Some(known) = entries.iter().find(|known| known.name == entry.name) {
                *entry = known.clone();
            }
        }
        Ok(self)
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

    /// Writes down what there is to do.
    pub fn save(&self, run: &Run) -> Result<(), Error> {
        for (entry, candidate) in self.entries.iter().zip(&self.candidates) {
            if let Some(bytes) = candidate.file() {
                let folder = run.path(&entry.folder);
                std::fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
                run.write(&format!("{}/{FILE}", entry.folder), bytes)?;
            }
        }
        // Candidates that were compared before and are not asked for now stay on the list: their cells are there.
        let mut entries = self.entries.clone();
        if run.path(CANDIDATES).exists() {
            let before = listing(run.folder())?.candidates;
            entries.extend(
                before.into_iter().filter(|old| !self.entries.iter().any(|entry| entry.name == old.name)),
            );
        }
        let listing = Listing {
            seeds: self.seeds,
            baseline: self.entries[self.baseline].name.clone(),
            candidates: entries,
        };
        let text = serde_json::to_string_pretty(&listing).expect("plain values") + "\n";
        run.write(CANDIDATES, text.as_bytes())
    }

    /// All cells, seed after seed, so that an interrupted comparison has whole rows of pairs.
    pub fn cells(&self, run: &Path) -> Vec<(Arc<Candidate>, u64, Trial)> {
        let each = |seed: u64| {
            self.entries.iter().zip(&self.candidates).map(move |(entry, candidate)| {
                (Arc::clone(candidate), seed, Trial::new(run, &entry.name, &entry.folder, seed))
            })
        };
        (1..=self.seeds).flat_map(each).collect()
    }

    /// The candidates.
    pub fn candidates(&self) -> &[Arc<Candidate>] {
        &self.candidates
    }

    /// How many seeds each of them has.
    pub fn seeds(&self) -> u64 {
        self.seeds
    }

    /// What the finished cells say.
    pub fn summary(&self, run: &Path) -> Result<Summary, Error> {
        let mut outcomes: Vec<Vec<Outcome>> = vec![Vec::new(); self.entries.len()];
        for (at, (_, _, trial)) in self.cells(run).iter().enumerate() {
            outcomes[at % self.entries.len()].extend(trial.outcome()?);
        }
        let reference = &outcomes[self.baseline];
        let row = |(at, outcomes): (usize, &Vec<Outcome>)| {
            let values: Vec<f64> = outcomes.iter().map(|outcome| outcome.test_accuracy).collect();
            let accuracy = mean(&values);
            let pairs = outcomes.iter().filter_map(|outcome| {
                let other = reference.iter().find(|other| other.seed == outcome.seed)?;
                Some(outcome.test_accuracy - other.test_accuracy)
            });
            let differences: Vec<f64> = pairs.collect();
            let is_compared = at != self.baseline && !differences.is_empty();
            let difference = mean(&differences);
            let average = |of: fn(&Outcome) -> f64| mean(&outcomes.iter().map(of).collect::<Vec<_>>()).value;
            Row {
                name: self.entries[at].name.clone(),
                seeds: outcomes.iter().map(|outcome| outcome.seed).collect(),
                accuracies: values,
                accuracy: accuracy.value,
                interval: accuracy.interval,
                training_accuracy: average(|outcome| outcome.training_accuracy),
                difference: is_compared.then_some(difference.value),
                difference_interval: difference.interval.filter(|_| is_compared),
                p: paired_test(&differences).filter(|_| is_compared),
                seconds: average(|outcome| outcome.seconds),
                waiting_seconds: average(|outcome| outcome.waiting_seconds),
            }
        };
        let rows = outcomes.iter().enumerate().filter(|(_, found)| !found.is_empty()).map(row).collect();
        Ok(Summary { baseline: self.entries[self.baseline].name.clone(), rows })
    }

    /// Whether a run may be continued with these settings.
    pub fn require_same(run: &Path, own: &Settings, others: &Settings) -> Result<(), Error> {
        match own.difference(Task::Training, others) {
            None => Ok(()),
            Some((key, own, others)) => Err(Error::NotARun {
                path: run.to_owned(),
                reason: format!(
                    "`{key}` is {others} in this run, but {own} was asked for now; choose another folder with --out"
                ),
            }),
        }
    }
}

/// A comparison as a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// What the others are compared with.
    pub baseline: String,
    /// A candidate each, in the order in which they were named; those of which no cell is finished are missing.
    pub rows: Vec<Row>,
}

/// What a candidate reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The seeds that are finished.
    pub seeds: Vec<u64>,
    /// Top-1 test accuracy with each of them.
    pub accuracies: Vec<f64>,
    /// Their mean.
    pub accuracy: f64,
    /// Half the width of its 95 % confidence interval.
    pub interval: Option<f64>,
    /// Mean accuracy on the training batches of the last epoch.
    pub training_accuracy: f64,
    /// The mean difference to the baseline with the same seed.
    pub difference: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub difference_interval: Option<f64>,
    /// The paired t-test's probability of such differences by chance.
    pub p: Option<f64>,
    /// Mean seconds of a training.
    pub seconds: f64,
    /// Of these, seconds in which the network waited for images.
    pub waiting_seconds: f64,
}

fn listing(run: &Path) -> Result<Listing, Error> {
    let path = run.join(CANDIDATES);
    let bytes = std::fs::read(&path).map_err(Error::io(&path))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Error::NotARun { path, reason: format!("is not a list of candidates: {error}") })
}

/// A name as a folder: letters, digits and dashes.
fn folder_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "policy".to_owned() } else { parts.join("-") }
}
