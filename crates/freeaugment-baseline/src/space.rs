//! Which operations there are to draw from, and what a level of each means.

use freeaugment::random::Stream;

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
    /// As `torch.linspace` gives it in single precision.
    Torch,
    /// The same, cut off to a whole number.
    TorchWhole,
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
        Self { base: 1.0, ..Self::signed(operation, span, Step::Torch) }
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
        let linspace = || {
            // What lies on one side of the base is one sequence with it in torchvision, and rounded as such.
            let start = if self.signed { 0.0 } else { self.base };
            linspace(start as f32, (start + span) as f32, level as f32, top as f32) - start
        };
        match self.step {
            Step::Exact => level * span / top,
            Step::Whole => (level * span / top).trunc(),
            Step::Nearest => (level * span / top).round(),
            Step::Torch => linspace(),
            Step::TorchWhole => linspace().trunc(),
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

/// From both ends in steps of single precision.
fn linspace(start: f32, end: f32, level: f32, top: f32) -> f64 {
    let step = (end - start) / top;
    let value = if 2.0 * level < top { start + step * level } else { end - step * (top - level) };
    f64::from(value)
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

/// torchvision's spaces of AutoAugment, RandAugment and TrivialAugment Wide.
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
        Some(pixels) => [
            Range::signed(TranslateX, pixels, Step::TorchWhole),
            Range::signed(TranslateY, pixels, Step::TorchWhole),
        ],
        None => [
            Range::signed(TranslateX, SHARE, Step::TorchWhole).of(Unit::Width),
            Range::signed(TranslateY, SHARE, Step::TorchWhole).of(Unit::Height),
        ],
    };
    [
        own,
        Range::signed(ShearX, shear, Step::Torch),
        Range::signed(ShearY, shear, Step::Torch),
        across,
        down,
        Range::signed(Rotate, rotate, Step::Torch),
        Range::mirrored(Brightness, enhancer),
        Range::mirrored(Color, enhancer),
        Range::mirrored(Contrast, enhancer),
        Range::mirrored(Sharpness, enhancer),
        Range::new(Posterize, 8.0, bits, Step::Nearest),
        Range::new(Solarize, 255.0, 0.0, Step::Torch),
        Range::plain(AutoContrast),
        Range::plain(Equalize),
    ]
}
