//! `find`: from a folder of images to a policy that is proven to help, within a budget of time. A search proposes, whole
//! trainings on validation images select, fresh classifiers on test images prove.

mod family;
mod plan;
mod selection;
mod start;
mod verdict;
mod view;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use freeaugment::Policy;

pub use plan::{Measured, Plan, Rung};
pub use selection::{Round, Selection, Standing};
pub use verdict::{Reason, Verdict};
pub use view::{Cutting, Mirroring, WayToCut};

pub(crate) use plan::parse_budget;

use self::family::Variation;
use self::start::{Space, Start};
use self::view::{Tried, View};
use crate::compare::{Candidate, Comparison, ComparisonObserver, open_or_create};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::run::{Run, RunWriter, read_json, write, write_json};
use crate::session::{Halt, Observer, ReadProgress, Search, Setup};

/// What people use without a search, simplest first. What is found must not be worse than any of them.
pub const DEFAULTS: [&str; 3] = ["standard", "trivial-wide", "rand:2:9"];

/// RandAugment with one operation fewer and more, weaker and stronger: its authors try these two numbers for every data
/// set, and on some they matter more than anything else.
pub const RELATIVES: [&str; 4] = ["rand:1:9", "rand:3:9", "rand:2:5", "rand:2:14"];

/// The part of the work. Search and selection see different validation images where there are enough; test images are
/// seen by the proof alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Whole trainings of what needs no search; they also decide in which space the search begins.
    Opening,
    /// Gradients propose a policy.
    Search,
    /// Trainings on validation images select among its family and the defaults.
    Selection,
    /// Fresh classifiers on test images say what the selected one is worth.
    Proof,
}

/// Told what happens.
pub trait FindObserver {
    /// A stage begins.
    fn begin(&mut self, _stage: Stage) {}
    /// A search begins or goes on: who is told of its steps.
    fn search(&mut self, search: &Search) -> &mut dyn Observer<Search>;
    /// Trainings begin or go on: who is told of them.
    fn trainings(&mut self) -> &mut dyn ComparisonObserver;
}

/// A run of `find`, with its data at hand.
#[derive(Debug)]
pub struct Find {
    settings: Settings,
    plan: Plan,
    setups: Setups,
}

/// The data as each stage sees it.
#[derive(Debug)]
pub struct Setups {
    search: Setup,
    selection: Setup,
    proof: Setup,
}

impl Setups {
    /// Reads the data.
    pub fn read(settings: &Settings, progress: &dyn ReadProgress) -> Result<Self, Error> {
        // Everything but the number of epochs is settled, and the data does not depend on that.
        let settings = &Settings { epochs: settings.epochs.max(1), ..settings.clone() };
        Ok(Self {
            proof: Setup::for_training(settings, progress)?,
            search: Setup::for_stage(settings, Stage::Search, progress)?,
            selection: Setup::for_stage(settings, Stage::Selection, progress)?,
        })
    }

    /// Whether search and selection are judged by the same images, because there are too few for both.
    pub fn shares_validation(&self) -> bool {
        self.search.validation.indices() == self.selection.test
    }

    /// The data of a stage.
    pub fn of(&self, stage: Stage) -> &Setup {
        match stage {
            Stage::Search => &self.search,
            Stage::Opening | Stage::Selection => &self.selection,
            Stage::Proof => &self.proof,
        }
    }
}

impl Find {
    /// What a plan says, on this data.
    pub fn new(settings: Settings, setups: Setups, plan: Plan) -> Self {
        Self { settings, plan, setups }
    }

    /// What was planned for a run that was begun before.
    pub fn open(run: &Run, progress: &dyn ReadProgress) -> Result<Self, Error> {
        run.require(Task::Find)?;
        let settings = run.settings()?;
        let setups = Setups::read(&settings, progress)?;
        run.require_data(&setups.proof.identity)?;
        Ok(Self { settings, plan: Plan::load(&run.folder().join(PLAN))?, setups })
    }

    /// Makes its run.
    pub fn create(&self, folder: &Path, command: &[String]) -> Result<RunWriter, Error> {
        let data = &self.setups.proof.identity;
        RunWriter::create_with(folder, Task::Find, &self.settings, data, command, |files| {
            write_json(&files.path().join(PLAN), &self.plan)
        })
    }

    /// The plan.
    pub fn planned(&self) -> &Plan {
        &self.plan
    }

    /// Its data.
    pub fn setups(&self) -> &Setups {
        &self.setups
    }

    /// Does what is left. When `stop` is set, the step is finished and its state saved.
    pub fn run(
        &self,
        run: &RunWriter,
        observer: &mut dyn FindObserver,
        stop: &AtomicBool,
    ) -> Result<(Halt, Option<Verdict>), Error> {
        observer.begin(Stage::Opening);
        let mirroring = match self.try_mirroring(run, observer, stop)? {
            Tried::Stopped => return Ok((Halt::Stopped, None)),
            Tried::Found(found) => Some(found),
            Tried::NotAsked => None,
        };
        let unmirrored = mirroring.is_some_and(|found| found.hurts());
        if unmirrored {
            run.log("no image is mirrored from here on")?;
        }
        let Some((cut, cutting)) = self.try_cuts(unmirrored, run, observer, stop)? else {
            return Ok((Halt::Stopped, None));
        };
        if let Some(flags) = cutting.as_ref().and_then(Cutting::flags) {
            run.log(&format!("images are cut by {flags} from here on"))?;
        }
        let view = View { cut, unmirrored };
        let ended = self.viewed(view).go_on(view, run, observer, stop)?;
        let Some((policy, verdict)) = ended else { return Ok((Halt::Stopped, None)) };
        let verdict = Verdict { mirroring, cutting, ..verdict };
        write(&run.policy_path(), &policy)?;
        write_json(&run.folder().join(VERDICT), &verdict)?;
        run.log("finished")?;
        Ok((Halt::Finished, Some(verdict)))
    }

    /// All that comes after it is settled how images are cut and mirrored: the policy's file, and the verdict. None where
    /// someone stopped it.
    fn go_on(
        &self,
        view: View,
        run: &RunWriter,
        observer: &mut dyn FindObserver,
        stop: &AtomicBool,
    ) -> Result<Option<(Vec<u8>, Verdict)>, Error> {
        let settings = self.selection_settings();
        let mut candidates = self.unlearned(&settings)?;
        let competition = self.competition(run, view, &settings);
        let mut starts = Start::SPACES.to_vec();
        let Some(opening) = competition.open(&candidates, observer.trainings(), stop)? else {
            return Ok(None);
        };
        let parts = Start::best(&starts, |name| score(&opening, name)).parts(&self.settings)?;
        candidates.extend(self.initial(&parts, &settings)?);
        starts.extend(parts);
        let Some(opening) = competition.open(&candidates, observer.trainings(), stop)? else {
            return Ok(None);
        };
        let start = Start::best(&starts, |name| score(&opening, name));
        run.log(&format!("the search begins with {}", start.name()))?;

        observer.begin(Stage::Search);
        let (halt, learned_nothing) = self.search(start, run, observer, stop)?;
        if halt == Halt::Stopped {
            return Ok(None);
        }
        observer.begin(Stage::Selection);
        let learned = Run::open(&run.folder().join(SEARCH))?.policy()?;
        candidates.extend(learned_family(&learned, start, &settings)?);
        let combine = |standings: &[Standing]| combine(&learned, standings, &settings);
        let selection = competition.run(&mut candidates, combine, observer.trainings(), stop)?;
        let Some(selection) = selection else { return Ok(None) };
        run.log(&format!("selected: {}", selection.winner))?;

        observer.begin(Stage::Proof);
        let settings = self.plan.settings(&self.settings, &self.setups, Stage::Proof);
        let judged = |candidate: &&Arc<Candidate>| {
            DEFAULTS.contains(&candidate.name()) || candidate.name() == selection.winner
        };
        let judged: Vec<Arc<Candidate>> = candidates.iter().filter(judged).cloned().collect();
        let comparison = Comparison::of(judged, None, (1..=self.plan.proof_seeds).collect())?;
        let (proof, comparison) =
            open_or_create(comparison, &run.folder().join(PROOF), &settings, &self.setups.proof)?;
        let setup = &self.setups.proof;
        if comparison.run(&proof, &settings, setup, observer.trainings(), stop)? == Halt::Stopped {
            return Ok(None);
        }
        let report = comparison.report(&proof, &settings, setup)?;
        let verdict = Verdict::new(selection, report, learned_nothing);
        let handed_out = candidates.iter().find(|candidate| candidate.name() == verdict.policy);
        let handed_out = handed_out.expect("the verdict names a candidate");
        Ok(Some((handed_out.policy_document().to_vec(), verdict)))
    }

    /// The search; whether its slopes were all noise.
    fn search(
        &self,
        start: Start,
        run: &RunWriter,
        observer: &mut dyn FindObserver,
        stop: &AtomicBool,
    ) -> Result<(Halt, bool), Error> {
        let settings = self.plan.settings(&self.settings, &self.setups, Stage::Search);
        let settings = start.settings(settings)?;
        let folder = run.folder().join(SEARCH);
        let mut search = Search::new(settings.clone(), self.setups.search.clone())?;
        let search_run = if folder.exists() {
            let search_run = RunWriter::open(&folder)?;
            search_run.restore(&mut search)?;
            search_run
        } else {
            RunWriter::create(&folder, Task::Search, &settings, &self.setups.search.identity, &[])?
        };
        let told = observer.search(&search);
        let halt = search_run.search(&mut search, told, stop)?;
        Ok((halt, search.learned_nothing()))
    }

    /// What competes without a search, simplest first.
    fn unlearned(&self, settings: &Settings) -> Result<Vec<Arc<Candidate>>, Error> {
        let mut candidates = Vec::new();
        for name in DEFAULTS.into_iter().chain(RELATIVES) {
            candidates.push(Arc::new(Candidate::open(name, settings)?));
        }
        candidates.extend(self.initial(&Start::SPACES, settings)?);
        Ok(candidates)
    }

    /// The policies that searches from there would begin with.
    fn initial(&self, starts: &[Start], settings: &Settings) -> Result<Vec<Arc<Candidate>>, Error> {
        let candidate = |start: &Start| {
            let initial = start.settings(self.settings.clone())?.policy_config()?.init()?;
            Candidate::policy(&start.name(), &initial, settings).map(Arc::new)
        };
        starts.iter().map(candidate).collect()
    }
}

/// The learned policy and its variations.
fn learned_family(learned: &Policy, start: Start, settings: &Settings) -> Result<Vec<Arc<Candidate>>, Error> {
    let mut candidates = Vec::new();
    for variation in Variation::ALL {
        // Where the search did not begin in the usual space, the opening has decided about the broad one.
        if variation == Variation::Broad && start.space != Space::Usual {
            continue;
        }
        if let Some(policy) = variation.of(learned)? {
            candidates.push(Arc::new(Candidate::policy(variation.name(), &policy, settings)?));
        }
    }
    Ok(candidates)
}

fn score(standings: &[Standing], name: &str) -> Option<f64> {
    standings.iter().find(|standing| standing.name == name).map(Standing::score)
}

/// One more candidate: the best two variations of the learned policy at once, where both do better than it does.
fn combine(
    learned: &Policy,
    standings: &[Standing],
    settings: &Settings,
) -> Result<Option<Candidate>, Error> {
    let Some([first, second]) = Variation::to_combine(|name| score(standings, name)) else {
        return Ok(None);
    };
    let Some(once) = first.of(learned)? else { return Ok(None) };
    let Some(twice) = second.of(&once)? else { return Ok(None) };
    let name = format!("{}-and-{}", first.name(), second.short_name());
    Candidate::policy(&name, &twice, settings).map(Some)
}

const PLAN: &str = "plan.json";
const VERDICT: &str = "verdict.json";
const SEARCH: &str = "search";
const PROOF: &str = "proof";

/// The folders of all runs that a find may have.
pub(crate) fn parts(folder: &Path) -> Vec<PathBuf> {
    let selections = View::all().map(View::folder);
    [SEARCH, PROOF].map(str::to_owned).into_iter().chain(selections).map(|name| folder.join(name)).collect()
}

impl Run {
    /// What `find` came to, once it has.
    pub fn verdict(&self) -> Result<Option<Verdict>, Error> {
        self.require(Task::Find)?;
        let path = self.folder().join(VERDICT);
        if path.exists() { read_json(&path, "a verdict").map(Some) } else { Ok(None) }
    }

    /// The search of a find, once it has begun.
    pub fn search_of_find(&self) -> Result<Option<Self>, Error> {
        self.part(SEARCH)
    }

    /// The comparison on validation images of a find, once it has begun. Where several ways to cut and mirror are tried
    /// there are more, of which the one that goes on has most classifiers.
    pub fn selection_of_find(&self) -> Result<Option<Self>, Error> {
        let mut most: Option<(usize, Self)> = None;
        for view in View::all() {
            let Some(part) = self.part(&view.folder())? else { continue };
            let trials = part.trials()?.len();
            if most.as_ref().is_none_or(|(before, _)| trials > *before) {
                most = Some((trials, part));
            }
        }
        Ok(most.map(|(_, part)| part))
    }

    /// The comparison on test images of a find, once it has begun.
    pub fn proof_of_find(&self) -> Result<Option<Self>, Error> {
        self.part(PROOF)
    }

    fn part(&self, name: &str) -> Result<Option<Self>, Error> {
        self.require(Task::Find)?;
        let folder = self.folder().join(name);
        if folder.exists() { Self::open(&folder).map(Some) } else { Ok(None) }
    }
}
