//! The policy: from a batch of images to a batch of augmented ones, and from a gradient there back to the parameters.

mod apply;
mod chain;
mod config;
mod describe;
mod file;
mod json;
mod parameter;
mod pullback;
mod rows;
mod sample;

pub use config::{
    Assignment, DepthKind, Estimator, Groups, MagnitudeKind, Place, PolicyConfig, RangedTransformation,
    Sharing, TypesKind,
};
pub use describe::{Description, MagnitudeRange};
pub use file::{FileError, FileProblem, VERSION};
pub use parameter::Parameters;
pub use pullback::{Gradients, SampleGradients};
pub use sample::{Noise, Sample};

use std::collections::BTreeMap;

use crate::error::Error;

/// A distribution over augmentations: N transformations, up to K of them in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    config: PolicyConfig,
    parameters: Parameters,
    provenance: Provenance,
}

/// Where a policy comes from: whatever its maker wants to have written down (`data`, `command`, `seed`…), by name.
pub type Provenance = BTreeMap<String, String>;

impl Policy {
    /// A policy with given parameters.
    pub fn new(config: PolicyConfig, parameters: Parameters) -> Result<Self, Error> {
        config.check()?;
        parameters.check(&config)?;
        Ok(Self { config, parameters, provenance: Provenance::default() })
    }

    /// Its settings.
    pub fn config(&self) -> &PolicyConfig {
        &self.config
    }

    /// Its parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Where it comes from, to write down.
    pub fn provenance_mut(&mut self) -> &mut Provenance {
        &mut self.provenance
    }

    /// Its parameters, for an optimiser to change.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }
}
