//! Where a search begins. The paper's space is made for photographs that have an upright and bear a lot; whether images want
//! more than that, or less, is cheaper to try than to learn, so whole trainings decide it before the search: first how far
//! ranges go, then, from the best of these, whether changing colours alone or shapes alone is better than both.

use freeaugment::{Magnitude, RangedTransformation};

use super::family::broaden;
use crate::config::Settings;
use crate::error::Error;

/// How far ranges of the mild space reach, where those of the usual one reach 1 from what changes nothing.
const MILD: f32 = 0.5;
/// The same of the dark space, on the side that it has.
const DARK: f32 = 1.5;

/// A policy to begin with, and so what is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) space: Space,
    kinds: Kinds,
}

/// How far ranges go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// As in the settings: the paper's, unless they say otherwise.
    Usual,
    /// Half as far.
    Mild,
    /// Images only become darker, paler and softer, but more so; turns and shifts go half as far.
    Dark,
    /// Turns and shifts go further.
    Broad,
}

/// Which transformations there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinds {
    All,
    /// Those that leave pixels where they are.
    Light,
    /// Those that move pixels.
    Shape,
}

impl Start {
    /// What is tried first, the simpler ones before the others.
    pub(super) const SPACES: [Self; 4] =
        [Self::all(Space::Usual), Self::all(Space::Mild), Self::all(Space::Dark), Self::all(Space::Broad)];
    /// How many there are at most when everything has been tried.
    pub(super) const TRIED: usize = Self::SPACES.len() + Self::PARTS.len();

    const PARTS: [Kinds; 2] = [Kinds::Light, Kinds::Shape];

    const fn all(space: Space) -> Self {
        Self { space, kinds: Kinds::All }
    }

    /// The same space with fewer transformations, as far as the settings' have both kinds.
    pub(super) fn parts(self, settings: &Settings) -> Result<Vec<Self>, Error> {
        let transformations = settings.policy_config()?.transformations;
        let moving = transformations.iter().filter(|ranged| ranged.transformation.moves_pixels()).count();
        let both = (1..transformations.len()).contains(&moving);
        let parts = if both { &Self::PARTS[..] } else { &[] };
        Ok(parts.iter().map(|&kinds| Self { kinds, ..self }).collect())
    }

    /// Its name among the candidates.
    pub(super) fn name(self) -> String {
        let space = match self.space {
            Space::Usual => "initial",
            Space::Mild => "initial-mild",
            Space::Dark => "initial-dark",
            Space::Broad => "initial-broad",
        };
        let kinds = match self.kinds {
            Kinds::All => "",
            Kinds::Light => "-light",
            Kinds::Shape => "-shape",
        };
        format!("{space}{kinds}")
    }

    /// The one under which classifiers do best, of equals the first; `score` knows by name what they reached.
    pub(super) fn best(starts: &[Self], score: impl Fn(&str) -> Option<f64>) -> Self {
        let reached = |start: Self| score(&start.name());
        let better = |best: Self, start: &Self| if reached(*start) > reached(best) { *start } else { best };
        starts.iter().fold(starts[0], better)
    }

    /// The settings of a search that begins here.
    pub(super) fn settings(self, settings: Settings) -> Result<Settings, Error> {
        if self == Self::all(Space::Usual) {
            return Ok(settings);
        }
        let mut config = settings.policy_config()?;
        config.transformations.retain(|ranged| match self.kinds {
            Kinds::All => true,
            Kinds::Light => !ranged.transformation.moves_pixels(),
            Kinds::Shape => ranged.transformation.moves_pixels(),
        });
        match self.space {
            Space::Usual => {}
            Space::Mild => config.transformations.iter_mut().for_each(weaken),
            Space::Dark => config.transformations.iter_mut().for_each(darken),
            Space::Broad => config.transformations.iter_mut().for_each(broaden),
        }
        let layers = settings.layers.min(config.transformations.len());
        let transformations = settings.clone().with_policy(&config).transformations;
        Ok(Settings { transformations, layers, ..settings })
    }
}

fn weaken(ranged: &mut RangedTransformation) {
    let Some(Magnitude { identity, .. }) = ranged.transformation.magnitude() else { return };
    let (low, high) = ranged.range;
    let towards = |bound: f32| identity + MILD * (bound - identity);
    ranged.range = (towards(low), towards(high));
}

/// RandAugment as PIL has it darkens, pales and softens too and never does the opposite, which is right where training images
/// are brighter than those to come.
fn darken(ranged: &mut RangedTransformation) {
    let Some(Magnitude { identity, limits, .. }) = ranged.transformation.magnitude() else { return };
    let (low, high) = ranged.range;
    if ranged.transformation.moves_pixels() {
        weaken(ranged);
    } else if low < identity && identity < high {
        ranged.range = ((identity + DARK * (low - identity)).max(limits.0), identity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Ranges = Vec<(&'static str, (f32, f32))>;

    fn ranges(start: Start) -> Ranges {
        let config = start.settings(Settings::default()).unwrap().policy_config().unwrap();
        config.transformations.iter().map(|ranged| (ranged.transformation.name(), ranged.range)).collect()
    }

    fn of(ranges: &Ranges, name: &str) -> Option<(f32, f32)> {
        ranges.iter().find(|(known, _)| *known == name).map(|(_, range)| *range)
    }

    fn moves(name: &str) -> bool {
        ["Rotate", "ShearX", "ShearY", "TranslateX", "TranslateY"].contains(&name)
    }

    #[test]
    fn spaces_have_the_same_transformations_and_other_ranges() {
        let [usual, mild, dark, broad] = Start::SPACES.map(ranges);
        for (((usual, mild), dark), broad) in usual.iter().zip(&mild).zip(&dark).zip(&broad) {
            let name = usual.0;
            assert_eq!([name; 3], [mild.0, dark.0, broad.0]);
            assert_eq!(usual.1 != broad.1, moves(name), "{name}");
            let two_sided = ["Brightness", "Contrast", "Sharpness"].contains(&name);
            assert_eq!(usual.1 != dark.1, moves(name) || two_sided, "{name}");
            let magnitude = ["AutoContrast", "Invert", "Equalize"].contains(&name);
            assert_eq!(usual.1 != mild.1, !magnitude, "{name}");
        }
        assert_eq!(of(&broad, "Rotate"), Some((-180.0, 180.0)));
        assert_eq!(of(&mild, "Rotate"), Some((-15.0, 15.0)));
        // From 0.4 to 2, where 1 changes nothing.
        assert_eq!(of(&mild, "Contrast"), Some((0.7, 1.5)));
        let (low, high) = of(&dark, "Contrast").unwrap();
        assert!((low - 0.1).abs() < 1e-6 && high == 1.0, "{low}..{high}");
        // There is nothing softer than 0.
        assert_eq!(of(&dark, "Sharpness"), Some((0.0, 1.0)));
        assert_eq!(of(&dark, "Rotate"), Some((-15.0, 15.0)));
    }

    #[test]
    fn a_space_has_two_parts_that_share_its_transformations_and_keep_its_ranges() {
        for space in Start::SPACES {
            let parts = space.parts(&Settings::default()).unwrap();
            let [light, shape] = [ranges(parts[0]), ranges(parts[1])];
            assert!(light.iter().all(|(name, _)| !moves(name)) && shape.iter().all(|(name, _)| moves(name)));
            let whole = ranges(space);
            assert_eq!(light.len() + shape.len(), whole.len());
            for (name, range) in light.iter().chain(&shape) {
                assert_eq!(of(&whole, name), Some(*range));
            }
        }
        let names = Start::SPACES[2].parts(&Settings::default()).unwrap();
        assert_eq!(
            names.into_iter().map(Start::name).collect::<Vec<_>>(),
            ["initial-dark-light", "initial-dark-shape"]
        );
        // No more layers than transformations; no part that would be empty, or the same.
        let of = |names: &[&str]| {
            let transformations = names.iter().map(|&name| name.to_owned()).collect();
            Settings { transformations, layers: names.len(), ..Settings::default() }
        };
        let three = of(&["Rotate", "Invert", "Contrast"]);
        let parts = Start::SPACES[0].parts(&three).unwrap();
        let layers = parts.iter().map(|part| part.settings(three.clone()).unwrap().layers);
        assert_eq!(layers.collect::<Vec<_>>(), [2, 1]);
        for one_kind in [of(&["Rotate", "ShearX"]), of(&["Invert"])] {
            assert_eq!(Start::SPACES[0].parts(&one_kind).unwrap(), []);
        }
    }

    #[test]
    fn the_best_start_is_taken_and_of_equals_the_first() {
        let [usual, mild, dark, broad] = Start::SPACES;
        let of = |reached: [f64; 4]| {
            Start::best(&Start::SPACES, |name| {
                let at = Start::SPACES.iter().position(|start| start.name() == name)?;
                Some(reached[at])
            })
        };
        assert_eq!(of([0.5, 0.5, 0.5, 0.5]), usual);
        assert_eq!(of([0.5, 0.6, 0.6, 0.6]), mild);
        assert_eq!(of([0.5, 0.6, 0.7, 0.6]), dark);
        assert_eq!(of([0.5, 0.6, 0.6, 0.7]), broad);
        assert_eq!(of([0.8, 0.6, 0.7, 0.7]), usual);
    }
}
