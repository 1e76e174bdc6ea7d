//! The engine of every other device: Burn's tensors and its automatic differentiation.
//!
//! Autodiff is of first order, so `q` comes by reverse over forward: the network runs on (value, tangent) pairs
//! ([`pair`]), and one backward pass of the loss's tangent reaches the images.

mod pair;
mod plain;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use ::burn::tensor::{ExecutionError, Gradients, Tensor, TensorData};

use self::pair::Pair;
use self::plain::{Norms, Plain};
use crate::loss::CrossEntropy;
use crate::network::Network;
use crate::parameter::{Layout, Parameters, Statistics};
use crate::{Batch, Error, Evaluation, Hypergradient};

/// A network on a device of Burn's.
#[derive(Debug)]
pub(crate) struct Engine {
    network: Network,
    device: ::burn::tensor::Device,
    name: String,
}

/// What a training pass leaves behind: its inputs, for `q` runs the network again.
#[derive(Debug)]
pub(crate) struct Record {
    engine: Engine,
    weights: Parameters,
    images: Vec<f32>,
    shape: [usize; 4],
    targets: Vec<f32>,
}

/// A network's parameters on a device, in the layout's order, flat.
struct Weights {
    layout: Arc<Layout>,
    tensors: Vec<Tensor<1>>,
}

impl Weights {
    /// The parameter of that name in its own shape.
    fn get<const D: usize>(&self, name: &str) -> Tensor<D> {
        let index = self.layout.entries().iter().position(|entry| entry.name() == name);
        let index = index.expect("the network names its own parameters");
        let shape: [usize; D] =
            self.layout.entries()[index].shape().try_into().expect("the network knows its shapes");
        self.tensors[index].clone().reshape(shape)
    }

    /// A batch norm's parameter, to be broadcast over images and pixels.
    fn per_channel(&self, name: &str) -> Tensor<4> {
        let values = self.get::<1>(name);
        let channels = values.dims()[0];
        values.reshape([1, channels, 1, 1])
    }
}

impl Engine {
    pub(crate) fn new(network: Network, device: ::burn::tensor::Device, name: String) -> Self {
        Self { network, device: device.autodiff(), name }
    }

    fn share(&self) -> Self {
        Self { network: self.network, device: self.device.clone(), name: self.name.clone() }
    }

    /// Runs work on the device. Burn reports a lost device or exhausted memory by a panic; it becomes an error here.
    fn guard<R>(&self, work: impl FnOnce() -> Result<R, ExecutionError>) -> Result<R, Error> {
        let failed = |reason: String| Error::DeviceFailed { device: self.name.clone(), reason };
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => result.map_err(|error| failed(first_line(&error.to_string()))),
            Err(panic) => Err(failed(panic_message(panic.as_ref()))),
        }
    }

    fn upload<const D: usize>(&self, values: &[f32], shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), &self.device)
    }

    fn weights(&self, parameters: &Parameters, learn: bool) -> Weights {
        let layout = Arc::clone(parameters.layout());
        let tensor = |index: usize| {
            let values = parameters.at(index);
            let tensor = self.upload(values, [values.len()]);
            if learn { tensor.require_grad() } else { tensor }
        };
        Weights { tensors: (0..layout.entries().len()).map(tensor).collect(), layout }
    }

    fn shape(&self, batch: Batch) -> [usize; 4] {
        let image = self.network.channels() * batch.height * batch.width;
        [batch.images.len() / image, self.network.channels(), batch.height, batch.width]
    }

    /// The smoothed labels as probabilities, `[batch, class]`.
    fn targets(&self, labels: &[u32], loss: CrossEntropy) -> Vec<f32> {
        let classes = self.network.classes();
        let row = |label: &u32| {
            let label = *label;
            (0..classes).map(move |class| loss.target(class, label, classes) as f32)
        };
        labels.iter().flat_map(row).collect()
    }

    pub(crate) fn gradient(
        &self,
        batch: Batch,
        parameters: &Parameters,
        statistics: Option<&mut Statistics>,
        loss: CrossEntropy,
        keep: bool,
    ) -> Result<(Evaluation, Option<Record>), Error> {
        let shape = self.shape(batch);
        let targets = self.targets(batch.labels, loss);
        let (evaluation, moments) = self.guard(|| {
            let weights = self.weights(parameters, true);
            let mut pass = Plain::new(&weights, Norms::Batch);
            let images = self.upload(batch.images, shape);
            let logits = self.flat(self.network.forward(&mut pass, &images));
            let moments = pass.into_moments();
            let loss = self.cross_entropy(&logits, &targets);
            let gradients = loss.backward();
            let mut gradient = Parameters::zeros(Arc::clone(parameters.layout()));
            for (index, tensor) in weights.tensors.iter().enumerate() {
                gradient.at_mut(index).copy_from_slice(&download_gradient(tensor, &gradients)?);
            }
            let loss = f64::from(download(loss)?[0]);
            let mut host_moments = Vec::new();
            for (name, mean, variance) in moments {
                host_moments.push((name, download(mean)?, download(variance)?));
            }
            Ok((Evaluation { loss, logits: download(logits)?, gradient }, host_moments))
        })?;
        if let Some(statistics) = statistics {
            let layout = Arc::clone(statistics.layout());
            for (name, count, mean, variance) in
                moments.into_iter().map(|((name, count), m, v)| (name, count, m, v))
            {
                let norm = layout.norms().iter().position(|norm| norm.name() == name);
                statistics.update(norm.expect("the network names its own norms"), &mean, &variance, count);
            }
        }
        let record = keep.then(|| Record {
            engine: self.share(),
            weights: parameters.clone(),
            images: batch.images.to_vec(),
            shape,
            targets,
        });
        Ok((evaluation, record))
    }

    pub(crate) fn input_gradient(
        &self,
        batch: Batch,
        parameters: &Parameters,
        loss: CrossEntropy,
    ) -> Result<(f64, Vec<f32>), Error> {
        let targets = self.targets(batch.labels, loss);
        self.guard(|| {
            let weights = self.weights(parameters, false);
            let images = self.upload(batch.images, self.shape(batch)).require_grad();
            let mut pass = Plain::new(&weights, Norms::Batch);
            let logits = self.flat(self.network.forward(&mut pass, &images));
            let loss = self.cross_entropy(&logits, &targets);
            let gradients = loss.backward();
            Ok((f64::from(download(loss)?[0]), download_gradient(&images, &gradients)?))
        })
    }

    pub(crate) fn logits(
        &self,
        batch: Batch,
        parameters: &Parameters,
        statistics: &Statistics,
    ) -> Result<Vec<f32>, Error> {
        self.guard(|| {
            let weights = self.weights(parameters, false);
            let images = self.upload(batch.images, self.shape(batch));
            let mut pass = Plain::new(&weights, Norms::Running(statistics));
            download(self.flat(self.network.forward(&mut pass, &images)))
        })
    }

    /// Logits without their two empty dimensions.
    fn flat(&self, logits: Tensor<4>) -> Tensor<2> {
        let rows = logits.dims()[0];
        logits.reshape([rows, self.network.classes()])
    }

    fn cross_entropy(&self, logits: &Tensor<2>, targets: &[f32]) -> Tensor<1> {
        let [rows, classes] = logits.dims();
        let targets = self.upload(targets, [rows, classes]);
        let logarithms = ::burn::tensor::activation::log_softmax(logits.clone(), 1);
        (logarithms * targets).sum() * (-1.0 / rows as f64)
    }
}

impl Record {
    pub(crate) fn hypergradient(&self, direction: &Parameters) -> Result<Hypergradient, Error> {
        let engine = &self.engine;
        engine.guard(|| {
            let weights = engine.weights(&self.weights, false);
            let directions = engine.weights(direction, false);
            let images = engine.upload(&self.images, self.shape).require_grad();
            let still = Tensor::zeros(self.shape, &engine.device);
            let mut pass = Pair::new(&weights, &directions);
            let pairs = Tensor::cat(vec![images.clone(), still], 0);
            let [logits, tangents] = pair::split(engine.network.forward(&mut pass, &pairs));
            let (logits, tangents) = (engine.flat(logits), engine.flat(tangents));
            let [rows, classes] = logits.dims();
            // The tangent of the mean cross entropy: (softmax - target) · tangent, over the batch.
            let gap = ::burn::tensor::activation::softmax(logits, 1)
                - engine.upload(&self.targets, [rows, classes]);
            let parts = (gap * tangents).sum_dim(1) * (1.0 / rows as f64);
            let gradients = parts.clone().sum().backward();
            Ok(Hypergradient { parts: download(parts)?, q: download_gradient(&images, &gradients)? })
        })
    }
}

fn download<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, ExecutionError> {
    Ok(tensor.try_into_data()?.iter::<f32>().collect())
}

/// A leaf's gradient; one that the result does not depend on is zero.
fn download_gradient<const D: usize>(
    leaf: &Tensor<D>,
    gradients: &Gradients,
) -> Result<Vec<f32>, ExecutionError> {
    match leaf.grad(gradients) {
        Some(gradient) => download(gradient),
        None => Ok(vec![0.0; leaf.dims().iter().product()]),
    }
}

/// Whether a device really computes: errors and panics of its driver become one line.
pub(crate) fn probe(device: &::burn::tensor::Device) -> Result<(), String> {
    static HOOK: Mutex<()> = Mutex::new(());
    let work = || {
        let sum = Tensor::<1>::from_data([1.0_f32, 2.0], device).sum();
        download(sum).map_err(|error| first_line(&error.to_string()))
    };
    // The driver's own report of a panic would stand beside the one line that the caller gets.
    let guard = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = catch_unwind(AssertUnwindSafe(work));
    std::panic::set_hook(hook);
    drop(guard);
    match result {
        Ok(Ok(values)) if values == [3.0] => Ok(()),
        Ok(Ok(values)) => Err(format!("1 + 2 came out as {values:?}")),
        Ok(Err(reason)) => Err(reason),
        Err(panic) => Err(panic_message(panic.as_ref())),
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    first_line(text.unwrap_or("it gave no reason"))
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it gave no reason").to_owned()
}
