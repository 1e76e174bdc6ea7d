//! A run is a folder: configuration, environment, metrics, policies, checkpoint, log.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use freeaugment::Policy;
use serde_json::json;

use crate::checkpoint;
use crate::error::Error;
use crate::files::{append, whole_lines};
use crate::metric::Epoch;
use crate::search::Search;
use crate::settings::{Settings, Task};

const CONFIGURATION: &str = "config.toml";
const ENVIRONMENT: &str = "environment.json";
const METRICS: &str = "metrics.jsonl";
const CHECKPOINT: &str = "checkpoint.safetensors";
const POLICY: &str = "policy.json";
const POLICIES: &str = "policies";
const CLASSIFIER: &str = "classifier.safetensors";
pub(crate) const CANDIDATES: &str = "candidates.json";
const LOG: &str = "log.txt";
const LOCK: &str = "lock";

/// The folder of a run, held against other processes as long as it lives.
#[derive(Debug)]
pub struct Run {
    folder: PathBuf,
    // The lock ends with the file.
    _lock: File,
}

impl Run {
    /// The first free name among `search-1`, `search-2`… in a folder, or whatever the kind of run is.
    pub fn free_name(parent: &Path, kind: &str) -> PathBuf {
        let names = (1..).map(|number| parent.join(format!("{kind}-{number}")));
        names.into_iter().find(|folder| !folder.exists()).expect("numbers do not end")
    }

    /// Refuses a folder in which a new run would overwrite something. What a run leaves that died before it had
    /// written its configuration is nothing.
    pub fn check_free(folder: &Path) -> Result<(), Error> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        let is_nothing = |name: &str| name == LOCK || name.starts_with(".unfinished-");
        for entry in entries {
            let name = entry.map_err(Error::io(folder))?.file_name();
            if !is_nothing(&name.to_string_lossy()) {
                return Err(Error::RunExists { path: folder.to_owned() });
            }
        }
        Ok(())
    }

    /// Makes the folder of a new run. One that exists must be empty.
    pub fn create(folder: &Path, task: Task, settings: &Settings, command: &[String]) -> Result<Self, Error> {
        Self::check_free(folder)?;
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let run = Self { folder: folder.to_owned(), _lock: lock(folder)? };
        run.write(CONFIGURATION, settings.to_toml(task).as_bytes())?;
        run.write_environment(settings, command)?;
        run.log("begun")?;
        Ok(run)
    }

    /// What the run in a folder does.
    pub fn task(folder: &Path) -> Task {
        if folder.join(CANDIDATES).is_file() { Task::Training } else { Task::Search }
    }

    /// Opens the folder of a run to continue it.
    pub fn open(folder: &Path, task: Task) -> Result<(Self, Settings), Error> {
        let path = folder.join(CONFIGURATION);
        if !path.is_file() {
            let reason = format!("is not a run: it holds no {CONFIGURATION}");
            return Err(Error::NotARun { path: folder.to_owned(), reason });
        }
        let text = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
        let settings = Settings::from_toml(task, &text).map_err(|reason| Error::NotARun { path, reason })?;
        let run = Self { folder: folder.to_owned(), _lock: lock(folder)? };
        Ok((run, settings))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The policy file.
    pub fn policy_path(&self) -> PathBuf {
        self.path(POLICY)
    }

    /// The policy file in the folder of a search.
    pub fn policy_of(folder: &Path) -> PathBuf {
        folder.join(POLICY)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file of the run, whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path(name);
        freeaugment_base::write_atomically(&path, bytes).map_err(Error::io(&path))
    }

    /// Reads a file of the run, if it is there.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(name)).ok()
    }

    /// Adds a line to the log.
    pub fn log(&self, message: &str) -> Result<(), Error> {
        append(&self.path(LOG), &format!("{} {message}", timestamp()))
    }

    fn write_environment(&self, settings: &Settings, command: &[String]) -> Result<(), Error> {
        let environment = json!({
            "program": format!("freeaugment {}", env!("CARGO_PKG_VERSION")),
            "begun": timestamp(),
            "command": command,
            "system": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
            "instruction_set": format!("{:?}", freeaugment_base::simd::instruction_set()),
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "device": settings.device,
        });
        let text = serde_json::to_string_pretty(&environment).expect("plain values");
        self.write(ENVIRONMENT, format!("{text}\n").as_bytes())
    }

    /// Writes down an epoch: its metrics, its policy, and the state to continue from.
    pub(crate) fn save_epoch(&self, search: &Search, epoch: &Epoch) -> Result<(), Error> {
        let policy = Self::with_provenance(search, epoch.epoch);
        let policies = self.path(POLICIES);
        std::fs::create_dir_all(&policies).map_err(Error::io(&policies))?;
        policy.save(policies.join(format!("epoch-{:04}.json", epoch.epoch)))?;
        policy.save(self.policy_path())?;
        append(&self.path(METRICS), &serde_json::to_string(epoch).expect("metrics are plain values"))?;
        self.log(&format!("epoch {} of {}: loss {:.4}", epoch.epoch, search.settings.epochs, epoch.loss))?;
        self.save(search)
    }

    /// Writes the weights that the search ends with, which a training may begin with.
    pub(crate) fn save_classifier(&self, search: &Search) -> Result<(), Error> {
        Ok(search.classifier.save(&self.path(CLASSIFIER))?)
    }

    /// Where [`Self::save_classifier`] writes in the folder of a run.
    pub(crate) fn classifier_path(folder: &Path) -> PathBuf {
        folder.join(CLASSIFIER)
    }

    /// Writes the state to continue from.
    pub(crate) fn save(&self, search: &Search) -> Result<(), Error> {
        checkpoint::save(search, &self.path(CHECKPOINT))
    }

    /// Puts a search where the run was left. Metrics of steps that have to be done again are dropped.
    pub fn restore(&self, search: &mut Search) -> Result<(), Error> {
        let path = self.path(CHECKPOINT);
        if path.exists() {
            checkpoint::load(search, &path)?;
        }
        let done = search.step / search.plan.steps;
        let kept = whole_lines::<Epoch>(&self.path(METRICS))?.into_iter().take(done as usize);
        let text: String = kept.map(|line| line + "\n").collect();
        self.write(METRICS, text.as_bytes())?;
        self.log(&format!("resumed at step {} of {}", search.step, search.steps_total()))
    }

    /// The policy with where it comes from: nothing that differs between two runs of the same search.
    fn with_provenance(search: &Search, epoch: u64) -> Policy {
        let mut policy = search.policy().clone();
        let (settings, plan) = (&search.settings, &search.plan);
        let entries = [
            ("program", format!("freeaugment {}", env!("CARGO_PKG_VERSION"))),
            ("data", plan.dataset.title.clone()),
            ("data_fingerprint", format!("{:016x}", plan.fingerprint)),
            (
                "images",
                format!(
                    "{} training, {} validation",
                    plan.training.indices.len(),
                    plan.validation.indices.len()
                ),
            ),
            ("image_size", format!("{0}x{0}", plan.pipeline.size)),
            ("network", settings.network.clone()),
            ("batch", settings.batch.to_string()),
            ("seed", settings.seed.to_string()),
            ("epoch", format!("{epoch} of {}", settings.epochs)),
        ];
        let provenance = policy.provenance_mut();
        provenance.extend(entries.map(|(key, value)| (key.to_owned(), value)));
        policy
    }
}

fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(LOCK);
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(Error::io(&path))?;
    // A process that was killed holds its lock until it is gone, which takes a moment.
    for _ in 0..10 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(100)),
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(Error::Io { path, source }),
        }
    }
    Err(Error::RunLocked { path: folder.to_owned() })
}

/// Now, as `2026-01-31T23:59:59Z`.
fn timestamp() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days as i64);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", time / 3600, time / 60 % 60, time % 60)
}

/// Year, month and day of a day counted from 1970-01-01. Years are counted from March, so that a leap day ends one.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_new_year() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(date(20_453), (2025, 12, 31));
        assert_eq!(date(20_454), (2026, 1, 1));
    }
}
