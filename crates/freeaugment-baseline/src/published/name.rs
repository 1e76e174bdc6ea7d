//! The operations of all authors, as they call them.

use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::{Deserialize, Serialize};

use super::draw::Draw;
use crate::operation::Operation;

/// An operation. What it does at which level is for each system to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Name {
    Identity,
    ShearX,
    ShearY,
    TranslateX,
    TranslateY,
    TranslateXAbs,
    TranslateYAbs,
    Rotate,
    AutoContrast,
    Invert,
    Equalize,
    Solarize,
    SolarizeAdd,
    Posterize,
    Posterize2,
    Contrast,
    Color,
    Brightness,
    Sharpness,
    Hue,
    Grayscale,
    Cutout,
    CutoutAbs,
    RandFlip,
    RandCrop,
    RandCutout,
    RandCutout60,
    #[serde(alias = "RandResizeCrop_imagenet")]
    RandResizeCrop,
    RandomCrop,
    RandomResizeCrop,
}

impl Name {
    /// From the word in an author's file.
    pub(super) fn parse(word: &str) -> Result<Self, String> {
        let word: String = word.chars().take(40).collect();
        Self::deserialize(StrDeserializer::<ValueError>::new(&word))
            .map_err(|_| format!("there is no operation `{word}`"))
    }

    /// An operation that no [`Operation`] does: nothing happens in its place.
    pub(super) fn is_missing(self) -> bool {
        matches!(self, Self::RandResizeCrop | Self::RandomResizeCrop)
    }
}

/// From a level of 0 to 1 to a value between two ends.
pub(super) fn between(level: f64, low: f64, high: f64) -> f64 {
    low + level * (high - low)
}

/// The operations of Fast AutoAugment.
pub(super) const FAST: [Name; 19] = [
    Name::ShearX,
    Name::ShearY,
    Name::TranslateX,
    Name::TranslateY,
    Name::Rotate,
    Name::AutoContrast,
    Name::Invert,
    Name::Equalize,
    Name::Solarize,
    Name::Posterize,
    Name::Contrast,
    Name::Color,
    Name::Brightness,
    Name::Sharpness,
    Name::Cutout,
    Name::CutoutAbs,
    Name::Posterize2,
    Name::TranslateXAbs,
    Name::TranslateYAbs,
];

/// What Deep AutoAugment adds to them.
pub(super) const DEEP: [Name; 6] = [
    Name::Identity,
    Name::RandFlip,
    Name::RandCutout,
    Name::RandCrop,
    Name::RandResizeCrop,
    Name::RandCutout60,
];

/// The space of Fast AutoAugment, which DADA and Deep AutoAugment share: values go up with the level from one end to
/// the other, and a coin turns geometric operations around.
pub(super) fn act_fast(draw: &mut Draw<'_>, name: Name, level: f64) {
    let (width, height) = (draw.moment.width as f64, draw.moment.height as f64);
    let value = |low, high| between(level, low, high);
    match name {
        Name::ShearX => draw.either_way(Operation::ShearX, value(-0.3, 0.3)),
        Name::ShearY => draw.either_way(Operation::ShearY, value(-0.3, 0.3)),
        Name::TranslateX => draw.either_way(Operation::TranslateX, width * value(-0.45, 0.45)),
        Name::TranslateY => draw.either_way(Operation::TranslateY, height * value(-0.45, 0.45)),
        Name::TranslateXAbs => draw.either_way(Operation::TranslateX, value(0.0, 10.0)),
        Name::TranslateYAbs => draw.either_way(Operation::TranslateY, value(0.0, 10.0)),
        Name::Rotate => draw.either_way(Operation::Rotate, value(-30.0, 30.0)),
        Name::AutoContrast => draw.act(Operation::AutoContrast, 0.0),
        Name::Invert => draw.act(Operation::Invert, 0.0),
        Name::Equalize => draw.act(Operation::Equalize, 0.0),
        Name::Solarize => draw.act(Operation::Solarize, value(0.0, 256.0)),
        Name::Posterize => draw.act(Operation::Posterize, value(4.0, 8.0).floor()),
        Name::Posterize2 => draw.act(Operation::Posterize, value(0.0, 4.0).floor()),
        Name::Contrast => draw.act(Operation::Contrast, value(0.1, 1.9)),
        Name::Color => draw.act(Operation::Color, value(0.1, 1.9)),
        Name::Brightness => draw.act(Operation::Brightness, value(0.1, 1.9)),
        Name::Sharpness => draw.act(Operation::Sharpness, value(0.1, 1.9)),
        Name::Cutout => draw.cutout(width * value(0.0, 0.2)),
        Name::CutoutAbs => draw.cutout(value(0.0, 20.0)),
        Name::RandFlip if draw.happens(0.5) => draw.act(Operation::Flip, 0.0),
        Name::RandCutout => draw.cutout(16.0),
        Name::RandCutout60 => draw.cutout(60.0),
        Name::RandCrop => draw.padded_crop(4),
        Name::Identity => draw.act(Operation::Identity, 0.0),
        // The others are not of this space, see `is_missing` and the checks of the systems.
        _ => {}
    }
}
