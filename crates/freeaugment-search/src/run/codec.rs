//! How a state becomes a safetensors file and back: named numbers, and texts beside them.

use std::collections::HashMap;
use std::path::Path;

use freeaugment_nn::optimizer::Sgd;
use freeaugment_nn::{Classifier, Statistics, Weights};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// The version of the file that this program writes, and the only one it reads.
const VERSION: &str = "2";

fn broken(path: &Path, reason: &str) -> Error {
    Error::Checkpoint {
        path: path.to_owned(),
        reason: format!("is not a checkpoint of this program: {reason}"),
    }
}

/// A state being written.
#[derive(Debug, Default)]
pub struct StateWriter {
    tensors: Vec<(String, Dtype, Vec<u8>)>,
    metadata: HashMap<String, String>,
}

impl StateWriter {
    /// A text.
    pub fn entry(&mut self, key: &str, value: String) {
        self.metadata.insert(key.to_owned(), value);
    }

    /// A value that is written as JSON.
    pub fn json(&mut self, key: &str, value: &impl Serialize) {
        self.entry(key, serde_json::to_string(value).expect("states hold plain values"));
    }

    /// Single-precision numbers.
    pub fn singles(&mut self, name: &str, values: &[f32]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensors.push((name.to_owned(), Dtype::F32, bytes));
    }

    /// Double-precision numbers.
    pub fn doubles(&mut self, name: &str, values: &[f64]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensors.push((name.to_owned(), Dtype::F64, bytes));
    }

    /// Bytes that only their writer understands.
    pub fn bytes(&mut self, name: &str, values: &[u8]) {
        self.tensors.push((name.to_owned(), Dtype::U8, values.to_vec()));
    }

    /// The state of a classifier and its optimiser.
    pub fn classifier(
        &mut self,
        weights: &Weights,
        statistics: &Statistics,
        momentum: Option<&Weights>,
    ) -> Result<(), Error> {
        // They may be on a device that fails.
        weights.fetch()?;
        statistics.fetch()?;
        self.singles("weights", weights.values());
        self.singles("running_mean", statistics.mean());
        self.singles("running_variance", statistics.variance());
        if let Some(momentum) = momentum {
            momentum.fetch()?;
            self.singles("momentum", momentum.values());
        }
        Ok(())
    }

    /// Writes the file: whole or not at all.
    pub(crate) fn write(mut self, path: &Path) -> Result<(), Error> {
        self.entry("format", "freeaugment-checkpoint".to_owned());
        self.entry("version", VERSION.to_owned());
        let views = self.tensors.iter().map(|(name, kind, bytes)| {
            let len = bytes.len() / (kind.bitsize() / 8);
            TensorView::new(*kind, vec![len], bytes).map(|view| (name, view))
        });
        let wrong = |error: safetensors::SafeTensorError| broken(path, &error.to_string());
        let views = views.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let bytes = safetensors::serialize(views, Some(self.metadata)).map_err(wrong)?;
        super::folder::write(path, &bytes)
    }
}

/// A state being read.
#[derive(Debug)]
pub struct StateReader<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
    metadata: HashMap<String, String>,
}

impl<'a> StateReader<'a> {
    /// Reads the bytes of a file; the path is for messages.
    pub fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Self, Error> {
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

    /// An error that says what is wrong with this file.
    pub fn broken(&self, reason: &str) -> Error {
        broken(self.path, reason)
    }

    /// A text.
    pub fn entry(&self, key: &str) -> Result<&str, Error> {
        self.metadata
            .get(key)
            .map(String::as_str)
            .ok_or_else(|| broken(self.path, &format!("`{key}` is missing")))
    }

    /// A value that was written as JSON.
    pub fn json<T: DeserializeOwned>(&self, key: &str) -> Result<T, Error> {
        serde_json::from_str(self.entry(key)?)
            .map_err(|error| self.broken(&format!("`{key}` is not what it should be: {error}")))
    }

    /// A number that was written as text.
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Result<T, Error> {
        self.entry(key)?.parse().map_err(|_| broken(self.path, &format!("`{key}` is not a number")))
    }

    /// The state of a classifier and its optimiser.
    pub fn classifier(&self, classifier: &mut Classifier, sgd: &mut Sgd) -> Result<(), Error> {
        self.singles("weights", classifier.weights_mut().values_mut())?;
        let (mean, variance) = classifier.statistics_mut().values_mut();
        self.singles("running_mean", mean)?;
        self.singles("running_variance", variance)?;
        if let Some(buffer) = self.weights("momentum", classifier)? {
            sgd.set_buffer(buffer);
        }
        Ok(())
    }

    /// Numbers for each of a classifier's weights, where the file has them.
    pub fn weights(&self, name: &str, classifier: &Classifier) -> Result<Option<Weights>, Error> {
        if self.tensors.tensor(name).is_err() {
            return Ok(None);
        }
        let mut weights = Weights::zeros(classifier.layout().clone());
        self.singles(name, weights.values_mut())?;
        Ok(Some(weights))
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

    /// Single-precision numbers; there must be as many as `values` takes.
    pub fn singles(&self, name: &str, values: &mut [f32]) -> Result<(), Error> {
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

    /// Bytes as they were written.
    pub fn bytes(&self, name: &str) -> Result<&'a [u8], Error> {
        self.data(name, Dtype::U8)
    }

    /// Double-precision numbers.
    pub fn doubles(&self, name: &str) -> Result<Vec<f64>, Error> {
        let words = self.data(name, Dtype::F64)?.as_chunks::<8>().0;
        Ok(words.iter().map(|word| f64::from_le_bytes(*word)).collect())
    }
}
