//! Training under policies and comparing them.

use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::command::{SMALL, run, succeed};

/// A training that takes a second.
const BUDGET: &str = "--drawings-train 96 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 2";

fn weights(run: &Path, cell: &str) -> Vec<u8> {
    std::fs::read(run.join(cell).join("weights.safetensors")).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn threads_and_workers_change_no_weight_and_the_seed_does() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let policies = "--policies trivial-wide,uniform-free:2,domainbed";
    for (out, more) in [("a", "--threads 1"), ("b", "--threads 3 --workers 3")] {
        succeed(folder, &format!("compare {policies} {BUDGET} --seeds 2 --quiet --out {out} {more}"));
    }
    for cell in ["trivial-wide/seed-1", "uniform-free-2/seed-2", "domainbed/seed-2"] {
        assert_eq!(weights(&folder.join("a"), cell), weights(&folder.join("b"), cell), "{cell}");
    }
    let seeds = ["domainbed/seed-1", "domainbed/seed-2"].map(|cell| weights(&folder.join("a"), cell));
    assert_ne!(seeds[0], seeds[1]);
}

#[test]
fn the_table_is_that_of_the_cells_and_finished_cells_are_not_trained_again() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let ended = succeed(
        folder,
        &format!("compare --policies none,standard,rand {BUDGET} --seeds 2 --out run --json"),
    );
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let out = folder.join("run");
    let accuracy = |cell: &str| json(&out.join(cell).join("result.json"))["test_accuracy"].as_f64().unwrap();
    for (row, name) in report["rows"].as_array().unwrap().iter().zip(["none", "standard", "rand"]) {
        assert_eq!(row["name"], name);
        let found = [1, 2].map(|seed| accuracy(&format!("{name}/seed-{seed}")));
        assert!((row["accuracy"].as_f64().unwrap() - f64::midpoint(found[0], found[1])).abs() < 1e-12);
        let base = [1, 2].map(|seed| accuracy(&format!("standard/seed-{seed}")));
        let difference = f64::midpoint(found[0] - base[0], found[1] - base[1]);
        match row["difference"].as_f64() {
            Some(value) => assert!((value - difference).abs() < 1e-12),
            None => assert_eq!(name, "standard"),
        }
    }
    // What was printed can be shown again.
    assert_eq!(succeed(folder, "show run --json").stdout, ended.stdout);
    assert!(succeed(folder, "show run").stdout.contains("against standard"));

    let markdown = std::fs::read_to_string(out.join("result.md")).unwrap();
    assert_eq!(markdown.matches("\n| ").count(), 4, "{markdown}");

    // A finished cell that is marked stays marked; what is new is trained.
    let marked = out.join("none/seed-1/result.json");
    let text = std::fs::read_to_string(&marked).unwrap();
    std::fs::write(&marked, text.replace("\"training_loss\": ", "\"training_loss\": 1")).unwrap();
    let before = std::fs::read(&marked).unwrap();
    let ended =
        succeed(folder, &format!("compare --policies none,uniform,standard {BUDGET} --seeds 3 --out run"));
    assert!(ended.stderr.contains("cells     9, 4 of them done before"), "{}", ended.stderr);
    assert_eq!(std::fs::read(&marked).unwrap(), before);
    assert!(out.join("uniform/seed-3/result.json").exists());
    assert!(out.join("rand/seed-2/result.json").exists());
}

#[cfg(unix)]
#[test]
fn killed_and_resumed_it_ends_the_same() {
    use crate::command::{start, wait_until};

    let folder = tempdir().unwrap();
    let folder = folder.path();
    let compare = format!("compare --policies trivial,uniform-free {BUDGET} --epochs 12 --seeds 1 --quiet");
    succeed(folder, &format!("{compare} --out whole"));
    let mut child = start(folder, &format!("{compare} --out killed"));
    let run = folder.join("killed");
    wait_until("the run has begun", || run.join("candidates.json").exists());
    let resumed = || {
        let log = std::fs::read_to_string(run.join("log.txt")).unwrap_or_default();
        log.lines().filter(|line| line.ends_with(" resumed")).count()
    };
    for wait in [300, 700, 100, 900] {
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let before = resumed();
        child = start(folder, "resume killed --quiet");
        wait_until("it goes on", || resumed() > before);
    }
    let (code, said) = crate::interruption::interrupt(child);
    assert!(code == Some(130) || code == Some(0), "{said}");
    succeed(folder, "resume killed --quiet");
    for cell in ["trivial/seed-1", "uniform-free/seed-1"] {
        assert_eq!(weights(&run, cell), weights(&folder.join("whole"), cell), "{cell}");
        let losses = |run: &Path| -> Vec<Value> {
            let text = std::fs::read_to_string(run.join(cell).join("metrics.jsonl")).unwrap();
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["loss"].clone()).collect()
        };
        assert_eq!(losses(&run), losses(&folder.join("whole")));
        assert_eq!(losses(&run).len(), 12);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_within_a_cell_and_says_how_to_go_on() {
    use crate::command::{start, wait_until};

    let folder = tempdir().unwrap();
    let folder = folder.path();
    let train = format!("train --policy standard {BUDGET} --epochs 40 --seeds 1");
    let child = start(folder, &format!("{train} --out run"));
    let metrics = folder.join("run/standard/seed-1/metrics.jsonl");
    wait_until("an epoch has ended", || {
        std::fs::read_to_string(&metrics).is_ok_and(|text| text.contains('\n'))
    });
    let (code, said) = crate::interruption::interrupt(child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.ends_with("\nto go on: freeaugment resume run\n"), "{said}");
    assert!(folder.join("run/standard/seed-1/checkpoint.safetensors").exists());
    let ended = succeed(folder, "resume run");
    assert!(ended.stdout.contains("top-1 test accuracy under standard: "), "{}", ended.stdout);
    assert!(!folder.join("run/standard/seed-1/checkpoint.safetensors").exists());
}

#[test]
fn a_learned_policy_is_trained_under_and_the_searchs_classifier_can_be_begun_with() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &format!("search {SMALL} --quiet --out found"));
    let train = |more: &str, out: &str| {
        succeed(folder, &format!("train --policy found {BUDGET} --seeds 1 --quiet --out {out} {more}"));
        let cell = folder.join(out);
        (weights(&cell, "found/seed-1"), json(&cell.join("found/seed-1/result.json")))
    };
    let (plain, result) = train("", "plain");
    assert_eq!(result["warm_start"], false);
    let (warm, result) = train("--warm-start found", "warm");
    assert_eq!(result["warm_start"], true);
    assert_ne!(plain, warm);
    // Each way of choosing gives other images.
    let (exact, _) = train("--policy-assignment exact --policy-temperature 1", "exact");
    assert_ne!(plain, exact);
    // The file itself is the same policy as its run.
    succeed(folder, &format!("train --policy found/policy.json {BUDGET} --seeds 1 --quiet --out file"));
    assert_eq!(weights(&folder.join("file"), "found-policy-json/seed-1"), plain);
}

#[test]
fn a_published_policy_is_imported_and_compared() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let stage = [5_u8; 60];
    std::fs::write(folder.join("schedule.txt"), format!("['1', '0', 22, 20, {stage:?}, {stage:?}]\n"))
        .unwrap();
    let ended = run(folder, "import pba schedule.txt --out pba.json");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    succeed(folder, &format!("compare --policies standard,pba.json {BUDGET} --seeds 1 --quiet --out run"));
    assert_ne!(
        weights(&folder.join("run"), "pba-json/seed-1"),
        weights(&folder.join("run"), "standard/seed-1")
    );
}

#[test]
fn a_baseline_in_a_file_is_the_baseline_of_that_name() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let text = "{\"format\": \"freeaugment-baseline\", \"version\": 1, \"baseline\": \"trivial-wide\"}";
    std::fs::create_dir(folder.join("best")).unwrap();
    std::fs::write(folder.join("best/policy.json"), text).unwrap();
    let policies = "trivial-wide,best,best/policy.json";
    succeed(folder, &format!("compare --policies {policies} {BUDGET} --seeds 1 --quiet --out run"));
    // The run has a copy: it goes on when the file is gone.
    std::fs::remove_dir_all(folder.join("best")).unwrap();
    succeed(folder, "resume run --quiet");
    let out = folder.join("run");
    let identities = json(&out.join("candidates.json"));
    for (at, name) in ["trivial-wide", "best", "best-policy-json"].into_iter().enumerate() {
        let cell = format!("{name}/seed-1");
        assert_eq!(weights(&out, &cell), weights(&out, "trivial-wide/seed-1"), "{name}");
        assert_eq!(identities["candidates"][at]["identity"], "baseline trivial-wide");
    }
}

#[test]
fn what_cannot_be_trained_or_continued() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &format!("search {SMALL} --epochs 1 --quiet --out found"));
    let policy = folder.join("found/policy.json");
    std::fs::copy(&policy, folder.join("mine.json")).unwrap();
    succeed(folder, &format!("train --policy mine.json {BUDGET} --seeds 1 --quiet --out run"));
    let text = std::fs::read_to_string(&policy).unwrap();
    std::fs::write(folder.join("mine.json"), text.replace("\"column-maximum\"", "\"exact\"")).unwrap();
    std::fs::write(folder.join("cut.json"), "{\"format\": \"freeaugment-baseline\", \"version\": 1").unwrap();
    std::fs::write(folder.join("cut.npz"), "PK").unwrap();
    let cases = [
        "train --policy trivial-wid".to_owned(),
        "train --policy mein.json".to_owned(),
        "train --policy rand:3".to_owned(),
        "train --policy rand:3:31".to_owned(),
        "train --policy uniform-free:15".to_owned(),
        "train --policy cut.json".to_owned(),
        "compare --policies none,rand --baseline standard".to_owned(),
        "train --policy none --type-rate 3".to_owned(),
        "train --policy none --warm-start nowhere.safetensors".to_owned(),
        format!("train --policy mine.json {BUDGET} --seeds 1 --out run"),
        format!("train --policy none {BUDGET} --epochs 3 --seeds 1 --out run"),
        "train --policy none --out found".to_owned(),
        "import pba missing.txt".to_owned(),
        "import deepaa cut.npz".to_owned(),
        "import slak cut.npz".to_owned(),
    ];
    let shown = cases.map(|arguments| {
        let ended = run(folder, &arguments);
        assert_eq!(ended.stdout, "");
        let message = ended.stderr.replace(&folder.display().to_string(), "FOLDER");
        let arguments = arguments.replace(BUDGET, "…");
        format!("$ freeaugment {arguments}\n{message}[{}]\n\n", ended.code.unwrap())
    });
    insta::assert_snapshot!(shown.concat());
    assert!(!folder.join("runs").exists(), "nothing is left behind");
}
