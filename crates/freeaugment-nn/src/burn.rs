//! The engine of every other device: Burn's tensors and its automatic differentiation.
//!
//! Autodiff is of first order, so `q` comes by reverse over forward: the network runs on (value, tangent) pairs
//! ([`pair`]), and one backward pass of the loss's tangent reaches the images.
//!
//! Weights, gradients, momentum and running statistics are [`Array`]s and stay on the device from pass to pass; images
//! and labels go there, losses, logits, parts and `q` come back.

mod array;
mod pair;
mod plain;
#[cfg(all(test, feature = "flex"))]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use burn_tensor::{Gradients, Tensor};

use self::array::download;
use self::pair::Pair;
use self::plain::{Moments, Norms, Plain, Running};
use crate::loss::CrossEntropy;
use crate::network::Network;
use crate::parameter::{Layout, Statistics, Weights, unbiased};
use crate::{Batch, Error, Evaluation, Hypergradient};

pub(crate) use self::array::{Array, Place};

/// A network on a device of Burn's.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    network: Network,
    place: Place,
}

/// What a training pass leaves behind: its inputs, for `q` runs the network again.
#[derive(Debug)]
pub(crate) struct Record {
    engine: Engine,
    weights: Array,
    images: Tensor<4>,
    targets: Tensor<2>,
}

/// A network's parameters, cut out of the flat array in the layout's order.
struct Tensors {
    layout: Arc<Layout>,
    tensors: Vec<Tensor<1>>,
}

impl Tensors {
    /// Constants.
    fn fixed(layout: &Arc<Layout>, array: &Array) -> Self {
        let cut =
            |entry: &crate::Entry| array.tensor().clone().narrow(0, entry.range().start, entry.range().len());
        Self { tensors: layout.entries().iter().map(cut).collect(), layout: Arc::clone(layout) }
    }

    /// Leaves of a graph, for gradients.
    fn learnable(layout: &Arc<Layout>, array: &Array) -> Self {
        let fixed = Self::fixed(layout, array);
        let leaf = |tensor: Tensor<1>| tensor.autodiff().require_grad();
        Self { tensors: fixed.tensors.into_iter().map(leaf).collect(), ..fixed }
    }

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

/// The batch's statistics of all batch norms in the layout's order: means and unbiased variances.
fn join_moments(moments: Vec<Moments>) -> [Tensor<1>; 2] {
    let (mut means, mut variances) = (Vec::new(), Vec::new());
    for Moments { mean, variance, count } in moments {
        means.push(mean);
        variances.push(variance * unbiased(count));
    }
    [Tensor::cat(means, 0), Tensor::cat(variances, 0)]
}

impl Engine {
    pub(crate) fn new(network: Network, device: burn_tensor::Device, name: &str) -> Self {
        Self { network, place: Place::new(device, name) }
    }

    /// The name of its device.
    pub(crate) fn name(&self) -> &str {
        self.place.name()
    }

    fn images(&self, batch: Batch) -> Tensor<4> {
        let image = self.network.channels() * batch.height * batch.width;
        let shape = [batch.images.len() / image, self.network.channels(), batch.height, batch.width];
        self.place.upload(batch.images, shape)
    }

    /// The smoothed labels as probabilities, `[batch, class]`.
    fn targets(&self, labels: &[u32], loss: CrossEntropy) -> Tensor<2> {
        let classes = self.network.classes();
        let row = |label: &u32| {
            let label = *label;
            (0..classes).map(move |class| loss.target(class, label, classes) as f32)
        };
        let targets: Vec<f32> = labels.iter().flat_map(row).collect();
        self.place.upload(&targets, [labels.len(), classes])
    }

    pub(crate) fn gradient(
        &self,
        batch: Batch,
        parameters: &Weights,
        statistics: Option<&mut Statistics>,
        loss: CrossEntropy,
        keep: bool,
    ) -> Result<(Evaluation, Option<Record>), Error> {
        let layout = parameters.layout();
        let array = parameters.on(&self.place)?;
        let (evaluation, moments, images, targets) = self.place.guard(|| {
            let (images, targets) = (self.images(batch), self.targets(batch.labels, loss));
            let weights = Tensors::learnable(layout, &array);
            let mut pass = Plain::new(&weights, Norms::Batch);
            let logits = self.flat(self.network.forward(&mut pass, &images));
            let moments = pass.into_moments();
            let loss = cross_entropy(&logits, &targets);
            let mut gradients = loss.backward();
            let gradient = self.leaves(&weights, &mut gradients);
            let loss = f64::from(download(loss.inner())?[0]);
            let logits = download(logits.inner())?;
            Ok((Evaluation { loss, logits, gradient }, moments, images, targets))
        })?;
        if let (Some(statistics), false) = (statistics, moments.is_empty()) {
            let [mean, variance] = self.place.guard(|| Ok(join_moments(moments)))?;
            statistics.update_on_device(self.place.array(mean), self.place.array(variance))?;
        }
        let record = keep.then(|| Record { engine: self.clone(), weights: array, images, targets });
        Ok((evaluation, record))
    }

    /// The gradients to all parameters. What a result does not depend on has no gradient there, and one of zero here.
    fn leaves(&self, weights: &Tensors, gradients: &mut Gradients) -> Weights {
        let gradient = weights.tensors.iter().map(|leaf| {
            leaf.grad_remove(gradients).unwrap_or_else(|| Tensor::zeros(leaf.dims(), self.place.device()))
        });
        let gradient = self.place.array(Tensor::cat(gradient.collect(), 0));
        Weights::from_device(Arc::clone(&weights.layout), gradient)
    }

    pub(crate) fn input_gradient(
        &self,
        batch: Batch,
        parameters: &Weights,
        loss: CrossEntropy,
    ) -> Result<(f64, Vec<f32>), Error> {
        let array = parameters.on(&self.place)?;
        self.place.guard(|| {
            let weights = Tensors::fixed(parameters.layout(), &array);
            let images = self.images(batch).autodiff().require_grad();
            let mut pass = Plain::new(&weights, Norms::Batch);
            let logits = self.flat(self.network.forward(&mut pass, &images));
            let loss = cross_entropy(&logits, &self.targets(batch.labels, loss));
            let mut gradients = loss.backward();
            let gradient = images.grad_remove(&mut gradients).expect("every network reads its images");
            Ok((f64::from(download(loss.inner())?[0]), download(gradient)?))
        })
    }

    /// Every image's part of ⟨∇loss, direction⟩.
    pub(crate) fn parts(
        &self,
        batch: Batch,
        parameters: &Weights,
        direction: &Weights,
        loss: CrossEntropy,
    ) -> Result<Vec<f32>, Error> {
        let (array, direction) = (parameters.on(&self.place)?, direction.on(&self.place)?);
        self.place.guard(|| {
            let layout = parameters.layout();
            let weights = Tensors::fixed(layout, &array);
            let directions = Tensors::fixed(layout, &direction);
            let targets = self.targets(batch.labels, loss);
            download(self.part_tensor(&weights, &directions, self.images(batch), targets))
        })
    }

    /// The tangent of every image's share of the mean cross entropy: (softmax - target) · tangent, over the batch.
    fn part_tensor(
        &self,
        weights: &Tensors,
        directions: &Tensors,
        images: Tensor<4>,
        targets: Tensor<2>,
    ) -> Tensor<2> {
        let still = Tensor::zeros(images.dims(), self.place.device());
        let mut pass = Pair::new(weights, directions);
        let pairs = Tensor::cat(vec![images, still], 0);
        let [logits, tangents] = pair::split(self.network.forward(&mut pass, &pairs));
        let (logits, tangents) = (self.flat(logits), self.flat(tangents));
        let rows = logits.dims()[0];
        let gap = burn_tensor::activation::softmax(logits, 1) - targets;
        (gap * tangents).sum_dim(1) * (1.0 / rows as f64)
    }

    pub(crate) fn logits(
        &self,
        batch: Batch,
        parameters: &Weights,
        statistics: &Statistics,
    ) -> Result<Vec<f32>, Error> {
        let array = parameters.on(&self.place)?;
        let [mean, variance] = statistics.on(&self.place)?;
        self.place.guard(|| {
            let weights = Tensors::fixed(parameters.layout(), &array);
            let running =
                Running { layout: statistics.layout(), mean: mean.tensor(), variance: variance.tensor() };
            let mut pass = Plain::new(&weights, Norms::Running(running));
            download(self.flat(self.network.forward(&mut pass, &self.images(batch))))
        })
    }

    /// Logits without their two empty dimensions.
    fn flat(&self, logits: Tensor<4>) -> Tensor<2> {
        let rows = logits.dims()[0];
        logits.reshape([rows, self.network.classes()])
    }
}

/// The mean cross entropy against probabilities.
fn cross_entropy(logits: &Tensor<2>, targets: &Tensor<2>) -> Tensor<1> {
    let rows = logits.dims()[0];
    let logarithms = burn_tensor::activation::log_softmax(logits.clone(), 1);
    (logarithms * targets.clone()).sum() * (-1.0 / rows as f64)
}

impl Record {
    pub(crate) fn hypergradient(
        &self,
        direction: &Weights,
        product: bool,
    ) -> Result<(Hypergradient, Option<Weights>), Error> {
        let Engine { network, place } = &self.engine;
        let direction = direction.on(place)?;
        place.guard(|| {
            let cut = if product { Tensors::learnable } else { Tensors::fixed };
            let weights = cut(network.layout(), &self.weights);
            let directions = Tensors::fixed(network.layout(), &direction);
            let images = self.images.clone().autodiff().require_grad();
            let parts = self.engine.part_tensor(&weights, &directions, images.clone(), self.targets.clone());
            let mut gradients = parts.clone().sum().backward();
            let q = images.grad_remove(&mut gradients).expect("every network reads its images");
            let product = product.then(|| self.engine.leaves(&weights, &mut gradients));
            Ok((Hypergradient { parts: download(parts.inner())?, q: download(q)? }, product))
        })
    }
}

/// Whether a device really computes: errors and panics of its driver become one line.
pub(crate) fn probe(device: &burn_tensor::Device) -> Result<(), String> {
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
