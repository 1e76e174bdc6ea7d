//! Where a search begins. The paper's space is made for photographs that have an upright; whether images want more than that
//! is cheaper to try than to learn, so whole trainings decide it before the search.

use freeaugment::RangedTransformation;

use super::family::broaden;
use crate::config::Settings;
use crate::error::Error;

/// A policy to begin with, and so the space that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The settings' space: the paper's, unless they say otherwise.
    Usual,
    /// The same with turns and shifts that go further.
    Broad,
}

impl Start {
    /// The simpler one first.
    pub(super) const ALL: [Self; 2] = [Self::Usual, Self::Broad];

    /// Its name among the candidates.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Usual => "initial",
            Self::Broad => "initial-broad",
        }
    }

    /// The one under which classifiers do better; `accuracy` knows by name what they reached.
    pub(super) fn better(accuracy: impl Fn(&str) -> Option<f64>) -> Self {
        let [usual, broad] = Self::ALL.map(|start| accuracy(start.name()));
        if broad > usual { Self::Broad } else { Self::Usual }
    }

    /// The settings of a search that begins here.
    pub(super) fn settings(self, settings: Settings) -> Result<Settings, Error> {
        if self == Self::Usual {
            return Ok(settings);
        }
        let mut ranged = settings.policy_config()?.transformations;
        ranged.iter_mut().for_each(broaden);
        let written = |RangedTransformation { transformation, range: (low, high) }: &RangedTransformation| {
            match transformation.magnitude() {
                Some(_) => format!("{}:{low}..{high}", transformation.name()),
                None => transformation.name().to_owned(),
            }
        };
        Ok(Settings { transformations: ranged.iter().map(written).collect(), ..settings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_broad_start_has_the_same_transformations_and_turns_all_the_way() {
        let usual = Settings::default();
        let broad = Start::Broad.settings(usual.clone()).unwrap();
        let [usual, broad] = [usual, broad].map(|settings| settings.policy_config().unwrap());
        assert_eq!(usual.transformations.len(), broad.transformations.len());
        for (usual, broad) in usual.transformations.iter().zip(&broad.transformations) {
            let name = usual.transformation.name();
            assert_eq!(name, broad.transformation.name());
            let moves = ["Rotate", "ShearX", "ShearY", "TranslateX", "TranslateY"].contains(&name);
            assert_eq!(usual.range != broad.range, moves, "{name}");
            if name == "Rotate" {
                assert_eq!(broad.range, (-180.0, 180.0));
            }
        }
    }

    #[test]
    fn what_no_image_tells_apart_begins_as_usual() {
        let of = |usual: f64, broad: f64| {
            Start::better(|name| {
                [("initial", usual), ("initial-broad", broad)]
                    .into_iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, reached)| reached)
            })
        };
        assert_eq!([of(0.5, 0.5), of(0.5, 0.6), of(0.6, 0.5)], [Start::Usual, Start::Broad, Start::Usual]);
    }
}
