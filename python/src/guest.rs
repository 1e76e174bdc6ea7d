//! A model that lives in Python, as a search of the crates wants it. Every method asks the method of the same name of a
//! Python object; images and gradients cross as arrays.

use std::ops::Range;
use std::path::Path;

use freeaugment::{Images, Shape};
use freeaugment_nn::Hypergradient;
use freeaugment_search::{
    Augment, DataIdentity, Error, Model, Pace, Score, Settings, Shown, StateReader, StateWriter, Trained,
};
use pyo3::buffer::PyBuffer;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

/// The name under which a state holds what Python knows.
const STATE: &str = "torch";

/// What Python raised is handed through the crates as it is.
pub(crate) fn raised(error: PyErr) -> Error {
    Error::Model(Box::new(error))
}

/// What the crates refuse, or what Python had raised.
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Model(source) => match source.downcast::<PyErr>() {
            Ok(error) => *error,
            Err(other) => PyRuntimeError::new_err(other.to_string()),
        },
        Error::Diverged { .. } => PyRuntimeError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// A model in Python.
pub(crate) struct Guest {
    object: Py<PyAny>,
    pace: Pace,
    data: DataIdentity,
    network: String,
}

/// A batch of it.
pub(crate) struct GuestBatch {
    object: Py<PyAny>,
    images: Images,
    indices: Vec<u32>,
    epoch: u32,
}

/// What a state holds of it.
pub(crate) struct GuestMoment {
    pace: Pace,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for GuestMoment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes of Python's", self.bytes.len())
    }
}

impl Guest {
    pub(crate) fn new(
        object: Py<PyAny>,
        settings: &Settings,
        data: DataIdentity,
        per_epoch: u64,
    ) -> Result<Self, Error> {
        let pace = Pace::for_search(settings, per_epoch)?;
        let network = settings.own_network().unwrap_or(&settings.network).to_owned();
        Ok(Self { object, pace, data, network })
    }

    fn ask<T>(
        &self,
        method: &str,
        arguments: impl for<'py> PyCallArgs<'py>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, Error> {
        Python::attach(|py| read(&self.object.bind(py).call_method1(method, arguments)?)).map_err(raised)
    }

    /// A batch as Python has it: images `[n, c, h, w]` as float32, their numbers, the epoch.
    fn batch(&self, method: &str, arguments: impl for<'py> PyCallArgs<'py>) -> Result<GuestBatch, Error> {
        let found = self.ask(method, arguments, |object| {
            let array = object.getattr("array")?;
            let shape: [usize; 4] = array.getattr("shape")?.extract()?;
            let indices: Vec<u32> = object.getattr("indices")?.extract()?;
            let epoch: u32 = object.getattr("epoch")?.extract()?;
            Ok((object.clone().unbind(), shape, singles(&array)?, indices, epoch))
        })?;
        let (object, [count, channels, height, width], values, indices, epoch) = found;
        let images = Images::new(values, Shape { count, channels, height, width })?;
        Ok(GuestBatch { object, images, indices, epoch })
    }

    /// A loss that is no number is refused before anything is learned from it.
    fn checked(&self, (loss, accuracy): (f64, f64)) -> Result<(f64, f64), Error> {
        self.pace.check_loss(loss)?;
        Ok((loss, accuracy))
    }
}

/// A gradient to images as Python has it, what each image adds, and the norm of the direction.
fn gradient(found: &Bound<'_, PyAny>) -> PyResult<(Hypergradient, f64)> {
    let (q, parts, norm): (Bound<'_, PyAny>, Vec<f32>, f64) = found.extract()?;
    Ok((Hypergradient { parts, q: singles(&q)? }, norm))
}

/// The values of an array of floats.
fn singles(array: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    PyBuffer::<f32>::get(array)?.to_vec(array.py())
}

impl Model for Guest {
    type Batch = GuestBatch;
    type Input = Py<PyAny>;
    type Moment = GuestMoment;

    fn pace(&self) -> &Pace {
        &self.pace
    }

    fn pace_mut(&mut self) -> &mut Pace {
        &mut self.pace
    }

    fn data(&self) -> &DataIdentity {
        &self.data
    }

    fn network(&self) -> String {
        self.network.clone()
    }

    fn image_size(&self) -> String {
        // Before the first batch there is none.
        self.ask("image_size", (), |found| found.extract()).unwrap_or_default()
    }

    fn next_batch(&mut self) -> Result<GuestBatch, Error> {
        self.batch("next_batch", ())
    }

    fn shown<'a>(&self, batch: &'a GuestBatch) -> Shown<'a> {
        let GuestBatch { images, indices, epoch, .. } = batch;
        Shown { images, indices, members: indices, part: 0..indices.len(), epoch: *epoch }
    }

    fn input(&self, batch: &GuestBatch, augmented: Images) -> Result<Py<PyAny>, Error> {
        Python::attach(|py| {
            let values = augmented.as_slice();
            let bytes = PyByteArray::new_with(py, 4 * values.len(), |bytes| {
                for (bytes, value) in bytes.chunks_exact_mut(4).zip(values) {
                    bytes.copy_from_slice(&value.to_ne_bytes());
                }
                Ok(())
            })?;
            self.object.call_method1(py, "input", (&batch.object, bytes))
        })
        .map_err(raised)
    }

    fn train(&mut self, batch: &GuestBatch, input: &Py<PyAny>, keep: bool) -> Result<Trained, Error> {
        let (step, rate) = (self.pace.progress().done, self.pace.rate());
        let (loss, accuracy, gradient_norm) =
            self.ask("train", (step, rate, &batch.object, input, keep), |found| found.extract())?;
        self.pace.check_loss(loss)?;
        Ok(Trained { loss, accuracy, gradient_norm })
    }

    fn next_validation_batch(&mut self) -> Result<GuestBatch, Error> {
        self.batch("next_validation_batch", ())
    }

    fn validate(&mut self, batch: GuestBatch) -> Result<(f64, f64), Error> {
        let step = self.pace.progress().done;
        self.checked(self.ask("validate", (step, batch.object), |found| found.extract())?)
    }

    fn slope(&mut self, batch: &GuestBatch, input: &Py<PyAny>) -> Result<Hypergradient, Error> {
        let (step, rate) = (self.pace.progress().done, self.pace.rate());
        let found = self.ask("slope", (step, rate, &batch.object, input), gradient)?;
        Ok(found.0)
    }

    fn begin_cycle(&mut self, steps: &Range<u64>) {
        let begun = self.ask("begin_cycle", (steps.start, steps.end), |_| Ok(()));
        // It sets two numbers and clears a list.
        begun.expect("a cycle begins");
    }

    fn judge(&mut self, _steps: &Range<u64>, _cycles_done: u64) -> Result<(f64, f64), Error> {
        let step = self.pace.progress().done;
        self.checked(self.ask("judge", (step,), |found| found.extract())?)
    }

    fn batch_again(&mut self, step: u64) -> Result<GuestBatch, Error> {
        self.batch("batch_again", (step,))
    }

    fn back(
        &mut self,
        step: u64,
        batch: &GuestBatch,
        input: &Py<PyAny>,
        augment: &Augment<'_, Self>,
    ) -> Result<(Hypergradient, f64), Error> {
        // Steps whose weights were not kept are taken again.
        let missing: Vec<u64> = self.ask("missing", (step,), |found| found.extract())?;
        for again in missing {
            let pictures = self.batch("batch_again", (again,))?;
            let input = augment(self, &pictures)?;
            let rate = self.pace.rate_at(again);
            self.ask("again", (again, rate, pictures.object, input), |_| Ok(()))?;
        }
        let rate = self.pace.rate_at(step);
        self.ask("back", (step, rate, &batch.object, input), gradient)
    }

    fn parts(&mut self, batch: &GuestBatch, input: &Py<PyAny>) -> Result<Vec<f32>, Error> {
        self.ask("parts", (&batch.object, input), |found| found.extract())
    }

    fn evaluate(&mut self) -> Result<Score, Error> {
        let (loss, accuracy) = self.ask("evaluate", (), |found| found.extract())?;
        Ok(Score { loss, accuracy })
    }

    fn moment(&self) -> Result<GuestMoment, Error> {
        let bytes = self.ask("moment", (), |found| found.extract())?;
        Ok(GuestMoment { pace: self.pace.clone(), bytes })
    }

    fn save(&self, moment: &GuestMoment, state: &mut StateWriter) -> Result<(), Error> {
        moment.pace.save(state);
        state.bytes(STATE, &moment.bytes);
        Ok(())
    }

    fn restore(&mut self, state: &StateReader) -> Result<(), Error> {
        self.pace.restore(state)?;
        let bytes = state.bytes(STATE)?;
        Python::attach(|py| {
            self.object.call_method1(py, "restore", (PyBytes::new(py, bytes),))?;
            Ok(())
        })
        .map_err(raised)
    }

    /// Whoever brought the model has it, and in a form that they know.
    fn leave(&self, _path: &Path) -> Result<(), Error> {
        Ok(())
    }
}
