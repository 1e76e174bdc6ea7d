//! The policy file: versioned JSON that a person can read. It is data and never executed; reading it checks everything
//! and says what is wrong and where. `schema/policy-1.schema.json` in this crate is its JSON schema.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::config::{DepthKind, Groups, MagnitudeKind, PolicyConfig, RangedTransformation, TypesKind};
use super::json::{Depth, Entry, File, Group, Header, Magnitudes, Sampling, Types};
use super::parameter::Parameters;
use super::{Policy, Provenance};
use crate::document::{self, parse};
use crate::error::Error;
use crate::transformation::Transformation;

/// The version of the file that this crate writes, and the only one it reads.
pub const VERSION: u64 = 1;

const FORMAT: &str = "freeaugment-policy";
/// A complete policy has about 10 KiB.
const MOST_BYTES: u64 = 1 << 20;

/// Why a policy file could not be read or written.
#[derive(Debug, Error)]
#[error("{}{problem}", shown(.path.as_deref()))]
pub struct FileError {
    /// The file; none where the policy was not in a file.
    pub path: Option<PathBuf>,
    /// What is wrong with it.
    pub problem: FileProblem,
}

/// What can be wrong with a policy file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// The file is larger than any policy.
    #[error("is larger than {MOST_BYTES} bytes, which no policy is")]
    TooLarge,
    /// The text is not JSON, or a key is unknown, missing, or holds something of another kind.
    #[error(transparent)]
    Document(#[from] document::Problem),
    /// JSON, but no policy.
    #[error("is not a FreeAugment policy: its `format` must be \"{FORMAT}\"")]
    NotAPolicy,
    /// A version that this program does not know.
    #[error("has version {found}, but this program reads version {VERSION}")]
    Version {
        /// The version of the file.
        found: u64,
    },
    /// A list has the wrong length.
    #[error("at `{key}`: {found} values, but {expected} are needed")]
    Length {
        /// Where.
        key: String,
        /// How many values belong there.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A number is too large for a 32-bit float.
    #[error("at `{key}`: value {index} is not a finite 32-bit number")]
    NotFinite {
        /// Where.
        key: String,
        /// Which value of the list, from 0.
        index: usize,
    },
    /// A key that does not belong to this kind of policy.
    #[error("at `{key}`: does not belong to a policy of this kind, {why}")]
    Unexpected {
        /// Where.
        key: String,
        /// Why not.
        why: &'static str,
    },
    /// The parts are in order but do not make a policy.
    #[error("at `{key}`: {error}")]
    Invalid {
        /// Where.
        key: String,
        /// What is wrong.
        error: Error,
    },
}

fn shown(path: Option<&Path>) -> String {
    path.map(|path| format!("{}: ", path.display())).unwrap_or_default()
}

impl From<FileProblem> for FileError {
    fn from(problem: FileProblem) -> Self {
        Self { path: None, problem }
    }
}

impl Policy {
    /// Reads a policy file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let read = || {
            let mut bytes = Vec::new();
            std::fs::File::open(path)
                .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
                .map_err(FileProblem::Read)?;
            from_json(&bytes)
        };
        read().map_err(|problem| FileError { path: Some(path.to_owned()), problem })
    }

    /// Writes a policy file: whole or not at all, in place of one that is there.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let write = || {
            let text = to_json(self)?;
            freeaugment_base::write_atomically(path, text.as_bytes()).map_err(FileProblem::Write)
        };
        write().map_err(|problem| FileError { path: Some(path.to_owned()), problem })
    }

    /// Reads a policy from the text of a policy file.
    pub fn from_json(text: &[u8]) -> Result<Self, FileError> {
        Ok(from_json(text)?)
    }

    /// The text of the policy file.
    pub fn to_json(&self) -> Result<String, FileError> {
        Ok(to_json(self)?)
    }
}

fn from_json(bytes: &[u8]) -> Result<Policy, FileProblem> {
    if bytes.len() as u64 > MOST_BYTES {
        return Err(FileProblem::TooLarge);
    }
    // The header first: of a file from the future, its version is what a user must hear about, not its keys.
    let header: Header = match parse(bytes) {
        Err(document::Problem::Key { .. }) => return Err(FileProblem::NotAPolicy),
        other => other?,
    };
    if header.format != FORMAT {
        return Err(FileProblem::NotAPolicy);
    }
    if header.version != VERSION {
        return Err(FileProblem::Version { found: header.version });
    }
    let file: File = parse(bytes)?;
    file.into_policy()
}

impl File {
    fn into_policy(self) -> Result<Policy, FileProblem> {
        let (depth, mut depth_values) = match self.depth {
            Depth::Learned { logits } => (DepthKind::Learned, logits),
            Depth::Fixed { depth } => (DepthKind::Fixed { depth }, Vec::new()),
            Depth::Application {} => (DepthKind::Application, Vec::new()),
        };
        let (types, assignment) = match self.types {
            Types::Sinkhorn { iterations, pad, assignment } => {
                (TypesKind::Sinkhorn { iterations, pad }, assignment)
            }
            Types::Softmax { assignment } => (TypesKind::Softmax, assignment),
        };
        let magnitudes = match self.magnitudes {
            Magnitudes::Uniform {} => MagnitudeKind::Uniform,
            Magnitudes::Gaussian {} => MagnitudeKind::Gaussian,
        };
        let frozen = |group| self.frozen.contains(&group);
        let mut config = PolicyConfig {
            transformations: Vec::new(),
            layers: self.layers,
            depth,
            types,
            assignment,
            magnitudes,
            estimator: self.sampling.estimator,
            sharing: self.sampling.sharing,
            frozen: Groups {
                depth: frozen(Group::Depth),
                types: frozen(Group::Types),
                magnitudes: frozen(Group::Magnitudes),
            },
            evaluation_temperature: self.sampling.evaluation_temperature,
            place: self.place,
        };
        let key_of = |at: usize| format!("transformations[{at}]");
        for (at, entry) in self.transformations.iter().enumerate() {
            config.transformations.push(entry.ranged(&key_of(at))?);
        }
        if let Some((key, error)) = config.first_problem() {
            return Err(FileProblem::Invalid { key, error });
        }
        if depth == DepthKind::Learned {
            check_list("depth.logits", &depth_values, config.layers + 1)?;
        }
        let mut type_values = Vec::new();
        let mut magnitude_values = [Vec::new(), Vec::new()];
        for (at, entry) in self.transformations.into_iter().enumerate() {
            let has_magnitude = config.transformations[at].transformation.magnitude().is_some();
            let entry = CheckedEntry::new(entry, has_magnitude, &config, &key_of(at))?;
            type_values.extend(entry.types);
            depth_values.extend(entry.application);
            for (all, own) in magnitude_values.iter_mut().zip(entry.magnitudes) {
                all.extend(own);
            }
        }
        let invalid = |error| FileProblem::Invalid { key: "transformations".to_owned(), error };
        let parameters =
            Parameters::new(&config, depth_values, type_values, magnitude_values).map_err(invalid)?;
        let mut policy = Policy::new(config, parameters).map_err(invalid)?;
        *policy.provenance_mut() = self.provenance;
        Ok(policy)
    }

    fn from_policy(policy: &Policy) -> Self {
        let (config, parameters) = (policy.config(), policy.parameters());
        let groups = [
            (config.frozen.depth, Group::Depth),
            (config.frozen.types, Group::Types),
            (config.frozen.magnitudes, Group::Magnitudes),
        ];
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            layers: config.layers,
            place: config.place,
            depth: match config.depth {
                DepthKind::Learned => Depth::Learned { logits: parameters.depth().to_vec() },
                DepthKind::Fixed { depth } => Depth::Fixed { depth },
                DepthKind::Application => Depth::Application {},
            },
            types: match config.types {
                TypesKind::Sinkhorn { iterations, pad } => {
                    Types::Sinkhorn { iterations, pad, assignment: config.assignment }
                }
                TypesKind::Softmax => Types::Softmax { assignment: config.assignment },
            },
            magnitudes: match config.magnitudes {
                MagnitudeKind::Uniform => Magnitudes::Uniform {},
                MagnitudeKind::Gaussian => Magnitudes::Gaussian {},
            },
            sampling: Sampling {
                evaluation_temperature: config.evaluation_temperature,
                sharing: config.sharing,
                estimator: config.estimator,
            },
            frozen: groups.into_iter().filter_map(|(frozen, group)| frozen.then_some(group)).collect(),
            transformations: (0..config.transformations.len())
                .map(|i| Entry::from_policy(policy, i))
                .collect(),
            provenance: Provenance::clone(policy.provenance()),
        }
    }
}

impl Entry {
    /// The transformation and its range.
    fn ranged(&self, key: &str) -> Result<RangedTransformation, FileProblem> {
        let transformation = Transformation::named(&self.name)
            .map_err(|error| FileProblem::Invalid { key: format!("{key}.name"), error })?;
        let range = match (self.range, transformation.magnitude().is_some()) {
            (Some([low, high]), true) => (low, high),
            (None, true) => return Err(missing(&format!("{key}.range"))),
            (Some(_), false) => {
                return Err(FileProblem::Unexpected { key: format!("{key}.range"), why: NO_MAGNITUDE });
            }
            (None, false) => (0.0, 1.0),
        };
        Ok(RangedTransformation { transformation, range })
    }

    fn from_policy(policy: &Policy, i: usize) -> Self {
        let (config, parameters) = (policy.config(), policy.parameters());
        let RangedTransformation { transformation, range } = config.transformations[i];
        let row = |values: &[f32]| values[i * config.layers..][..config.layers].to_vec();
        let has_magnitude = transformation.magnitude().is_some();
        let [first, second] = parameters.magnitudes().map(|values| has_magnitude.then(|| row(values)));
        let by_application = config.depth == DepthKind::Application;
        let mut entry = Self {
            name: transformation.name().to_owned(),
            range: has_magnitude.then_some([range.0, range.1]),
            type_logits: row(parameters.types()),
            application_logits: by_application.then(|| row(parameters.depth())),
            lower_logits: None,
            upper_logits: None,
            centre: None,
            spread: None,
        };
        match config.magnitudes {
            MagnitudeKind::Uniform => (entry.lower_logits, entry.upper_logits) = (first, second),
            MagnitudeKind::Gaussian => (entry.centre, entry.spread) = (first, second),
        }
        entry
    }
}

/// The lists of an entry, after checking that it has those that its kind of policy needs and no others.
struct CheckedEntry {
    types: Vec<f32>,
    application: Vec<f32>,
    magnitudes: [Vec<f32>; 2],
}

impl CheckedEntry {
    fn new(entry: Entry, has_magnitude: bool, config: &PolicyConfig, key: &str) -> Result<Self, FileProblem> {
        let by_application = config.depth == DepthKind::Application;
        let by_bounds = config.magnitudes == MagnitudeKind::Uniform;
        let list = |name: &str, values: Option<Vec<f32>>, wanted: bool, why: &'static str| {
            take_list(&format!("{key}.{name}"), values, wanted, why, config.layers)
        };
        let bounds_why = if has_magnitude { "whose magnitudes are gaussian" } else { NO_MAGNITUDE };
        let gaussian_why = if has_magnitude { "whose magnitudes are uniform" } else { NO_MAGNITUDE };
        let lower = list("lower_logits", entry.lower_logits, has_magnitude && by_bounds, bounds_why)?;
        let upper = list("upper_logits", entry.upper_logits, has_magnitude && by_bounds, bounds_why)?;
        let centre = list("centre", entry.centre, has_magnitude && !by_bounds, gaussian_why)?;
        let spread = list("spread", entry.spread, has_magnitude && !by_bounds, gaussian_why)?;
        let application = list(
            "application_logits",
            entry.application_logits,
            by_application,
            "whose depth is not by application",
        )?;
        let mut magnitudes = [lower.or(centre), upper.or(spread)].map(Option::unwrap_or_default);
        if !has_magnitude {
            // They have no effect and are not in the file.
            let initial = Parameters::initial(config);
            magnitudes = initial.magnitudes().map(|values| values[..config.layers].to_vec());
        }
        Ok(Self {
            types: list("type_logits", Some(entry.type_logits), true, "")?.unwrap_or_default(),
            application: application.unwrap_or_default(),
            magnitudes,
        })
    }
}

const NO_MAGNITUDE: &str = "because the transformation takes no magnitude";

fn missing(key: &str) -> FileProblem {
    document::Problem::Key { key: key.to_owned(), message: "is missing".to_owned() }.into()
}

/// A list of one value per layer that must be there, or must not.
fn take_list(
    key: &str,
    values: Option<Vec<f32>>,
    wanted: bool,
    why: &'static str,
    layers: usize,
) -> Result<Option<Vec<f32>>, FileProblem> {
    match values {
        None if wanted => Err(missing(key)),
        Some(_) if !wanted => Err(FileProblem::Unexpected { key: key.to_owned(), why }),
        Some(values) => {
            check_list(key, &values, layers)?;
            Ok(Some(values))
        }
        None => Ok(None),
    }
}

fn check_list(key: &str, values: &[f32], expected: usize) -> Result<(), FileProblem> {
    let found = values.len();
    if found != expected {
        return Err(FileProblem::Length { key: key.to_owned(), expected, found });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(FileProblem::NotFinite { key: key.to_owned(), index }),
        None => Ok(()),
    }
}

fn to_json(policy: &Policy) -> Result<String, FileProblem> {
    let invalid = |error| FileProblem::Invalid { key: "the policy".to_owned(), error };
    policy.config().check().map_err(invalid)?;
    policy.parameters().check(policy.config()).map_err(invalid)?;
    Ok(document::write(&File::from_policy(policy))?)
}
