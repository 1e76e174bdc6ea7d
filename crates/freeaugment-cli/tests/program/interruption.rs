//! A search that is interrupted and resumed ends as one that is not.
#![cfg(unix)]

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::Value;
use tempfile::tempdir;

use crate::command::{SMALL, start, succeed, wait_until};
use crate::run_folder::metrics;

/// All that must be the same: policies, and metrics but for the time they took.
fn result(run: &Path) -> (Vec<String>, Vec<Value>) {
    let epochs = metrics(run).into_iter().map(|mut line| {
        for key in ["seconds", "evaluation_seconds"] {
            line.as_object_mut().unwrap().remove(key).unwrap();
        }
        line
    });
    let epochs: Vec<Value> = epochs.collect();
    let names = (1..=epochs.len()).map(|epoch| format!("policies/epoch-{epoch:04}.json"));
    let names = names.chain(["policy.json".to_owned()]);
    (names.map(|name| std::fs::read_to_string(run.join(name)).unwrap()).collect(), epochs)
}

pub(crate) fn interrupt(mut child: Child) -> (Option<i32>, String) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn killed_at_random_moments_and_resumed_it_ends_the_same() {
    let folder = tempdir().unwrap();
    let search = format!("search {SMALL} --epochs 8 --quiet");
    succeed(folder.path(), &format!("{search} --out whole"));
    let run = folder.path().join("killed");
    let mut child = start(folder.path(), &format!("{search} --out killed"));
    wait_until("the run has begun", || run.join("config.toml").exists());
    // Random enough, and the same every time.
    let mut state = 1_u64;
    for _ in 0..6 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis((state >> 33) % 1500));
        child.kill().unwrap();
        child.wait().unwrap();
        child = start(folder.path(), "resume killed --quiet");
    }
    // Once more right after a policy is written, before the state is.
    let last = run.join("policies/epoch-0008.json");
    wait_until("the last policy is there", || last.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    succeed(folder.path(), "resume killed --quiet");
    assert_eq!(result(&run), result(&folder.path().join("whole")));
}

#[test]
fn ctrl_c_finishes_the_step_saves_and_says_how_to_go_on() {
    let folder = tempdir().unwrap();
    let search = format!("search {SMALL} --epochs 8");
    succeed(folder.path(), &format!("{search} --quiet --out whole"));
    let child = start(folder.path(), &format!("{search} --out stopped"));
    let run = folder.path().join("stopped");
    wait_until("an epoch has ended", || run.join("policies/epoch-0002.json").exists());
    let (code, said) = interrupt(child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("\ninterrupted: saved after step "), "{said}");
    assert!(said.ends_with("\nto go on: freeaugment resume stopped\n"), "{said}");
    let ended = succeed(folder.path(), "resume stopped");
    assert!(ended.stderr.starts_with("stopped: going on after step "), "{}", ended.stderr);
    assert_eq!(result(&run), result(&folder.path().join("whole")));
}

#[test]
fn a_proof_that_is_interrupted_goes_on_with_what_it_has() {
    let folder = tempdir().unwrap();
    let search = format!("search {SMALL} --epochs 1 --proof-epochs 4");
    succeed(folder.path(), &format!("{search} --quiet --out whole"));
    let child = start(folder.path(), &format!("{search} --out stopped"));
    let run = folder.path().join("stopped");
    wait_until("a classifier is judged", || {
        std::fs::read_dir(run.join("proof/standard"))
            .is_ok_and(|mut seeds| seeds.any(|seed| seed.unwrap().path().join("result.json").exists()))
    });
    let (code, said) = interrupt(child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("\ninterrupted: the search is finished, its proof is not\n"), "{said}");
    let ended = succeed(folder.path(), "resume stopped");
    assert!(!ended.stderr.contains("trained without a policy"), "{}", ended.stderr);
    let proof = |run: &str| std::fs::read_to_string(folder.path().join(run).join("proof.json")).unwrap();
    assert_eq!(proof("stopped"), proof("whole"));
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_saves_where_whoever_started_the_program_has_blocked_it() {
    let folder = tempdir().unwrap();
    let mut blocked = Command::new("env");
    blocked.args(["--block-signal=INT", "--block-signal=TERM", env!("CARGO_BIN_EXE_freeaugment")]);
    blocked.args(format!("search {SMALL} --epochs 200 --out stopped").split_whitespace());
    let child = blocked.current_dir(folder.path()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let run = folder.path().join("stopped");
    wait_until("an epoch has ended", || run.join("policies/epoch-0002.json").exists());
    let (code, said) = interrupt(child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("\ninterrupted: saved after step "), "{said}");
}
