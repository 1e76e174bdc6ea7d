//! Learnable image-augmentation policies.
mod math;
pub mod random;
pub mod simd;
