//! Data sets, from files on disk to batches that a policy and a network take.
//!
//! [`open`] recognises what kind of data a folder holds and lists it as a [`Dataset`]: classes, labels, splits, and a
//! [`Source`] that decodes one [`Picture`] at a time. [`Dataset::scan`] reads the images that will be used, names those
//! that cannot be read, measures mean and deviation, and keeps the decoded pictures where they fit into memory. A
//! [`Pipeline`] says what happens to a picture before and after the policy; a [`Loader`] prepares batches on threads of
//! its own, always the same ones for the same seed. [`Synthetic`] draws a data set whose right policy is known. [`Stored`]
//! is an image file that is read to be written again, with its format, its alpha and its colour profile.
//!
//! ```
//! use freeaugment_data::{DataKind, Scan, open};
//!
//! // A folder of two classes, as anyone has them.
//! let folder = tempfile::tempdir()?;
//! for (class, grey) in [("cat", 40), ("dog", 200)] {
//!     std::fs::create_dir(folder.path().join(class))?;
//!     image::GrayImage::from_pixel(8, 6, [grey].into()).save(folder.path().join(class).join("1.png"))?;
//! }
//!
//! let dataset = open(folder.path())?;
//! assert_eq!((dataset.kind, dataset.size), (DataKind::Folder, Some((6, 8))));
//! assert_eq!(dataset.classes, ["cat", "dog"]);
//! assert!(dataset.notes.is_empty(), "nothing about it is surprising");
//!
//! // Every image is read once: what cannot be read is named, the rest is measured and kept.
//! let scanned = dataset.scan(&dataset.splits.train, Scan { cache_bytes: 1 << 20, max_unreadable: 0 }, &|| {})?;
//! let dataset = dataset.with_cache(&scanned);
//! assert_eq!(dataset.read(1)?.pixels[0], 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
    pub use crate::reader::npz::{parse as parse_npz, read as read_npz};
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
#[doc(hidden)]
pub use reader::fuzzing;
pub use reader::stored::{Encoded, Format, Stored};
pub use reader::{list_images, open, read_image};
pub use split::{halve, take_stratified};
pub use synthetic::{Plant, Synthetic};
