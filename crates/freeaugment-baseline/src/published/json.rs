//! A published policy in the file of a baseline: versioned JSON that a person can read.

use freeaugment_base::document::{self, parse};
use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::{Published, Scheme, Source};
use crate::file::{FORMAT, VERSION, check_header};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    name: String,
    source: Source,
    #[serde(default)]
    notes: Vec<String>,
    policy: Scheme,
}

pub(super) fn to_json(published: &Published) -> String {
    let Published { name, source, notes, scheme } = published.clone();
    let file = File { format: FORMAT.to_owned(), version: VERSION, name, source, notes, policy: scheme };
    // What was checked has no numbers that JSON lacks.
    document::write(&file).unwrap_or_default()
}

pub(super) fn from_json(bytes: &[u8]) -> Result<Published, Problem> {
    check_header(bytes)?;
    let File { name, source, notes, policy: scheme, .. } = parse(bytes)?;
    scheme
        .check(source.kind)
        .map_err(|message| document::Problem::Key { key: "policy".to_owned(), message })?;
    Ok(Published { name, source, notes, scheme })
}
