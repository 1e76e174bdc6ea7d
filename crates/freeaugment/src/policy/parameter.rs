//! The parameters that are learned, in the three groups that have learning rates of their own.

use super::config::{DepthKind, MagnitudeKind, PolicyConfig};
use crate::error::{Error, check_length};
use crate::math::logit;

/// The parameters of a policy, or a gradient to them. Matrices are `[N, K]`, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    depth: Vec<f32>,
    types: Vec<f32>,
    magnitudes: [Vec<f32>; 2],
}

impl Parameters {
    /// Where learning starts.
    pub(crate) fn initial(config: &PolicyConfig) -> Self {
        let matrix = |value: f32| vec![value; config.transformations.len() * config.layers];
        Self {
            depth: match config.depth {
                DepthKind::Learned => vec![0.0; config.layers + 1],
                DepthKind::Fixed { .. } => Vec::new(),
                DepthKind::Application => matrix(logit(0.75)),
            },
            types: matrix(0.0),
            magnitudes: match config.magnitudes {
                MagnitudeKind::Uniform => [matrix(logit(0.125)), matrix(logit(0.875))],
                MagnitudeKind::Gaussian => [matrix(0.5), matrix(0.1875)],
            },
        }
    }

    /// Parameters with these values; lengths must be those of the configuration, values finite.
    pub fn new(
        config: &PolicyConfig,
        depth: Vec<f32>,
        types: Vec<f32>,
        magnitudes: [Vec<f32>; 2],
    ) -> Result<Self, Error> {
        let found = Self { depth, types, magnitudes };
        found.check(config)?;
        Ok(found)
    }

    pub(crate) fn check(&self, config: &PolicyConfig) -> Result<(), Error> {
        let like = Self::initial(config);
        for ((what, values), (_, like)) in self.named().into_iter().zip(like.named()) {
            check_length(what, values.len(), like.len())?;
            if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
                let (low, high) = (f64::from(f32::MIN), f64::from(f32::MAX));
                return Err(Error::Value {
                    what: format!("a value in {what}"),
                    value: value.into(),
                    low,
                    high,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn zeros_like(&self) -> Self {
        let zeros = |values: &Vec<f32>| vec![0.0; values.len()];
        Self {
            depth: zeros(&self.depth),
            types: zeros(&self.types),
            magnitudes: self.magnitudes.each_ref().map(zeros),
        }
    }

    fn named(&self) -> [(&'static str, &[f32]); 4] {
        [
            ("the list of depth parameters", &self.depth),
            ("the matrix of type parameters", &self.types),
            ("the first matrix of magnitude parameters", &self.magnitudes[0]),
            ("the second matrix of magnitude parameters", &self.magnitudes[1]),
        ]
    }

    /// Depth logits `[K+1]`; application logits `[N, K]` where those stand in their place; empty for a fixed depth.
    pub fn depth(&self) -> &[f32] {
        &self.depth
    }

    /// Type-and-order logits `[N, K]`.
    pub fn types(&self) -> &[f32] {
        &self.types
    }

    /// Lower and upper bounds as logits `[N, K]`, or centres and spreads.
    pub fn magnitudes(&self) -> [&[f32]; 2] {
        self.magnitudes.each_ref().map(Vec::as_slice)
    }

    /// [`Self::depth`], to change.
    pub fn depth_mut(&mut self) -> &mut [f32] {
        &mut self.depth
    }

    /// [`Self::types`], to change.
    pub fn types_mut(&mut self) -> &mut [f32] {
        &mut self.types
    }

    /// [`Self::magnitudes`], to change.
    pub fn magnitudes_mut(&mut self) -> [&mut [f32]; 2] {
        self.magnitudes.each_mut().map(Vec::as_mut_slice)
    }
}
