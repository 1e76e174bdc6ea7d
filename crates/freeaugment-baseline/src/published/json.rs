//! Our own file of a baseline: versioned JSON that a person can read. It is data; reading it checks everything.

use freeaugment_base::document::{self, parse};
use serde::{Deserialize, Serialize};

use super::error::{FORMAT, Problem, VERSION};
use super::{Published, Scheme, Source};

/// The largest of the published policies takes some 60 KiB.
pub(super) const MOST_BYTES: u64 = 4 << 20;

/// What every version of the file starts with.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

/// Whether a text has our format's name.
pub(super) fn recognises(text: &[u8]) -> bool {
    serde_json::from_slice::<Name>(text).is_ok_and(|name| name.format == FORMAT)
}

#[derive(Deserialize)]
struct Name {
    format: String,
}

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
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Problem::TooLarge { most: MOST_BYTES });
    }
    // The header first: of a file from the future, its version is what a user must hear about, not its keys.
    let header: Header = match parse(bytes) {
        Err(document::Problem::Key { .. }) => return Err(Problem::NotABaseline),
        other => other?,
    };
    if header.format != FORMAT {
        return Err(Problem::NotABaseline);
    }
    if header.version != VERSION {
        return Err(Problem::Version { found: header.version });
    }
    let File { name, source, notes, policy: scheme, .. } = parse(bytes)?;
    scheme
        .check(source.kind)
        .map_err(|message| document::Problem::Key { key: "policy".to_owned(), message })?;
    Ok(Published { name, source, notes, scheme })
}
