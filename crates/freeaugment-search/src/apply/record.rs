//! What stands in the folder of copies beside them: of what they are, and what was done to each.

use std::path::{Path, PathBuf};

use freeaugment_base::csv::Csv;
use serde::{Deserialize, Serialize};

use super::ApplySettings;
use crate::compare::Candidate;
use crate::error::Error;
use crate::run::{read_json, write, write_json};

const FORMAT: &str = "freeaugment-apply";
const RECORD: &str = "apply.json";
const MANIFEST: &str = "manifest.csv";

/// Of what copies are made, so that none are made of anything else in the same folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    format: String,
    /// Another version may do other things to the same image.
    program: String,
    /// The name that was given; another one may mean the same policy.
    policy: String,
    policy_identity: String,
    images: String,
    seed: u64,
    copies: u32,
    include_originals: bool,
    jpeg_quality: u8,
}

impl Record {
    pub(super) fn new(policy: &Candidate, images: &Path, settings: &ApplySettings) -> Self {
        Self {
            format: FORMAT.to_owned(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            policy: policy.name().to_owned(),
            policy_identity: policy.identity().to_owned(),
            images: images.display().to_string(),
            seed: settings.seed,
            copies: settings.copies,
            include_originals: settings.include_originals,
            jpeg_quality: settings.jpeg_quality,
        }
    }

    pub(super) fn path(folder: &Path) -> PathBuf {
        folder.join(RECORD)
    }

    /// Whether a file is written beside the copies.
    pub(super) fn is_own_file(name: &Path) -> bool {
        [RECORD, MANIFEST].iter().any(|own| name == Path::new(own))
    }

    pub(super) fn save(&self, folder: &Path) -> Result<(), Error> {
        write_json(&Self::path(folder), self)
    }

    /// Refuses a folder with copies of something else. Whether it has a record at all.
    pub(super) fn check(&self, folder: &Path) -> Result<bool, Error> {
        let path = Self::path(folder);
        if !path.exists() {
            return Ok(false);
        }
        let theirs: Self = read_json(&path, "the record of `freeaugment apply`")?;
        let keys = |record: &Self| {
            [
                ("format", record.format.clone()),
                ("program", record.program.clone()),
                ("policy", record.policy_identity.clone()),
                ("images of", record.images.clone()),
                ("seed", record.seed.to_string()),
                ("copies", record.copies.to_string()),
                ("originals", record.include_originals.to_string()),
                ("quality", record.jpeg_quality.to_string()),
            ]
        };
        for ((key, own), (_, others)) in keys(self).into_iter().zip(keys(&theirs)) {
            if own != others {
                let named = |record: &Self, value: String| match key {
                    "policy" => format!("`{}` ({value})", record.policy),
                    _ => value,
                };
                let (own, others) = (named(self, own), named(&theirs, others));
                let reason = format!(
                    "was begun with {key} {others}, but {own} was asked for now: choose another folder"
                );
                return Err(Error::target(folder, reason));
            }
        }
        Ok(true)
    }
}

/// What was done to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) file: String,
    pub(super) source: String,
    /// From 1; 0 is the original.
    pub(super) copy: u32,
    pub(super) done: String,
}

/// Writes the manifest.
pub(super) fn save_manifest(folder: &Path, rows: Vec<Row>) -> Result<(), Error> {
    let mut csv = Csv::new(["file", "source", "copy", "done"]);
    for Row { file, source, copy, done } in rows {
        csv.row([file, source, copy.to_string(), done]);
    }
    write(&folder.join(MANIFEST), csv.as_str().as_bytes())
}
