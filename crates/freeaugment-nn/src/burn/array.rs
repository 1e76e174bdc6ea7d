//! Flat arrays on a device of Burn's, outside of any graph, and the way to them and back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use burn_tensor::{Device, ExecutionError, Tensor, TensorData};

use super::{first_line, panic_message};
use crate::Error;

/// A device of Burn's and the name it was opened by.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    device: Device,
    name: Arc<str>,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.device == other.device
    }
}

impl Place {
    pub(crate) fn new(device: Device, name: &str) -> Self {
        Self { device: device.without_autodiff(), name: name.into() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Runs work on the device. Burn reports a lost device or exhausted memory by a panic; it becomes an error here.
    pub(super) fn guard<R>(&self, work: impl FnOnce() -> Result<R, ExecutionError>) -> Result<R, Error> {
        let failed = |reason: String| Error::DeviceFailed { device: self.name.to_string(), reason };
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => result.map_err(|error| failed(first_line(&error.to_string()))),
            Err(panic) => Err(failed(panic_message(panic.as_ref()))),
        }
    }

    /// Numbers from the host, as a tensor outside of any graph.
    pub(super) fn upload<const D: usize>(&self, values: &[f32], shape: [usize; D]) -> Tensor<D> {
        #[cfg(test)]
        traffic::count(|traffic| &mut traffic.up, values.len());
        Tensor::from_data(TensorData::new(values.to_vec(), shape), &self.device)
    }

    /// Numbers from the host, as an array.
    pub(crate) fn send(&self, values: &[f32]) -> Result<Array, Error> {
        self.guard(|| Ok(self.upload(values, [values.len()]))).map(|tensor| self.array(tensor))
    }

    pub(super) fn array(&self, tensor: Tensor<1>) -> Array {
        Array { tensor, place: self.clone() }
    }
}

/// Brings a tensor's numbers to the host.
pub(super) fn download<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, ExecutionError> {
    #[cfg(test)]
    traffic::count(|traffic| &mut traffic.down, tensor.dims().iter().product());
    Ok(tensor.try_into_data()?.iter::<f32>().collect())
}

/// Numbers on a device. Copies share them.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    tensor: Tensor<1>,
    place: Place,
}

impl Array {
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(super) fn tensor(&self) -> &Tensor<1> {
        &self.tensor
    }

    pub(crate) fn download(&self) -> Result<Vec<f32>, Error> {
        self.place.guard(|| download(self.tensor.clone()))
    }

    /// `own · self + factor · other`.
    pub(crate) fn combine(&self, own: f32, factor: f32, other: &Self) -> Result<Self, Error> {
        let scaled = |tensor: &Tensor<1>, factor: f32| {
            if factor == 1.0 { tensor.clone() } else { tensor.clone() * factor }
        };
        let sum = self.place.guard(|| Ok(scaled(&other.tensor, factor) + scaled(&self.tensor, own)))?;
        Ok(self.place.array(sum))
    }

    pub(crate) fn scale(&self, factor: f32) -> Result<Self, Error> {
        Ok(self.place.array(self.place.guard(|| Ok(self.tensor.clone() * factor))?))
    }

    pub(crate) fn dot(&self, other: &Self) -> Result<f64, Error> {
        let sum = self.place.guard(|| download((self.tensor.clone() * other.tensor.clone()).sum()))?;
        Ok(f64::from(sum[0]))
    }
}

/// How many numbers went to devices and came back, on this thread.
#[cfg(test)]
pub(crate) mod traffic {
    use std::cell::Cell;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Traffic {
        pub(crate) up: usize,
        pub(crate) down: usize,
    }

    thread_local! {
        static TRAFFIC: Cell<Traffic> = const { Cell::new(Traffic { up: 0, down: 0 }) };
    }

    pub(super) fn count(which: impl FnOnce(&mut Traffic) -> &mut usize, numbers: usize) {
        TRAFFIC.with(|cell| {
            let mut traffic = cell.get();
            *which(&mut traffic) += numbers;
            cell.set(traffic);
        });
    }

    /// What moved since this was last asked.
    pub(crate) fn take() -> Traffic {
        TRAFFIC.take()
    }
}
