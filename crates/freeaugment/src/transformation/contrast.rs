//! Contrast: clamp(x·m).

use super::Magnitude;
use super::pointwise::{clamp01, clamp01_pullback, pointwise_kernel};

pointwise_kernel! {
    Definition {
        name: "Contrast",
        magnitude: Some(Magnitude { range: (0.4, 2.0), limits: (0.0, 10.0), identity: 1.0, unit: "times" }),
    },
    apply: |m: f32| move |x: f32| clamp01(x * m),
    pullback: |m: f32| move |x: f32, g: f32| {
        let g = clamp01_pullback(x * m, g);
        (g * m, g * x)
    },
}
