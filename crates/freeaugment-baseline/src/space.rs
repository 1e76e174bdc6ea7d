//! Which operations there are to draw from, and what a level of each means.

use freeaugment_base::random::Stream;

use crate::Operation::{
    self, AutoContrast, Brightness, Color, Contrast, Cutout, Equalize, Identity, Invert, Posterize, Rotate,
    Sharpness, ShearX, ShearY, Solarize, TranslateX, TranslateY,
};
use crate::{Action, Moment};

/// Levels of TrivialAugment and RandAugment: 0 to this one.
pub(crate) const TOP: u32 = 30;

/// One operation and the values of its levels: the base at level 0, changed by the span at the highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) operation: Operation,
    base: f64,
    span: f64,
    /// What the span is measured in.
    unit: Unit,
    /// Whether a coin says on which side of the base the value lies.
    pub(crate) signed: bool,
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Own,
    Width,
    Height,
}

/// How the share of the span is rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Exact,
    /// Cut off to a whole number, as the code of AutoAugment and TrivialAugment does.
    Whole,
    /// To the nearest whole number.
    Nearest,
}

impl Range {
    const fn new(operation: Operation, base: f64, top: f64, step: Step) -> Self {
        Self { operation, base, span: top - base, unit: Unit::Own, signed: false, step }
    }

    /// An operation without a value.
    const fn plain(operation: Operation) -> Self {
        Self::new(operation, 0.0, 0.0, Step::Exact)
    }

    /// A value on either side of 0.
    const fn signed(operation: Operation, top: f64, step: Step) -> Self {
        Self { signed: true, ..Self::new(operation, 0.0, top, step) }
    }

    /// An enhancer's factor on either side of 1, as torchvision has them.
    const fn mirrored(operation: Operation, span: f64) -> Self {
        Self { base: 1.0, ..Self::signed(operation, span, Step::Exact) }
    }

    const fn of(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// How far `level` of `top` leads from the base.
    fn distance(&self, level: f64, top: f64, moment: Moment) -> f64 {
        let size = match self.unit {
            Unit::Own => 1.0,
            Unit::Width => moment.width as f64,
            Unit::Height => moment.height as f64,
        };
        let span = self.span * size;
        let distance = level * span / top;
        match self.step {
            Step::Exact => distance,
            Step::Whole => distance.trunc(),
            Step::Nearest => distance.round(),
        }
    }

    /// The value of a level on one side or the other.
    pub(crate) fn value(&self, level: f64, top: f64, negative: bool, moment: Moment) -> f64 {
        let distance = self.distance(level, top, moment);
        self.base + if negative { -distance } else { distance }
    }

    /// The operation at this level; side and place are drawn.
    pub(crate) fn draw(&self, level: f64, top: f64, stream: &mut Stream, moment: Moment) -> Action {
        let negative = self.signed && coin(stream);
        let centre = if self.operation == Cutout { [unit(stream), unit(stream)] } else { [0.5; 2] };
        Action { operation: self.operation, value: self.value(level, top, negative, moment), centre }
    }
}

/// Heads or tails.
pub(crate) fn coin(stream: &mut Stream) -> bool {
    stream.below(2) == 1
}

/// Uniform in [0, 1).
pub(crate) fn unit(stream: &mut Stream) -> f64 {
    let mut value = [0.0];
    stream.uniform(&mut value);
    f64::from(value[0])
}

/// The operation that the next number chooses, all alike.
pub(crate) fn choose<'a, T>(from: &'a [T], stream: &mut Stream) -> &'a T {
    &from[stream.below(from.len() as u32) as usize]
}

/// The space of RandAugment, as TrivialAugment's authors have it.
pub(crate) const RA: [Range; 14] =
    authors(&Bounds { shear: 0.3, translate: 10.0, rotate: 30.0, bits: 4.0, enhancer: [0.1, 1.9] });

/// TrivialAugment's wide space.
pub(crate) const WIDE: [Range; 14] =
    authors(&Bounds { shear: 0.99, translate: 32.0, rotate: 135.0, bits: 2.0, enhancer: [0.01, 2.0] });

struct Bounds {
    shear: f64,
    translate: f64,
    rotate: f64,
    bits: f64,
    enhancer: [f64; 2],
}

const fn authors(bounds: &Bounds) -> [Range; 14] {
    let [low, high] = bounds.enhancer;
    [
        Range::plain(Identity),
        Range::plain(AutoContrast),
        Range::plain(Equalize),
        Range::signed(Rotate, bounds.rotate, Step::Whole),
        Range::new(Solarize, 256.0, 0.0, Step::Whole),
        Range::new(Color, low, high, Step::Exact),
        Range::new(Posterize, 8.0, bounds.bits, Step::Whole),
        Range::new(Contrast, low, high, Step::Exact),
        Range::new(Brightness, low, high, Step::Exact),
        Range::new(Sharpness, low, high, Step::Exact),
        Range::signed(ShearX, bounds.shear, Step::Exact),
        Range::signed(ShearY, bounds.shear, Step::Exact),
        Range::signed(TranslateX, bounds.translate, Step::Whole),
        Range::signed(TranslateY, bounds.translate, Step::Whole),
    ]
}

/// UniformAugment's space: that of Fast AutoAugment and identity. Its levels are continuous.
pub(crate) const UNIFORM: [Range; 16] = [
    Range::plain(Identity),
    Range::signed(ShearX, 0.3, Step::Exact),
    Range::signed(ShearY, 0.3, Step::Exact),
    Range::signed(TranslateX, 0.45, Step::Exact).of(Unit::Width),
    Range::signed(TranslateY, 0.45, Step::Exact).of(Unit::Height),
    Range::signed(Rotate, 30.0, Step::Exact),
    Range::plain(AutoContrast),
    Range::plain(Invert),
    Range::plain(Equalize),
    Range::new(Solarize, 0.0, 256.0, Step::Exact),
    Range::new(Posterize, 4.0, 8.0, Step::Exact),
    Range::new(Contrast, 0.1, 1.9, Step::Exact),
    Range::new(Color, 0.1, 1.9, Step::Exact),
    Range::new(Brightness, 0.1, 1.9, Step::Exact),
    Range::new(Sharpness, 0.1, 1.9, Step::Exact),
    Range::new(Cutout, 0.0, 0.2, Step::Exact).of(Unit::Width),
];

/// The space of AutoAugment's paper: the ranges of its table, stronger with every level.
pub(crate) const AUTO: [Range; 14] = [
    Range::signed(ShearX, 0.3, Step::Exact),
    Range::signed(ShearY, 0.3, Step::Exact),
    Range::signed(TranslateX, 150.0 / 331.0, Step::Exact).of(Unit::Width),
    Range::signed(TranslateY, 150.0 / 331.0, Step::Exact).of(Unit::Height),
    Range::signed(Rotate, 30.0, Step::Exact),
    Range::new(Brightness, 0.1, 1.9, Step::Exact),
    Range::new(Color, 0.1, 1.9, Step::Exact),
    Range::new(Contrast, 0.1, 1.9, Step::Exact),
    Range::new(Sharpness, 0.1, 1.9, Step::Exact),
    Range::new(Posterize, 8.0, 4.0, Step::Nearest),
    Range::new(Solarize, 256.0, 0.0, Step::Exact),
    Range::plain(AutoContrast),
    Range::plain(Equalize),
    Range::plain(Invert),
];

const SHARE: f64 = 150.0 / 331.0;

/// torchvision's spaces of AutoAugment, RandAugment and TrivialAugment Wide. Its own values are of single precision,
/// and their last bits depend on the machine: 16 pixels may be 15.99999, of which it makes 15.
pub(crate) const TORCHVISION_AUTO: [Range; 14] = torchvision(Range::plain(Invert), 0.3, None, 30.0, 4.0, 0.9);
pub(crate) const TORCHVISION_RAND: [Range; 14] =
    torchvision(Range::plain(Identity), 0.3, None, 30.0, 4.0, 0.9);
pub(crate) const TORCHVISION_WIDE: [Range; 14] =
    torchvision(Range::plain(Identity), 0.99, Some(32.0), 135.0, 2.0, 0.99);

const fn torchvision(
    own: Range,
    shear: f64,
    pixels: Option<f64>,
    rotate: f64,
    bits: f64,
    enhancer: f64,
) -> [Range; 14] {
    let [across, down] = match pixels {
        Some(pixels) => {
            [Range::signed(TranslateX, pixels, Step::Whole), Range::signed(TranslateY, pixels, Step::Whole)]
        }
        None => [
            Range::signed(TranslateX, SHARE, Step::Whole).of(Unit::Width),
            Range::signed(TranslateY, SHARE, Step::Whole).of(Unit::Height),
        ],
    };
    [
        own,
        Range::signed(ShearX, shear, Step::Exact),
        Range::signed(ShearY, shear, Step::Exact),
        across,
        down,
        Range::signed(Rotate, rotate, Step::Exact),
        Range::mirrored(Brightness, enhancer),
        Range::mirrored(Color, enhancer),
        Range::mirrored(Contrast, enhancer),
        Range::mirrored(Sharpness, enhancer),
        Range::new(Posterize, 8.0, bits, Step::Nearest),
        Range::new(Solarize, 255.0, 0.0, Step::Exact),
        Range::plain(AutoContrast),
        Range::plain(Equalize),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    /// What `tests/golden/make.py` wrote: for each operation the values of its levels, and whether a coin says the sign.
    #[derive(Deserialize)]
    struct Spaces {
        height: usize,
        width: usize,
        #[serde(rename = "trivial-wide")]
        wide: BTreeMap<String, (Vec<f64>, bool)>,
        rand: BTreeMap<String, (Vec<f64>, bool)>,
        auto: BTreeMap<String, (Vec<f64>, bool)>,
        published: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
    }

    fn spaces() -> (Spaces, Moment) {
        let spaces: Spaces = serde_json::from_str(include_str!("../tests/golden/spaces.json"))
            .expect("spaces.json is what make.py wrote");
        let moment = Moment { height: spaces.height, width: spaces.width, progress: 0.0 };
        (spaces, moment)
    }

    #[test]
    fn torchvisions_spaces_are_torchvisions() {
        let (spaces, moment) = spaces();
        for (ours, theirs, top) in [
            (TORCHVISION_WIDE, spaces.wide, 30.0),
            (TORCHVISION_RAND, spaces.rand, 30.0),
            (TORCHVISION_AUTO, spaces.auto, 9.0),
        ] {
            assert_eq!(ours.len(), theirs.len());
            for range in ours {
                let (magnitudes, signed) = &theirs[range.operation.name()];
                assert_eq!(range.signed, *signed, "{range:?}");
                for (level, &magnitude) in magnitudes.iter().enumerate() {
                    for side in if *signed { &[1.0, -1.0][..] } else { &[1.0] } {
                        let theirs = side * magnitude;
                        let found = range.value(level as f64, top, *side < 0.0, moment);
                        let near = |expected: f64| (found - expected).abs() <= 1e-6 * expected.abs();
                        let agrees = match range.operation {
                            TranslateX | TranslateY => found == theirs.trunc() || near(theirs),
                            Brightness | Color | Contrast | Sharpness => near(1.0 + theirs),
                            // Whole numbers are compared with it.
                            Solarize => near(theirs) && found.ceil() == theirs.ceil(),
                            Posterize => found == theirs,
                            _ => near(theirs),
                        };
                        assert!(agrees, "{range:?} at {level}: {found}, not {theirs}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_authors_spaces_are_as_published() {
        let (spaces, moment) = spaces();
        for (ours, name, top) in [(RA, "ra", 30.0), (WIDE, "wide", 30.0), (AUTO, "auto", 9.0)] {
            let theirs = &spaces.published[name];
            for range in ours {
                let moved = matches!(range.operation, ShearX | ShearY | TranslateX | TranslateY | Rotate);
                assert_eq!(range.signed, moved, "{range:?}");
                let Some(values) = theirs.get(range.operation.name()) else {
                    assert_eq!(range.value(top, top, false, moment), 0.0, "{range:?}");
                    continue;
                };
                for (level, &expected) in values.iter().enumerate() {
                    let found = range.value(level as f64, top, false, moment);
                    // TrivialAugment's in the order of its arithmetic, AutoAugment's up to rounding.
                    let slack = if name == "auto" { 1e-12 } else { 0.0 };
                    assert!(
                        (found - expected).abs() <= slack,
                        "{range:?} at {level}: {found}, not {expected}"
                    );
                }
                assert_eq!(values.len(), top as usize + 1);
                if moved {
                    assert_eq!(range.value(top, top, true, moment), -range.value(top, top, false, moment));
                }
            }
            assert_eq!(ours.iter().filter(|range| theirs.contains_key(range.operation.name())).count(), 11);
        }
    }

    #[test]
    fn uniform_augments_ranges_end_where_fast_auto_augments_do() {
        let (_, moment) = spaces();
        let ends = |operation: Operation| {
            let range = UNIFORM.iter().find(|range| range.operation == operation).expect("in the space");
            [range.value(0.0, 1.0, range.signed, moment), range.value(1.0, 1.0, false, moment)]
        };
        assert_eq!(ends(ShearX), [0.0, 0.3]);
        assert_eq!(ends(ShearY), [0.0, 0.3]);
        assert_eq!(ends(TranslateX), [0.0, 0.45 * 56.0]);
        assert_eq!(ends(TranslateY), [0.0, 0.45 * 40.0]);
        assert_eq!(ends(Rotate), [0.0, 30.0]);
        assert_eq!(ends(Solarize), [0.0, 256.0]);
        assert_eq!(ends(Posterize), [4.0, 8.0]);
        assert_eq!(ends(Cutout), [0.0, 0.2 * 56.0]);
        for enhancer in [Contrast, Color, Brightness, Sharpness] {
            assert_eq!(ends(enhancer), [0.1, 1.9]);
        }
    }
}
