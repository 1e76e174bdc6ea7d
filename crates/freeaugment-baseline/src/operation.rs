//! Operations on 8-bit images, as PIL does them.

/// An operation. The unit of its value is said with it; where none is said, the value is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Nothing.
    Identity,
    /// Horizontal shear: columns per row.
    ShearX,
    /// Vertical shear: rows per column.
    ShearY,
    /// Pixels: to the left where positive, for the place that is looked at moves to the right.
    TranslateX,
    /// Pixels: upwards where positive.
    TranslateY,
    /// Degrees, counter-clockwise.
    Rotate,
    /// The factor of PIL's enhancer: 1 leaves the image as it is.
    Brightness,
    /// The factor of PIL's enhancer.
    Color,
    /// The factor of PIL's enhancer.
    Contrast,
    /// The factor of PIL's enhancer.
    Sharpness,
    /// Bits that are kept, cut off to a whole number.
    Posterize,
    /// Values from this one on (0 to 256) are inverted.
    Solarize,
    /// Added to values below 128, cut off to a whole number.
    SolarizeAdd,
    /// PIL's autocontrast.
    AutoContrast,
    /// PIL's equalize.
    Equalize,
    /// 255 minus the value.
    Invert,
    /// The side of a grey square, in pixels; at 0 there is none.
    Cutout,
    /// Turned by this share of the colour circle, -0.5 to 0.5; torchvision's, which rounds even when nothing turns.
    Hue,
    /// Colours become grey.
    Grayscale,
    /// Mirrored left to right.
    Flip,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Identity,
        Self::ShearX,
        Self::ShearY,
        Self::TranslateX,
        Self::TranslateY,
        Self::Rotate,
        Self::Brightness,
        Self::Color,
        Self::Contrast,
        Self::Sharpness,
        Self::Posterize,
        Self::Solarize,
        Self::SolarizeAdd,
        Self::AutoContrast,
        Self::Equalize,
        Self::Invert,
        Self::Cutout,
        Self::Hue,
        Self::Grayscale,
        Self::Flip,
    ];

    /// The name, as PIL-based code spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "Identity",
            Self::ShearX => "ShearX",
            Self::ShearY => "ShearY",
            Self::TranslateX => "TranslateX",
            Self::TranslateY => "TranslateY",
            Self::Rotate => "Rotate",
            Self::Brightness => "Brightness",
            Self::Color => "Color",
            Self::Contrast => "Contrast",
            Self::Sharpness => "Sharpness",
            Self::Posterize => "Posterize",
            Self::Solarize => "Solarize",
            Self::SolarizeAdd => "SolarizeAdd",
            Self::AutoContrast => "AutoContrast",
            Self::Equalize => "Equalize",
            Self::Invert => "Invert",
            Self::Cutout => "Cutout",
            Self::Hue => "Hue",
            Self::Grayscale => "Grayscale",
            Self::Flip => "Flip",
        }
    }

    /// What its value is measured in; none where it has none.
    pub const fn unit(self) -> Option<&'static str> {
        match self {
            Self::ShearX | Self::ShearY => Some("slope"),
            Self::TranslateX | Self::TranslateY | Self::Cutout => Some("pixels"),
            Self::Rotate => Some("degrees"),
            Self::Brightness | Self::Color | Self::Contrast | Self::Sharpness => Some("factor"),
            Self::Posterize => Some("bits"),
            Self::Solarize | Self::SolarizeAdd => Some("levels"),
            Self::Hue => Some("of the colour circle"),
            _ => None,
        }
    }
}
