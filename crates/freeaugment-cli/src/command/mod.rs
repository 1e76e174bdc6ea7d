//! The commands, a file each.

pub(crate) mod apply;
pub(crate) mod compare;
mod configuration;
pub(crate) mod data;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod grid;
pub(crate) mod import;
pub(crate) mod preview;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod resume;
pub(crate) mod search;
mod sheet;
pub(crate) mod show;

use std::path::{Path, PathBuf};

use freeaugment_nn::Device;
use freeaugment_search::{Error, RunWriter, Settings};

use crate::exit::Failure;

/// The folder of a new run: the one that was named, or the next free one in runs/.
fn folder(out: Option<&PathBuf>, kind: &str) -> PathBuf {
    out.cloned().unwrap_or_else(|| RunWriter::free_name(Path::new("runs"), kind))
}

/// Threads that compute.
fn use_threads(threads: Option<u16>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.into())
        .build_global()
        .map_err(|error| Failure::Unforeseen(format!("{threads} threads cannot be started: {error}")))
}

/// What can be known to be wrong before the data is read, which may take long.
fn check_device(settings: &Settings) -> Result<(), Error> {
    Device::open(&settings.device)?;
    Ok(())
}
