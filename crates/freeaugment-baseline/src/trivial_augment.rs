//! TrivialAugment (Müller and Hutter, 2021).

use freeaugment_base::random::Stream;

use crate::space::{self, Range, TOP, choose};
use crate::{Action, Augmentation, Moment};

/// One operation at one of 31 levels, both drawn uniformly.
#[derive(Clone, Debug)]
pub struct TrivialAugment {
    space: &'static [Range],
}

impl TrivialAugment {
    /// In the space of RandAugment.
    pub const fn new() -> Self {
        Self { space: &space::RA }
    }

    /// In the wide space.
    pub const fn wide() -> Self {
        Self { space: &space::WIDE }
    }

    /// In torchvision's wide space, which mirrors the enhancers around 1 and solarizes from 255 on.
    pub const fn torchvision_wide() -> Self {
        Self { space: &space::TORCHVISION_WIDE }
    }
}

impl Default for TrivialAugment {
    fn default() -> Self {
        Self::new()
    }
}

impl Augmentation for TrivialAugment {
    fn actions(&self, stream: &mut Stream, moment: Moment) -> Vec<Action> {
        let range = choose(self.space, stream);
        let level = stream.below(TOP + 1);
        vec![range.draw(level.into(), TOP.into(), stream, moment)]
    }
}
