//! Where a search begins. The paper's space is made for photographs that have an upright and bear a lot; whether images want
//! more than that, or less, is cheaper to try than to learn, so whole trainings decide it before the search.

use freeaugment::{Magnitude, RangedTransformation};

use super::family::broaden;
use crate::config::Settings;
use crate::error::Error;

/// How far ranges of the mild space reach, where those of the usual one reach 1 from what changes nothing.
const MILD: f32 = 0.5;

/// A policy to begin with, and so the space that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The settings' space: the paper's, unless they say otherwise.
    Usual,
    /// The same with everything half as strong.
    Mild,
    /// The same with images that only become darker, paler and softer, and with turns and shifts half as far.
    Dim,
    /// The same with turns and shifts that go further.
    Broad,
}

impl Start {
    /// The simpler ones first.
    pub(super) const ALL: [Self; 4] = [Self::Usual, Self::Mild, Self::Dim, Self::Broad];

    /// Its name among the candidates.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Usual => "initial",
            Self::Mild => "initial-mild",
            Self::Dim => "initial-dim",
            Self::Broad => "initial-broad",
        }
    }

    /// The one under which classifiers do best, of equals the simplest; `accuracy` knows by name what they reached.
    pub(super) fn best(accuracy: impl Fn(&str) -> Option<f64>) -> Self {
        let mut best = Self::Usual;
        for start in Self::ALL {
            if accuracy(start.name()) > accuracy(best.name()) {
                best = start;
            }
        }
        best
    }

    /// The settings of a search that begins here.
    pub(super) fn settings(self, settings: Settings) -> Result<Settings, Error> {
        let change = match self {
            Self::Usual => return Ok(settings),
            Self::Mild => weaken,
            Self::Dim => dim,
            Self::Broad => broaden,
        };
        let mut config = settings.policy_config()?;
        config.transformations.iter_mut().for_each(change);
        let transformations = settings.clone().with_policy(&config).transformations;
        Ok(Settings { transformations, ..settings })
    }
}

fn weaken(ranged: &mut RangedTransformation) {
    let Some(Magnitude { identity, .. }) = ranged.transformation.magnitude() else { return };
    let (low, high) = ranged.range;
    let towards = |bound: f32| identity + MILD * (bound - identity);
    ranged.range = (towards(low), towards(high));
}

/// RandAugment's space has one side too, and that is what it is worth on dark pictures: mirrored as torchvision has it, it
/// is no better than a policy of the usual space there (docs/find.md).
fn dim(ranged: &mut RangedTransformation) {
    let Some(Magnitude { identity, .. }) = ranged.transformation.magnitude() else { return };
    if ranged.transformation.moves_pixels() {
        weaken(ranged);
    } else {
        ranged.range.1 = identity.min(ranged.range.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(start: Start) -> Vec<(&'static str, (f32, f32))> {
        let config = start.settings(Settings::default()).unwrap().policy_config().unwrap();
        config.transformations.iter().map(|ranged| (ranged.transformation.name(), ranged.range)).collect()
    }

    #[test]
    fn starts_have_the_same_transformations_and_other_ranges() {
        let [usual, mild, dim, broad] = Start::ALL.map(ranges);
        for (((usual, mild), dim), broad) in usual.iter().zip(&mild).zip(&dim).zip(&broad) {
            let name = usual.0;
            assert_eq!([name; 3], [mild.0, dim.0, broad.0]);
            let moves = ["Rotate", "ShearX", "ShearY", "TranslateX", "TranslateY"].contains(&name);
            assert_eq!(usual.1 != broad.1, moves, "{name}");
            let two_sided = ["Brightness", "Contrast", "Sharpness"].contains(&name);
            assert_eq!(usual.1 != dim.1, moves || two_sided, "{name}");
            let magnitude = ["AutoContrast", "Invert", "Equalize"].contains(&name);
            assert_eq!(usual.1 != mild.1, !magnitude, "{name}");
        }
        let of = |ranges: &[(&str, (f32, f32))], name: &str| {
            ranges.iter().find(|(known, _)| *known == name).map(|(_, range)| *range)
        };
        assert_eq!(of(&broad, "Rotate"), Some((-180.0, 180.0)));
        assert_eq!(of(&mild, "Rotate"), Some((-15.0, 15.0)));
        // From 0.4 to 2, where 1 changes nothing.
        assert_eq!(of(&mild, "Contrast"), Some((0.7, 1.5)));
        assert_eq!(of(&dim, "Contrast"), Some((0.4, 1.0)));
        assert_eq!(of(&dim, "Rotate"), Some((-15.0, 15.0)));
    }

    #[test]
    fn the_best_start_is_taken_and_of_equals_the_simplest() {
        let of = |reached: [f64; 4]| {
            Start::best(|name| {
                Start::ALL
                    .iter()
                    .zip(reached)
                    .find(|(start, _)| start.name() == name)
                    .map(|(_, reached)| reached)
            })
        };
        assert_eq!(of([0.5, 0.5, 0.5, 0.5]), Start::Usual);
        assert_eq!(of([0.5, 0.6, 0.6, 0.6]), Start::Mild);
        assert_eq!(of([0.5, 0.6, 0.7, 0.6]), Start::Dim);
        assert_eq!(of([0.5, 0.6, 0.6, 0.7]), Start::Broad);
        assert_eq!(of([0.8, 0.6, 0.7, 0.7]), Start::Usual);
    }
}
