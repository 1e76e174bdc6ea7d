//! Posterize: keeps the highest round(m) of the eight bits of a value. Both gradients are straight-through: the
//! identity to the image, 1 for every value to m.

use super::Magnitude;
use super::pointwise::pointwise_kernel;
use crate::math::truncate;

/// The bits of a level that stay; all ones from eight bits on, where the value is left as it is.
fn kept_bits(m: f32) -> u32 {
    let dropped = 8 - m.round_ties_even().clamp(0.0, 8.0) as u32;
    u32::MAX << dropped
}

pointwise_kernel! {
    Definition {
        name: "Posterize",
        magnitude: Some(Magnitude { range: (2.0, 8.0), limits: (0.0, 8.0), identity: 8.0, unit: "bits" }),
    },
    apply: |m: f32| {
        let kept = kept_bits(m);
        move |x: f32| {
            let quantised = (truncate(255.0 * x, 255.0) as u32 & kept) as i32 as f32 / 255.0;
            if kept == u32::MAX { x } else { quantised }
        }
    },
    pullback: |_: f32| |_: f32, g: f32| (g, g),
}
