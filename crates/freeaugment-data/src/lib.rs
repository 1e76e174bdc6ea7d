//! Data sets, from files on disk to batches that a policy and a network take.
//!
//! [`open`] recognises what kind of data a folder holds and lists it as a [`Dataset`]: classes, labels, splits, and a
//! [`Source`] that decodes one [`Picture`] at a time. [`Dataset::scan`] reads the images that will be used, names those
//! that cannot be read, measures mean and deviation, and keeps the decoded pictures where they fit into memory. A
//! [`Pipeline`] says what happens to a picture before and after the policy; a [`Loader`] prepares batches on threads of
//! its own, always the same ones for the same seed. [`Synthetic`] draws a data set whose right policy is known.

mod batch;
mod dataset;
mod error;
mod loader;
mod order;
mod picture;
mod pipeline;
mod reader;
mod resample;
mod split;
mod synthetic;

/// Files that Python programs write, read as plain data: nothing in them is ever run.
pub mod python {
    pub use crate::reader::npz::read as read_npz;
    pub use crate::reader::numpy::{Array, Elements};
    pub use crate::reader::pickle::{Value, parse as parse_pickle};
}

pub use batch::PictureBatch;
pub use dataset::{DataKind, Dataset, Scan, Scanned, Source, Splits, Unreadable};
pub use error::Error;
pub use loader::Loader;
pub use order::{Order, Sequence};
pub use picture::Picture;
pub use pipeline::{Crop, Pipeline, View};
pub use reader::open;
pub use split::{halve, take_stratified};
pub use synthetic::{Plant, Synthetic};
