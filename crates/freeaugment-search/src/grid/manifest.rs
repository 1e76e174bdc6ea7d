//! The plan itself: a file that says what every cell is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Settings, Task};
use crate::error::Error;
use crate::run::{read_json, write_json};

/// The version of plans that this program writes, and the only one it works on.
const VERSION: u32 = 1;
const FORMAT: &str = "freeaugment-plan";
const FILE: &str = "plan.json";

/// A plan and the folder it is in; everything that belongs to it lies below that folder.
#[derive(Clone, Debug)]
pub struct Grid {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
}

/// What stands in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: String,
    version: u32,
    /// The program that wrote it, and the only one that works on it: another might give other bytes.
    program: String,
    pub(super) title: String,
    /// What whoever reads its tables should know.
    pub(super) notes: Vec<String>,
    /// The folder that the settings' `data` is in, from the plan's folder. None where whoever works on a cell says it.
    pub(super) data: Option<String>,
    pub(super) claims: Patience,
    /// Complete settings by name: many cells have the same.
    pub(super) settings: BTreeMap<String, Settings>,
    pub(super) cells: Vec<Cell>,
    pub(super) tables: Vec<GridTable>,
}

/// What has to be right before the rest can be understood.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
    program: String,
}

/// How claims are kept alive, and when they are dead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patience {
    /// Whoever works on a cell renews the claim every so many seconds.
    pub beat_seconds: f64,
    /// Whoever has watched another host's claim for so long without a change takes the cell over.
    pub stale_seconds: f64,
}

impl Default for Patience {
    fn default() -> Self {
        Self { beat_seconds: 20.0, stale_seconds: 300.0 }
    }
}

/// A search or a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its name, which no other cell has: letters, digits and dashes.
    pub name: String,
    /// What it does.
    #[serde(rename = "what")]
    pub task: CellTask,
    /// Its settings, by their name in the plan.
    pub settings: String,
    /// The seed of a search, or that of a training's classifier.
    pub seed: u64,
    /// Cells that must be finished first.
    pub needs: Vec<String>,
    /// Its run, from the plan's folder.
    pub folder: String,
    /// Seconds on the machine that made the plan, roughly.
    pub seconds: f64,
    /// Memory, roughly.
    pub mib: u64,
}

/// What a cell does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellTask {
    /// Learning a policy.
    Search,
    /// Training a classifier.
    Train {
        /// What it is trained under.
        policy: PolicySource,
        /// The settings' `seed`: which images are used.
        images_seed: u64,
        /// The search whose classifier it begins with, where there is one.
        warm_start: Option<String>,
    },
}

/// Where a policy comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicySource {
    /// A baseline, by its name.
    Name(String),
    /// A file, from the plan's folder.
    File(String),
    /// What a search has learned.
    Cell(String),
}

/// A table that is made of cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridTable {
    /// What it is a table of.
    pub title: String,
    /// What stands in it.
    pub shows: Shows,
    /// The row that others are compared with.
    pub baseline: Option<String>,
    /// Its rows.
    pub rows: Vec<GridRow>,
}

/// What a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// Test accuracy.
    Accuracy,
    /// How often a sample of the learned policy uses a transformation twice, beside the accuracy.
    Repetition,
    /// Hours of a search.
    Hours,
}

/// A row: what was published, and the cells that measure the same here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridRow {
    /// Its name.
    pub name: String,
    /// What was published.
    pub published: Option<Published>,
    /// Trainings, or where a table is about searches those. Several with one seed count as one: their mean.
    pub cells: Vec<String>,
}

/// A published number: accuracy in percent, or hours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The number.
    pub value: f64,
    /// Half the width of its 95 % confidence interval, where that was published.
    pub interval: Option<f64>,
    /// What it was measured with, where that differs from the table's.
    pub about: String,
}

/// This program, as plans name it.
fn program() -> String {
    format!("freeaugment {}", env!("CARGO_PKG_VERSION"))
}

impl Manifest {
    pub(super) fn new(title: String) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            program: program(),
            title,
            notes: Vec::new(),
            data: None,
            claims: Patience::default(),
            settings: BTreeMap::new(),
            cells: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Everything that is named is there, before the one who names it, and nothing lies outside the plan's folder.
    fn check(&self) -> Result<(), String> {
        let is_plain = |name: &str| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
        };
        let mut seen = BTreeSet::new();
        for cell in &self.cells {
            let name = &cell.name;
            if !is_plain(name) || !seen.insert(name) {
                return Err(format!("`{name}` is no name of a cell, or that of two"));
            }
            if cell.folder != format!("cells/{name}") {
                return Err(format!("`{}` is not the folder of the cell {name}", cell.folder));
            }
            if !self.settings.contains_key(&cell.settings) {
                return Err(format!("there are no settings `{}`, which the cell {name} has", cell.settings));
            }
            if let Some(wanted) = cell.needs.iter().find(|wanted| *wanted == name || !seen.contains(wanted)) {
                return Err(format!("the cell {name} needs `{wanted}`, which is not before it"));
            }
            if let Some(other) = cell.sources().find(|other| !cell.needs.contains(other)) {
                return Err(format!("the cell {name} does not say that it needs `{other}`"));
            }
            let CellTask::Train { policy: PolicySource::File(file), .. } = &cell.task else { continue };
            let plain =
                Path::new(file).components().all(|part| matches!(part, std::path::Component::Normal(_)));
            if !plain {
                return Err(format!("`{file}`, the policy of the cell {name}, is not in the plan's folder"));
            }
        }
        let named = self.tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells);
        match named.into_iter().find(|name| !seen.contains(name)) {
            Some(name) => Err(format!("a table names the cell `{name}`, which there is not")),
            None => Ok(()),
        }
    }
}

impl Cell {
    /// The kind of settings it has.
    pub fn kind(&self) -> Task {
        if self.task == CellTask::Search { Task::Search } else { Task::Comparison }
    }

    /// Cells of which it takes something.
    fn sources(&self) -> impl Iterator<Item = &String> {
        let (policy, start) = match &self.task {
            CellTask::Train { policy, warm_start, .. } => (Some(policy), warm_start.as_ref()),
            CellTask::Search => (None, None),
        };
        let learned = policy.and_then(|policy| match policy {
            PolicySource::Cell(name) => Some(name),
            _ => None,
        });
        learned.into_iter().chain(start)
    }
}

impl Grid {
    /// Opens a plan: its folder, or the file in it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        let refuse = |reason: String| Error::Plan { path: file.clone(), reason };
        if !file.is_file() {
            return Err(Error::Plan {
                path: path.to_owned(),
                reason: "is no plan: it holds no plan.json".to_owned(),
            });
        }
        let wrong = |error| match error {
            Error::NotARun { path, reason } => Error::Plan { path, reason },
            other => other,
        };
        let head: Head = read_json(&file, "a plan").map_err(wrong)?;
        if head.format != FORMAT || head.version != VERSION {
            return Err(refuse(format!(
                "is {} {}, but {FORMAT} {VERSION} is read",
                head.format, head.version
            )));
        }
        if head.program != program() {
            return Err(refuse(format!(
                "was made by {}, and this is {}: all cells need the same program",
                head.program,
                program()
            )));
        }
        let manifest: Manifest = read_json(&file, "a plan").map_err(wrong)?;
        manifest.check().map_err(refuse)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::path::absolute(folder).map_err(Error::io(folder))?;
        Ok(Self { folder, manifest })
    }

    /// Writes the plan into its folder, which exists.
    pub(super) fn write(&self) -> Result<(), Error> {
        self.manifest.check().map_err(|reason| Error::Plan { path: self.folder.clone(), reason })?;
        write_json(&self.folder.join(FILE), &self.manifest)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it is a plan of.
    pub fn title(&self) -> &str {
        &self.manifest.title
    }

    /// What whoever reads its tables should know.
    pub fn notes(&self) -> &[String] {
        &self.manifest.notes
    }

    /// The cells; their indices count from 0. What a cell needs stands before it.
    pub fn cells(&self) -> &[Cell] {
        &self.manifest.cells
    }

    /// The tables.
    pub fn tables(&self) -> &[GridTable] {
        &self.manifest.tables
    }

    /// How many cells at the beginning need no other: they can all run at once, and before the rest.
    pub fn searches(&self) -> usize {
        self.cells().iter().take_while(|cell| cell.task == CellTask::Search).count()
    }

    /// The cell at an index.
    pub fn cell(&self, index: u64) -> Result<&Cell, Error> {
        let count = self.cells().len();
        usize::try_from(index).ok().and_then(|index| self.cells().get(index)).ok_or_else(|| Error::Plan {
            path: self.folder.clone(),
            reason: format!(
                "has no cell {index}: its {count} cells count from 0 to {}",
                count.saturating_sub(1)
            ),
        })
    }

    pub(super) fn named(&self, name: &str) -> &Cell {
        self.cells().iter().find(|cell| cell.name == name).expect("the plan was checked")
    }

    /// The folder of a cell's run.
    pub fn folder_of(&self, cell: &Cell) -> PathBuf {
        self.folder.join(&cell.folder)
    }

    /// The settings of a cell as they are on this machine, where data may lie elsewhere than the plan says.
    pub fn settings(&self, cell: &Cell, data: Option<&Path>) -> Result<Settings, Error> {
        let mut settings = self.manifest.settings[&cell.settings].clone();
        if !settings.data.is_empty() {
            let root = match (data, &self.manifest.data) {
                (Some(root), _) => root.to_owned(),
                (None, Some(root)) => self.folder.join(root),
                (None, None) => {
                    let reason = "does not say where the data is: name its folder with --data".to_owned();
                    return Err(Error::Plan { path: self.folder.clone(), reason });
                }
            };
            let path = if settings.data == "." { root } else { root.join(&settings.data) };
            settings.data = text_of(&path)?;
        }
        match &cell.task {
            CellTask::Search => settings.seed = cell.seed,
            CellTask::Train { images_seed, warm_start, .. } => {
                settings.seed = *images_seed;
                if let Some(search) = warm_start {
                    settings.warm_start = text_of(&self.folder_of(self.named(search)))?;
                }
            }
        }
        Ok(settings)
    }
}

fn text_of(path: &Path) -> Result<String, Error> {
    let absolute = std::path::absolute(path).map_err(Error::io(path))?;
    absolute.into_os_string().into_string().map_err(|path| Error::Plan {
        path: path.into(),
        reason: "is not Unicode, so it cannot be written into a run".to_owned(),
    })
}
