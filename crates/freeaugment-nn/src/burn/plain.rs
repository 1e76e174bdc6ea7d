//! The network on plain tensors: training with the batch's statistics, inference with the running ones.

use burn_tensor::Tensor;
use burn_tensor::activation::{relu, softplus};
use burn_tensor::module::{conv2d, max_pool2d};
use burn_tensor::ops::{ConvOptions, MaxPoolOptions};

use super::Tensors;
use crate::parameter::Layout;
use crate::pass::{Activation, Convolution, Pass, Window};

/// Added to the variance.
pub(super) const EPSILON: f64 = 1e-5;

/// Which statistics batch norm uses.
pub(super) enum Norms<'a> {
    Batch,
    Running(Running<'a>),
}

/// The running statistics of all batch norms, flat.
pub(super) struct Running<'a> {
    pub(super) layout: &'a Layout,
    pub(super) mean: &'a Tensor<1>,
    pub(super) variance: &'a Tensor<1>,
}

impl Running<'_> {
    /// Mean and variance of one batch norm, to be broadcast over images and pixels.
    fn of(&self, name: &str) -> [Tensor<4>; 2] {
        let norm = self.layout.norms().iter().find(|norm| norm.name() == name);
        let range = norm.expect("the network names its own norms").range();
        [self.mean, self.variance]
            .map(|values| values.clone().narrow(0, range.start, range.len()).reshape([1, range.len(), 1, 1]))
    }
}

/// What a batch norm found in the batch: mean and biased variance, `[channel]`, over so many numbers per channel.
pub(super) struct Moments {
    pub(super) mean: Tensor<1>,
    pub(super) variance: Tensor<1>,
    pub(super) count: usize,
}

/// A forward pass on plain tensors.
pub(super) struct Plain<'a> {
    weights: &'a Tensors,
    norms: Norms<'a>,
    moments: Vec<Moments>,
}

impl<'a> Plain<'a> {
    pub(super) fn new(weights: &'a Tensors, norms: Norms<'a>) -> Self {
        Self { weights, norms, moments: Vec::new() }
    }

    /// What the batch norms found in the batch, in order.
    pub(super) fn into_moments(self) -> Vec<Moments> {
        self.moments
    }
}

pub(super) fn activate(z: Tensor<4>, activation: Option<Activation>) -> Tensor<4> {
    match activation {
        None => z,
        Some(Activation::Relu) => relu(z),
        Some(Activation::Softplus) => softplus(z, 1.0),
    }
}

pub(super) fn convolution_options(window: Window) -> ConvOptions<2> {
    ConvOptions::new([window.stride; 2], [window.padding; 2], [1; 2], 1)
}

pub(super) fn pool_options(window: Window) -> MaxPoolOptions<2> {
    let mut options = MaxPoolOptions::new([window.kernel; 2]);
    options.stride = [window.stride; 2];
    options.padding = [(window.padding, window.padding); 2];
    options
}

/// `values · weightᵀ` on `[batch, channel, 1, 1]`.
pub(super) fn multiply(values: Tensor<4>, weight: Tensor<2>) -> Tensor<4> {
    let [rows, inputs, _, _] = values.dims();
    let outputs = weight.dims()[0];
    values.reshape([rows, inputs]).matmul(weight.transpose()).reshape([rows, outputs, 1, 1])
}

impl Pass for Plain<'_> {
    type Value = Tensor<4>;

    fn convolve(&mut self, x: &Tensor<4>, name: &str, convolution: Convolution) -> Tensor<4> {
        let weight = self.weights.get(&format!("{name}.weight"));
        conv2d(x.clone(), weight, None, convolution_options(convolution.window))
    }

    fn normalize(&mut self, x: &Tensor<4>, name: &str, activation: Option<Activation>) -> Tensor<4> {
        let [batch, channels, height, width] = x.dims();
        let (centred, variance) = match &self.norms {
            Norms::Batch => {
                let mean = x.clone().mean_dims(&[0, 2, 3]);
                let centred = x.clone() - mean.clone();
                let variance = (centred.clone() * centred.clone()).mean_dims(&[0, 2, 3]);
                let flat = |values: &Tensor<4>| values.clone().inner().reshape([channels]);
                let count = batch * height * width;
                self.moments.push(Moments { mean: flat(&mean), variance: flat(&variance), count });
                (centred, variance)
            }
            Norms::Running(running) => {
                let [mean, variance] = running.of(name);
                (x.clone() - mean, variance)
            }
        };
        let normal = centred / (variance + EPSILON).sqrt();
        let scale = self.weights.per_channel(&format!("{name}.weight"));
        let shift = self.weights.per_channel(&format!("{name}.bias"));
        activate(normal * scale + shift, activation)
    }

    fn add(&mut self, a: &Tensor<4>, b: &Tensor<4>, activation: Option<Activation>) -> Tensor<4> {
        activate(a.clone() + b.clone(), activation)
    }

    fn max_pool(&mut self, x: &Tensor<4>, window: Window) -> Tensor<4> {
        max_pool2d(x.clone(), pool_options(window))
    }

    fn mean_pixels(&mut self, x: &Tensor<4>) -> Tensor<4> {
        x.clone().mean_dims(&[2, 3])
    }

    fn linear(&mut self, x: &Tensor<4>, name: &str, _outputs: usize) -> Tensor<4> {
        let weight = self.weights.get(&format!("{name}.weight"));
        multiply(x.clone(), weight) + self.weights.per_channel(&format!("{name}.bias"))
    }
}
