//! `find` as a whole: search, selection, proof, verdict; the same after any interruption.

use std::sync::atomic::{AtomicBool, Ordering};

use freeaugment_search::{
    Candidate, ComparisonObserver, CropChoice, Find, FindObserver, Halt, Measured, Observer, Patch, Plan,
    Run, RunWriter, Search, Settings, Setups, Stage, Step, Task, Training, Trial, resolve,
};

fn settings() -> Settings {
    let text = "drawings_train = 64\ndrawings_validation = 32\nbatch = 16\nepochs = 1\nlayers = 1\nnetwork = 'WRN-10-1'\n\
                transformations = ['Rotate', 'Brightness']\nbudget = '1s'";
    let patch = Patch { place: "a test".to_owned(), values: text.parse().unwrap() };
    resolve(Task::Find, "quick", &[patch]).unwrap()
}

/// A machine on which nothing fits into the budget, so that the plan is the smallest there is, whatever machine this is.
const SLOW: Measured = Measured { step_seconds: 10.0, cycle_step_seconds: 40.0, by_heart: None };

/// Stops after so many steps of a stage.
struct Stopping<'a> {
    within: Stage,
    left: u64,
    stop: &'a AtomicBool,
    stage: Option<Stage>,
}

impl<'a> Stopping<'a> {
    fn after(left: u64, within: Stage, stop: &'a AtomicBool) -> Self {
        Self { within, left, stop, stage: None }
    }

    fn never(stop: &'a AtomicBool) -> Self {
        Self::after(u64::MAX, Stage::Proof, stop)
    }

    fn count(&mut self) {
        if self.stage == Some(self.within) {
            self.left = self.left.saturating_sub(1);
            self.stop.store(self.left == 0, Ordering::Relaxed);
        }
    }
}

impl Observer<Search> for Stopping<'_> {
    fn step(&mut self, _: &Search, _: &Step) {
        self.count();
    }
}

impl ComparisonObserver for Stopping<'_> {
    fn step(&mut self, _: usize, _: &Trial, _: &Training, _: &Step) {
        self.count();
    }
}

impl FindObserver for Stopping<'_> {
    fn begin(&mut self, stage: Stage) {
        self.stage = Some(stage);
    }

    fn search(&mut self, _: &Search) -> &mut dyn Observer<Search> {
        self
    }

    fn trainings(&mut self) -> &mut dyn ComparisonObserver {
        self
    }
}

#[test]
fn a_find_ends_with_a_policy_and_a_verdict_that_no_interruption_changes() {
    let folder = tempfile::tempdir().unwrap();
    let begin = |name: &str| {
        let settings = settings();
        let setups = Setups::read(&settings, &()).unwrap();
        // Even less than is ever planned: what is asked here is whether it ends the same.
        let plan = Plan { horizon: 8, cycles: 3, ..Plan::new(&settings, &setups, SLOW).unwrap() };
        let find = Find::new(settings, setups, plan);
        let run = find.create(&folder.path().join(name), &[]).unwrap();
        (find, run)
    };
    let (find, whole) = begin("whole");
    let never = AtomicBool::new(false);
    let (halt, verdict) = find.run(&whole, &mut Stopping::never(&never), &never).unwrap();
    assert_eq!(halt, Halt::Finished);
    let verdict = verdict.unwrap();
    assert_eq!(whole.verdict().unwrap().as_ref(), Some(&verdict));
    // Every rung has the candidates and seeds that were planned; defaults are always among those that are judged.
    let rungs = &find.planned().rungs;
    for (round, rung) in verdict.selection.rounds.iter().zip(rungs) {
        assert!(round.standings.len() <= rung.candidates);
        assert!(round.standings.iter().all(|standing| standing.seeds == rung.seeds));
        assert!(round.standings.is_sorted_by(|a, b| a.probability >= b.probability));
    }
    let judged: Vec<&str> = verdict.proof.summary.rows.iter().map(|row| &*row.name).collect();
    assert!(freeaugment_search::DEFAULTS.iter().all(|name| judged.contains(name)), "{judged:?}");
    // Nobody has said how images are cut, so it was tried, and all that follows is done in the way that was taken.
    let cutting = verdict.cutting.as_ref().unwrap();
    assert_eq!(cutting.tried.len(), 3);
    let best = cutting.tried.iter().map(|way| way.probability).fold(0.0, f64::max);
    assert!(best - cutting.tried[cutting.chosen].probability < 0.05);
    let (crop, smallest) = match cutting.chosen {
        0 => (CropChoice::Auto, 0.08),
        chosen => (CropChoice::Resized, [0.35, 0.08][chosen - 1]),
    };
    let parts = [whole.search_of_find(), whole.selection_of_find(), whole.proof_of_find()];
    for part in parts.map(|part| part.unwrap().unwrap().settings().unwrap()) {
        assert_eq!((part.crop, part.smallest_box), (crop, smallest));
    }
    // How many transformations images want is for whole trainings to say.
    let learned = whole.search_of_find().unwrap().unwrap().policy().unwrap();
    assert!(learned.config().frozen.depth);
    assert!(learned.parameters().depth().iter().all(|logit| *logit == 0.0));
    // What is handed out can be trained under by anyone.
    Candidate::open(whole.folder().to_str().unwrap(), &settings()).unwrap();

    // Stopped in every stage: in the search on the way back of a cycle.
    let (find, stopped) = begin("stopped");
    for (stage, steps) in [(Stage::Opening, 6), (Stage::Search, 17), (Stage::Selection, 6), (Stage::Proof, 6)]
    {
        let stop = AtomicBool::new(false);
        let mut stopping = Stopping::after(steps, stage, &stop);
        let (halt, none) = find.run(&stopped, &mut stopping, &stop).unwrap();
        assert_eq!((halt, none), (Halt::Stopped, None));
        assert_eq!(stopping.stage, Some(stage));
    }
    drop(stopped);
    let run = RunWriter::open(&folder.path().join("stopped")).unwrap();
    let again = Find::open(&run, &()).unwrap();
    assert_eq!(again.planned(), find.planned());
    assert_eq!(&Plan::load(&run.folder().join("plan.json")).unwrap(), find.planned());
    let (_, found) = again.run(&run, &mut Stopping::never(&never), &never).unwrap();
    let found = found.unwrap();
    assert_eq!(found.policy, verdict.policy);
    assert_eq!(found.selection, verdict.selection);
    let policy = |run: &Run| std::fs::read(run.policy_path()).unwrap();
    assert_eq!(policy(&run), policy(&whole));
}

#[test]
fn search_selection_and_proof_see_different_images_where_there_are_enough() {
    let mut settings = settings();
    let few = Setups::read(&settings, &()).unwrap();
    assert!(few.shares_validation());
    settings.drawings_validation = 1000;
    let many = Setups::read(&settings, &()).unwrap();
    assert!(!many.shares_validation());
    let [search, selection, proof] =
        [Stage::Search, Stage::Selection, Stage::Proof].map(|stage| many.of(stage));
    let validation = search.validation.indices();
    assert!(selection.test.iter().all(|index| !validation.contains(index)));
    assert!(proof.test.iter().all(|index| !validation.contains(index) && !selection.test.contains(index)));
    assert!(search.test.is_empty());
}

#[test]
fn a_plan_makes_the_most_of_its_budget() {
    let mut settings = settings();
    settings.epochs = 0;
    let setups = Setups::read(&settings, &()).unwrap();
    let plan = |budget: &str, step_seconds: f64| {
        let settings = Settings { budget: budget.to_owned(), ..settings.clone() };
        let measured = Measured { step_seconds, cycle_step_seconds: 4.5 * step_seconds, by_heart: Some(100) };
        Plan::new(&settings, &setups, measured).unwrap()
    };
    // Three times as long as it takes to learn 64 images by heart, in batches of 16.
    let long = plan("1h", 0.01);
    assert_eq!((long.epochs, long.horizon, long.cycles), (300, 132, 24));
    assert_eq!((long.rungs.len(), long.proof_seeds), (3, 5));
    let total = |plan: &Plan| plan.seconds.iter().sum::<f64>();
    assert!(total(&long) < 3600.0);
    assert!(!long.to_string().contains("more than"));

    // With less time: shorter trainings, fewer cycles, fewer rounds, fewer seeds, until nothing could be told.
    let mut before = long;
    for budget in ["5m", "3m", "2m"] {
        let shorter = plan(budget, 0.01);
        assert!(total(&shorter) < total(&before), "{shorter:?}");
        assert!(shorter.epochs <= before.epochs && shorter.rungs.len() <= before.rungs.len());
        before = shorter;
    }
    let least = plan("1s", 0.01);
    assert_eq!((least.epochs, least.horizon, least.cycles, least.proof_seeds), (100, 44, 6, 3));
    assert!(least.to_string().contains("more than the 1.0 s asked for"), "{least}");
    // Six cycles get as far as sixteen.
    let rate = |plan: &Plan| plan.settings(&settings, &setups, Stage::Search).type_rate;
    assert!((6.0 * rate(&least) - 16.0 * settings.type_rate).abs() < 1e-9);
    assert_eq!(rate(&plan("1h", 0.01)), settings.type_rate);
}

/// Images in the binary format of CIFAR-10, light on the left or on the right: that is their class, and mirroring swaps it.
fn write_sides(path: &std::path::Path, count: u8) {
    let image = |number: u8| {
        let right = number % 2;
        let pixel = move |at: usize| {
            let light = (at % 32 >= 16) == (right == 1);
            // No two images are the same.
            let noise = (at * 7 + usize::from(number) * 13) % 40;
            (if light { 180 } else { 40 } + noise) as u8
        };
        std::iter::once(right).chain((0..3072).map(pixel)).collect::<Vec<u8>>()
    };
    std::fs::write(path, (0..count).flat_map(image).collect::<Vec<u8>>()).unwrap();
}

#[test]
fn where_mirroring_hurts_nothing_is_mirrored_and_the_verdict_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write_sides(&folder.path().join("data_batch_1.bin"), 160);
    write_sides(&folder.path().join("test_batch.bin"), 32);
    std::fs::write(folder.path().join("batches.meta.txt"), "left\nright\n").unwrap();
    let text = format!(
        "data = '{}'\nbatch = 16\nepochs = 8\nlayers = 1\nnetwork = 'WRN-10-1'\nsize = 16\nbudget = '1s'\n\
         transformations = ['Posterize', 'Sharpness']\ncrop = 'pad'",
        folder.path().display()
    );
    let patch = Patch { place: "a test".to_owned(), values: text.parse().unwrap() };
    let settings = resolve(Task::Find, "quick", &[patch]).unwrap();
    let setups = Setups::read(&settings, &()).unwrap();
    let plan = Plan::new(&settings, &setups, SLOW).unwrap();
    let plan = Plan { horizon: 4, cycles: 1, warm_up_epochs: 0, proof_seeds: 1, ..plan };
    let find = Find::new(settings, setups, plan);
    let run = find.create(&folder.path().join("run"), &[]).unwrap();
    let never = AtomicBool::new(false);
    let (_, verdict) = find.run(&run, &mut Stopping::never(&never), &never).unwrap();
    let verdict = verdict.unwrap();
    let mirroring = verdict.mirroring.unwrap();
    assert!(mirroring.hurts(), "{mirroring:?}");
    assert!(verdict.to_string().contains("mirroring hurts here"), "{verdict}");
    // Someone has said how images are cut.
    assert_eq!(verdict.cutting, None);
    // Everything after it is trained without.
    for stage in ["search", "selection-unmirrored", "proof"] {
        assert_eq!(Run::open(&run.folder().join(stage)).unwrap().settings().unwrap().flip, 0.0);
    }
    // Where someone has said what is wanted, nothing is tried.
    let settings = Settings { flip: 0.5, ..run.settings().unwrap() };
    let setups = Setups::read(&settings, &()).unwrap();
    let asked = Find::new(settings, setups, find.planned().clone());
    let run = asked.create(&folder.path().join("asked"), &[]).unwrap();
    let (_, verdict) = asked.run(&run, &mut Stopping::never(&never), &never).unwrap();
    assert_eq!(verdict.unwrap().mirroring, None);
}
