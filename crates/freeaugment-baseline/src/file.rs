//! The file of a baseline: a baseline of the table by its name, or a policy of another search written out. It is data;
//! reading it checks everything.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use freeaugment::Provenance;
use freeaugment_base::document::{self, parse};
use freeaugment_base::write_atomically;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::published::{Error, Problem};
use crate::{Baseline, Published};

/// What the format is called.
pub(crate) const FORMAT: &str = "freeaugment-baseline";
/// The version that is written, and the only one that is read.
pub(crate) const VERSION: u64 = 1;
/// The largest of the published policies takes some 60 KiB.
pub(crate) const MOST_BYTES: u64 = 4 << 20;

/// What the file of a baseline holds.
///
/// ```
/// use freeaugment_baseline::{Baseline, BaselineFile, NamedBaseline};
///
/// let named = NamedBaseline::from("trivial-wide".parse::<Baseline>()?);
/// let file = BaselineFile::from_json(named.to_json().as_bytes())?;
/// assert_eq!(file, BaselineFile::Named(named));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum BaselineFile {
    /// A baseline of the table.
    Named(NamedBaseline),
    /// A policy of another search.
    Published(Published),
}

/// A baseline of the table as a file holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBaseline {
    /// Which one.
    pub baseline: Baseline,
    /// Whatever the maker of the file wants to have written down, by name.
    pub provenance: Provenance,
}

/// What every version of the file starts with.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

#[derive(Deserialize)]
struct Format {
    format: String,
}

/// What only a policy that is written out has.
#[derive(Deserialize)]
struct WrittenOut {
    source: Option<IgnoredAny>,
    policy: Option<IgnoredAny>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    baseline: String,
    #[serde(default)]
    provenance: Provenance,
}

impl BaselineFile {
    /// Whether a text claims to be the file of a baseline, whatever else is wrong with it.
    pub fn recognises(text: &[u8]) -> bool {
        serde_json::from_slice::<Format>(text).is_ok_and(|found| found.format == FORMAT)
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Named(named) => named.baseline.name(),
            Self::Published(published) => published.name().to_owned(),
        }
    }

    /// What it does, for people, in a few lines.
    pub fn explanation(&self) -> String {
        match self {
            Self::Named(named) => named.baseline.explanation(),
            Self::Published(published) => {
                format!("{}\n{}", published.description(), published.recipe().words(true))
            }
        }
    }

    /// Where it comes from, by name.
    pub fn provenance(&self) -> Provenance {
        match self {
            Self::Named(named) => named.provenance.clone(),
            Self::Published(published) => {
                let source = published.source();
                let entries = [("kind", source.kind.to_string()), ("file", source.file.clone())];
                entries.map(|(key, value)| (key.to_owned(), value)).into()
            }
        }
    }

    /// From the text of a file.
    pub fn from_json(text: &[u8]) -> Result<Self, Error> {
        Ok(from_json(text)?)
    }

    /// Reads a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        read(path).and_then(|bytes| from_json(&bytes)).map_err(|problem| problem.at(path))
    }
}

impl NamedBaseline {
    /// The text of its file.
    pub fn to_json(&self) -> String {
        let file = File {
            format: FORMAT.to_owned(),
            version: VERSION,
            baseline: self.baseline.name(),
            provenance: self.provenance.clone(),
        };
        // Texts and a number: there is nothing that JSON lacks.
        document::write(&file).unwrap_or_default()
    }

    /// Writes its file: whole or not at all, in place of one that is there.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        write_atomically(path, self.to_json().as_bytes()).map_err(|error| Problem::Write(error).at(path))
    }
}

impl From<Baseline> for NamedBaseline {
    fn from(baseline: Baseline) -> Self {
        Self { baseline, provenance: Provenance::new() }
    }
}

fn from_json(bytes: &[u8]) -> Result<BaselineFile, Problem> {
    check_header(bytes)?;
    let written_out: WrittenOut = parse(bytes)?;
    if written_out.source.is_some() || written_out.policy.is_some() {
        return Published::parse(bytes).map(BaselineFile::Published);
    }
    let File { baseline, provenance, .. } = parse(bytes)?;
    let baseline = baseline.parse().map_err(Problem::Baseline)?;
    Ok(BaselineFile::Named(NamedBaseline { baseline, provenance }))
}

/// Refuses what has another format, another version, or is too large. Of a file from the future, its version is what a
/// user must hear about, not its keys.
pub(crate) fn check_header(bytes: &[u8]) -> Result<(), Problem> {
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Problem::TooLarge { most: MOST_BYTES });
    }
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
    Ok(())
}

/// The bytes of a file, or one more than there may be.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(Problem::Read)?;
    Ok(bytes)
}
