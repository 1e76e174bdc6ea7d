//! The policy: from a batch of images to a batch of augmented ones, and from a gradient there back to the parameters.

mod apply;
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
///
/// ```
/// use freeaugment::{Groups, Images, PolicyConfig, Shape};
///
/// let policy = PolicyConfig::default().init()?;
/// let images = Images::from_u8(&[128; 2 * 8 * 8 * 3], Shape { count: 2, channels: 3, height: 8, width: 8 })?;
///
/// let noise = policy.draw(/* seed */ 0, /* epoch */ 0, /* images */ &[0, 1]);
/// let sample = policy.sample(noise, /* temperature */ 1.0)?;
/// let augmented = policy.apply(&images, &sample)?;
///
/// // The classifier answers with the gradient of its loss to the augmented images…
/// let cotangent = vec![1.0; augmented.as_slice().len()];
/// // …and the policy with the gradient to its parameters.
/// let gradients = policy.pullback(&images, &sample, &cotangent, Groups::ALL)?;
/// assert_eq!(gradients.parameters.depth().len(), 8);
/// # Ok::<(), freeaugment::Error>(())
/// ```
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
