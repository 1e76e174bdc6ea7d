//! However many processes share a search or a training: what comes out is the same bytes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use freeaugment_nn::ranks::{Ranks, in_threads};
use freeaugment_search::{
    Comparison, Halt, Observer, Patch, Run, RunWriter, Search, Settings, Setup, Step, Task, agree, drive,
    follow_proof, prove, resolve,
};
use tempfile::tempdir;

const SMALL: &str =
    "drawings_train = 96\ndrawings_validation = 64\nnetwork = 'WRN-10-1'\nbatch = 32\nepochs = 2\n";

/// Where everything learns from the first step on, and a proof follows.
const LEARNING: &str = "magnitude_start = 0\ntype_start = 0\ndepth_start = 0\nlayers = 2\nproof_epochs = 1\n";

fn settings(task: Task, more: &str) -> Settings {
    let learning = if task == Task::Search { LEARNING } else { "" };
    let values = format!("{SMALL}{learning}{more}").parse().unwrap();
    resolve(task, "drawings", &[Patch { place: "a test".to_owned(), values }]).unwrap()
}

fn setup(settings: &Settings, ranks: &Arc<dyn Ranks>) -> Setup {
    Setup::for_search(settings, &()).unwrap().with_ranks(ranks).unwrap()
}

/// Stops after so many turns.
struct StopAfter<'a>(u64, &'a AtomicBool);

impl Observer<Search> for StopAfter<'_> {
    fn step(&mut self, _search: &Search, _step: &Step) {
        self.0 -= 1;
        self.1.store(self.0 == 0, Ordering::Relaxed);
    }
}

/// What one process does of a search; where `stop` says so, it stops itself after so many turns.
fn carry_out(settings: &Settings, folder: &Path, ranks: &Arc<dyn Ranks>, stop: Option<u64>) -> Halt {
    let setup = setup(settings, ranks);
    agree(&**ranks, Task::Search, settings, &setup.identity, "").unwrap();
    let mut search = Search::new(settings.clone(), setup).unwrap();
    let (flag, never) = (AtomicBool::new(false), u64::MAX);
    let mut observer = StopAfter(stop.unwrap_or(never), &flag);
    let begun = folder.join("run").exists();
    // Nobody looks before all have looked.
    ranks.any(begun);
    if !ranks.is_first() {
        if begun {
            RunWriter::restore_from_first(&mut search).unwrap();
        }
        let halt = drive(&mut search, None, &mut observer, &flag).unwrap();
        return if halt == Halt::Stopped { halt } else { follow_proof(&search, &flag).unwrap() };
    }
    let run = if begun {
        let run = RunWriter::open(&folder.join("run")).unwrap();
        run.restore(&mut search).unwrap();
        run
    } else {
        let data = &search.setup().identity;
        RunWriter::create(&folder.join("run"), Task::Search, settings, data, &[]).unwrap()
    };
    let halt = run.search(&mut search, &mut observer, &flag).unwrap();
    if halt == Halt::Stopped { halt } else { prove(&search, &run, &mut (), &flag).unwrap().0 }
}

/// What a finished run has that does not tell the time, by name.
fn outcome(run: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    let epochs = Run::open(run).unwrap().epochs().unwrap();
    let timeless = epochs.into_iter().map(|epoch| {
        format!(
            "{:?}",
            (
                epoch.loss,
                epoch.accuracy,
                epoch.validation_loss,
                epoch.validation_accuracy,
                epoch.evaluation_loss,
                epoch.evaluation_accuracy,
                epoch.gradients
            )
        )
    });
    let names = ["policy.json", "classifier.safetensors", "proof.json"];
    let files = names.map(|name| (name, std::fs::read(run.join(name)).unwrap()));
    files.into_iter().chain([("metrics", timeless.collect::<String>().into_bytes())]).collect()
}

fn run_on(settings: &Settings, size: usize) -> BTreeMap<&'static str, Vec<u8>> {
    let folder = tempdir().unwrap();
    let halts = in_threads(size, |ranks| carry_out(settings, folder.path(), &ranks, None));
    assert_eq!(halts, vec![Halt::Finished; size]);
    outcome(&folder.path().join("run"))
}

#[test]
fn a_search_has_the_same_bytes_on_any_number_of_processes() {
    let settings = settings(Task::Search, "estimator = 'gain'\nvalidation_momentum = 0.5");
    let alone = run_on(&settings, 1);
    for size in 2..=4 {
        assert!(run_on(&settings, size) == alone, "{size} processes");
    }
}

#[test]
fn searches_of_every_kind_have_the_same_bytes_on_two_processes() {
    for kind in [
        "horizon = 2\nestimator = 'gain'\ndraws = 1\nhorizon_mib = 1",
        "hypergradient = 'difference'\nestimator = 'straight-through'",
        "sharing = 'per-batch'\nestimator = 'soft-backward'",
    ] {
        let settings = settings(Task::Search, kind);
        assert!(run_on(&settings, 2) == run_on(&settings, 1), "{kind}");
    }
}

#[test]
fn whichever_process_is_told_to_stop_all_do_and_another_number_of_them_goes_on() {
    let settings = settings(Task::Search, "");
    let whole = run_on(&settings, 1);
    let folder = tempdir().unwrap();
    let go = |size: usize, stopper: usize, after: u64| {
        in_threads(size, |ranks| {
            let stop = (ranks.rank() == stopper).then_some(after);
            carry_out(&settings, folder.path(), &ranks, stop)
        })
    };
    assert_eq!(go(3, 2, 1), [Halt::Stopped; 3]);
    assert_eq!(go(2, 0, 2), [Halt::Stopped; 2]);
    assert_eq!(go(4, 9, 0), [Halt::Finished; 4]);
    assert!(outcome(&folder.path().join("run")) == whole);
}

#[test]
fn trainings_have_the_same_bytes_on_any_number_of_processes() {
    let settings = settings(Task::Comparison, "");
    let names = ["standard", "trivial-wide"].map(str::to_owned);
    let train = |size: usize| {
        let folder = tempdir().unwrap();
        let path = folder.path().join("run");
        in_threads(size, |ranks| {
            let comparison = Comparison::new(&names, None, 1, &settings).unwrap();
            let setup = Setup::for_training(&settings, &()).unwrap().with_ranks(&ranks).unwrap();
            let stop = AtomicBool::new(false);
            if ranks.is_first() {
                let run = comparison.create(&path, &settings, &setup, &[]).unwrap();
                comparison.run(&run, &settings, &setup, &mut (), &stop).unwrap()
            } else {
                comparison.follow(&settings, &setup, &stop).unwrap()
            }
        });
        names
            .each_ref()
            .map(|name| std::fs::read(path.join(name).join("seed-1/weights.safetensors")).unwrap())
    };
    let alone = train(1);
    assert!(train(2) == alone && train(4) == alone);
}

#[test]
fn a_batch_that_is_too_small_for_so_many_is_refused() {
    let settings = settings(Task::Search, "");
    let alone = Setup::for_search(&settings, &()).unwrap();
    let said = in_threads(5, |ranks| alone.clone().with_ranks(&ranks).unwrap_err().to_string());
    let wanted = "`batch`: 5 processes cannot share batches of 32 images: each needs 8 of them, so at most 4 can, or batches \
                  must have at least 33 images";
    assert!(said.iter().all(|said| said.ends_with(wanted)), "{}", said[0]);
}

#[test]
fn processes_that_differ_are_told_in_what() {
    let disagree = |of_other: &str, work: [&str; 2]| {
        let said = in_threads(2, |ranks| {
            let settings = settings(Task::Search, if ranks.is_first() { "" } else { of_other });
            let identity = setup(&settings, &ranks).identity;
            agree(&*ranks, Task::Search, &settings, &identity, work[ranks.rank()]).unwrap_err().to_string()
        });
        assert_eq!(said[0], said[1]);
        said[0].clone()
    };
    let said = disagree("learning_rate = 0.5", ["", ""]);
    let wanted = "process 1 differs from process 0 in `learning_rate`: 0.5 there, ";
    assert!(said.starts_with(wanted), "{said}");
    let said = disagree("", ["", "resumed"]);
    assert!(
        said.starts_with("process 1 differs from process 0 in the work: search resumed there, search "),
        "{said}"
    );
}
