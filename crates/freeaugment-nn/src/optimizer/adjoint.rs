//! The pullback of SGD's steps: the derivative of a later loss, carried backwards through them.

use super::Sgd;
use crate::Error;
use crate::parameter::Weights;

/// λ and ν: how a later loss depends on the weights and on the momentum buffer, at some point between two steps.
///
/// With Nesterov's momentum a step is d = g + wθ; b' = μb + d; θ' = θ - η(d + μb'), where g is the gradient of a training
/// loss. From λ and ν after it: ν ← ν - ημλ; the derivative to d is γ = ν - ηλ; then ν ← μν and λ ← λ + wγ + Hγ, with the
/// Hessian H of the training loss. What an image of the step adds to the later loss is its part of ⟨g, γ⟩.
#[derive(Clone, Debug)]
pub struct SgdAdjoint {
    weights: Weights,
    buffer: Weights,
    momentum: f32,
    weight_decay: f32,
}

impl SgdAdjoint {
    /// After the last step of this rule, which must be Nesterov's: the later loss's own gradient to the weights.
    pub fn new(rule: &Sgd, gradient: Weights) -> Self {
        Self {
            buffer: Weights::zeros(gradient.layout().clone()),
            weights: gradient,
            momentum: rule.momentum,
            weight_decay: rule.weight_decay,
        }
    }

    /// λ.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// ν.
    pub fn buffer(&self) -> &Weights {
        &self.buffer
    }

    /// γ of the step before, which had this learning rate: the derivative to its gradient. Has to be followed by
    /// [`Self::step_back`].
    pub fn direction(&mut self, learning_rate: f32) -> Result<Weights, Error> {
        self.buffer.add_scaled(-learning_rate * self.momentum, &self.weights)?;
        let mut direction = self.buffer.clone();
        direction.add_scaled(-learning_rate, &self.weights)?;
        Ok(direction)
    }

    /// To before that step, whose Hessian has this product with γ.
    pub fn step_back(&mut self, direction: &Weights, product: &Weights) -> Result<(), Error> {
        self.buffer.scale(self.momentum)?;
        self.weights.add_scaled(self.weight_decay, direction)?;
        self.weights.add_scaled(1.0, product)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::parameter::{Kind, LayoutBuilder};

    /// Training losses ½aθ² - cθ, so that g = aθ - c, and the later loss ½(θ - 1)².
    fn run(weight: f32, buffer: f32, shifts: [f32; 3]) -> (Sgd, Weights, Vec<f32>) {
        let mut builder = LayoutBuilder::default();
        builder.parameter("p".to_owned(), &[1], Kind::Shift);
        let layout = Arc::new(builder.finish());
        let one = |value: f32| {
            let mut weights = Weights::zeros(Arc::clone(&layout));
            weights.values_mut()[0] = value;
            weights
        };
        let mut sgd = Sgd::new(0.9, true, 0.02).unwrap();
        let mut weights = one(weight);
        sgd.set_buffer(one(buffer));
        for (step, shift) in shifts.into_iter().enumerate() {
            let gradient = one(CURVATURES[step] * weights.values()[0] - shift);
            sgd.step(&mut weights, &gradient, RATES[step]).unwrap();
        }
        let end = weights.values()[0];
        weights.values_mut()[0] = end - 1.0;
        (sgd, weights, vec![0.5 * (end - 1.0) * (end - 1.0)])
    }

    const CURVATURES: [f32; 3] = [0.7, -0.4, 1.3];
    const RATES: [f32; 3] = [0.3, 0.2, 0.1];

    #[test]
    fn the_derivative_through_three_steps_is_that_of_differences() {
        let (weight, buffer, shifts) = (0.4, -0.2, [0.1, -0.3, 0.5]);
        let (sgd, gradient, _) = run(weight, buffer, shifts);
        let mut adjoint = SgdAdjoint::new(&sgd, gradient);
        let mut to_shift = [0.0; 3];
        for step in (0..3).rev() {
            let direction = adjoint.direction(RATES[step]).unwrap();
            to_shift[step] = -direction.values()[0];
            let mut product = direction.clone();
            product.scale(CURVATURES[step]).unwrap();
            adjoint.step_back(&direction, &product).unwrap();
        }
        let loss = |weight, buffer, shifts| f64::from(run(weight, buffer, shifts).2[0]);
        let (h, tolerance) = (0.01_f32, 1e-4);
        let slope = |ahead: f64, behind: f64| (ahead - behind) / f64::from(2.0 * h);
        let by_weight = slope(loss(weight + h, buffer, shifts), loss(weight - h, buffer, shifts));
        assert!((f64::from(adjoint.weights().values()[0]) - by_weight).abs() < tolerance);
        let by_buffer = slope(loss(weight, buffer + h, shifts), loss(weight, buffer - h, shifts));
        assert!((f64::from(adjoint.buffer().values()[0]) - by_buffer).abs() < tolerance);
        for step in 0..3 {
            let moved = |by: f32| {
                let mut shifts = shifts;
                shifts[step] += by;
                loss(weight, buffer, shifts)
            };
            assert!((f64::from(to_shift[step]) - slope(moved(h), moved(-h))).abs() < tolerance);
        }
    }
}
