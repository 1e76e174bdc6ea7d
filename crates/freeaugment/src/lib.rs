//! Learnable image-augmentation policies: how many transformations, which, in what order and how strong.
//!
//! A [`Policy`] is a distribution over augmentations. Noise is drawn ([`Policy::draw`]) and turned into a sample per
//! image ([`Policy::sample`]): a depth, a transformation for each layer, their magnitudes. The sample is applied to a
//! batch of [`Images`] ([`Policy::apply`]). When a classifier has said how its loss changes with the augmented images,
//! [`Policy::pullback`] turns that into the gradient to the policy's parameters, through the 14 [`Transformation`]s and
//! through the samplers ([`sampling`]). What was learned goes into a JSON file ([`Policy::save`], [`Policy::load`]) and
//! can be read by people ([`Policy::describe`]).
//!
//! Everything is plain Rust on plain arrays; no deep-learning framework is involved. Work is spread over images with
//! rayon, and the same arguments give the same bits for any number of threads and on any instruction set.
//!
//! ```
//! use freeaugment::{Groups, Images, PolicyConfig, Shape};
//!
//! let policy = PolicyConfig::default().init()?;
//! let shape = Shape { count: 2, channels: 3, height: 8, width: 8 };
//! let images = Images::from_u8(&[128; 2 * 8 * 8 * 3], shape)?;
//!
//! let noise = policy.draw(/* seed */ 0, /* epoch */ 0, /* images */ &[0, 1]);
//! let sample = policy.sample(noise, /* temperature */ 1.0)?;
//! let augmented = policy.apply(&images, &sample)?;
//!
//! let cotangent = vec![1.0; augmented.as_slice().len()];
//! let gradients = policy.pullback(&images, &sample, &cotangent, Groups::ALL)?;
//! assert_eq!(gradients.parameters.depth().len(), 8);
//! # Ok::<(), freeaugment::Error>(())
//! ```
//!
//! What is done to one image can be had as a [`Chain`] ([`Policy::chain`]): read, written down, made again, applied to bytes
//! without a detour through floats, and to the masks and points that belong to the image.
//!
//! Arrays of other libraries need not be copied into [`Images`] first: [`ImagesRef`] and [`ImagesMut`] borrow floats or
//! bytes with their dimensions in any order.
//!
//! The method is that of "FreeAugment: Data Augmentation Search Across All Degrees of Freedom" (ECCV 2024).

mod chain;
mod eight_bit;
mod error;
mod image;
mod motion;
mod policy;
pub mod sampling;
mod transformation;
mod view;
mod work;

use freeaugment_base::{document, math, random};

pub use chain::{Affine, Chain, Step};
pub use error::Error;
pub use image::{Images, Shape};
pub use motion::{Motion, Position};
pub use policy::{
    Assignment, DepthKind, Description, Estimator, FileError, FileProblem, Gradients, Groups, MagnitudeKind,
    MagnitudeRange, Noise, Parameters, Place, Policy, PolicyConfig, Provenance, RangedTransformation, Sample,
    SampleGradients, Sharing, TypesKind, VERSION,
};
pub use transformation::{Magnitude, Transformation};
pub use view::{ImagesMut, ImagesRef, Pixel, Strides};

// The example of the front page is compiled and run like every other.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;

// The tests of the default policy run twice: as they are, and here, where there is one more transformation.
#[cfg(test)]
extern crate self as freeaugment;
#[cfg(test)]
#[path = "../tests/default.rs"]
mod default;
