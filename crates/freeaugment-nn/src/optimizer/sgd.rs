//! Stochastic gradient descent with momentum, by PyTorch's rule.

use super::check;
use crate::Error;
use crate::parameter::Parameters;

/// d = g + λθ; b ← μb + d; θ ← θ - η(d + μb) with Nesterov's momentum, θ - ηb without.
#[derive(Clone, Debug)]
pub struct Sgd {
    momentum: f32,
    nesterov: bool,
    weight_decay: f32,
    buffer: Option<Parameters>,
}

impl Sgd {
    /// Momentum in [0, 1) and a weight decay that is not negative.
    pub fn new(momentum: f32, nesterov: bool, weight_decay: f32) -> Result<Self, Error> {
        check("momentum", f64::from(momentum), 0.0, 1.0, "0 up to, but not including, 1")?;
        check("weight decay", f64::from(weight_decay), 0.0, f64::INFINITY, "a finite number from 0")?;
        Ok(Self { momentum, nesterov, weight_decay, buffer: None })
    }

    /// The momentum buffer b; none before the first step.
    pub fn buffer(&self) -> Option<&Parameters> {
        self.buffer.as_ref()
    }

    /// Continues with a buffer from elsewhere, such as a checkpoint.
    pub fn set_buffer(&mut self, buffer: Parameters) {
        self.buffer = Some(buffer);
    }

    /// One step with the given learning rate.
    pub fn step(
        &mut self,
        weights: &mut Parameters,
        gradient: &Parameters,
        learning_rate: f32,
    ) -> Result<(), Error> {
        check("learning rate", f64::from(learning_rate), 0.0, f64::INFINITY, "a finite number from 0")?;
        let buffer = self.buffer.get_or_insert_with(|| Parameters::zeros(weights.layout().clone()));
        for other in [gradient, &*buffer] {
            if other.layout() != weights.layout() {
                let (expected, found) = (weights.values().len(), other.values().len());
                return Err(Error::ForeignParameters { expected, found });
            }
        }
        let numbers = weights.values_mut().iter_mut().zip(gradient.values()).zip(buffer.values_mut());
        for ((weight, gradient), buffer) in numbers {
            let change = gradient + self.weight_decay * *weight;
            *buffer = self.momentum * *buffer + change;
            *weight -= learning_rate * if self.nesterov { change + self.momentum * *buffer } else { *buffer };
        }
        Ok(())
    }
}
