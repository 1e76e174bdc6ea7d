//! A baseline or an imported policy as people want to read it: what was not learned has words in place of numbers.

use std::path::Path;

use freeaugment::Provenance;
use freeaugment_baseline::BaselineFile;
use serde::Serialize;

use super::learned::Learned;
use crate::error::Error;

/// What a policy file holds.
#[derive(Clone, Debug)]
pub enum Described {
    /// A policy of FreeAugment.
    Learned(Box<Learned>),
    /// A baseline, or a policy of another search.
    Fixed(Fixed),
}

/// What a baseline does.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Fixed {
    /// What it is called.
    pub baseline: String,
    /// What it does, line by line.
    pub description: Vec<String>,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl Described {
    /// Reads a policy file of any kind.
    pub fn load(path: &Path) -> Result<Self, Error> {
        // A file that cannot be read is no baseline; the reader of policies says why.
        let bytes = std::fs::read(path).unwrap_or_default();
        if BaselineFile::recognises(&bytes) {
            return Ok(Self::Fixed(Fixed::new(&BaselineFile::load(path)?)));
        }
        Ok(Self::Learned(Box::new(Learned::load(path)?)))
    }
}

impl Fixed {
    /// Describes what a file holds.
    pub fn new(file: &BaselineFile) -> Self {
        Self {
            baseline: file.name(),
            description: file.explanation().lines().map(str::to_owned).collect(),
            provenance: file.provenance(),
        }
    }
}
