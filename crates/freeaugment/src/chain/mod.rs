//! What happens to one image: a chain of transformations, each with its magnitude. A chain can be read, written down and
//! made again, and it can be applied to images, to masks and to points.

mod affine;
mod apply;
mod mask;

pub use affine::Affine;

use std::fmt;

use crate::error::{Error, check_value};
use crate::transformation::Transformation;

/// One transformation with its magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The transformation.
    pub transformation: Transformation,
    /// Its magnitude in own units (degrees, bits…); none where [`Transformation::magnitude`] is none.
    pub magnitude: Option<f32>,
}

impl Step {
    /// Where the transformation moves the points of an image of this size; none where pixels stay in their places. It
    /// leads from the image to the transformed image; the other way, by which pixels are read, is its
    /// [inverse](Affine::inverse).
    pub fn affine(self, height: usize, width: usize) -> Option<Affine> {
        self.source(height, width).map(Affine::inverse)
    }

    /// Where the pixels of the transformed image are read in the image.
    pub(crate) fn source(self, height: usize, width: usize) -> Option<Affine> {
        self.transformation.kernel().source(height, width, self.units())
    }

    /// The magnitude as kernels take it.
    pub(crate) fn units(self) -> f32 {
        self.magnitude.unwrap_or_default()
    }

    fn check(self) -> Result<(), Error> {
        let name = self.transformation.name();
        match (self.transformation.magnitude(), self.magnitude) {
            (Some(known), Some(m)) => {
                let (low, high) = known.limits;
                check_value(format!("the magnitude of {name}"), m.into(), low.into(), high.into())
            }
            (None, None) => Ok(()),
            (Some(_), None) => Err(Error::MagnitudeMissing(name)),
            (None, Some(_)) => Err(Error::MagnitudeNeedless(name)),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.magnitude {
            Some(m) => write!(f, "{}({m})", self.transformation.name()),
            None => f.write_str(self.transformation.name()),
        }
    }
}

/// The transformations of one image, the first one first. Where there are none, the image stays as it is.
///
/// A policy draws chains ([`Policy::chain`](crate::Policy::chain)); one that was written down is made again by
/// [`Chain::new`] and does the same to the same image.
///
/// ```
/// use freeaugment::{Chain, ImagesMut, ImagesRef, PolicyConfig, Shape};
///
/// let policy = PolicyConfig::default().init()?;
/// let chain = policy.chain(/* seed */ 0, /* epoch */ 3, /* image */ 17);
/// for step in chain.steps() {
///     println!("{} {:?}", step.transformation.name(), step.magnitude);
/// }
///
/// // One image as Pillow and NumPy have it: bytes, [height, width, channel].
/// let shape = Shape { count: 1, channels: 3, height: 8, width: 8 };
/// let pixels = vec![128_u8; 8 * 8 * 3];
/// let mut augmented = vec![0_u8; pixels.len()];
/// let image = ImagesRef::interleaved(&pixels, shape)?;
/// chain.apply_into(image, ImagesMut::interleaved(&mut augmented, shape)?)?;
///
/// let again = Chain::new(chain.steps().to_vec())?;
/// assert_eq!(again, chain);
/// # Ok::<(), freeaugment::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    steps: Vec<Step>,
}

impl Chain {
    /// A chain of these steps. Magnitudes must be there where they are needed, and within the limits of their
    /// transformation.
    pub fn new(steps: Vec<Step>) -> Result<Self, Error> {
        steps.iter().try_for_each(|step| step.check())?;
        Ok(Self { steps })
    }

    /// Of steps that a policy made and that need no check.
    pub(crate) fn trusted(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// The steps, the first one first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Where the points of an image of this size go, all steps together: for key points and the corners of boxes. A
    /// point may leave the image.
    pub fn affine(&self, height: usize, width: usize) -> Affine {
        let maps = self.steps.iter().filter_map(|step| step.affine(height, width));
        maps.fold(Affine::IDENTITY, Affine::then)
    }
}

impl fmt::Display for Chain {
    /// `Rotate(12.5), Invert`, or `nothing`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.steps.split_first() else { return f.write_str("nothing") };
        write!(f, "{first}")?;
        others.iter().try_for_each(|step| write!(f, ", {step}"))
    }
}
