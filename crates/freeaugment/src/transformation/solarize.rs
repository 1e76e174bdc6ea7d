//! Solarize: values from the threshold m on are inverted. Its value jumps with m, so the gradient to m is
//! straight-through: 1 for every value.

use super::Magnitude;
use super::pointwise::pointwise_kernel;

pointwise_kernel! {
    Definition {
        name: "Solarize",
        magnitude: Some(Magnitude { range: (0.6, 1.0), limits: (0.0, 1.0), identity: 1.0, unit: "threshold" }),
    },
    apply: |m: f32| move |x: f32| if x < m { x } else { 1.0 - x },
    pullback: |m: f32| move |x: f32, g: f32| (if x < m { g } else { -g }, g),
}
