//! A small family around a learned policy. Gradients see which way to go better than how far; whole trainings decide that.

use freeaugment::{DepthKind, Magnitude, MagnitudeKind, Parameters, Policy, RangedTransformation};
use freeaugment_base::math::{logit, sigmoid};

use crate::error::Error;

/// How much the logit of every further transformation rises or falls.
const TILT: f32 = 0.8;
/// A policy that uses more of its layers than this has to have one more before it can become deeper.
const NEARLY_ALL: f64 = 0.75;
/// What becomes of the width of ranges.
const NARROW: f64 = 0.6;
const WIDE: f64 = 1.5;
/// How far types are from uniform, where learned is 1.
const BETWEEN: f32 = 0.5;
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
    Broad,
}

impl Variation {
    /// All of them, the learned policy first.
    pub(crate) const ALL: [Self; 7] = [
        Self::Learned,
        Self::Deeper,
        Self::Shallower,
        Self::Narrower,
        Self::Wider,
        Self::Between,
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
            Self::Deeper => "with more transformations",
            Self::Shallower => "with fewer transformations",
            Self::Narrower => "with narrower ranges",
            Self::Wider => "with wider ranges",
            Self::Between => "with types half-way to uniform",
            Self::Broad => "with turns and shifts beyond what the search allows",
        }
    }

    /// Whether two of them change the same thing, and so cannot be had together.
    fn excludes(self, other: Self) -> bool {
        let same = [[Self::Deeper, Self::Shallower], [Self::Narrower, Self::Wider]];
        self == other || same.iter().any(|pair| pair.contains(&self) && pair.contains(&other))
    }

    /// The best two that can be had together and each do better than the learned policy; `accuracy` knows by name what a
    /// policy reached.
    pub(crate) fn to_combine(accuracy: impl Fn(&str) -> Option<f64>) -> Option<[Self; 2]> {
        let learned = accuracy(Self::Learned.name())?;
        let better = |variation: Self| {
            let reached = accuracy(variation.name()).filter(|reached| *reached > learned)?;
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
        let policy = if self == Self::Deeper { &with_room(policy)? } else { policy };
        let mut config = policy.config().clone();
        let old = policy.parameters();
        let (mut depth, mut types) = (old.depth().to_vec(), old.types().to_vec());
        let mut magnitudes = old.magnitudes().map(<[f32]>::to_vec);
        match self {
            Self::Learned => {}
            Self::Deeper | Self::Shallower => {
                let tilt = if self == Self::Deeper { TILT } else { -TILT };
                for (at, logit) in depth.iter_mut().enumerate() {
                    // Where every transformation has a probability of its own, all of them rise.
                    *logit += if config.depth == DepthKind::Learned { tilt * at as f32 } else { tilt };
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
            Self::Between => types.iter_mut().for_each(|logit| *logit *= BETWEEN),
            Self::Broad => config.transformations.iter_mut().for_each(broaden),
        }
        let parameters = Parameters::new(&config, depth, types, magnitudes)?;
        if self != Self::Learned && parameters == *old && config == *policy.config() {
            return Ok(None);
        }
        let mut changed = Policy::new(config, parameters)?;
        changed.provenance_mut().clone_from(policy.provenance());
        let before = policy.provenance().get("variation").map(|before| format!("{before}, "));
        let words = format!("{}{}", before.unwrap_or_default(), self.words());
        changed.provenance_mut().insert("variation".to_owned(), words);
        Ok(Some(changed))
    }
}

/// The same policy with a layer more, like its last one and as often used, where it uses nearly all that it has.
fn with_room(policy: &Policy) -> Result<Policy, Error> {
    let mut config = policy.config().clone();
    let shares = policy.describe()?.depth;
    let depth: f64 = shares.iter().enumerate().map(|(depth, share)| depth as f64 * share).sum();
    let (before, most) = (config.layers, config.transformations.len());
    let full = config.depth == DepthKind::Learned && depth > NEARLY_ALL * before as f64 && before < most;
    if !full {
        return Ok(policy.clone());
    }
    config.layers += 1;
    let old = policy.parameters();
    let again = |row: &[f32]| [row, &row[row.len() - 1..]].concat();
    let wider = |matrix: &[f32]| matrix.chunks_exact(before).flat_map(again).collect::<Vec<f32>>();
    let magnitudes = old.magnitudes().map(wider);
    let parameters = Parameters::new(&config, again(old.depth()), wider(old.types()), magnitudes)?;
    let mut roomy = Policy::new(config, parameters)?;
    roomy.provenance_mut().clone_from(policy.provenance());
    Ok(roomy)
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
        let broad = of(Variation::Broad);
        let rotate = |policy: &Policy| {
            let at = |ranged: &RangedTransformation| ranged.transformation.name() == "Rotate";
            policy.config().transformations[policy.config().transformations.iter().position(at).unwrap()]
                .range
        };
        assert_eq!((rotate(&learned), rotate(&broad)), ((-30.0, 30.0), (-180.0, 180.0)));
        assert_eq!(broad.parameters(), learned.parameters());
        for variation in [Variation::Deeper, Variation::Narrower] {
            assert_eq!(of(variation).parameters().types(), learned.parameters().types());
        }
    }

    #[test]
    fn a_policy_that_uses_nearly_all_layers_becomes_deeper_by_one_more() {
        let mut policy = learned();
        policy.parameters_mut().depth_mut()[3] = 4.0;
        assert!(mean_depth(&policy) > 2.8);
        let deeper = Variation::Deeper.of(&policy).unwrap().unwrap();
        assert_eq!(deeper.config().layers, 4);
        assert!(mean_depth(&deeper) > 3.4);
        // The learned type is as likely in the new layer as in the one before.
        assert_eq!(deeper.parameters().types()[..4], [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(deeper.parameters().types()[4..].iter().sum::<f32>(), 0.0);
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
        assert_eq!(of(&[("learned-deeper", 0.6), ("learned-broad", 0.6)]), None);
        let both = Variation::Broad.of(&Variation::Deeper.of(&learned()).unwrap().unwrap()).unwrap().unwrap();
        assert_eq!(
            both.provenance()["variation"],
            "with more transformations, with turns and shifts beyond what the search allows"
        );
    }

    #[test]
    fn a_variation_that_changes_nothing_is_none() {
        let uniform = PolicyConfig { layers: 2, ..PolicyConfig::default() }.init().unwrap();
        assert_eq!(Variation::Between.of(&uniform).unwrap(), None);
    }
}
