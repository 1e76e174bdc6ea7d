//! What a baseline's recipe does beside its operations.

/// The part of an augmentation that the data pipeline does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// How images are cropped.
    pub crop: Crop,
    /// Whether every other image is mirrored left to right.
    pub flip: bool,
    /// When the operations come.
    pub order: Order,
}

/// How images are cropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crop {
    /// Not at all.
    None,
    /// As is usual for the data: padded by 4 pixels and cropped to its size, or resized from a random part.
    Standard,
    /// Resized from a random part with this share of the area.
    Resized {
        /// The least and the greatest share.
        scale: [f64; 2],
    },
}

/// When the operations come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Before crop and flip.
    Before,
    /// After them.
    After,
}
