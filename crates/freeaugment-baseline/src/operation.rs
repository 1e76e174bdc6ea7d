//! Operations on 8-bit images, as PIL does them.

/// An operation. The unit of its value is said with it; where none is said, the value is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Nothing.
    Identity,
    /// Horizontal shear: columns per row.
    ShearX,
    /// Vertical shear: rows per column.
    ShearY,
    /// Pixels.
    TranslateX,
    /// Pixels.
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
    /// Bits that are kept.
    Posterize,
    /// Values from this one on (0 to 256) are inverted.
    Solarize,
    /// Added to values below 128.
    SolarizeAdd,
    /// PIL's autocontrast.
    AutoContrast,
    /// PIL's equalize.
    Equalize,
    /// 255 minus the value.
    Invert,
    /// The side of a grey square, in pixels.
    Cutout,
    /// Turned by this share of the colour circle, -0.5 to 0.5.
    Hue,
    /// Colours become grey.
    Grayscale,
    /// Mirrored left to right.
    Flip,
}
