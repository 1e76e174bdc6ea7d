//! Adam, with a learning rate per group of parameters.

use super::check;
use crate::Error;

/// One group's state.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    learning_rate: f64,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

/// Adam (Kingma and Ba, 2015) by PyTorch's rule, in double precision: policies are small. Every group has its own
/// learning rate and its own count of steps, so that groups can start to learn at different times.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    decay: (f64, f64),
    epsilon: f64,
    groups: Vec<Group>,
}

impl Adam {
    /// One group per `(learning rate, number of parameters)`; decay rates 0.9 and 0.999, epsilon 1e-8.
    pub fn new(groups: &[(f64, usize)]) -> Result<Self, Error> {
        for (learning_rate, _) in groups {
            check("learning rate", *learning_rate, 0.0, f64::INFINITY, "a finite number from 0")?;
        }
        let group = |&(learning_rate, len): &(f64, usize)| Group {
            learning_rate,
            first: vec![0.0; len],
            second: vec![0.0; len],
            steps: 0,
        };
        Ok(Self { decay: (0.9, 0.999), epsilon: 1e-8, groups: groups.iter().map(group).collect() })
    }

    /// The same with other decay rates in [0, 1).
    pub fn with_decay(self, first: f64, second: f64) -> Result<Self, Error> {
        for decay in [first, second] {
            check("decay rate", decay, 0.0, 1.0, "0 up to, but not including, 1")?;
        }
        Ok(Self { decay: (first, second), ..self })
    }

    /// Moves one group's parameters against their gradient.
    pub fn step(&mut self, group: usize, parameters: &mut [f32], gradient: &[f32]) -> Result<(), Error> {
        let expected = self.groups.get(group).map_or(0, |group| group.first.len());
        for found in [parameters.len(), gradient.len()] {
            if found != expected {
                return Err(Error::ForeignParameters { expected, found });
            }
        }
        let Some(Group { learning_rate, first, second, steps }) = self.groups.get_mut(group) else {
            return Ok(());
        };
        *steps += 1;
        let correction = (1.0 - self.decay.0.powi(*steps), 1.0 - self.decay.1.powi(*steps));
        for (((parameter, gradient), first), second) in
            parameters.iter_mut().zip(gradient).zip(first).zip(second)
        {
            let gradient = f64::from(*gradient);
            *first += (1.0 - self.decay.0) * (gradient - *first);
            *second += (1.0 - self.decay.1) * (gradient * gradient - *second);
            let change = (*first / correction.0) / ((*second / correction.1).sqrt() + self.epsilon);
            *parameter = (f64::from(*parameter) - *learning_rate * change) as f32;
        }
        Ok(())
    }

    /// A group's state for a checkpoint: steps taken, first and second moments.
    pub fn state(&self, group: usize) -> Option<(i32, &[f64], &[f64])> {
        self.groups.get(group).map(|group| (group.steps, &group.first[..], &group.second[..]))
    }

    /// Continues a group from a checkpoint.
    pub fn set_state(
        &mut self,
        group: usize,
        steps: i32,
        first: &[f64],
        second: &[f64],
    ) -> Result<(), Error> {
        let expected = self.groups.get(group).map_or(0, |group| group.first.len());
        for found in [first.len(), second.len()] {
            if found != expected {
                return Err(Error::ForeignParameters { expected, found });
            }
        }
        if let Some(group) = self.groups.get_mut(group) {
            group.steps = steps;
            group.first.copy_from_slice(first);
            group.second.copy_from_slice(second);
        }
        Ok(())
    }
}
