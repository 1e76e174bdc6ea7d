//! Learnable image-augmentation policies.
mod error;
mod image;
mod math;
pub mod random;
pub mod simd;
pub mod sampling;
mod transformation;
mod work;

pub use error::Error;
pub use image::{Images, Shape};
pub use transformation::{Magnitude, Transformation};
