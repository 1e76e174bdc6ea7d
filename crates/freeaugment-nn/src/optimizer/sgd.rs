//! Stochastic gradient descent with momentum, by PyTorch's rule.

use super::check;
use crate::Error;
use crate::parameter::Weights;

/// d = g + λθ; b ← μb + d; θ ← θ - η(d + μb) with Nesterov's momentum, θ - ηb without.
#[derive(Clone, Debug)]
pub struct Sgd {
    pub(super) momentum: f32,
    nesterov: bool,
    pub(super) weight_decay: f32,
    buffer: Option<Weights>,
}

impl Sgd {
    /// Momentum in [0, 1) and a weight decay that is not negative.
    pub fn new(momentum: f32, nesterov: bool, weight_decay: f32) -> Result<Self, Error> {
        check("momentum", f64::from(momentum), 0.0, 1.0, "0 up to, but not including, 1")?;
        check("weight decay", f64::from(weight_decay), 0.0, f64::INFINITY, "a finite number from 0")?;
        Ok(Self { momentum, nesterov, weight_decay, buffer: None })
    }

    /// The same rule at its beginning.
    #[must_use]
    pub fn without_buffer(&self) -> Self {
        Self { buffer: None, ..*self }
    }

    /// The momentum buffer b; none before the first step.
    pub fn buffer(&self) -> Option<&Weights> {
        self.buffer.as_ref()
    }

    /// Continues with a buffer from elsewhere, such as a checkpoint.
    pub fn set_buffer(&mut self, buffer: Weights) {
        self.buffer = Some(buffer);
    }

    /// One step with the given learning rate.
    pub fn step(
        &mut self,
        weights: &mut Weights,
        gradient: &Weights,
        learning_rate: f32,
    ) -> Result<(), Error> {
        check("learning rate", f64::from(learning_rate), 0.0, f64::INFINITY, "a finite number from 0")?;
        let buffer = self.buffer.get_or_insert_with(|| Weights::zeros(weights.layout().clone()));
        for other in [gradient, &*buffer] {
            other.check_layout(weights.layout())?;
        }
        if gradient.is_on_device() {
            return Self::step_on_device(
                (self.momentum, self.nesterov, self.weight_decay),
                (weights, gradient, buffer),
                learning_rate,
            );
        }
        let numbers = weights.values_mut().iter_mut().zip(gradient.values()).zip(buffer.values_mut());
        for ((weight, gradient), buffer) in numbers {
            let change = gradient + self.weight_decay * *weight;
            *buffer = self.momentum * *buffer + change;
            *weight -= learning_rate * if self.nesterov { change + self.momentum * *buffer } else { *buffer };
        }
        Ok(())
    }

    /// The same step by whole arrays, where the gradient is on a device; the others go there and stay.
    fn step_on_device(
        (momentum, nesterov, weight_decay): (f32, bool, f32),
        (weights, gradient, buffer): (&mut Weights, &Weights, &mut Weights),
        learning_rate: f32,
    ) -> Result<(), Error> {
        let mut change = gradient.clone();
        change.add_scaled(weight_decay, weights)?;
        let mut moved = buffer.clone();
        moved.scale(momentum)?;
        moved.add_scaled(1.0, &change)?;
        *buffer = moved;
        if nesterov {
            change.add_scaled(momentum, buffer)?;
            weights.add_scaled(-learning_rate, &change)
        } else {
            weights.add_scaled(-learning_rate, buffer)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::parameter::{Kind, LayoutBuilder};

    #[test]
    fn three_steps_are_those_of_pytorch() {
        // torch.optim.SGD(lr=0.1, ...) on the gradients below, in float64.
        let cases = [
            ((0.0, false, 0.0), [0.791_496, -1.880_997, -0.408_865_5, 2.910_897]),
            ((0.9, false, 0.01), [0.655_479_84, -1.783_275_7, -0.947_513_4, 2.816_608_4]),
            ((0.9, true, 0.01), [0.482_120_78, -1.682_598_2, -1.698_502_4, 2.739_404_2]),
        ];
        for ((momentum, nesterov, weight_decay), wanted) in cases {
            let mut builder = LayoutBuilder::default();
            builder.parameter("p".to_owned(), &[4], Kind::Shift);
            let layout = Arc::new(builder.finish());
            let mut weights = Weights::zeros(Arc::clone(&layout));
            weights.values_mut().copy_from_slice(&[1.0, -2.0, 0.5, 3.0]);
            let mut sgd = Sgd::new(momentum, nesterov, weight_decay).unwrap();
            for step in 1..=3_u8 {
                let mut gradient = Weights::zeros(Arc::clone(&layout));
                for (i, slope) in [0.3, -0.1, 1.5, 0.0].into_iter().enumerate() {
                    gradient.values_mut()[i] = slope * f32::from(step) + 0.1 * weights.values()[i];
                }
                sgd.step(&mut weights, &gradient, 0.1).unwrap();
            }
            for (found, wanted) in weights.values().iter().zip(wanted) {
                assert!((found - wanted).abs() < 1e-6_f32, "{found} in place of {wanted}");
            }
        }
    }

    #[test]
    fn settings_outside_their_range_are_refused_by_name() {
        let message = Sgd::new(1.0, true, 0.0).unwrap_err().to_string();
        assert_eq!(message, "momentum is 1: allowed is 0 up to, but not including, 1");
        assert!(Sgd::new(0.9, true, f32::NAN).is_err());
    }
}
