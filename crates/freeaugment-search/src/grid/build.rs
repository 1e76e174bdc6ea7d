//! Making a plan.

use std::path::{Component, Path, PathBuf};

use super::cost::Cost;
use super::manifest::{Cell, CellTask, Grid, GridTable, Manifest, PolicySource};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::run::{RunWriter, make_folder, write};

/// A plan that grows.
#[derive(Debug)]
pub struct GridBuilder {
    manifest: Manifest,
    /// Policies that were given as files, by the place of their copies.
    files: Vec<(String, Vec<u8>)>,
}

impl GridBuilder {
    /// A plan without cells.
    pub fn new(title: &str) -> Self {
        Self { manifest: Manifest::new(title.to_owned()), files: Vec::new() }
    }

    /// Something that whoever reads the tables should know.
    pub fn note(&mut self, text: &str) {
        self.manifest.notes.push(text.to_owned());
    }

    /// The name of these settings in the plan; settings that are the same have one.
    fn settings(&mut self, kind: Task, settings: &Settings) -> String {
        let known = &mut self.manifest.settings;
        let kind = if kind == Task::Search { "search" } else { "training" };
        let same = known.iter().find(|(name, known)| name.starts_with(kind) && *known == settings);
        if let Some((name, _)) = same {
            return name.clone();
        }
        let mut names = (1..).map(|number| format!("{kind}-{number}"));
        let name = names.find(|name| !known.contains_key(name)).expect("numbers do not end");
        known.insert(name.clone(), settings.clone());
        name
    }

    /// A name like this one that no cell has.
    fn free_name(&self, wanted: &str) -> String {
        let taken = |name: &str| self.manifest.cells.iter().any(|cell| cell.name == name);
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(|name| !taken(name)).expect("numbers do not end")
    }

    /// A search. A search that is there already, with the same settings and seed, is not done twice. Returns its name.
    pub fn search(&mut self, settings: &Settings, seed: u64, cost: Cost) -> String {
        let settings =
            self.settings(Task::Search, &Settings { seed: 0, proof_epochs: 0, ..settings.clone() });
        let wanted = (&CellTask::Search, &settings, seed);
        let same = self.manifest.cells.iter().find(|cell| (&cell.task, &cell.settings, cell.seed) == wanted);
        if let Some(cell) = same {
            return cell.name.clone();
        }
        let name = self.free_name(&format!("{settings}-seed-{seed}"));
        self.push(name, CellTask::Search, settings, seed, cost)
    }

    /// A training; one that is there already is not done twice. The settings' seed says which images are used. Returns its
    /// name.
    pub fn train(
        &mut self,
        settings: &Settings,
        policy: &PolicySource,
        seed: u64,
        warm_start: Option<&str>,
        cost: Cost,
    ) -> String {
        let task = CellTask::Train {
            policy: policy.clone(),
            images_seed: settings.seed,
            warm_start: warm_start.map(str::to_owned),
        };
        let settings = self.settings(Task::Comparison, &Settings { seed: 0, ..settings.clone() });
        let wanted = (&task, &settings, seed);
        let same = self.manifest.cells.iter().find(|cell| (&cell.task, &cell.settings, cell.seed) == wanted);
        if let Some(cell) = same {
            return cell.name.clone();
        }
        let under = match policy {
            PolicySource::Name(name) | PolicySource::Cell(name) => name,
            PolicySource::File(file) => file.rsplit('/').next().unwrap_or(file).trim_end_matches(".json"),
        };
        let name = self.free_name(&crate::compare::folder_name(&format!("{settings}-{under}-seed-{seed}")));
        self.push(name, task, settings, seed, cost)
    }

    fn push(&mut self, name: String, task: CellTask, settings: String, seed: u64, cost: Cost) -> String {
        let needs = match &task {
            CellTask::Train { policy: PolicySource::Cell(search), .. } => vec![search.clone()],
            _ => Vec::new(),
        };
        let mut cell = Cell {
            folder: format!("cells/{name}"),
            name: name.clone(),
            task,
            settings,
            seed,
            needs,
            seconds: cost.seconds,
            mib: cost.mib,
        };
        if let CellTask::Train { warm_start: Some(search), .. } = &cell.task
            && !cell.needs.contains(search)
        {
            cell.needs.push(search.clone());
        }
        self.manifest.cells.push(cell);
        name
    }

    /// A copy of a policy that lies elsewhere.
    pub fn policy_file(&mut self, name: &str, bytes: Vec<u8>) -> PolicySource {
        let plain = crate::compare::folder_name(name);
        let taken =
            |place: &str| self.files.iter().any(|(other, content)| other == place && *content != bytes);
        let numbered = (2..).map(|number| format!("policies/{plain}-{number}.json"));
        let mut places = std::iter::once(format!("policies/{plain}.json")).chain(numbered);
        let place = places.find(|place| !taken(place)).expect("numbers do not end");
        self.files.push((place.clone(), bytes));
        PolicySource::File(place)
    }

    /// The cells so far.
    pub fn cells(&self) -> &[Cell] {
        &self.manifest.cells
    }

    /// A table of cells.
    pub fn table(&mut self, table: GridTable) {
        self.manifest.tables.push(table);
    }

    /// Writes the plan into a folder. Where the same plan is there already, that one is gone on with; anything else that is
    /// there is refused. `data` is the folder that the settings' `data` is in.
    pub fn write(mut self, folder: &Path, data: Option<&Path>) -> Result<Grid, Error> {
        // Searches can all run at once, and before the rest.
        self.manifest.cells.sort_by_key(|cell| cell.task != CellTask::Search);
        let is_there = folder.join("plan.json").exists();
        if !is_there {
            RunWriter::check_free(folder)?;
        }
        make_folder(folder)?;
        self.manifest.data = data.map(|data| relative(data, folder)).transpose()?;
        let absolute = std::path::absolute(folder).map_err(Error::io(folder))?;
        if is_there {
            let grid = Grid::open(folder)?;
            if !grid.manifest.is_same(&self.manifest) {
                let reason = "is another plan than the one asked for: name another folder with --out";
                return Err(Error::Plan { path: folder.to_owned(), reason: reason.to_owned() });
            }
            return Ok(grid);
        }
        // The plan comes last: a folder without it is none.
        for (place, bytes) in &self.files {
            let path = absolute.join(place);
            make_folder(path.parent().unwrap_or(&absolute))?;
            write(&path, bytes)?;
        }
        let grid = Grid { folder: absolute, manifest: self.manifest };
        grid.write()?;
        Ok(grid)
    }
}

impl Manifest {
    /// Whether two plans have the same cells and tables. How long cells take was measured, and differs every time.
    fn is_same(&self, other: &Self) -> bool {
        let untimed = |manifest: &Self| {
            let mut manifest = manifest.clone();
            manifest.cells.iter_mut().for_each(|cell| cell.seconds = 0.0);
            manifest
        };
        untimed(self) == untimed(other)
    }
}

/// A path as it is from a folder, so that both can be moved together.
fn relative(path: &Path, folder: &Path) -> Result<String, Error> {
    let [to, from] = [path, folder].map(|path| path.canonicalize().map_err(Error::io(path)));
    let (to, from) = (to?, from?);
    let shared = to.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let found: PathBuf = up.chain(to.components().skip(shared)).collect();
    let text = if found.as_os_str().is_empty() { Some(".") } else { found.to_str() };
    text.map(|text| text.replace('\\', "/")).ok_or_else(|| Error::Plan {
        path: path.to_owned(),
        reason: "is not Unicode, so it cannot be written into a plan".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_the_plan() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (photos, plan) = (make("data/photos"), make("runs/grid"));
        assert_eq!(relative(&photos, &plan).unwrap(), "../../data/photos");
        assert_eq!(relative(&plan, &plan).unwrap(), ".");
        assert_eq!(relative(&make("runs/grid/data"), &plan).unwrap(), "data");
    }
}
