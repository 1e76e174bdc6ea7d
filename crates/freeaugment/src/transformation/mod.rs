//! The elementary transformations and their pullbacks.
//!
//! Each file here is one transformation: its definition, its value, its pullback. To add one, write a file that exports
//! a `KERNEL` and name it under `later` in the list of [`transformations!`]; nothing else in the crate lists them.
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
pub(crate) use rotate::{BLOCK as ROTATE_BLOCK, Positions, RING, Turn};
pub(crate) use shift::{Axis, Shifted};

use std::fmt;

use rayon::prelude::*;

use crate::chain::Affine;
use crate::eight_bit::{Levels, Picture, through_floats};
use crate::error::{Error, check_length, check_value};
use crate::image::{Image, Images, Shape};
use crate::view::{ImagesMut, ImagesRef};
use crate::work::{Scratch, Work, with_work};
use freeaugment_base::nearest;

/// Declares the modules and the table of all transformations, the paper's first.
macro_rules! transformations {
    (paper: $($paper:ident),*; later: $($(#[$condition:meta])? $later:ident),*;) => {
        $(mod $paper;)*
        $($(#[$condition])? mod $later;)*
        static ALL: &[Transformation] = &[
            $(Transformation(&$paper::KERNEL),)*
            $($(#[$condition])? Transformation(&$later::KERNEL),)*
        ];
        const PAPER: [Transformation; 14] = [$(Transformation(&$paper::KERNEL)),*];
    };
}

transformations! {
    paper:
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
    equalize;
    later:
    #[cfg(test)] unchanged;
}

/// What a transformation is called and what magnitudes it takes.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) magnitude: Option<Magnitude>,
}

/// The magnitudes of a transformation, in its own units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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

    /// Whether a table of levels says all that it does to bytes. If so, [`Self::apply_bytes`] is not called.
    fn levels(&self) -> Levels {
        Levels::Neighbours
    }

    /// Writes the transformed image of bytes into `out`, without gaps, in the order in which the image lies.
    fn apply_bytes(&self, image: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
        through_floats(self, image, m, out, scratch);
    }

    /// Where pixels of the transformed image are read, if it moves pixels: of the image's height, width, and of m.
    fn source(&self, _height: usize, _width: usize, _m: f32) -> Option<Affine> {
        None
    }
}

/// An elementary transformation of images.
#[derive(Clone, Copy)]
pub struct Transformation(&'static dyn Kernel);

impl Transformation {
    /// The paper's fourteen, in the order of its table. The default policy chooses from these, and they stay what they
    /// are: a seed gives the same augmentations however many transformations there will be.
    pub const PAPER: [Self; 14] = PAPER;

    /// All transformations there are: the paper's, and after them those that came later.
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

    /// Whether it moves pixels, and with them boxes and masks; others change them where they are.
    pub fn moves_pixels(self) -> bool {
        self.0.source(1, 1, 0.0).is_some()
    }

    /// Transforms a batch, with one magnitude (in own units) per image; none at all where [`Self::magnitude`] is none.
    pub fn apply<'a>(self, images: impl Into<ImagesRef<'a>>, magnitudes: &[f32]) -> Result<Images, Error> {
        let images = images.into();
        self.check(images.shape(), magnitudes)?;
        let mut out = Images::black(images.shape())?;
        ImagesMut::from(&mut out).fill(|b, out, Work { scratch, gathered, .. }| {
            let m = magnitudes.get(b).copied().unwrap_or_default();
            self.0.apply(images.image(b, gathered), m, out, scratch);
        });
        Ok(out)
    }

    /// Pulls the cotangent of [`Self::apply`]'s result back: the gradients to the images and to the magnitudes. The
    /// cotangent and the gradient to the images are `[batch, channel, height, width]` without gaps.
    pub fn pullback<'a>(
        self,
        images: impl Into<ImagesRef<'a>>,
        magnitudes: &[f32],
        cotangent: &[f32],
    ) -> Result<(Vec<f32>, Vec<f32>), Error> {
        let images = images.into();
        let shape = images.shape();
        self.check(shape, magnitudes)?;
        check_length("the cotangent", cotangent.len(), shape.checked_len()?)?;
        let size = shape.image();
        let mut grad = vec![0.0; cotangent.len()];
        let mut to_magnitude = vec![0.0; shape.count];
        (grad.par_chunks_exact_mut(size), cotangent.par_chunks_exact(size), &mut to_magnitude)
            .into_par_iter()
            .enumerate()
            .for_each(|(b, (grad, cotangent, to_magnitude))| {
                let m = magnitudes.get(b).copied().unwrap_or_default();
                *to_magnitude = with_work(|Work { scratch, gathered, .. }| {
                    self.0.pullback(images.image(b, gathered), m, cotangent, 1.0, grad, scratch)
                });
            });
        to_magnitude.truncate(magnitudes.len());
        Ok((grad, to_magnitude))
    }

    pub(crate) fn kernel(self) -> &'static dyn Kernel {
        self.0
    }

    fn check(self, shape: Shape, magnitudes: &[f32]) -> Result<(), Error> {
        let Some(Magnitude { limits: (low, high), .. }) = self.magnitude() else {
            return check_length("the list of magnitudes", magnitudes.len(), 0);
        };
        check_length("the list of magnitudes", magnitudes.len(), shape.count)?;
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
