//! Reading a set of fixtures and comparing with it.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::path::PathBuf;

use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

/// One file of tensors and its index.
pub(crate) struct Set {
    name: &'static str,
    index: Value,
    bytes: Vec<u8>,
    compared: Cell<usize>,
    wrong: RefCell<Vec<String>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f32>,
}

/// How far a result may be from the stored one; three times the reference's own single-precision gap is always allowed.
#[derive(Clone, Copy)]
pub(crate) enum Tolerance {
    /// 1e-5, absolutely.
    Value,
    /// 1e-5 of the largest entry, or absolutely where all entries are below one: for logarithms.
    Logarithm,
    /// 1e-4 of the largest entry.
    Gradient,
}

/// Whether the fixtures are those of this project.
pub(crate) fn is_own() -> bool {
    std::env::var_os("FREEAUGMENT_FIXTURES").is_none()
}

/// Tells what was not compared. Goes around the test harness, which would swallow it.
pub(crate) fn report_skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "golden: skipped, not in this set: {what}");
}

fn folder() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    match std::env::var_os("FREEAUGMENT_FIXTURES") {
        None => here.join("tests/fixtures"),
        // Tests run in the folder of their crate; people name folders from the workspace's root.
        Some(given) => match PathBuf::from(given) {
            path if path.is_dir() => path,
            path => here.join("../..").join(path),
        },
    }
}

impl Set {
    /// Opens `name.json` and `name.safetensors`; none where the set has no such files.
    pub(crate) fn open(name: &'static str) -> Option<Self> {
        let folder = folder();
        assert!(folder.is_dir(), "there is no folder of fixtures at {}", folder.display());
        let (index, tensors) =
            (folder.join(format!("{name}.json")), folder.join(format!("{name}.safetensors")));
        if !tensors.exists() && !is_own() {
            report_skipped(&format!("{name}.safetensors"));
            return None;
        }
        let read = |path: &PathBuf| {
            std::fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
        };
        Some(Self {
            name,
            index: serde_json::from_slice(&read(&index)).expect("the index is JSON"),
            bytes: read(&tensors),
            compared: Cell::new(0),
            wrong: RefCell::default(),
        })
    }

    pub(crate) fn constant(&self, key: &str) -> Option<&Value> {
        self.index["constants"].get(key)
    }

    /// The names of all tensors of the index, whether or not the set holds them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.index["tensors"].as_object().expect("the index lists tensors").keys().map(String::as_str)
    }

    /// The distinct values of X for which the index has a tensor `prefix` X `suffix`, in the order of the index.
    pub(crate) fn between(&self, prefix: &str, suffix: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for name in self.names() {
            let middle = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix));
            if let Some(middle) = middle.filter(|middle| !found.iter().any(|f| f == middle)) {
                found.push(middle.to_owned());
            }
        }
        found
    }

    pub(crate) fn get(&self, name: &str) -> Option<Tensor> {
        let tensors = SafeTensors::deserialize(&self.bytes).expect("the tensors are safetensors");
        let view = tensors.tensor(name).ok()?;
        let words = view.data().as_chunks::<4>().0.iter();
        let data = match view.dtype() {
            Dtype::F32 => words.map(|&word| f32::from_le_bytes(word)).collect(),
            Dtype::I32 => words.map(|&word| i32::from_le_bytes(word) as f32).collect(),
            other => panic!("{name} has the type {other:?}"),
        };
        Some(Tensor { shape: view.shape().to_vec(), data })
    }

    /// A tensor that the comparison cannot do without; where it is missing, its absence is told.
    pub(crate) fn need(&self, name: &str) -> Option<Tensor> {
        let tensor = self.get(name);
        if tensor.is_none() {
            assert!(!is_own(), "the project's own set must hold {name}");
            report_skipped(name);
        }
        tensor
    }

    /// Compares a result with the tensor of this name.
    pub(crate) fn compare(&self, name: &str, found: &[f32], tolerance: Tolerance) {
        let Some(expected) = self.need(name) else { return };
        self.compared.set(self.compared.get() + 1);
        if expected.data.len() != found.len() {
            self.complain(format!("{name}: {} values instead of {}", found.len(), expected.data.len()));
            return;
        }
        let scale = expected.data.iter().fold(0.0_f64, |scale, &value| scale.max(f64::from(value).abs()));
        let gap = self.index["tensors"][name]["f32_gap"].as_f64().unwrap_or(0.0);
        let allowed = match tolerance {
            Tolerance::Value => 1e-5,
            Tolerance::Logarithm => 1e-5 * scale.max(1.0),
            Tolerance::Gradient => 1e-4 * scale,
        };
        let allowed = allowed.max(3.0 * gap);
        let differences = expected.data.iter().zip(found).map(|(&e, &f)| (f64::from(e) - f64::from(f)).abs());
        // A difference that is not a number must fail, so the comparison is the other way round.
        let worst =
            differences.enumerate().filter(|(_, d)| !(*d <= allowed)).max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((at, difference)) = worst {
            self.complain(format!(
                "{name}: entry {at} is {} instead of {} (off by {difference:.1e}, allowed {allowed:.1e})",
                found[at], expected.data[at]
            ));
        }
    }

    /// Compares indices, which must be equal.
    pub(crate) fn compare_indices(&self, name: &str, found: &[u8]) {
        let Some(expected) = self.need(name) else { return };
        self.compared.set(self.compared.get() + 1);
        let expected: Vec<u8> = expected.data.iter().map(|&index| index as u8).collect();
        if expected != found {
            self.complain(format!("{name}: {found:?} instead of {expected:?}"));
        }
    }

    pub(crate) fn complain(&self, message: String) {
        self.wrong.borrow_mut().push(message);
    }

    /// Fails if anything was wrong or nothing was compared.
    pub(crate) fn finish(self) {
        let wrong = self.wrong.take();
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), self.compared.get(), wrong.join("\n"));
        assert!(self.compared.get() > 0, "nothing of {} was compared", self.name);
    }
}

impl Tensor {
    /// Row `b` of the first dimension.
    pub(crate) fn row(&self, b: usize) -> &[f32] {
        let size: usize = self.shape[1..].iter().product();
        &self.data[b * size..][..size]
    }

    pub(crate) fn rows(&self) -> usize {
        self.shape[0]
    }

    pub(crate) fn indices(&self) -> Vec<u8> {
        self.data.iter().map(|&index| index as u8).collect()
    }
}

/// The number in a name such as `t0.5` or `L20`.
pub(crate) fn number(text: &str) -> f32 {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().unwrap_or_else(|_| panic!("{text} holds no number"))
}
