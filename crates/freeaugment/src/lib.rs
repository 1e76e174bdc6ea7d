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
//! The method is that of "FreeAugment: Data Augmentation Search Across All Degrees of Freedom" (ECCV 2024).

mod error;
mod image;
mod policy;
pub mod sampling;
mod transformation;
mod work;

use freeaugment_base::{document, math, random};

pub use error::Error;
pub use image::{Images, Shape};
pub use policy::{
    Assignment, DepthKind, Description, Estimator, FileError, FileProblem, Gradients, Groups, MagnitudeKind,
    MagnitudeRange, Noise, Parameters, Place, Policy, PolicyConfig, Provenance, RangedTransformation, Sample,
    SampleGradients, Sharing, TypesKind, VERSION,
};
pub use transformation::{Magnitude, Transformation};
