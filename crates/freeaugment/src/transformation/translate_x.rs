//! TranslateX: moves to the right by a fraction m of the width.

use super::shift::{Axis, Shifted};
use super::{Definition, Magnitude};

pub(super) static KERNEL: Shifted = Shifted {
    definition: Definition {
        name: "TranslateX",
        magnitude: Some(Magnitude { range: (-0.5, 0.5), limits: (-1.0, 1.0), identity: 0.0, unit: "of the width" }),
    },
    axis: Axis::X,
    distance: |image, _| image.width,
};
