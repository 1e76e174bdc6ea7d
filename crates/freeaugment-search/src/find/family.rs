//! A small family around a learned policy. Gradients see which way to go better than how far; whole trainings decide that.

use freeaugment::{DepthKind, Magnitude, MagnitudeKind, Parameters, Policy, RangedTransformation};
use freeaugment_base::math::{logit, sigmoid};

use crate::error::Error;

/// How much logits rise or fall where every transformation has a probability of its own.
const TILT: f32 = 0.8;
/// A depth that a policy with one transformation more does not have: so far below the rarest one that it had.
const NEVER: f32 = 4.0;
/// What becomes of the width of ranges.
const NARROW: f64 = 0.6;
const WIDE: f64 = 1.5;
/// How far types are from uniform, where learned is 1.
const BETWEEN: f32 = 0.5;
const FURTHER: f32 = 2.0;
/// Bounds stay this far from the ends of what is allowed, where their logits would have no end.
const MARGIN: f64 = 0.005;

/// A way to change a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variation {
    Learned,
    Deeper,
    Shallower,
    Narrower,
    Wider,
    Between,
    Further,
    Broad,
}

impl Variation {
    /// All of them, the learned policy first.
    pub(crate) const ALL: [Self; 8] = [
        Self::Learned,
        Self::Deeper,
        Self::Shallower,
        Self::Narrower,
        Self::Wider,
        Self::Between,
        Self::Further,
        Self::Broad,
    ];

    /// Its name among the candidates.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Learned => "learned",
            Self::Deeper => "learned-deeper",
            Self::Shallower => "learned-shallower",
            Self::Narrower => "learned-narrower",
            Self::Wider => "learned-wider",
            Self::Between => "learned-between",
            Self::Further => "learned-further",
            Self::Broad => "learned-broad",
        }
    }

    /// Its name beside another one's.
    pub(crate) fn short_name(self) -> &'static str {
        let name = self.name();
        name.strip_prefix("learned-").unwrap_or(name)
    }

    /// What it is, for people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Learned => "as it was learned",
            Self::Deeper => "with one transformation more",
            Self::Shallower => "with one transformation fewer",
            Self::Narrower => "with narrower ranges",
            Self::Wider => "with wider ranges",
            Self::Between => "with types half-way to uniform",
            Self::Further => "with types twice as far from uniform",
            Self::Broad => "with turns and shifts beyond what the search allows",
        }
    }

    /// Whether two of them change the same thing, and so cannot be had together.
    fn excludes(self, other: Self) -> bool {
        let same =
            [[Self::Deeper, Self::Shallower], [Self::Narrower, Self::Wider], [Self::Between, Self::Further]];
        self == other || same.iter().any(|pair| pair.contains(&self) && pair.contains(&other))
    }

    /// The best two that can be had together and each do better than the learned policy; `score` knows by name what a policy
    /// reached.
    pub(crate) fn to_combine(score: impl Fn(&str) -> Option<f64>) -> Option<[Self; 2]> {
        let learned = score(Self::Learned.name())?;
        let better = |variation: Self| {
            let reached = score(variation.name()).filter(|reached| *reached > learned)?;
            Some((reached, variation))
        };
        let mut better: Vec<(f64, Self)> = Self::ALL.into_iter().filter_map(better).collect();
        better.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (_, first) = *better.first()?;
        let (_, second) = *better.iter().find(|(_, variation)| !variation.excludes(first))?;
        Some([first, second])
    }

    /// The changed policy; none where it would be the same one.
    pub(crate) fn of(self, policy: &Policy) -> Result<Option<Policy>, Error> {
        let mut config = policy.config().clone();
        if matches!(self, Self::Deeper | Self::Shallower) && config.depth == DepthKind::Learned {
            let Some(layers) = config.layers.checked_add_signed(if self == Self::Deeper { 1 } else { -1 })
            else {
                return Ok(None);
            };
            if !(1..=config.transformations.len()).contains(&layers) {
                return Ok(None);
            }
            return Ok(Some(self.told_of(policy, shifted(policy, layers)?)));
        }
        let old = policy.parameters();
        let (mut depth, mut types) = (old.depth().to_vec(), old.types().to_vec());
        let mut magnitudes = old.magnitudes().map(<[f32]>::to_vec);
        match self {
            Self::Learned => {}
            Self::Deeper | Self::Shallower => {
                let tilt = if self == Self::Deeper { TILT } else { -TILT };
                for logit in &mut depth {
                    *logit += tilt;
                }
            }
            Self::Narrower | Self::Wider => {
                let factor = if self == Self::Narrower { NARROW } else { WIDE };
                let [first, second] = &mut magnitudes;
                match config.magnitudes {
                    MagnitudeKind::Uniform => {
                        for (lower, upper) in first.iter_mut().zip(second) {
                            let (low, high) = (sigmoid(*lower), sigmoid(*upper));
                            let (centre, half) = (f64::midpoint(low, high), 0.5 * factor * (high - low));
                            let within = |share: f64| logit(share.clamp(MARGIN, 1.0 - MARGIN));
                            (*lower, *upper) = (within(centre - half), within(centre + half));
                        }
                    }
                    // Other distributions have a centre and a spread.
                    _ => second.iter_mut().for_each(|spread| *spread *= factor as f32),
                }
            }
            Self::Between | Self::Further => {
                let factor = if self == Self::Between { BETWEEN } else { FURTHER };
                for logit in &mut types {
                    *logit *= factor;
                }
            }
            Self::Broad => config.transformations.iter_mut().for_each(broaden),
        }
        let parameters = Parameters::new(&config, depth, types, magnitudes)?;
        if self != Self::Learned && parameters == *old && config == *policy.config() {
            return Ok(None);
        }
        Ok(Some(self.told_of(policy, Policy::new(config, parameters)?)))
    }

    /// The changed policy with where it comes from.
    fn told_of(self, policy: &Policy, mut changed: Policy) -> Policy {
        changed.provenance_mut().clone_from(policy.provenance());
        let before = policy.provenance().get("variation").map(|before| format!("{before}, "));
        let words = format!("{}{}", before.unwrap_or_default(), self.words());
        changed.provenance_mut().insert("variation".to_owned(), words);
        changed
    }
}

/// Every image gets one transformation more, or one fewer where it gets any; layers come and go at the end. A depth that
/// is all but settled would not be moved by a tilt of its logits.
fn shifted(policy: &Policy, layers: usize) -> Result<Policy, Error> {
    let mut config = policy.config().clone();
    let before = std::mem::replace(&mut config.layers, layers);
    let old = policy.parameters();
    let depth = if layers > before {
        let rarest = old.depth().iter().copied().fold(f32::INFINITY, f32::min);
        [&[rarest - NEVER], old.depth()].concat()
    } else {
        let [none, one, rest @ ..] = old.depth() else { unreachable!("a policy has a layer") };
        let both = none.max(*one) + (-(none - one).abs()).exp().ln_1p();
        [&[both], rest].concat()
    };
    // A new layer is like the last one.
    let resized = |matrix: &[f32]| -> Vec<f32> {
        let layer = |row: &[f32], at: usize| row[at.min(before - 1)];
        matrix.chunks_exact(before).flat_map(|row| (0..layers).map(move |at| layer(row, at))).collect()
    };
    let magnitudes = old.magnitudes().map(resized);
    let parameters = Parameters::new(&config, depth, resized(old.types()), magnitudes)?;
    Ok(Policy::new(config, parameters)?)
}

/// How much further a transformation of the geometry may go. Where pictures have no upright, every turn is worth trying;
/// shears and shifts go as far as in TrivialAugment's wide space.
pub(super) fn broaden(ranged: &mut RangedTransformation) {
    let factor = match ranged.transformation.name() {
        "Rotate" => 6.0,
        "ShearX" | "ShearY" => 1.6,
        "TranslateX" | "TranslateY" => 1.5,
        _ => return,
    };
    let Some(Magnitude { limits: (lowest, highest), .. }) = ranged.transformation.magnitude() else { return };
    let (low, high) = ranged.range;
    ranged.range = ((factor * low).clamp(lowest, highest), (factor * high).clamp(lowest, highest));
}

#[cfg(test)]
mod tests {
    use freeaugment::PolicyConfig;

    use super::*;

    fn learned() -> Policy {
        let mut policy = PolicyConfig { layers: 3, ..PolicyConfig::default() }.init().unwrap();
        policy.parameters_mut().types_mut()[0] = 1.0;
        policy
    }

    fn mean_depth(policy: &Policy) -> f64 {
        let depth = policy.describe().unwrap().depth;
        depth.iter().enumerate().map(|(depth, share)| depth as f64 * share).sum()
    }

    #[test]
    fn every_variation_changes_what_its_name_says_and_nothing_else() {
        let learned = learned();
        let of = |variation: Variation| variation.of(&learned).unwrap().unwrap();
        assert_eq!(of(Variation::Learned).parameters(), learned.parameters());
        assert!(mean_depth(&of(Variation::Deeper)) > mean_depth(&learned) + 0.5);
        assert!(mean_depth(&of(Variation::Shallower)) < mean_depth(&learned) - 0.5);
        let width = |policy: &Policy| {
            let range = policy.describe().unwrap().ranges[0].unwrap();
            range.high - range.low
        };
        assert!((width(&of(Variation::Narrower)) / width(&learned) - NARROW as f32).abs() < 1e-3);
        assert!(width(&of(Variation::Wider)) > 1.2 * width(&learned));
        assert_eq!(of(Variation::Between).parameters().types()[0], 0.5);
        assert_eq!(of(Variation::Further).parameters().types()[0], 2.0);
        let broad = of(Variation::Broad);
        let rotate = |policy: &Policy| {
            let at = |ranged: &RangedTransformation| ranged.transformation.name() == "Rotate";
            policy.config().transformations[policy.config().transformations.iter().position(at).unwrap()]
                .range
        };
        assert_eq!((rotate(&learned), rotate(&broad)), ((-30.0, 30.0), (-180.0, 180.0)));
        assert_eq!(broad.parameters(), learned.parameters());
        assert_eq!(of(Variation::Narrower).parameters().types(), learned.parameters().types());
    }

    #[test]
    fn deeper_and_shallower_move_every_depth_by_one() {
        let mut policy = learned();
        policy.parameters_mut().depth_mut().copy_from_slice(&[0.0, 1.0, 5.0, 2.0]);
        let depth = |policy: &Policy| policy.describe().unwrap().depth;
        let before = depth(&policy);
        let deeper = Variation::Deeper.of(&policy).unwrap().unwrap();
        assert_eq!(deeper.config().layers, 4);
        assert!(depth(&deeper)[0] < 1e-3);
        for (before, after) in before.iter().zip(&depth(&deeper)[1..]) {
            assert!((before - after).abs() < 1e-3, "{before} {after}");
        }
        // The learned type is as likely in the new layer as in the one before.
        assert_eq!(deeper.parameters().types()[..4], [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(deeper.parameters().types()[4..].iter().sum::<f32>(), 0.0);
        let shallower = Variation::Shallower.of(&policy).unwrap().unwrap();
        assert_eq!(shallower.config().layers, 2);
        let after = depth(&shallower);
        assert!((after[0] - before[0] - before[1]).abs() < 1e-6);
        assert!((after[1] - before[2]).abs() < 1e-6 && (after[2] - before[3]).abs() < 1e-6);
        // One layer cannot become none.
        let one = PolicyConfig { layers: 1, ..PolicyConfig::default() }.init().unwrap();
        assert_eq!(Variation::Shallower.of(&one).unwrap(), None);
    }

    #[test]
    fn the_best_two_that_go_together_are_combined() {
        let of = |reached: &'static [(&str, f64)]| {
            Variation::to_combine(move |name| {
                reached.iter().find(|(known, _)| *known == name).map(|(_, reached)| *reached)
            })
        };
        let known = &[
            ("learned", 0.5),
            ("learned-deeper", 0.6),
            ("learned-shallower", 0.58),
            ("learned-broad", 0.55),
            ("learned-wider", 0.5),
        ];
        assert_eq!(of(known), Some([Variation::Deeper, Variation::Broad]));
        assert_eq!(of(&[("learned", 0.5), ("learned-deeper", 0.6), ("learned-shallower", 0.6)]), None);
        assert_eq!(of(&[("learned", 0.5), ("learned-between", 0.6), ("learned-further", 0.6)]), None);
        assert_eq!(of(&[("learned-deeper", 0.6), ("learned-broad", 0.6)]), None);
        let both = Variation::Broad.of(&Variation::Deeper.of(&learned()).unwrap().unwrap()).unwrap().unwrap();
        assert_eq!(
            both.provenance()["variation"],
            "with one transformation more, with turns and shifts beyond what the search allows"
        );
    }

    #[test]
    fn a_variation_that_changes_nothing_is_none() {
        let uniform = PolicyConfig { layers: 2, ..PolicyConfig::default() }.init().unwrap();
        assert_eq!(Variation::Between.of(&uniform).unwrap(), None);
        assert_eq!(Variation::Further.of(&uniform).unwrap(), None);
    }
}
