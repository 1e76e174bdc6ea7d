//! From a cell to its run: begun, or gone on with where another process, here or elsewhere, has left it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use freeaugment_base::Fnv;

use super::claim::Claim;
use super::host;
use super::manifest::{Cell, CellTask, Grid, PolicySource};
use crate::compare::{Candidate, Comparison};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::run::{RunWriter, make_folder, policy_file, read_json, write_json};
use crate::session::{DataIdentity, Search, Setup};

impl Grid {
    /// The search of a cell and its run. Its needs and its claim are the caller's affair.
    pub fn search(
        &self,
        cell: &Cell,
        claim: &Claim,
        settings: Settings,
        setup: Setup,
        command: &[String],
    ) -> Result<(Search, RunWriter), Error> {
        self.check_data(cell, &settings, &setup.identity, claim)?;
        let folder = self.folder_of(cell);
        let mut search = Search::new(settings, setup)?;
        claim.check()?;
        if !folder.exists() {
            let (settings, data) = (search.settings(), &search.setup().identity);
            let run = RunWriter::create(&folder, Task::Search, settings, data, command)?;
            return Ok((search, run));
        }
        let run = reopen(&folder, Task::Search, search.settings(), &search.setup().identity)?;
        run.restore(&mut search)?;
        Ok((search, run))
    }

    /// The training of a cell, as a comparison of one candidate with one seed, and its run.
    pub fn training(
        &self,
        cell: &Cell,
        claim: &Claim,
        settings: &Settings,
        setup: &Setup,
        command: &[String],
    ) -> Result<(Comparison, RunWriter), Error> {
        self.check_data(cell, settings, &setup.identity, claim)?;
        let folder = self.folder_of(cell);
        claim.check()?;
        if folder.exists() {
            let run = reopen(&folder, Task::Comparison, settings, &setup.identity)?;
            let comparison = run.comparison()?;
            run.log("resumed")?;
            return Ok((comparison, run));
        }
        let comparison =
            Comparison::of(vec![Arc::new(self.candidate(cell, settings)?)], None, vec![cell.seed])?;
        let run = comparison.create(&folder, settings, setup, command)?;
        Ok((comparison, run))
    }

    fn candidate(&self, cell: &Cell, settings: &Settings) -> Result<Candidate, Error> {
        let CellTask::Train { policy, .. } = &cell.task else {
            unreachable!("a search has no candidate");
        };
        match policy {
            PolicySource::Name(name) => Candidate::open(name, settings),
            PolicySource::File(file) => {
                let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
                Candidate::read(&name, &self.folder.join(file), settings)
            }
            PolicySource::Cell(search) => {
                let found = policy_file(&self.folder_of(self.named(search)))?;
                Candidate::read(search, &found, settings)
            }
        }
    }

    /// All cells that choose images alike must have the same ones: the first of them writes down which, the others compare.
    fn check_data(
        &self,
        cell: &Cell,
        settings: &Settings,
        found: &DataIdentity,
        claim: &Claim,
    ) -> Result<(), Error> {
        let folder = self.folder.join("data");
        let mut key = Fnv::default();
        // The place is that of the plan: on this machine the data may lie elsewhere.
        let planned =
            Settings { data: self.manifest.settings[&cell.settings].data.clone(), ..settings.clone() };
        key.add(format!("{:?} {}", cell.kind(), planned.choice_of_images()).as_bytes());
        let path = folder.join(format!("{:016x}.json", key.finish()));
        make_folder(&folder)?;
        if !path.exists() {
            claim.check()?;
            let own = folder.join(format!("{}.unfinished", host::token()));
            write_json(&own, found)?;
            // A link is made whole, and only where there is nothing: of two hosts, one is first.
            let linked = match fs::hard_link(&own, &path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
                // Not every file system has links; where the same moment matters there, the runs are compared later.
                Err(_) => write_json(&path, found),
                Ok(()) => Ok(()),
            };
            fs::remove_file(&own).map_err(Error::io(&own))?;
            linked?;
        }
        let known: DataIdentity = read_json(&path, "what data the cells have")?;
        if known == *found { Ok(()) } else { Err(Error::other_data(&path, &known, found)) }
    }
}

/// The run of a cell that was begun, here or on another machine.
fn reopen(folder: &Path, task: Task, settings: &Settings, data: &DataIdentity) -> Result<RunWriter, Error> {
    let run = RunWriter::open(folder)?;
    run.require(task)?;
    let mut others = run.settings()?;
    others.take_places(settings);
    if let Some((key, own, others)) = settings.difference(task, &others) {
        return Err(Error::OtherSettings { path: folder.to_owned(), key, own, others });
    }
    run.require_data(data)?;
    Ok(run)
}
