//! RandAugment (Cubuk et al., 2019).

use freeaugment_base::random::Stream;

use crate::space::{RA, TOP, TORCHVISION_RAND, choose};
use crate::{Action, Augmentation, BaselineError, Moment};

/// The most operations that one image may undergo: as many as there are.
const MOST: u32 = RA.len() as u32;

/// A number of operations, drawn with replacement, all at one level of 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RandAugment {
    operations: u32,
    level: u32,
    torchvision: bool,
}

impl RandAugment {
    /// Two operations at level 9, torchvision's numbers.
    pub const USUAL: Self = Self { operations: 2, level: 9, torchvision: false };

    /// So many operations (1 to 14) at this level (0 to 30).
    pub const fn new(operations: u32, level: u32) -> Result<Self, BaselineError> {
        if operations == 0 || operations > MOST {
            return Err(BaselineError::Operations { found: operations });
        }
        if level > TOP {
            return Err(BaselineError::Level { found: level });
        }
        Ok(Self { operations, level, torchvision: false })
    }

    /// The same in torchvision's space, which mirrors the enhancers around 1, solarizes from 255 on and translates by a
    /// share of the size.
    #[must_use]
    pub const fn torchvision(self) -> Self {
        Self { torchvision: true, ..self }
    }

    /// Operations for each image.
    pub const fn operations(&self) -> u32 {
        self.operations
    }

    /// The level of all of them.
    pub const fn level(&self) -> u32 {
        self.level
    }

    /// Whether the space is torchvision's.
    pub const fn is_torchvision(&self) -> bool {
        self.torchvision
    }

    /// What it does, in one line.
    pub(crate) fn words(&self) -> String {
        let whose = if self.torchvision { " as torchvision has it" } else { "" };
        let plural = if self.operations == 1 { "" } else { "s" };
        format!("RandAugment{whose}: {} operation{plural} at level {} of {TOP}", self.operations, self.level)
    }
}

impl Default for RandAugment {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Augmentation for RandAugment {
    fn actions(&self, stream: &mut Stream, moment: Moment) -> Vec<Action> {
        let space = if self.torchvision { &TORCHVISION_RAND } else { &RA };
        let mut draw = || choose(space, stream).draw(self.level.into(), TOP.into(), stream, moment);
        (0..self.operations).map(|_| draw()).collect()
    }
}
