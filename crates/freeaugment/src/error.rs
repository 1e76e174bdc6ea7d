use thiserror::Error;

use crate::image::Shape;
use crate::view::Strides;

/// What can be wrong with the arguments of this crate's functions. (What can be wrong with a policy file is
/// [`FileError`](crate::FileError).)
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An array has the wrong number of values.
    #[error("{what} has {found} values, but {expected} are needed")]
    Length {
        /// The array.
        what: &'static str,
        /// How many values it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A shape that no batch of images can have.
    #[error(
        "a batch of {count} images with {channels} channels of {height}x{width} pixels cannot be: \
         channels must be 1 or 3, sides at least 1 and the whole must fit into memory"
    )]
    Shape {
        /// Images.
        count: usize,
        /// Channels of each.
        channels: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// Two batches that must have the same shape do not.
    #[error("the batch of results is {found}, but the images are {expected}")]
    OtherShape {
        /// The shape it must have.
        expected: Shape,
        /// The shape it has.
        found: Shape,
    },
    /// Strides that lead out of the array they are for.
    #[error(
        "with strides {strides}, the batch of images reaches over {needed} values, but there are {found}"
    )]
    Reach {
        /// How far neighbours lie apart.
        strides: Strides,
        /// How many values there must be at least.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// Strides by which images cannot be written.
    #[error(
        "a batch {shape} with strides {strides} cannot be written: \
         no two pixels may share a value, and one image must end before the next begins"
    )]
    Overlap {
        /// The batch.
        shape: Shape,
        /// How far neighbours lie apart.
        strides: Strides,
    },
    /// A pixel that is not a number in [0, 1].
    #[error("value {index} of image {image} is {value}, but pixels lie in 0..=1")]
    Pixel {
        /// Number of the image in its batch.
        image: usize,
        /// Position within the image.
        index: usize,
        /// What stands there.
        value: f32,
    },
    /// A number that is not finite or lies outside its limits.
    #[error("{what} is {value}, but must lie in {low}..={high}")]
    Value {
        /// The quantity, with the transformation it belongs to.
        what: String,
        /// What was given.
        value: f64,
        /// Smallest value allowed.
        low: f64,
        /// Largest value allowed.
        high: f64,
    },
    /// No transformation has this name.
    #[error("there is no transformation `{name}`{}; there are {all}", did_you_mean(*.nearest))]
    UnknownTransformation {
        /// The name that was given.
        name: String,
        /// The name that was perhaps meant.
        nearest: Option<&'static str>,
        /// All names.
        all: String,
    },
    /// A step without the magnitude that its transformation takes.
    #[error("{0} needs a magnitude")]
    MagnitudeMissing(&'static str),
    /// A step with a magnitude, of a transformation that takes none.
    #[error("{0} takes no magnitude")]
    MagnitudeNeedless(&'static str),
    /// A transformation stands in a policy twice.
    #[error("the transformation {0} is listed twice")]
    Repeated(&'static str),
}

fn did_you_mean(name: Option<&'static str>) -> String {
    name.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// Checks the length of an array that a caller passed.
pub(crate) fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

/// Checks a number that a caller passed; not-a-number is never inside.
pub(crate) fn check_value(what: impl Into<String>, value: f64, low: f64, high: f64) -> Result<(), Error> {
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(Error::Value { what: what.into(), value, low, high })
    }
}
