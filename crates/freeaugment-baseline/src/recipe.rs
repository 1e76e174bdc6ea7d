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

impl Recipe {
    /// What is done and when, in one line, for a baseline that has operations or none.
    pub(crate) fn words(&self, operations: bool) -> String {
        let crop = match self.crop {
            Crop::None => return "images as they are: no crop, no flip, no cutout".to_owned(),
            Crop::Standard => "crop".to_owned(),
            Crop::Resized { scale: [least, most] } => {
                format!("crop ({:.0} to {:.0} % of the area, resized)", 100.0 * least, 100.0 * most)
            }
        };
        match (operations, self.order) {
            (false, _) => format!("{crop}, flip and cutout as the settings have them"),
            (true, Order::After) => {
                format!("{crop} and flip as the settings have them, then the operations, then cutout")
            }
            (true, Order::Before) => format!(
                "the operations, then {crop}, flip and cutout as the settings have them; large images are cropped first"
            ),
        }
    }
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
