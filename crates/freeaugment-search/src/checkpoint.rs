//! All that changes while a search runs, in one safetensors file.

use std::collections::HashMap;
use std::path::Path;

use freeaugment::Parameters;
use freeaugment_nn::Parameters as Weights;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::error::Error;
use crate::metric::Tally;
use crate::search::Search;
use crate::settings::Settings;

/// Names of the groups of the policy's optimiser, in its order.
const GROUPS: [&str; 3] = ["depth", "types", "magnitudes"];
/// The version of the file that this program writes, and the only one it reads.
const VERSION: &str = "1";

/// Writes a checkpoint: whole or not at all.
pub(crate) fn save(search: &Search, path: &Path) -> Result<(), Error> {
    let mut tensors: Vec<(String, Dtype, Vec<u8>)> = Vec::new();
    let mut singles = |name: &str, values: &[f32]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        tensors.push((name.to_owned(), Dtype::F32, bytes));
    };
    singles("weights", search.classifier.weights().values());
    singles("running_mean", search.classifier.statistics().mean());
    singles("running_variance", search.classifier.statistics().variance());
    if let Some(buffer) = search.sgd.buffer() {
        singles("momentum", buffer.values());
    }
    let parameters = search.policy.parameters();
    singles("policy.depth", parameters.depth());
    singles("policy.types", parameters.types());
    for (name, values) in ["policy.magnitudes.0", "policy.magnitudes.1"].iter().zip(parameters.magnitudes()) {
        singles(name, values);
    }
    let mut metadata = HashMap::from([
        ("format".to_owned(), "freeaugment-checkpoint".to_owned()),
        ("version".to_owned(), VERSION.to_owned()),
        ("settings".to_owned(), search.settings.to_toml()),
        ("data".to_owned(), format!("{:016x}", search.plan.fingerprint)),
        ("step".to_owned(), search.step.to_string()),
        ("tally".to_owned(), serde_json::to_string(&search.tally).expect("a tally is plain numbers")),
    ]);
    for (group, name) in GROUPS.iter().enumerate() {
        let (steps, first, second) = search.adam.state(group).expect("three groups");
        metadata.insert(format!("adam.{name}.steps"), steps.to_string());
        for (moment, values) in [("first", first), ("second", second)] {
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            tensors.push((format!("adam.{name}.{moment}"), Dtype::F64, bytes));
        }
    }
    let views = tensors.iter().map(|(name, kind, bytes)| {
        let len = bytes.len() / if *kind == Dtype::F64 { 8 } else { 4 };
        TensorView::new(*kind, vec![len], bytes).map(|view| (name, view))
    });
    let wrong = |error: safetensors::SafeTensorError| broken(path, &error.to_string());
    let views = views.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let bytes = safetensors::serialize(views, Some(metadata)).map_err(wrong)?;
    freeaugment::write_atomically(path, &bytes).map_err(Error::io(path))
}

/// Puts a search at its beginning where the checkpoint was; refuses one of another configuration or of other data.
pub(crate) fn load(search: &mut Search, path: &Path) -> Result<(), Error> {
    let bytes = std::fs::read(path).map_err(Error::io(path))?;
    let file = File::new(path, &bytes)?;
    let settings = Settings::from_toml(file.entry("settings")?)
        .map_err(|reason| broken(path, &format!("its settings: {reason}")))?;
    if let Some((key, own, others)) = search.settings.difference(&settings) {
        let reason = format!(
            "belongs to another configuration: `{key}` is {own} in the run's configuration, but {others} here"
        );
        return Err(Error::Checkpoint { path: path.to_owned(), reason });
    }
    if file.entry("data")? != format!("{:016x}", search.plan.fingerprint) {
        let reason = "the data has changed since this run began: put it back as it was, or begin a new run";
        return Err(Error::Checkpoint { path: path.to_owned(), reason: reason.to_owned() });
    }
    let step: u64 = file.number("step")?;
    if step > search.steps_total() {
        return Err(broken(path, &format!("step {step} lies beyond the end of the run")));
    }
    let tally: Tally = serde_json::from_str(file.entry("tally")?)
        .map_err(|error| broken(path, &format!("its tally: {error}")))?;

    let layout = search.classifier.layout().clone();
    file.singles("weights", search.classifier.weights_mut().values_mut())?;
    let (mean, variance) = search.classifier.statistics_mut().values_mut();
    file.singles("running_mean", mean)?;
    file.singles("running_variance", variance)?;
    if file.tensors.tensor("momentum").is_ok() {
        let mut buffer = Weights::zeros(layout);
        file.singles("momentum", buffer.values_mut())?;
        search.sgd.set_buffer(buffer);
    }
    let parameters: &mut Parameters = search.policy.parameters_mut();
    file.singles("policy.depth", parameters.depth_mut())?;
    file.singles("policy.types", parameters.types_mut())?;
    let [first, second] = parameters.magnitudes_mut();
    file.singles("policy.magnitudes.0", first)?;
    file.singles("policy.magnitudes.1", second)?;
    for (group, name) in GROUPS.iter().enumerate() {
        let steps = file.number(&format!("adam.{name}.steps"))?;
        let moments = ["first", "second"].map(|moment| file.doubles(&format!("adam.{name}.{moment}")));
        let [first, second] = moments;
        search.adam.set_state(group, steps, &first?, &second?)?;
    }
    (search.step, search.tally) = (step, tally);
    Ok(())
}

fn broken(path: &Path, reason: &str) -> Error {
    Error::Checkpoint {
        path: path.to_owned(),
        reason: format!("is not a checkpoint of this program: {reason}"),
    }
}

/// A checkpoint being read.
struct File<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
    metadata: HashMap<String, String>,
}

impl<'a> File<'a> {
    fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Self, Error> {
        let wrong = |error: safetensors::SafeTensorError| broken(path, &error.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(wrong)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(wrong)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let file = Self { path, tensors, metadata };
        match file.entry("version")? {
            VERSION => Ok(file),
            other => Err(broken(path, &format!("its version is {other}, but {VERSION} is read"))),
        }
    }

    fn entry(&self, key: &str) -> Result<&str, Error> {
        self.metadata
            .get(key)
            .map(String::as_str)
            .ok_or_else(|| broken(self.path, &format!("`{key}` is missing")))
    }

    fn number<T: std::str::FromStr>(&self, key: &str) -> Result<T, Error> {
        self.entry(key)?.parse().map_err(|_| broken(self.path, &format!("`{key}` is not a number")))
    }

    fn data(&self, name: &str, kind: Dtype) -> Result<&'a [u8], Error> {
        let tensor = self
            .tensors
            .tensor(name)
            .map_err(|_| broken(self.path, &format!("tensor `{name}` is missing")))?;
        if tensor.dtype() == kind {
            Ok(tensor.data())
        } else {
            Err(broken(self.path, &format!("tensor `{name}` is {:?}, not {kind:?}", tensor.dtype())))
        }
    }

    fn singles(&self, name: &str, values: &mut [f32]) -> Result<(), Error> {
        let words = self.data(name, Dtype::F32)?.as_chunks::<4>().0;
        if words.len() != values.len() {
            let reason = format!("tensor `{name}` has {} values, not {}", words.len(), values.len());
            return Err(broken(self.path, &reason));
        }
        for (value, word) in values.iter_mut().zip(words) {
            *value = f32::from_le_bytes(*word);
        }
        Ok(())
    }

    fn doubles(&self, name: &str) -> Result<Vec<f64>, Error> {
        let words = self.data(name, Dtype::F64)?.as_chunks::<8>().0;
        Ok(words.iter().map(|word| f64::from_le_bytes(*word)).collect())
    }
}
