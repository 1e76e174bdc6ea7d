//! All that a run writes can be read again, and a result is tied to the data it was obtained with.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use freeaugment_search::{
    Comparison, ComparisonObserver, Error, Halt, Learned, Patch, Report, Run, RunState, RunWriter, Search,
    Settings, Setup, Step, Task, Training, Trial, prove, resolve,
};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn settings(task: Task, more: &str) -> Settings {
    let text = "drawings_train = 64\ndrawings_validation = 32\nbatch = 16\nepochs = 2";
    let patch = |text: &str| Patch { place: "a test".to_owned(), values: text.parse().unwrap() };
    resolve(task, "drawings", &[patch(text), patch(more)]).unwrap()
}

fn comparison(settings: &Settings, names: &[&str], seeds: u64) -> Comparison {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    Comparison::new(&names, None, seeds, settings).unwrap()
}

/// A finished comparison of two policies with two seeds.
fn compared(folder: &Path, settings: &Settings) -> RunWriter {
    let setup = Setup::for_training(settings, &()).unwrap();
    let comparison = comparison(settings, &["standard", "uniform-free:2"], 2);
    let run = comparison.create(folder, settings, &setup, &["typed".to_owned()]).unwrap();
    assert_eq!(run.state().unwrap(), RunState::Comparison { done: 0, total: 4 });
    assert_eq!(comparison.run(&run, settings, &setup, &mut (), &GO_ON).unwrap(), Halt::Finished);
    run
}

#[test]
fn a_search_can_be_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let more = "layers = 2\nmagnitude_start = 0\ntype_start = 0\ndepth_start = 0\nproof_epochs = 1";
    let settings = settings(Task::Search, more);
    let mut search = Search::new(settings.clone(), Setup::for_search(&settings, &()).unwrap()).unwrap();
    let typed = ["freeaugment".to_owned(), "search".to_owned()];
    let data = search.setup().identity.clone();
    let run = RunWriter::create(&path, Task::Search, &settings, &data, &typed).unwrap();
    assert_eq!(run.state().unwrap(), RunState::Search { done: 0, total: None });
    run.search(&mut search, &mut (), &GO_ON).unwrap();
    let (halt, proof) = prove(&search, &run, &mut (), &GO_ON).unwrap();
    assert_eq!(halt, Halt::Finished);
    drop(run);

    let run = Run::open(&path).unwrap();
    assert_eq!((run.task(), run.data()), (Task::Search, &data));
    assert_eq!(run.settings().unwrap(), settings);
    assert_eq!(run.environment().unwrap().command, typed);
    assert!(run.state().unwrap().is_finished());
    let epochs = run.epochs().unwrap();
    assert_eq!(epochs.iter().map(|epoch| epoch.epoch).collect::<Vec<_>>(), [1, 2]);
    for epoch in &epochs {
        let line = serde_json::to_string(epoch).unwrap();
        assert_eq!(serde_json::from_str::<freeaugment_search::SearchEpoch>(&line).unwrap(), *epoch);
    }
    let policies = run.policies().unwrap();
    assert_eq!(policies.last(), Some(&run.policy().unwrap()));
    assert_eq!(policies.last(), Some(&search.policy_with_provenance(2)));
    let learned = Learned::new(&policies[1]).unwrap();
    assert_eq!(learned.depth, epochs[1].depth);
    assert_eq!(run.proof().unwrap(), proof);
    // The proof is a comparison like any other, and can be read like one.
    let judged = Run::open(&path.join("proof")).unwrap();
    let names: Vec<String> = judged.summary().unwrap().rows.into_iter().map(|row| row.name).collect();
    assert_eq!(names, ["standard", "initial", "learned"]);
    assert_eq!(judged.data(), &data);
    let message = run.comparison().unwrap_err().to_string();
    assert!(message.ends_with("is the run of a search, not of a training or a comparison"), "{message}");
}

#[test]
fn a_comparison_can_be_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let settings = settings(Task::Comparison, "");
    drop(compared(&path, &settings));
    let run = Run::open(&path).unwrap();
    assert_eq!(run.settings().unwrap().difference(Task::Comparison, &settings), None);
    assert_eq!(run.state().unwrap(), RunState::Comparison { done: 4, total: 4 });
    let trials = run.trials().unwrap();
    let cells: Vec<(String, u64)> =
        trials.iter().map(|trial| (trial.candidate().name().to_owned(), trial.seed())).collect();
    let expected = [("standard", 1), ("uniform-free:2", 1), ("standard", 2), ("uniform-free:2", 2)];
    assert_eq!(cells, expected.map(|(name, seed)| (name.to_owned(), seed)));
    let mut accuracies = Vec::new();
    for trial in &trials {
        let result = trial.result().unwrap().unwrap();
        assert_eq!(&result.data, run.data());
        assert_eq!(trial.epochs().unwrap().last().unwrap().accuracy, result.training_accuracy);
        assert!(trial.weights_path().is_file());
        accuracies.push(result.test_accuracy);
    }
    let summary = run.summary().unwrap();
    assert_eq!(summary.baseline, "standard");
    assert_eq!(summary.rows[1].accuracies, [accuracies[1], accuracies[3]]);
    assert_eq!(summary.rows[0].difference, None);
    let difference = f64::midpoint(accuracies[1] - accuracies[0], accuracies[3] - accuracies[2]);
    assert!((summary.rows[1].difference.unwrap() - difference).abs() < 1e-12);
    assert!(summary.rows[1].p.is_some() && summary.rows[1].difference_interval.is_some());
    let report = run.report().unwrap().unwrap();
    assert_eq!(report.summary, summary);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

/// The same settings on other drawings: another seed draws others, but the settings are those of the first.
fn other_setup(settings: &Settings) -> Setup {
    Setup::for_training(&Settings { seed: 1, ..settings.clone() }, &()).unwrap()
}

#[test]
fn a_comparison_never_mixes_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let settings = settings(Task::Comparison, "");
    let run = compared(&path, &settings);
    let others = other_setup(&settings);
    let check = |error: Error| {
        let message = error.to_string();
        let Error::OtherData { then, now, .. } = error else { panic!("{message}") };
        assert_eq!((&*then, &*now), (run.data(), &others.identity));
        for identity in [&then, &now] {
            assert!(message.contains(&identity.fingerprint), "{message}");
        }
    };
    // Neither with more seeds nor by going on.
    check(comparison(&settings, &["standard"], 3).join(&run, &settings, &others).unwrap_err());
    check(run.comparison().unwrap().run(&run, &settings, &others, &mut (), &GO_ON).unwrap_err());
    // A cell that was put there from elsewhere is not counted.
    let cell = path.join("standard/seed-1/result.json");
    let text = std::fs::read_to_string(&cell).unwrap();
    std::fs::write(&cell, text.replace(&run.data().fingerprint, &others.identity.fingerprint)).unwrap();
    let message = run.summary().unwrap_err().to_string();
    assert!(message.contains("seed-1") && message.contains("other data"), "{message}");
}

#[test]
fn any_pixel_and_any_label_of_any_split_is_part_of_the_datas_identity() {
    let folder = tempfile::tempdir().unwrap();
    let write = |split: &str, class: &str, name: &str, pixel: u8| {
        let path = folder.path().join(split).join(class);
        std::fs::create_dir_all(&path).unwrap();
        // A picture of 4x4 as a BMP file, which is stored as it is.
        let mut bytes = vec![
            0x42, 0x4d, 102, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 24,
            0,
        ];
        bytes.resize(54, 0);
        bytes.resize(102, pixel);
        std::fs::write(path.join(name), bytes).unwrap();
    };
    for split in ["train", "val", "test"] {
        for class in ["a", "b"] {
            for image in 0..4 {
                write(split, class, &format!("{image}.bmp"), 10 * image);
            }
        }
    }
    let data = folder.path().display().to_string();
    let settings = Settings { data, batch: 4, images: 0, size: 8, cutout: 0, ..settings(Task::Search, "") };
    let identity = || Setup::for_search(&settings, &()).unwrap().identity;
    let first = identity();
    assert_eq!(first, identity());
    assert_eq!((first.training, first.validation, first.test), (8, 8, 8));
    for split in ["train", "val", "test"] {
        write(split, "a", "3.bmp", 31);
        assert_ne!(identity(), first, "a pixel of {split}");
        write(split, "a", "3.bmp", 30);
        assert_eq!(identity(), first);
        // The same pictures, two of them with each other's label.
        write(split, "a", "3.bmp", 20);
        write(split, "b", "2.bmp", 30);
        assert_ne!(identity(), first, "labels of {split}");
        write(split, "a", "3.bmp", 30);
        write(split, "b", "2.bmp", 20);
    }
    assert_eq!(identity(), first);
}

#[test]
fn what_a_process_left_that_died_before_its_run_was_whole_is_no_hindrance() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    // Killed between two files of a run that was being made.
    let draft = folder.path().join(".unfinished-run");
    std::fs::create_dir_all(draft.join("standard")).unwrap();
    std::fs::write(draft.join("config.toml"), "epochs = 3\n").unwrap();
    std::fs::write(draft.join("lock"), "").unwrap();
    let run = compared(&path, &settings(Task::Comparison, ""));
    assert!(run.state().unwrap().is_finished());
    assert!(!draft.exists());
    // A folder that is there and empty is as good as none.
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    compared(&empty, &settings(Task::Comparison, ""));
    let again = settings(Task::Comparison, "");
    let setup = Setup::for_training(&again, &()).unwrap();
    let error = comparison(&again, &["none"], 1).create(&empty, &again, &setup, &[]).unwrap_err();
    assert!(matches!(error, Error::RunExists { .. }));
}

/// Stops a comparison in the middle of a cell.
struct StopAt<'a>(u64, &'a AtomicBool);

impl ComparisonObserver for StopAt<'_> {
    fn step(&mut self, _: usize, _: &Trial, training: &Training, _: &Step) {
        use freeaugment_search::Session as _;
        self.1.store(training.progress().done == self.0, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_comparison_that_was_stopped_anywhere_ends_as_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(Task::Comparison, "");
    let whole = compared(&folder.path().join("whole"), &settings);
    let setup = Setup::for_training(&settings, &()).unwrap();
    let comparison = comparison(&settings, &["standard", "uniform-free:2"], 2);
    let mut run = comparison.create(&folder.path().join("stopped"), &settings, &setup, &[]).unwrap();
    for steps in [1, 4, 7] {
        let stop = AtomicBool::new(false);
        let halt = comparison.run(&run, &settings, &setup, &mut StopAt(steps, &stop), &stop).unwrap();
        assert_eq!(halt, Halt::Stopped);
        let path = run.folder().to_owned();
        drop(run);
        run = RunWriter::open(&path).unwrap();
    }
    run.comparison().unwrap().run(&run, &settings, &setup, &mut (), &GO_ON).unwrap();
    for (stopped, whole) in run.trials().unwrap().iter().zip(whole.trials().unwrap()) {
        let weights = [stopped.weights_path(), whole.weights_path()].map(|path| std::fs::read(path).unwrap());
        assert_eq!(weights[0], weights[1]);
    }
    assert_eq!(run.summary().unwrap().rows[1].accuracies, whole.summary().unwrap().rows[1].accuracies);
}
