//! Brightness: clamp(x + m).

use super::Magnitude;
use super::pointwise::{clamp01, clamp01_pullback, pointwise_kernel};

pointwise_kernel! {
    Definition {
        name: "Brightness",
        magnitude: Some(Magnitude { range: (-0.4, 0.4), limits: (-1.0, 1.0), identity: 0.0, unit: "added" }),
    },
    apply: |m: f32| move |x: f32| clamp01(x + m),
    pullback: |m: f32| move |x: f32, g: f32| {
        let g = clamp01_pullback(x + m, g);
        (g, g)
    },
}
