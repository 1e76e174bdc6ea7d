//! Invert: 1 - x.

use super::pointwise::pointwise_kernel;

pointwise_kernel! {
    Definition { name: "Invert", magnitude: None },
    apply: |_: f32| |x: f32| 1.0 - x,
    pullback: |_: f32| |_: f32, g: f32| (-g, 0.0),
}
