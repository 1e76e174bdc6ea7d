//! What several targets do with what they read.

mod published;
mod run;

pub use published::{DEEPAA, NPY, archive, deepaa, torch, use_named, use_published};
pub use run::{Runs, read_file, small_search, split_checkpoint};
