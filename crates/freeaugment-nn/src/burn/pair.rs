//! The network on (value, tangent) pairs, stacked along the batch: `[value; tangent]`, `[2 batch, channel, height,
//! width]`. A convolution of the pair with the weights is one larger convolution; what the weights' own tangent adds
//! is one more.

use burn_tensor::Tensor;
use burn_tensor::activation::sigmoid;
use burn_tensor::module::{conv2d, max_pool2d_with_indices};

use super::Tensors;
use super::plain::{EPSILON, activate, convolution_options, multiply, pool_options};
use crate::pass::{Activation, Convolution, Pass, Window};

/// A forward pass on pairs: how all values move when the weights move along a direction.
pub(super) struct Pair<'a> {
    weights: &'a Tensors,
    directions: &'a Tensors,
}

impl<'a> Pair<'a> {
    pub(super) fn new(weights: &'a Tensors, directions: &'a Tensors) -> Self {
        Self { weights, directions }
    }
}

/// Value and tangent.
pub(super) fn split(pair: Tensor<4>) -> [Tensor<4>; 2] {
    let batch = pair.dims()[0] / 2;
    [pair.clone().narrow(0, 0, batch), pair.narrow(0, batch, batch)]
}

fn join(value: Tensor<4>, tangent: Tensor<4>) -> Tensor<4> {
    Tensor::cat(vec![value, tangent], 0)
}

/// Adds to the tangents of a pair.
fn add_tangent(pair: Tensor<4>, extra: Tensor<4>) -> Tensor<4> {
    let [value, tangent] = split(pair);
    join(value, tangent + extra)
}

fn activate_pair(z: Tensor<4>, z_tangent: Tensor<4>, activation: Option<Activation>) -> Tensor<4> {
    let tangent = match activation {
        None => z_tangent,
        Some(Activation::Relu) => z_tangent * z.clone().greater_elem(0.0).float(),
        Some(Activation::Softplus) => z_tangent * sigmoid(z.clone()),
    };
    join(activate(z, activation), tangent)
}

impl Pass for Pair<'_> {
    type Value = Tensor<4>;

    fn convolve(&mut self, x: &Tensor<4>, name: &str, convolution: Convolution) -> Tensor<4> {
        let name = format!("{name}.weight");
        let run = |x, weight| conv2d(x, weight, None, convolution_options(convolution.window));
        let [value, _] = split(x.clone());
        add_tangent(run(x.clone(), self.weights.get(&name)), run(value, self.directions.get(&name)))
    }

    fn normalize(&mut self, x: &Tensor<4>, name: &str, activation: Option<Activation>) -> Tensor<4> {
        let [x, x_tangent] = split(x.clone());
        let mean = |values: Tensor<4>| values.mean_dims(&[0, 2, 3]);
        let centred = x.clone() - mean(x);
        let deviation = (mean(centred.clone() * centred.clone()) + EPSILON).sqrt();
        let normal = centred / deviation.clone();
        // Mean and variance move with x: their tangents are the two terms that are subtracted.
        let product = mean(normal.clone() * x_tangent.clone());
        let normal_tangent = (x_tangent.clone() - mean(x_tangent) - normal.clone() * product) / deviation;
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        let scale = self.weights.per_channel(&weight);
        let z = normal.clone() * scale.clone() + self.weights.per_channel(&bias);
        let z_tangent = normal * self.directions.per_channel(&weight)
            + normal_tangent * scale
            + self.directions.per_channel(&bias);
        activate_pair(z, z_tangent, activation)
    }

    fn add(&mut self, a: &Tensor<4>, b: &Tensor<4>, activation: Option<Activation>) -> Tensor<4> {
        let [z, z_tangent] = split(a.clone() + b.clone());
        activate_pair(z, z_tangent, activation)
    }

    fn max_pool(&mut self, x: &Tensor<4>, window: Window) -> Tensor<4> {
        let [value, tangent] = split(x.clone());
        let [batch, channels, height, width] = value.dims();
        let (largest, winners) = max_pool2d_with_indices(value, pool_options(window));
        let [_, _, rows, columns] = largest.dims();
        let flat = tangent.reshape([batch, channels, height * width]);
        let moved = flat.gather(2, winners.reshape([batch, channels, rows * columns]));
        join(largest, moved.reshape([batch, channels, rows, columns]))
    }

    fn mean_pixels(&mut self, x: &Tensor<4>) -> Tensor<4> {
        x.clone().mean_dims(&[2, 3])
    }

    fn linear(&mut self, x: &Tensor<4>, name: &str, _outputs: usize) -> Tensor<4> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        let [value, _] = split(x.clone());
        let [y, y_tangent] = split(multiply(x.clone(), self.weights.get(&weight)));
        let by_weight = multiply(value, self.directions.get(&weight)) + self.directions.per_channel(&bias);
        join(y + self.weights.per_channel(&bias), y_tangent + by_weight)
    }
}
