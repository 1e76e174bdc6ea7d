//! The layout of the policy file, version 1, as serde sees it.

use serde::{Deserialize, Serialize};

use super::Provenance;
use super::config::{Assignment, Estimator, Place, Sharing};

/// What every version of the file starts with.
#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) format: String,
    pub(super) version: u64,
    pub(super) layers: usize,
    pub(super) place: Place,
    pub(super) depth: Depth,
    pub(super) types: Types,
    pub(super) magnitudes: Magnitudes,
    pub(super) sampling: Sampling,
    pub(super) frozen: Vec<Group>,
    pub(super) transformations: Vec<Entry>,
    #[serde(default)]
    pub(super) provenance: Provenance,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Depth {
    Learned { logits: Vec<f32> },
    Fixed { depth: usize },
    Application {},
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Types {
    Sinkhorn { iterations: usize, pad: f32, assignment: Assignment },
    Softmax { assignment: Assignment },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Magnitudes {
    Uniform {},
    Gaussian {},
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sampling {
    pub(super) evaluation_temperature: f32,
    pub(super) sharing: Sharing,
    pub(super) estimator: Estimator,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Group {
    Depth,
    Types,
    Magnitudes,
}

/// One transformation: everything about it stands together. Lists have one value per layer.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) range: Option<[f32; 2]>,
    pub(super) type_logits: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) application_logits: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lower_logits: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) upper_logits: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) centre: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) spread: Option<Vec<f32>>,
}
