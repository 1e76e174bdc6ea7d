//! Adam, with a learning rate per group of parameters.

use super::check;
use crate::Error;

/// What is added to the root of the second moment, where nothing else is said.
const EPSILON: f64 = 1e-8;

/// One group's state.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    learning_rate: f64,
    epsilon: f64,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

/// Adam (Kingma and Ba, 2015) by PyTorch's rule, in double precision: policies are small. Every group has its own
/// learning rate and its own count of steps, so that groups can start to learn at different times.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    decay: (f64, f64),
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
            epsilon: EPSILON,
            first: vec![0.0; len],
            second: vec![0.0; len],
            steps: 0,
        };
        Ok(Self { decay: (0.9, 0.999), groups: groups.iter().map(group).collect() })
    }

    /// The same with other decay rates in [0, 1).
    pub fn with_decay(self, first: f64, second: f64) -> Result<Self, Error> {
        for decay in [first, second] {
            check("decay rate", decay, 0.0, 1.0, "0 up to, but not including, 1")?;
        }
        Ok(Self { decay: (first, second), ..self })
    }

    /// The same with another epsilon for a group. Steps are in proportion to gradients that are well below it, and of one
    /// size for those above.
    pub fn with_epsilon(mut self, group: usize, epsilon: f64) -> Result<Self, Error> {
        check("epsilon", epsilon, f64::MIN_POSITIVE, f64::INFINITY, "a finite number above 0")?;
        self.group(group)?.epsilon = epsilon;
        Ok(self)
    }

    /// Moves one group's parameters against their gradient.
    pub fn step(&mut self, group: usize, parameters: &mut [f32], gradient: &[f32]) -> Result<(), Error> {
        let decay = self.decay;
        let Group { learning_rate, epsilon, first, second, steps } =
            self.find(group, [parameters.len(), gradient.len()])?;
        *steps += 1;
        let correction = (1.0 - decay.0.powi(*steps), 1.0 - decay.1.powi(*steps));
        for (((parameter, gradient), first), second) in
            parameters.iter_mut().zip(gradient).zip(first).zip(second)
        {
            let gradient = f64::from(*gradient);
            *first += (1.0 - decay.0) * (gradient - *first);
            *second += (1.0 - decay.1) * (gradient * gradient - *second);
            let change = (*first / correction.0) / ((*second / correction.1).sqrt() + *epsilon);
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
        let group = self.find(group, [first.len(), second.len()])?;
        group.steps = steps;
        group.first.copy_from_slice(first);
        group.second.copy_from_slice(second);
        Ok(())
    }

    /// A group for arrays of these lengths.
    fn find(&mut self, group: usize, lengths: [usize; 2]) -> Result<&mut Group, Error> {
        let group = self.group(group)?;
        let expected = group.first.len();
        match lengths.into_iter().find(|found| *found != expected) {
            Some(found) => Err(Error::ForeignParameters { expected, found }),
            None => Ok(group),
        }
    }

    fn group(&mut self, group: usize) -> Result<&mut Group, Error> {
        let allowed = if self.groups.is_empty() { "none" } else { "an index of a group given to `new`" };
        self.groups.get_mut(group).ok_or(Error::BadSetting { name: "group", value: group as f64, allowed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_steps_are_those_of_pytorch() {
        // torch.optim.Adam(lr=0.02, betas=...) on the gradients below, in float64.
        let cases = [
            ((0.9, 0.999), [0.940_979_3, -1.940_106_3, 0.441_465_1, 2.940_013_2]),
            ((0.5, 0.9), [0.937_461_2, -1.938_091_2, 0.437_408_4, 2.940_067_3]),
        ];
        for ((first, second), wanted) in cases {
            // The group in the middle is the one that learns; its neighbours must not matter.
            let groups = [(1.0, 2), (0.02, 4), (5.0, 1)];
            let mut adam = Adam::new(&groups).unwrap().with_decay(first, second).unwrap();
            let mut parameters = [1.0_f32, -2.0, 0.5, 3.0];
            for step in 1..=3_u8 {
                adam.step(0, &mut [0.0, 1.0], &[1.0, 2.0]).unwrap();
                let mut gradient = [0.3_f32, -0.1, 1.5, 0.0];
                for (gradient, parameter) in gradient.iter_mut().zip(&parameters) {
                    *gradient = *gradient * f32::from(step) + 0.1 * parameter;
                }
                adam.step(1, &mut parameters, &gradient).unwrap();
            }
            for (found, wanted) in parameters.iter().zip(wanted) {
                assert!((found - wanted).abs() < 1e-6, "{found} in place of {wanted}");
            }
        }
    }

    #[test]
    fn gradients_below_epsilon_make_steps_in_proportion() {
        let mut adam = Adam::new(&[(0.1, 2), (0.1, 2)]).unwrap().with_epsilon(1, 1.0).unwrap();
        let mut moved = [[0.0_f32; 2]; 2];
        for (group, parameters) in moved.iter_mut().enumerate() {
            adam.step(group, parameters, &[1e-3, 2e-3]).unwrap();
        }
        // After one step both moments are the gradient's own: rate * g / (|g| + epsilon).
        let wanted = [EPSILON, 1.0].map(|epsilon| [1e-3, 2e-3].map(|g| -0.1 * g / (g + epsilon)));
        for (found, wanted) in moved.iter().flatten().zip(wanted.iter().flatten()) {
            assert!((f64::from(*found) - wanted).abs() < 1e-7, "{found} in place of {wanted}");
        }
        assert!(adam.clone().with_epsilon(0, 0.0).is_err());
        assert!(adam.with_epsilon(2, 1.0).is_err(), "there is no third group");
    }

    #[test]
    fn a_state_that_was_saved_continues_bit_for_bit() {
        let mut adam = Adam::new(&[(0.1, 2)]).unwrap();
        let mut parameters = [1.0, 2.0];
        adam.step(0, &mut parameters, &[0.5, -0.5]).unwrap();
        let mut resumed = Adam::new(&[(0.1, 2)]).unwrap();
        let (steps, first, second) = adam.state(0).unwrap();
        resumed.set_state(0, steps, first, second).unwrap();
        assert_eq!(adam, resumed);
        assert!(resumed.set_state(0, 1, &[0.0], &[0.0]).is_err());
        assert!(adam.step(1, &mut [0.0], &[0.0]).is_err(), "there is no second group");
    }
}
