//! Plans of many cells: the same bytes as a comparison, whoever works on them and however often they are interrupted.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::command::{Ended, command, finish, run, start, succeed, wait_until};

/// A training that takes a second.
const BUDGET: &str = "--drawings-train 96 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 2";
/// A search that takes a second, as a file.
const SEARCH: &str = "drawings_train = 64\nepochs = 2\nbatch = 16\nlayers = 2\nmagnitude_start = 0\ntype_start = 0\n\
                      depth_start = 0\ntransformations = ['Rotate', 'Brightness', 'Invert']\n";

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn write(path: &Path, value: &Value) {
    std::fs::write(path, serde_json::to_string_pretty(value).unwrap()).unwrap();
}

/// The one trained classifier below a cell.
fn weights(plan: &Path, cell: &str) -> Vec<u8> {
    let run = plan.join("cells").join(cell);
    let found = std::fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().path());
    let seeds = found.filter(|path| path.is_dir()).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files: Vec<PathBuf> = seeds
        .map(|seed| seed.unwrap().path().join("weights.safetensors"))
        .filter(|path| path.exists())
        .collect();
    assert_eq!(files.len(), 1, "{}", run.display());
    std::fs::read(&files[0]).unwrap()
}

fn cells(plan: &Path) -> Vec<String> {
    let manifest = read(&plan.join("plan.json"));
    manifest["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["name"].as_str().unwrap().to_owned())
        .collect()
}

fn shown(folder: &Path, arguments: &str, ended: &Ended) -> String {
    let message = ended.stderr.replace(&folder.canonicalize().unwrap().display().to_string(), "FOLDER");
    let message = message.replace(&folder.display().to_string(), "FOLDER");
    format!("$ freeaugment {arguments}\n{message}[{}]\n\n", ended.code.unwrap())
}

#[test]
fn cells_in_any_order_make_the_table_and_the_bytes_of_the_comparison() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let policies = format!("--policies standard,trivial-wide {BUDGET} --seeds 2");
    let whole = succeed(folder, &format!("compare {policies} --out whole --json"));
    succeed(folder, &format!("compare {policies} --plan plan"));
    let plan = folder.join("plan");
    assert_eq!(cells(&plan).len(), 4);

    let ended = run(folder, "collect plan");
    assert_eq!(ended.code, Some(8), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("4 cells are not finished: 0 training-1-standard-seed-1, 1 "),
        "{}",
        ended.stderr
    );
    // A plan that is moved is the same plan.
    std::fs::rename(&plan, folder.join("moved")).unwrap();
    let plan = folder.join("moved");
    for index in [3, 0, 2] {
        succeed(folder, &format!("cell moved {index} --quiet"));
    }
    let mut by_job = command(folder, "cell moved --quiet --offset 1");
    by_job.env("SLURM_ARRAY_TASK_ID", "0");
    assert_eq!(finish(by_job).code, Some(0));

    for (cell, trial) in [
        ("training-1-standard-seed-1", "standard/seed-1"),
        ("training-1-standard-seed-2", "standard/seed-2"),
        ("training-1-trivial-wide-seed-1", "trivial-wide/seed-1"),
        ("training-1-trivial-wide-seed-2", "trivial-wide/seed-2"),
    ] {
        let expected = std::fs::read(folder.join("whole").join(trial).join("weights.safetensors")).unwrap();
        assert_eq!(weights(&plan, cell), expected, "{cell}");
    }
    let ended = succeed(folder, "collect moved --json");
    let (collected, compared): (Value, Value) =
        (serde_json::from_str(&ended.stdout).unwrap(), serde_json::from_str(&whole.stdout).unwrap());
    let lines = collected["tables"][0]["lines"].as_array().unwrap();
    for (line, row) in lines.iter().zip(compared["rows"].as_array().unwrap()) {
        assert_eq!((&line["row"], &line["source"]), (&row["name"], &json!("measured")));
        let close =
            |line: &Value, row: &Value| (line.as_f64().unwrap() - 100.0 * row.as_f64().unwrap()).abs() < 1e-9;
        assert!(close(&line["value"], &row["accuracy"]) && close(&line["interval"], &row["interval"]));
        assert!(row["difference"].is_null() || close(&line["difference"], &row["difference"]));
    }
    assert_eq!(collected["machines"][0]["cells"], 4);
    assert!(std::fs::read_to_string(plan.join("result.md")).unwrap().contains("| trivial-wide | measured |"));
    let figure = std::fs::read_to_string(plan.join("figures/test-accuracy.svg")).unwrap();
    assert!(figure.contains("trivial-wide") && plan.join("figures/test-accuracy.png").exists());

    let before = weights(&plan, "training-1-standard-seed-1");
    let ended = succeed(folder, "cell moved 0");
    assert!(ended.stderr.contains("finished already"), "{}", ended.stderr);
    assert_eq!(weights(&plan, "training-1-standard-seed-1"), before);
}

#[test]
fn a_training_waits_for_its_search_and_is_trained_under_what_that_learned() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("search.toml"), SEARCH).unwrap();
    let plan = format!(
        "plan --policies standard --search --search-config search.toml {BUDGET} --seeds 1 --out plan"
    );
    succeed(folder, &plan);
    let names = cells(&folder.join("plan"));
    assert_eq!(names, ["search-1-seed-1", "training-1-standard-seed-1", "training-1-search-1-seed-1-seed-1"]);
    let ended = run(folder, "cell plan 2");
    assert_eq!(ended.code, Some(8));
    let expected = "needs the cell search-1-seed-1 (index 0), which is not finished\n";
    assert!(ended.stderr.ends_with(expected), "{}", ended.stderr);
    for index in 0..3 {
        succeed(folder, &format!("cell plan {index} --quiet"));
    }
    succeed(folder, "collect plan");
    let policy = |path: &str| std::fs::read(folder.join("plan/cells").join(path)).unwrap();
    assert_eq!(
        policy("search-1-seed-1/policy.json"),
        policy("training-1-search-1-seed-1-seed-1/search-1-seed-1/policy.json")
    );
    // The same plan is the same plan; another one does not take its place.
    succeed(folder, &plan);
    assert_eq!(run(folder, &format!("{plan} --seeds 2")).code, Some(5));
}

#[test]
fn what_cannot_be_worked_on_is_named() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &format!("compare --policies standard {BUDGET} --seeds 1 --plan plan"));
    let manifest = folder.join("plan/plan.json");
    let good = read(&manifest);
    let mut said = String::new();
    let mut tell = |arguments: &str, change: &dyn Fn(&mut Value)| {
        let mut changed = good.clone();
        change(&mut changed);
        write(&manifest, &changed);
        said += &shown(folder, arguments, &run(folder, arguments));
    };
    tell("cell plan 1", &|_| ());
    tell("cell plan", &|_| ());
    tell("cell nowhere 0", &|_| ());
    tell("collect nowhere", &|_| ());
    tell("cell plan 0", &|plan| plan["version"] = json!(2));
    tell("cell plan 0", &|plan| plan["program"] = json!("freeaugment 0.0.1"));
    tell("cell plan 0", &|plan| plan["cells"][0]["folder"] = json!("../elsewhere"));
    tell("cell plan 0", &|plan| plan["cells"][0]["needs"] = json!(["search-9"]));
    tell("cell plan 0", &|plan| plan["cells"][0]["settings"] = json!("training-9"));
    tell("cell plan 0", &|plan| plan["tables"][0]["rows"][0]["cells"] = json!(["search-9"]));
    tell("cell plan 0", &|plan| plan["settings"]["training-1"]["data"] = json!("photos"));
    tell("compare --policies none --warm-start plan/plan.json --plan other", &|_| ());
    insta::assert_snapshot!(said);
    assert!(!folder.join("plan/cells").exists(), "nothing is left behind");
}

#[test]
fn cells_with_other_data_than_the_first_are_refused() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, "data --picture sheet.png");
    for class in ["a", "b"] {
        for split in ["train", "test"] {
            let into = folder.join("here").join(split).join(class);
            std::fs::create_dir_all(&into).unwrap();
            for number in 0..16 {
                std::fs::copy(folder.join("sheet.png"), into.join(format!("{number}.png"))).unwrap();
            }
        }
    }
    let budget = "--network WRN-10-1 --batch 16 --epochs 1 --size 16 --images 0";
    succeed(folder, &format!("compare --data here --policies standard {budget} --seeds 2 --plan plan"));
    succeed(folder, "cell plan 0 --quiet");
    // Another host has one image less.
    assert!(Command::new("cp").args(["-r", "here", "there"]).current_dir(folder).status().unwrap().success());
    std::fs::remove_file(folder.join("there/test/a/3.png")).unwrap();
    let ended = run(folder, "cell plan 1 --data there --quiet");
    assert_eq!(ended.code, Some(5), "{}", ended.stderr);
    assert!(ended.stderr.contains("was made with other data than there is now"), "{}", ended.stderr);
    assert!(!folder.join("plan/cells/training-1-standard-seed-2").exists());
    // The same images elsewhere are the same data.
    std::fs::rename(folder.join("here"), folder.join("moved")).unwrap();
    succeed(folder, "cell plan 1 --data moved --quiet");
    succeed(folder, "collect plan");
}

#[cfg(unix)]
mod claims {
    use super::*;

    /// A plan of one cell that takes long enough to be caught at it.
    fn one_cell(folder: &Path, epochs: u32) -> PathBuf {
        succeed(
            folder,
            &format!("compare --policies trivial-wide {BUDGET} --epochs {epochs} --seeds 1 --plan plan"),
        );
        folder.join("plan")
    }

    const CELL: &str = "training-1-trivial-wide-seed-1";

    fn claim(plan: &Path, number: u32) -> PathBuf {
        plan.join("claims").join(format!("{CELL}.{number}.json"))
    }

    fn epochs(plan: &Path) -> usize {
        let metrics = plan.join("cells").join(CELL).join("trivial-wide/seed-1/metrics.jsonl");
        std::fs::read_to_string(metrics).map_or(0, |text| text.lines().count())
    }

    fn be_patient(plan: &Path, beat: f64, stale: f64) {
        let path = plan.join("plan.json");
        let mut manifest = read(&path);
        manifest["claims"] = json!({ "beat_seconds": beat, "stale_seconds": stale });
        write(&path, &manifest);
    }

    #[test]
    fn of_two_processes_one_works_and_the_other_says_who() {
        let folder = tempdir().unwrap();
        let folder = folder.path();
        let plan = one_cell(folder, 40);
        let children = [0, 1].map(|_| start(folder, "cell plan 0"));
        let ids = children.each_ref().map(std::process::Child::id);
        let ended = children.map(|child| child.wait_with_output().unwrap());
        let codes = ended.each_ref().map(|ended| ended.status.code().unwrap());
        let loser = usize::from(codes[0] != 8);
        assert_eq!((codes[loser], codes[1 - loser]), (8, 0));
        let said = String::from_utf8(ended[loser].stderr.clone()).unwrap();
        let expected = format!("error: the cell {CELL} is being worked on by process {} on ", ids[1 - loser]);
        assert!(said.contains(&expected), "{said}");
        assert!(claim(&plan, 1).exists() && !claim(&plan, 2).exists());
        assert_eq!(epochs(&plan), 40);
    }

    #[test]
    fn killed_it_goes_on_at_once_and_ends_with_the_same_bytes() {
        let folder = tempdir().unwrap();
        let folder = folder.path();
        let plan = one_cell(folder, 12);
        succeed(
            folder,
            &format!("compare --policies trivial-wide {BUDGET} --epochs 12 --seeds 1 --quiet --out whole"),
        );
        for _ in 0..2 {
            let before = epochs(&plan);
            let mut child = start(folder, "cell plan 0 --quiet");
            wait_until("an epoch has ended", || epochs(&plan) > before);
            child.kill().unwrap();
            child.wait().unwrap();
        }
        // SIGTERM saves, as Ctrl-C does; a scheduler sends it before it kills.
        let before = epochs(&plan);
        let child = start(folder, "cell plan 0");
        wait_until("an epoch has ended", || epochs(&plan) > before);
        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(130), "{said}");
        assert!(said.ends_with("to go on: freeaugment cell plan 0\n"), "{said}");
        assert!(read(&claim(&plan, 3))["released"].as_bool().unwrap());
        succeed(folder, "cell plan 0 --quiet");
        let expected = std::fs::read(folder.join("whole/trivial-wide/seed-1/weights.safetensors")).unwrap();
        assert_eq!(weights(&plan, CELL), expected);
    }

    #[test]
    fn a_claim_of_another_host_holds_while_it_changes_and_no_longer() {
        let folder = tempdir().unwrap();
        let folder = folder.path();
        let plan = one_cell(folder, 2);
        std::fs::create_dir(plan.join("claims")).unwrap();
        let record = json!({
            "host": "elsewhere", "processes": "another boot", "process": 1, "began": 1, "token": "another",
            "instructions": "abacus", "beat": 0, "released": false
        });
        write(&claim(&plan, 1), &record);

        // It beats while it is watched: it lives.
        be_patient(&plan, 20.0, 600.0);
        let mut child = start(folder, "cell plan 0");
        let mut beat = 0;
        while child.try_wait().unwrap().is_none() {
            beat += 1;
            let mut changed = record.clone();
            changed["beat"] = json!(beat);
            // Whole or not at all, as a claim is renewed.
            write(&plan.join("claims/next"), &changed);
            std::fs::rename(plan.join("claims/next"), claim(&plan, 1)).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(8), "{said}");
        assert!(said.ends_with("is being worked on by process 1 on elsewhere\n"), "{said}");

        // It does not any more: after the time that the plan says it is dead.
        be_patient(&plan, 20.0, 0.5);
        let ended = succeed(folder, "cell plan 0");
        assert!(ended.stderr.contains("claimed by process 1 on elsewhere; watching it"), "{}", ended.stderr);
        assert_eq!(read(&claim(&plan, 2))["released"], true);
        // Both have worked on it, and what they compute differs in its last bits.
        let ended = succeed(folder, "collect plan");
        assert!(ended.stderr.contains("these tables mix instruction sets"), "{}", ended.stderr);
    }
}
