//! ShearY: every column moves by m times its number.

use super::shift::{Axis, Shifted};
use super::{Definition, Magnitude};

pub(super) static KERNEL: Shifted = Shifted {
    definition: Definition {
        name: "ShearY",
        magnitude: Some(Magnitude { range: (-0.6, 0.6), limits: (-2.0, 2.0), identity: 0.0, unit: "slope" }),
    },
    axis: Axis::Y,
    distance: |_, x| x,
};
