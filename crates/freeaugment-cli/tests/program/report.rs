//! The page of a run: written by itself, by name, and never in the way.

use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::command::{SMALL, run, succeed};
use crate::run_folder::metrics;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Metrics without what differs from run to run: the time.
fn untimed(run: &Path) -> Vec<Value> {
    let mut lines = metrics(run);
    for line in lines.iter_mut().filter_map(Value::as_object_mut) {
        line.retain(|key, _| !key.contains("seconds"));
    }
    lines
}

#[test]
fn a_search_ends_with_its_page_and_the_page_changes_nothing() {
    let folder = tempdir().unwrap();
    succeed(folder.path(), &format!("search {SMALL} --quiet --out with"));
    succeed(folder.path(), &format!("search {SMALL} --quiet --out without --no-report"));
    let (with, without) = (folder.path().join("with"), folder.path().join("without"));
    let page = read(&with.join("report.html"));
    assert!(page.contains("This page shows epoch 3 of 3.") && page.contains("What it does to images"));
    assert!(with.join("report/depth.csv").is_file());
    assert!(!without.join("report.html").exists() && !without.join("report").exists());
    assert_eq!(untimed(&with), untimed(&without));
    let weights = |run: &Path| std::fs::read(run.join("classifier.safetensors")).unwrap();
    assert_eq!(weights(&with), weights(&without));
    // Asked for by name it is the same page.
    let ended = succeed(folder.path(), "report with");
    assert_eq!(ended.stdout, "with/report.html\n");
    assert_eq!(read(&with.join("report.html")), page);
}

#[test]
fn a_comparison_ends_with_its_page() {
    let folder = tempdir().unwrap();
    let small =
        "--drawings-train 96 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 1 --seeds 1";
    succeed(folder.path(), &format!("compare --policies none,standard {small} --quiet --out run"));
    let run = folder.path().join("run");
    assert!(read(&run.join("report.html")).contains("This page shows 2 of 2 classifiers."));
    assert!(std::fs::read(run.join("report/seeds.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn classes_are_counted_and_runs_that_did_not_count_them_are_still_read() {
    let folder = tempdir().unwrap();
    let small =
        "--drawings-train 96 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 2 --seeds 1";
    succeed(folder.path(), &format!("compare --policies standard,trivial-wide {small} --quiet --out run"));
    let cells = ["standard", "trivial-wide"].map(|name| folder.path().join("run").join(name));
    for cell in &cells {
        let path = cell.join("seed-1/result.json");
        let mut result: Value = serde_json::from_str(&read(&path)).unwrap();
        let classes = result["classes"].as_array().unwrap().clone();
        let sum = |key: &str| classes.iter().map(|class| class[key].as_f64().unwrap()).sum::<f64>();
        assert_eq!(classes.len(), 10);
        assert_eq!(sum("right") / sum("images"), result["test_accuracy"].as_f64().unwrap());
        // As an older version wrote it.
        result.as_object_mut().unwrap().remove("classes");
        std::fs::write(path, result.to_string()).unwrap();
    }
    let page = folder.path().join("run/report.html");
    assert!(!read(&page).contains("which classes gain and lose most"));
    succeed(folder.path(), "report run");
    let shown = read(&page);
    assert!(
        shown.contains("which classes gain and lose most: the run is of a version that did not count them")
    );
    assert!(shown.contains("id=\"differences\""));
}

#[test]
fn a_page_that_cannot_be_written_is_one_line_and_the_run_goes_on() {
    let folder = tempdir().unwrap();
    succeed(folder.path(), &format!("search {SMALL} --quiet --out run"));
    let page = folder.path().join("run/report.html");
    std::fs::remove_file(&page).unwrap();
    std::fs::create_dir(&page).unwrap();
    std::fs::write(page.join("a file"), "").unwrap();
    let ended = succeed(folder.path(), "resume run --quiet");
    assert_eq!(ended.stderr.matches("warning: the report is not written").count(), 1, "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    // Asked for by name it is an error.
    assert_eq!(run(folder.path(), "report run").code, Some(6));
}

#[test]
fn what_is_no_run_has_no_page() {
    let folder = tempdir().unwrap();
    let ended = run(folder.path(), "report .");
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(5), 1), "{}", ended.stderr);
}
