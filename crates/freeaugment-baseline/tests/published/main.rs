//! Published policies of other searches: every file here is made by the test, in the layout of its authors.

mod archive;
mod dra;
mod file;
mod hostile;
mod pba;
mod policy;
mod slack;
mod subpolicy;

use std::path::PathBuf;

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_baseline::{Action, Augmentation, Kind, Moment, Operation, Published, import};

/// A file in a folder of its own, which lasts as long as the first of the two.
fn write(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file can be written");
    (folder, path)
}

fn read(kind: Kind, name: &str, bytes: &[u8], chosen: Option<&str>) -> Result<Published, String> {
    let (folder, path) = write(name, bytes);
    let text = |error: freeaugment_baseline::PublishedError| {
        // Folders differ from run to run.
        error.to_string().replace(&format!("{}/", folder.path().display()), "")
    };
    import(kind, &path, chosen).map_err(text)
}

/// What so many images of 40 by 20 pixels undergo.
fn draw_at(policy: &Published, images: u32, progress: f64) -> Vec<Vec<Action>> {
    let moment = Moment { height: 20, width: 40, progress };
    let stream = |image| Stream::new(5, Purpose::named("test/published"), 0, image);
    (0..images).map(|image| policy.actions(&mut stream(image), moment)).collect()
}

fn draw(policy: &Published, images: u32) -> Vec<Action> {
    draw_at(policy, images, 0.0).concat()
}

fn values_of(actions: &[Action], operation: Operation) -> Vec<f64> {
    actions.iter().filter(|action| action.operation == operation).map(|action| action.value).collect()
}

/// Five standard deviations of the share of something that happens with probability p.
fn near(count: usize, of: u32, p: f64) -> bool {
    let deviation = (p * (1.0 - p) / f64::from(of)).sqrt();
    (count as f64 / f64::from(of) - p).abs() < 5.0 * deviation + 1e-9
}

fn lowest_and_highest(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::MAX, f64::MIN), |(low, high), &value| (low.min(value), high.max(value)))
}
