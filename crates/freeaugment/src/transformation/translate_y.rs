//! TranslateY: moves down by a fraction m of the height.

use super::shift::{Axis, Shifted};
use super::{Definition, Magnitude};

pub(super) static KERNEL: Shifted = Shifted {
    definition: Definition {
        name: "TranslateY",
        magnitude: Some(Magnitude { range: (-0.5, 0.5), limits: (-1.0, 1.0), identity: 0.0, unit: "of the height" }),
    },
    axis: Axis::Y,
    distance: |image, _| image.height,
};
