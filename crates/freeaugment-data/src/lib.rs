//! Data sets, from files on disk to batches that a policy and a network take.

mod dataset;
mod error;
mod picture;
mod reader;

pub use dataset::{Dataset, Kind, Scan, Scanned, Source, Splits, Unreadable};
pub use error::Error;
pub use picture::Picture;
pub use reader::open;
