//! DomainBed's augmentation (Gulrajani and Lopez-Paz, 2020), but for its crop and flip.

use freeaugment_base::random::Stream;

use crate::Operation::{Brightness, Color, Contrast, Grayscale, Hue};
use crate::space::unit;
use crate::{Action, Augmentation, Moment};

/// How far factors go from 1, and the hue from 0.
const JITTER: f64 = 0.3;

/// How often a picture becomes grey.
const GREY: f64 = 0.1;

/// Brightness, contrast, saturation and hue by up to 0.3, in an order that is drawn; then grey with probability 0.1.
#[derive(Clone, Copy, Debug, Default)]
pub struct DomainBed;

impl Augmentation for DomainBed {
    fn actions(&self, stream: &mut Stream, _: Moment) -> Vec<Action> {
        let mut actions = Vec::with_capacity(5);
        for (operation, middle) in [(Brightness, 1.0), (Contrast, 1.0), (Color, 1.0), (Hue, 0.0)] {
            actions.push(Action::new(operation, middle + JITTER * (2.0 * unit(stream) - 1.0)));
        }
        for last in (1..actions.len()).rev() {
            actions.swap(last, stream.below(last as u32 + 1) as usize);
        }
        if unit(stream) < GREY {
            actions.push(Action::new(Grayscale, 0.0));
        }
        actions
    }
}
