//! What a search leaves behind.

use std::path::Path;

use freeaugment::Policy;
use serde_json::Value;
use tempfile::tempdir;

use crate::command::{SMALL, succeed, without_numbers};

/// The lines of a run's metrics.
pub(crate) fn metrics(run: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_search_leaves_a_complete_run_folder() {
    let folder = tempdir().unwrap();
    succeed(folder.path(), &format!("search {SMALL} --quiet"));
    let run = folder.path().join("runs/search-1");
    for name in ["config.toml", "environment.json", "log.txt", "checkpoint.safetensors", "policy.json"] {
        assert!(run.join(name).is_file(), "{name}");
    }
    let last = Policy::load(run.join("policy.json")).unwrap();
    assert_eq!(last, Policy::load(run.join("policies/epoch-0003.json")).unwrap());
    assert_ne!(last, Policy::load(run.join("policies/epoch-0001.json")).unwrap());
    let environment: Value =
        serde_json::from_slice(&std::fs::read(run.join("environment.json")).unwrap()).unwrap();
    assert_eq!(environment["command"][1], "search");
    let configuration = std::fs::read_to_string(run.join("config.toml")).unwrap();
    assert!(configuration.contains("drawings_train = 128\n"), "{configuration}");
    let log = std::fs::read_to_string(run.join("log.txt")).unwrap();
    assert_eq!(log.lines().count(), 5, "{log}");
}

#[test]
fn metrics_have_a_whole_line_per_epoch() {
    let folder = tempdir().unwrap();
    let ended = succeed(folder.path(), &format!("search {SMALL} --out run --json"));
    let lines = metrics(&folder.path().join("run"));
    assert_eq!(lines.len(), 3);
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(line["epoch"], at + 1);
        for key in ["loss", "accuracy", "learning_rate", "temperature", "repetition"] {
            assert!(line[key].is_number(), "{key}");
        }
        assert_eq!(line["depth"].as_array().unwrap().len(), 3);
        assert_eq!(line["types"].as_array().unwrap().len(), 2);
        assert_eq!(line["usage"][0]["name"], "Rotate");
        // Invert takes no magnitude.
        assert_eq!(line["ranges"].as_array().unwrap().len(), 2);
        for group in ["weights", "depth", "types", "magnitudes"] {
            assert!(line["gradients"][group].is_number(), "{group}");
        }
        for phase in ["data", "policy", "training", "validation", "hypergradient", "pullback"] {
            assert!(line["seconds"][phase].is_number(), "{phase}");
        }
        for key in ["validation_loss", "validation_accuracy"] {
            assert_eq!(line[key].is_number(), at > 0, "{key}: nothing learns in the first epoch");
        }
        for key in ["evaluation_loss", "evaluation_accuracy"] {
            assert_eq!(line[key].is_number(), at == 2, "{key}: measured at the end");
        }
    }
    // The same lines are printed, and then the outcome.
    let printed: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(printed[..3], lines);
    assert_eq!(printed[3]["outcome"], "finished");
    assert_eq!(printed[3]["policy"], "run/policy.json");
    assert_eq!(printed[3]["planted"]["planted_depth"], 2);
    assert!(printed[3]["proof"].is_null());
}

#[test]
fn a_search_tells_its_plan_its_epochs_and_what_it_learned() {
    let folder = tempdir().unwrap();
    // One transformation, so that no processor can change the order of the table.
    let arguments = format!("search {SMALL} --transformations Rotate --layers 1 --proof-epochs 1 --epochs 2");
    let ended = succeed(folder.path(), &arguments);
    insta::assert_snapshot!(without_numbers(&ended.shown(folder.path())));
    let proof = std::fs::read_to_string(folder.path().join("runs/search-1/proof.json")).unwrap();
    assert_eq!(proof.matches("accuracy").count(), 3);

    // A finished run takes no more steps, and what was proved is not proved again.
    let before = metrics(&folder.path().join("runs/search-1"));
    let again = succeed(folder.path(), "resume runs/search-1");
    assert_eq!(again.stdout, ended.stdout);
    insta::assert_snapshot!(again.stderr);
    assert_eq!(metrics(&folder.path().join("runs/search-1")), before);
}

#[test]
fn runs_are_numbered_and_quiet_ones_say_nothing() {
    let folder = tempdir().unwrap();
    for number in 1..=2 {
        let ended = succeed(folder.path(), &format!("search {SMALL} --epochs 1 --quiet"));
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
        assert!(folder.path().join(format!("runs/search-{number}/policy.json")).is_file());
    }
}

#[test]
fn a_file_is_over_the_preset_and_flags_are_over_both() {
    let folder = tempdir().unwrap();
    let file = "preset = 'quick'\nepochs = 1\nbatch = 8\nlayers = 1\ncutout = 4\n";
    std::fs::write(folder.path().join("mine.toml"), file).unwrap();
    let flags = "--drawings-train 64 --drawings-validation 32 --network WRN-10-1 --batch 16 --size 16";
    succeed(
        folder.path(),
        &format!("search --config mine.toml {flags} --out run --plant= --warm-up false --quiet"),
    );
    let text = std::fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    for line in [
        "batch = 16",       // flag
        "warm_up = false",  // flag
        "plant = []",       // flag
        "cutout = 4",       // file
        "type_rate = 0.15", // preset
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
}
