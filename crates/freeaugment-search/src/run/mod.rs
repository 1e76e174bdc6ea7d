//! A run is a folder: what it is, its configuration, its environment, metrics, policies, the state to continue from, a
//! log. All that is written can be read again.

mod codec;
mod environment;
mod folder;
mod journal;
mod lines;
mod metric;
mod time;
mod writer;

use std::path::{Path, PathBuf};

use freeaugment::Policy;
use serde::{Deserialize, Serialize};

pub use codec::{StateReader, StateWriter};
pub use environment::Environment;
pub use metric::{
    CycleSlopes, Effective, GradientNorms, LayerRanges, Phases, SearchEpoch, Share, TrainingEpoch,
};
pub use writer::RunWriter;

pub(crate) use folder::{RunFolder, hold, make_folder, read_json, write, write_json};
pub(crate) use journal::{Journal, restore_from_first};

use crate::compare::{Comparison, Proof, Report, Summary, Trial};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::session::DataIdentity;

/// The version of run folders that this program writes, and the only one it reads.
const VERSION: u32 = 1;
const FORMAT: &str = "freeaugment-run";

/// What a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    format: String,
    version: u32,
    task: Task,
    data: DataIdentity,
}

impl About {
    fn new(task: Task, data: DataIdentity) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, task, data }
    }
}

/// The folder of a run, to be read.
///
/// ```no_run
/// use freeaugment_search::{Run, Task};
///
/// # fn main() -> Result<(), freeaugment_search::Error> {
/// let run = Run::open("runs/search-1".as_ref())?;
/// if run.task() == Task::Search {
///     for epoch in run.epochs()? {
///         println!("{} {:.3}", epoch.epoch, epoch.loss);
///     }
///     println!("{}", run.policy()?.describe()?);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    files: RunFolder,
    about: About,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RunState {
    /// Steps of a search that are saved.
    Search {
        /// Those that are done.
        done: u64,
        /// All of them; none before the first are saved.
        total: Option<u64>,
    },
    /// A policy is being found.
    Find {
        /// Whether there is a verdict.
        done: bool,
    },
    /// Classifiers of a comparison.
    Comparison {
        /// Those that are trained.
        done: u64,
        /// All of them.
        total: u64,
    },
}

impl RunState {
    /// Whether nothing is left to do.
    pub fn is_finished(&self) -> bool {
        match *self {
            Self::Search { done, total } => total == Some(done),
            Self::Comparison { done, total } => done == total,
            Self::Find { done } => done,
        }
    }
}

impl Run {
    /// Opens the folder of a run.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let files = RunFolder::new(folder);
        let path = files.about();
        let refuse = |path: &Path, reason: String| Error::NotARun { path: path.to_owned(), reason };
        if !path.is_file() {
            let older = files.configuration().is_file();
            let reason = if older {
                "is a run of an older version, which wrote no run.json: begin a new one"
            } else {
                "is not a run: it holds no run.json"
            };
            return Err(refuse(folder, reason.to_owned()));
        }
        let about: About = read_json(&path, "the description of a run")?;
        if about.format != FORMAT || about.version != VERSION {
            let found = format!("{} {}", about.format, about.version);
            return Err(refuse(&path, format!("is {found}, but {FORMAT} {VERSION} is read")));
        }
        Ok(Self { files, about })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.files.path()
    }

    pub(crate) fn files(&self) -> &RunFolder {
        &self.files
    }

    /// What it does.
    pub fn task(&self) -> Task {
        self.about.task
    }

    /// Refuses a run that does something else.
    pub fn require(&self, task: Task) -> Result<(), Error> {
        if self.task() == task {
            return Ok(());
        }
        let name = |task| match task {
            Task::Search => "a search",
            Task::Comparison => "a training or a comparison",
            Task::Find => "a find",
        };
        let reason = format!("is the run of {}, not of {}", name(self.task()), name(task));
        Err(Error::NotARun { path: self.folder().to_owned(), reason })
    }

    /// The data it was begun with.
    pub fn data(&self) -> &DataIdentity {
        &self.about.data
    }

    /// Refuses data that is not the run's.
    pub fn require_data(&self, data: &DataIdentity) -> Result<(), Error> {
        if self.data() == data { Ok(()) } else { Err(Error::other_data(self.folder(), self.data(), data)) }
    }

    /// Its settings.
    pub fn settings(&self) -> Result<Settings, Error> {
        let path = self.files.configuration();
        let text = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
        Settings::from_toml(self.task(), &text).map_err(|reason| Error::NotARun { path, reason })
    }

    /// Where it was made.
    pub fn environment(&self) -> Result<Environment, Error> {
        read_json(&self.files.environment(), "an environment")
    }

    /// How far it is.
    pub fn state(&self) -> Result<RunState, Error> {
        if self.task() == Task::Find {
            return Ok(RunState::Find { done: self.verdict()?.is_some() });
        }
        if self.task() == Task::Search {
            let steps = Journal::new(self.folder()).steps()?;
            let (done, total) = steps.map_or((0, None), |(done, total)| (done, Some(total)));
            return Ok(RunState::Search { done, total });
        }
        let mut done = 0;
        let trials = self.trials()?;
        for trial in &trials {
            done += u64::from(trial.result()?.is_some());
        }
        Ok(RunState::Comparison { done, total: trials.len() as u64 })
    }

    /// The epochs of a search that have ended.
    pub fn epochs(&self) -> Result<Vec<SearchEpoch>, Error> {
        self.require(Task::Search)?;
        Journal::new(self.folder()).epochs()
    }

    /// How many lines of a search's metrics cannot be read: a crash cuts one off, and what comes after such a line is lost.
    pub fn lost_lines(&self) -> Result<usize, Error> {
        self.require(Task::Search)?;
        Journal::new(self.folder()).lost_lines()
    }

    /// The file of the policy that a search has learned so far.
    pub fn policy_path(&self) -> PathBuf {
        self.files.policy()
    }

    /// The policy that a search has learned so far.
    pub fn policy(&self) -> Result<Policy, Error> {
        Ok(Policy::load(policy_file(self.folder())?)?)
    }

    /// The policies of all epochs of a search that have ended, first to last.
    pub fn policies(&self) -> Result<Vec<Policy>, Error> {
        self.epochs()?.iter().map(|epoch| self.policy_of(epoch.epoch)).collect()
    }

    /// The policy after an epoch of a search, from 1.
    pub fn policy_of(&self, epoch: u64) -> Result<Policy, Error> {
        Ok(Policy::load(self.files.policy_of(epoch))?)
    }

    /// The runs in its folder: those that a find is made of, and the classifiers that judge the policy of a search.
    pub fn parts(&self) -> Result<Vec<Self>, Error> {
        let folders = match self.task() {
            Task::Find => crate::find::parts(self.folder()),
            Task::Search => vec![self.files.proof()],
            Task::Comparison => Vec::new(),
        };
        folders.iter().filter(|folder| folder.exists()).map(|folder| Self::open(folder)).collect()
    }

    /// What a comparison compares.
    pub fn comparison(&self) -> Result<Comparison, Error> {
        self.require(Task::Comparison)?;
        Comparison::load(self.folder(), &self.settings()?)
    }

    /// The classifiers of a comparison: what they are trained under, their epochs, their results.
    pub fn trials(&self) -> Result<Vec<Trial>, Error> {
        Ok(self.comparison()?.trials(self))
    }

    /// What the finished classifiers of a comparison say, with intervals and tests.
    pub fn summary(&self) -> Result<Summary, Error> {
        self.comparison()?.summary(self)
    }

    /// The table of a comparison, with the budget of its classifiers, as it was written last.
    pub fn report(&self) -> Result<Option<Report>, Error> {
        let [path, _] = self.files.report();
        if path.exists() { read_json(&path, "a table").map(Some) } else { Ok(None) }
    }

    /// What fresh classifiers said of the policy after a search, where that is known.
    pub fn proof(&self) -> Result<Option<Proof>, Error> {
        let path = self.files.proof_result();
        if path.exists() { read_json(&path, "a proof").map(Some) } else { Ok(None) }
    }
}

/// The policy file that a path means: the file itself, or that of a run.
pub fn policy_file(path: &Path) -> Result<PathBuf, Error> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let policy = RunFolder::new(path).policy();
    if policy.exists() {
        return Ok(policy);
    }
    let reason = "holds no policy.json: it is not the run of a search, or its first epoch has not ended";
    Err(Error::NotARun { path: path.to_owned(), reason: reason.to_owned() })
}
