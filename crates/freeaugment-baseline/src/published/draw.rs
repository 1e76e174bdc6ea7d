//! What is drawn for one image.

use freeaugment_base::random::Stream;

use crate::action::{Action, Moment};
use crate::operation::Operation;

/// The randomness, the image, and the actions so far.
pub(super) struct Draw<'a> {
    stream: &'a mut Stream,
    pub(super) moment: Moment,
    pub(super) actions: Vec<Action>,
}

impl<'a> Draw<'a> {
    pub(super) fn new(stream: &'a mut Stream, moment: Moment) -> Self {
        Self { stream, moment, actions: Vec::new() }
    }

    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        f64::from(self.stream.bits()) / 4_294_967_296.0
    }

    pub(super) fn normal(&mut self) -> f64 {
        let mut value = [0.0];
        self.stream.normal(&mut value);
        value[0].into()
    }

    /// Uniform in 0..bound; 0 where that is empty.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.stream.below(u32::try_from(bound).unwrap_or(u32::MAX).max(1)) as usize
    }

    /// True with this probability.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// An index, in proportion to its weight. Weights are finite, not negative and not all zero.
    pub(super) fn choose(&mut self, weights: impl Iterator<Item = f64> + Clone) -> usize {
        let mut left = self.unit() * weights.clone().sum::<f64>();
        let mut last = 0;
        for (index, weight) in weights.enumerate() {
            if left < weight {
                return index;
            }
            left -= weight;
            if weight > 0.0 {
                last = index;
            }
        }
        // Rounding may leave a little over.
        last
    }

    /// An index, from logits.
    pub(super) fn choose_by_logits(&mut self, logits: impl Iterator<Item = f64> + Clone) -> usize {
        let most = logits.clone().fold(f64::MIN, f64::max);
        self.choose(logits.map(|logit| (logit - most).exp()))
    }

    pub(super) fn act(&mut self, operation: Operation, value: f64) {
        self.actions.push(Action { operation, value, centre: [0.5; 2] });
    }

    /// In one direction or the other, by a coin.
    pub(super) fn either_way(&mut self, operation: Operation, value: f64) {
        let sign = if self.happens(0.5) { -1.0 } else { 1.0 };
        self.act(operation, sign * value);
    }

    /// A square anywhere in the image; nothing where it has no size.
    pub(super) fn cutout(&mut self, side: f64) {
        let centre = [self.unit(), self.unit()];
        if side > 0.0 {
            self.actions.push(Action { operation: Operation::Cutout, value: side, centre });
        }
    }

    /// A crop of the old size out of the image with so many pixels of padding around it: two translations.
    pub(super) fn padded_crop(&mut self, padding: usize) {
        for operation in [Operation::TranslateX, Operation::TranslateY] {
            let place = self.below(2 * padding + 1);
            self.act(operation, place as f64 - padding as f64);
        }
    }
}
