//! Event files, read by the real TensorBoard: in the Python that `TENSORBOARD_PYTHON` names, or in an environment below
//! `target` into which it is installed. Where that cannot be done, these tests say that they were skipped.
#![allow(clippy::print_stderr, reason = "what was not checked must be seen")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use freeaugment_data::{Format, Stored};
use serde_json::Value;
use tempfile::tempdir;

use crate::command::{SMALL, start, succeed, wait_until};

/// Prints, for each tag, the steps and values of scalars, the steps and buckets of histograms, and the steps, sizes and bytes
/// of images.
const READ: &str = "
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0, 'histograms': 0, 'images': 0, 'tensors': 0})
events.Reload()
tags = events.Tags()
print(json.dumps({
    'scalars': {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in tags['scalars']},
    'histograms': {tag: [[e.step, list(e.histogram_value.bucket_limit), list(e.histogram_value.bucket)]
                         for e in events.Histograms(tag)] for tag in tags['histograms']},
    'images': {tag: [[e.step, e.width, e.height, list(e.encoded_image_string)]
                     for e in events.Images(tag)] for tag in tags['images']},
}))";
const SHEET: &str = "what the policy does";

/// A Python that has TensorBoard; looked for, and if need be made, once.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PYTHON.get_or_init(|| {
        let named = std::env::var_os("TENSORBOARD_PYTHON").map(PathBuf::from);
        named.or_else(installed).filter(|python| succeeds(python, &["-c", "import tensorboard"]))
    });
    if found.is_none() {
        eprintln!(
            "skipped, because pip cannot install tensorboard and TENSORBOARD_PYTHON names none: event files"
        );
    }
    found.as_deref()
}

/// The Python of an environment of its own, with TensorBoard if pip can get it.
fn installed() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tensorboard");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if succeeds(&python, &["-c", "import tensorboard"]) {
        return Some(python);
    }
    let made = succeeds(Path::new("python3"), &["-m", "venv", "--clear", &folder.display().to_string()]);
    // What is not to be had is not waited for.
    let get = ["-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "10", "tensorboard"];
    (made && succeeds(&python, &get)).then_some(python)
}

fn succeeds(program: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let status = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn read(python: &Path, folder: &Path) -> Value {
    let output = Command::new(python).args(["-c", READ]).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The last event file of a folder.
fn file(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.display().to_string().contains("tfevents"))
        .max()
        .expect("there is an event file")
}

fn steps(events: &Value, tag: &str) -> Vec<u64> {
    let values = events["scalars"][tag].as_array().unwrap_or_else(|| panic!("{tag} in {events}"));
    values.iter().map(|value| value[0].as_u64().unwrap()).collect()
}

/// The steps of the contact sheets, each of which must be a PNG file of the size that is told.
fn sheets(events: &Value) -> Vec<u64> {
    let Some(sheets) = events["images"][SHEET].as_array() else { return Vec::new() };
    let step = |sheet: &Value| {
        let bytes = sheet[3].as_array().unwrap().iter().map(|byte| byte.as_u64().unwrap() as u8);
        let stored = Stored::decode(Path::new(SHEET), &bytes.collect::<Vec<u8>>()).unwrap();
        let size = (stored.picture.width as u64, stored.picture.height as u64);
        assert_eq!(stored.format, Format::Png);
        assert_eq!((sheet[1].as_u64().unwrap(), sheet[2].as_u64().unwrap()), size);
        // Seven pictures beside each other in four rows.
        assert!(size.0 > 7 * 144 && size.1 > 4 * 144, "{size:?}");
        sheet[0].as_u64().unwrap()
    };
    sheets.iter().map(step).collect()
}

#[test]
fn event_files_change_nothing_of_a_run() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &format!("search {SMALL} --quiet --out plain"));
    succeed(folder, &format!("search {SMALL} --quiet --out told --tensorboard"));
    for name in ["policy.json", "classifier.safetensors"] {
        let bytes = |run: &str| std::fs::read(folder.join(run).join(name)).unwrap();
        assert!(bytes("plain") == bytes("told"), "{name}");
    }
    assert!(file(&folder.join("told")).metadata().unwrap().len() > 0);
    let plain = std::fs::read_dir(folder.join("plain")).unwrap();
    assert!(
        !plain.into_iter().any(|entry| entry.unwrap().file_name().display().to_string().contains("tfevents"))
    );
}

#[test]
fn tensorboard_reads_what_the_metrics_say() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &format!("search {SMALL} --quiet --out run --tensorboard"));
    let run = folder.join("run");
    let events = read(python, &run);
    let metrics = crate::run_folder::metrics(&run);
    for (at, epoch) in metrics.iter().enumerate() {
        let close = |tag: &str, expected: &Value| {
            let found = &events["scalars"][tag][at];
            assert_eq!(found[0], epoch["epoch"], "{tag}");
            let (found, expected) = (found[1].as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{tag}: {found} {expected}");
        };
        close("training/loss", &epoch["loss"]);
        close("gradient norm/weights", &epoch["gradients"]["weights"]);
        close("share/Rotate", &epoch["usage"][0]["share"]);
        close("range Rotate/layer 2 high", &epoch["ranges"][0]["ranges"][1][1]);
        assert_eq!(events["histograms"]["depth"][at][2], epoch["depth"]);
        assert_eq!(events["histograms"]["types/layer 1"][at][2], epoch["types"][0]);
    }
    assert_eq!(steps(&events, "training/loss"), [1, 2, 3]);
    assert_eq!(sheets(&events), [1, 2, 3]);

    // A file that was cut off within its last record is read up to there.
    let path = file(&run);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();
    assert_eq!(steps(&read(python, &run), "training/loss"), [1, 2]);

    // Asked for by name it is told whole, once.
    succeed(folder, "report run --tensorboard");
    assert_eq!(steps(&read(python, &run), "training/loss"), [1, 2, 3]);
    let count = || std::fs::read_dir(&run).unwrap().count();
    let before = count();
    succeed(folder, "report run --tensorboard");
    assert_eq!(count(), before);

    let budget = "--drawings-train 96 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 2";
    succeed(
        folder,
        &format!("train --policy standard {budget} --seeds 1 --quiet --out trained --tensorboard"),
    );
    let events = read(python, &folder.join("trained/standard/seed-1"));
    assert_eq!(steps(&events, "training/loss"), [1, 2]);
    assert_eq!(steps(&events, "test/accuracy"), [2]);
    assert_eq!(sheets(&events), [1]);
}

#[test]
fn killed_and_resumed_every_epoch_is_told_once() {
    let Some(python) = python() else { return };
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let run = folder.join("run");
    let mut child = start(folder, &format!("search {SMALL} --epochs 8 --quiet --out run --tensorboard"));
    wait_until("two epochs have ended", || run.join("policies/epoch-0003.json").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    // As if it had been killed while it wrote.
    let path = file(&run);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();
    // It goes on without being told to.
    succeed(folder, "resume run --quiet");
    assert_ne!(file(&run), path, "a new file is begun");
    let events = read(python, &run);
    assert_eq!(steps(&events, "training/loss"), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(sheets(&events), [1, 2, 4, 8]);
}
