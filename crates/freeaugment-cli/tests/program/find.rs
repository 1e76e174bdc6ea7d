//! `find`: its plan, its run folder, and what it refuses.

use serde_json::Value;
use tempfile::tempdir;

use crate::command::{run, succeed};

/// A find of some seconds, far too short to find anything.
const SMALL: &str = "find --drawings-train 32 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 1 \
    --layers 1 --transformations Rotate,Invert --size 16 --budget 1s";

#[test]
fn a_plan_is_told_and_nothing_is_written() {
    let folder = tempdir().unwrap();
    let plan = succeed(folder.path(), &format!("{SMALL} --dry-run"));
    for word in ["training", "search", "selection", "proof", "all of it will take about"] {
        assert!(plan.stdout.contains(word), "{word} in {}", plan.stdout);
    }
    let plan: Value =
        serde_json::from_str(&succeed(folder.path(), &format!("{SMALL} --dry-run --json")).stdout).unwrap();
    // All else depends on how fast the machine is: crates/freeaugment-search/tests/find.rs.
    assert_eq!((&plan["epochs"], &plan["budget"]), (&1.into(), &1.0.into()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_find_hands_out_a_policy_that_every_command_takes() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    // A plan of one's own: even less than the program would ever plan.
    let mut plan: Value =
        serde_json::from_str(&succeed(folder, &format!("{SMALL} --dry-run --json")).stdout).unwrap();
    (plan["horizon"], plan["cycles"], plan["proof_seeds"]) = (4.into(), 2.into(), 2.into());
    std::fs::write(folder.join("plan.json"), plan.to_string()).unwrap();
    let ended = succeed(folder, &format!("{SMALL} --plan plan.json --out run"));
    let kept: Value = serde_json::from_slice(&std::fs::read(folder.join("run/plan.json")).unwrap()).unwrap();
    assert_eq!(kept, plan);
    assert!(ended.stdout.contains("test images your classifier reaches"), "{}", ended.stdout);
    assert!(ended.stdout.contains("policy: run/policy.json"), "{}", ended.stdout);
    // Who judges is said as it is.
    let (selection, proof) = ended.stderr.split_once("proof: fresh classifiers").unwrap();
    assert!(selection.contains("seed 1: validation accuracy") && !selection.contains("test accuracy"));
    assert!(proof.contains("seed 1: test accuracy"), "{proof}");
    assert!(ended.stderr.contains("train --policy run/policy.json"), "{}", ended.stderr);
    // The verdict again, and the policy in words.
    assert!(ended.stdout.contains(succeed(folder, "show run").stdout.trim()));
    succeed(folder, "show run/policy.json");
    let again = succeed(folder, "resume run --json");
    let again: Value = serde_json::from_str(again.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(again["outcome"], "finished");
    let budget =
        "--drawings-train 32 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 1 --seeds 1";
    succeed(folder, &format!("train --policy run {budget} --quiet"));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let folder = tempdir().unwrap();
    for (more, message) in [
        (
            "--budget soon",
            "the command line: `budget`: `soon` is no length of time: write `45m`, `1h` or `1h30m`",
        ),
        ("--data nowhere", "nowhere"),
        ("--plan nowhere.json", "nowhere.json"),
    ] {
        let ended = run(folder.path(), &format!("{SMALL} {more}"));
        assert!(matches!(ended.code, Some(3 | 4 | 6)), "{ended:?}");
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
