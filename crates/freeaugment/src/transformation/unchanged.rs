//! A fifteenth transformation, which leaves every image as it is. It exists in this crate's own tests alone, where it
//! stands for all that will be added: what it must not change is tested with it (`tests/default.rs`).

use super::pointwise::pointwise_kernel;

pointwise_kernel! {
    Definition { name: "Unchanged", magnitude: None },
    apply: |_: f32| |x: f32| x,
    pullback: |_: f32| |_: f32, g: f32| (g, 0.0),
}
