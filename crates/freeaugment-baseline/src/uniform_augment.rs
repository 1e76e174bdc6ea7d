//! UniformAugment (LingChen et al., 2020).

use freeaugment_base::random::Stream;

use crate::space::{UNIFORM, choose, coin, unit};
use crate::{Action, Augmentation, Moment};

/// Operations that are drawn for an image.
const OPERATIONS: usize = 2;

/// Two operations, each of them applied with a probability that is uniform itself, which is every other time; at a
/// level that is uniform in its range.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformAugment;

impl Augmentation for UniformAugment {
    fn actions(&self, stream: &mut Stream, moment: Moment) -> Vec<Action> {
        let mut draw = || {
            let range = choose(&UNIFORM, stream);
            coin(stream).then(|| range.draw(unit(stream), 1.0, stream, moment))
        };
        (0..OPERATIONS).filter_map(|_| draw()).collect()
    }
}
