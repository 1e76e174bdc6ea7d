//! The elementary transformations and their pullbacks.
//!
//! Each file here is one transformation: its definition, its value, its pullback. To add one, write a file that exports
//! a `KERNEL` and name it in the list of [`transformations!`]; nothing else in the crate lists them.
//!
//! ```
//! use freeaugment::{Images, Shape, Transformation};
//!
//! let shape = Shape { count: 1, channels: 1, height: 1, width: 3 };
//! let images = Images::new(vec![0.0, 0.5, 1.0], shape)?;
//! let brightness = Transformation::named("Brightness")?;
//! let brighter = brightness.apply(&images, &[0.25])?;
//! assert_eq!(brighter.as_slice(), [0.25, 0.75, 1.0]);
//! // The last pixel is clamped, so the magnitude moves only the first two.
//! let (_, to_magnitude) = brightness.pullback(&images, &[0.25], &[1.0, 1.0, 1.0])?;
//! assert_eq!(to_magnitude, [2.0]);
//! # Ok::<(), freeaugment::Error>(())
//! ```

mod pointwise;
mod shift;

pub(crate) use pointwise::{add_scaled, clamp01, clamp01_pullback, dot};

use std::fmt;

use rayon::prelude::*;

use crate::error::{Error, check_length, check_value};
use crate::image::{Image, Images};
use crate::work::{Scratch, with_scratch};
use freeaugment_base::nearest;

/// Declares the modules and the table of all transformations; the order of this list is their index in every policy.
macro_rules! transformations {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        static ALL: &[Transformation] = &[$(Transformation(&$module::KERNEL)),*];
    };
}

transformations! {
    shear_x,
    shear_y,
    translate_x,
    translate_y,
    rotate,
    solarize,
    posterize,
    contrast,
    color,
    brightness,
    sharpness,
    auto_contrast,
    invert,
    equalize,
}

/// What a transformation is called and what magnitudes it takes.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) magnitude: Option<Magnitude>,
}

/// The magnitudes of a transformation, in its own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Magnitude {
    /// Lowest and highest magnitude of the paper's search space.
    pub range: (f32, f32),
    /// How far a user may widen that range.
    pub limits: (f32, f32),
    /// The magnitude at which nothing changes.
    pub identity: f32,
    /// What it counts, for people: `degrees`, `bits`…
    pub unit: &'static str,
}

/// One transformation of one image. `m` is the magnitude in own units and is ignored where there is none.
pub(crate) trait Kernel: Sync {
    fn definition(&self) -> &Definition;

    /// Writes the transformed image into `out`.
    fn apply(&self, image: Image<'_>, m: f32, out: &mut [f32], scratch: &mut Scratch);

    /// The inner product of the transformed image, which is not stored, with a cotangent.
    fn inner(&self, image: Image<'_>, m: f32, cotangent: &[f32], scratch: &mut Scratch) -> f32;

    /// Adds `weight` times the gradient to the image into `grad`; returns the gradient to `m` (without the weight).
    fn pullback(
        &self,
        image: Image<'_>,
        m: f32,
        cotangent: &[f32],
        weight: f32,
        grad: &mut [f32],
        scratch: &mut Scratch,
    ) -> f32;
}

/// An elementary transformation of images.
#[derive(Clone, Copy)]
pub struct Transformation(&'static dyn Kernel);

impl Transformation {
    /// All transformations, in the order of the paper's table.
    pub fn all() -> &'static [Self] {
        ALL
    }

    /// The transformation of this name, such as `Rotate`.
    pub fn named(name: &str) -> Result<Self, Error> {
        ALL.iter().copied().find(|t| t.name() == name).ok_or_else(|| Error::UnknownTransformation {
            name: name.chars().take(40).collect(),
            nearest: nearest(name, ALL.iter().map(|t| t.name())),
            all: ALL.iter().map(|t| t.name()).collect::<Vec<_>>().join(", "),
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.definition().name
    }

    /// The magnitudes it takes, if it takes any.
    pub fn magnitude(self) -> Option<Magnitude> {
        self.0.definition().magnitude
    }

    /// Transforms a batch, with one magnitude (in own units) per image; none at all where [`Self::magnitude`] is none.
    pub fn apply(self, images: &Images, magnitudes: &[f32]) -> Result<Images, Error> {
        self.check(images, magnitudes)?;
        let shape = images.shape();
        let mut out = images.clone();
        let size = shape.image();
        (out.as_mut_slice().par_chunks_exact_mut(size), images.as_slice().par_chunks_exact(size))
            .into_par_iter()
            .enumerate()
            .for_each(|(b, (out, image))| {
                let m = magnitudes.get(b).copied().unwrap_or_default();
                with_scratch(|scratch| self.0.apply(Image::new(image, shape), m, out, scratch));
            });
        Ok(out)
    }

    /// Pulls the cotangent of [`Self::apply`]'s result back: the gradients to the images and to the magnitudes.
    pub fn pullback(
        self,
        images: &Images,
        magnitudes: &[f32],
        cotangent: &[f32],
    ) -> Result<(Vec<f32>, Vec<f32>), Error> {
        self.check(images, magnitudes)?;
        check_length("the cotangent", cotangent.len(), images.as_slice().len())?;
        let shape = images.shape();
        let size = shape.image();
        let mut grad = vec![0.0; cotangent.len()];
        let mut to_magnitude = vec![0.0; shape.count];
        (grad.par_chunks_exact_mut(size), images.as_slice().par_chunks_exact(size), &mut to_magnitude)
            .into_par_iter()
            .zip(cotangent.par_chunks_exact(size))
            .enumerate()
            .for_each(|(b, ((grad, image, to_magnitude), cotangent))| {
                let m = magnitudes.get(b).copied().unwrap_or_default();
                *to_magnitude = with_scratch(|scratch| {
                    self.0.pullback(Image::new(image, shape), m, cotangent, 1.0, grad, scratch)
                });
            });
        to_magnitude.truncate(magnitudes.len());
        Ok((grad, to_magnitude))
    }

    pub(crate) fn kernel(self) -> &'static dyn Kernel {
        self.0
    }

    fn check(self, images: &Images, magnitudes: &[f32]) -> Result<(), Error> {
        let Some(Magnitude { limits: (low, high), .. }) = self.magnitude() else {
            return check_length("the list of magnitudes", magnitudes.len(), 0);
        };
        check_length("the list of magnitudes", magnitudes.len(), images.shape().count)?;
        for &m in magnitudes {
            check_value(format!("the magnitude of {}", self.name()), m.into(), low.into(), high.into())?;
        }
        Ok(())
    }
}

impl PartialEq for Transformation {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for Transformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
