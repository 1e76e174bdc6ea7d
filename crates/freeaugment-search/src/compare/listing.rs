//! What a run has written down about its candidates.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::run::{RunFolder, read_json};

/// The candidates of a run, the seeds, and what is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listing {
    pub(super) seeds: Vec<u64>,
    pub(super) baseline: String,
    pub(super) candidates: Vec<Entry>,
}

/// A candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Its folder in the run.
    pub(super) folder: String,
    /// What the name stood for.
    pub(super) identity: String,
}

impl Listing {
    pub(super) fn read(run: &Path) -> Result<Self, Error> {
        let path = RunFolder::new(run).candidates();
        let listing: Self = read_json(&path, "a list of candidates")?;
        // Nobody should be able to write elsewhere by what a file says.
        let is_plain = |entry: &Entry| entry.folder == folder_name(&entry.folder);
        match listing.candidates.iter().find(|entry| !is_plain(entry)) {
            None => Ok(listing),
            Some(entry) => {
                let reason = format!("`{}` is no folder of a candidate", entry.folder);
                Err(Error::NotARun { path, reason })
            }
        }
    }
}

/// A name as a folder: letters, digits and dashes.
pub(crate) fn folder_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "policy".to_owned() } else { parts.join("-") }
}
