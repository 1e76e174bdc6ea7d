//! What kind of policy: the choices that stay as they are while its parameters are learned.

use serde::{Deserialize, Serialize};

use super::Policy;
use super::parameter::Parameters;
use crate::error::{Error, check_value};
use crate::sampling::PAD;
use crate::transformation::Transformation;

/// The settings of a policy. The default is the paper's: its 14 transformations ([`Transformation::PAPER`]) in 7 layers.
///
/// ```
/// use freeaugment::{DepthKind, PolicyConfig};
///
/// let policy = PolicyConfig { layers: 3, depth: DepthKind::Fixed { depth: 2 }, ..PolicyConfig::default() }.init()?;
/// assert_eq!(policy.parameters().types().len(), 14 * 3);
/// # Ok::<(), freeaugment::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyConfig {
    /// The transformations to choose from, with their ranges; none twice.
    pub transformations: Vec<RangedTransformation>,
    /// K: how many layers there are at most; not more than there are transformations.
    pub layers: usize,
    /// How many of the layers are applied.
    pub depth: DepthKind,
    /// How types and order are drawn.
    pub types: TypesKind,
    /// How a relaxed sample of types becomes a choice.
    pub assignment: Assignment,
    /// How magnitudes are drawn.
    pub magnitudes: MagnitudeKind,
    /// How gradients pass the choices.
    pub estimator: Estimator,
    /// Who shares a sample.
    pub sharing: Sharing,
    /// The groups of parameters that stay as they are.
    pub frozen: Groups,
    /// The temperature of evaluation.
    pub evaluation_temperature: f32,
    /// Where the policy stands among the other steps of a pipeline.
    pub place: Place,
}

/// A transformation and the range of its magnitude in this policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangedTransformation {
    /// The transformation.
    pub transformation: Transformation,
    /// Magnitudes at u = 0 and at u = 1, in own units; (0, 1) and without meaning where there is no magnitude.
    pub range: (f32, f32),
}

/// How many layers are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthKind {
    /// A learned distribution over 0..=K.
    Learned,
    /// Always the first so many layers.
    Fixed {
        /// How many.
        depth: usize,
    },
    /// All layers, but each transformation in each is applied only with a learned probability.
    Application,
}

/// How types and order are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TypesKind {
    /// Gumbel-Sinkhorn: a relaxed permutation, in which repetitions are rare.
    Sinkhorn {
        /// L: how often rows and columns are normalised.
        iterations: usize,
        /// The logit of the columns that pad the matrix to a square.
        pad: f32,
    },
    /// An independent Gumbel-Softmax for each layer.
    Softmax,
}

/// How a relaxed sample of types becomes a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Assignment {
    /// The largest entry of each layer; a transformation may repeat.
    ColumnMaximum,
    /// The assignment of distinct transformations that fits the sample best.
    Exact,
}

/// How magnitudes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MagnitudeKind {
    /// Uniform between two learned bounds.
    Uniform,
    /// Normal with learned centre and spread, clamped.
    Gaussian,
}

/// How gradients pass the hard choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Estimator {
    /// Backward as if the hard sample had been the soft one; images and magnitudes see only what was chosen.
    StraightThrough,
    /// Backward weighs every transformation and every depth by its soft value.
    SoftBackward,
    /// What was chosen, types and depth, is credited with what the image brought, against the mean of the batch. Images
    /// and magnitudes as for straight-through.
    Gain,
}

/// Who shares a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Sharing {
    /// Every image has its own.
    PerImage,
    /// One sample serves a whole batch.
    PerBatch,
}

/// Where the policy stands in the pipeline that prepares an image. It was learned there and belongs there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Place {
    /// Before everything else.
    First,
    /// After crop and flip, before cutout and normalisation.
    AfterCropAndFlip,
}

/// A set of the three groups of parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Depth logits, or application logits where those stand in their place.
    pub depth: bool,
    /// Type-and-order logits.
    pub types: bool,
    /// Magnitude bounds, or centres and spreads.
    pub magnitudes: bool,
}

impl Groups {
    /// All three.
    pub const ALL: Self = Self { depth: true, types: true, magnitudes: true };
    /// None of them.
    pub const NONE: Self = Self { depth: false, types: false, magnitudes: false };

    /// Those that are in this set and not in the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self {
            depth: self.depth && !other.depth,
            types: self.types && !other.types,
            magnitudes: self.magnitudes && !other.magnitudes,
        }
    }
}

impl From<Transformation> for RangedTransformation {
    /// With the paper's range.
    fn from(transformation: Transformation) -> Self {
        let range = transformation.magnitude().map_or((0.0, 1.0), |magnitude| magnitude.range);
        Self { transformation, range }
    }
}

impl RangedTransformation {
    /// The magnitude in own units.
    pub(crate) fn to_units(self, u: f32) -> f32 {
        self.range.0 + u * (self.range.1 - self.range.0)
    }

    /// How much the magnitude changes with u: the factor of the way back. Zero where there is no magnitude.
    pub(crate) fn unit_scale(self) -> f32 {
        if self.transformation.magnitude().is_some() { self.range.1 - self.range.0 } else { 0.0 }
    }
}

impl Default for PolicyConfig {
    fn default() -> Self {
        Self {
            transformations: Transformation::PAPER.map(RangedTransformation::from).to_vec(),
            layers: 7,
            depth: DepthKind::Learned,
            types: TypesKind::Sinkhorn { iterations: 20, pad: PAD },
            assignment: Assignment::ColumnMaximum,
            magnitudes: MagnitudeKind::Uniform,
            estimator: Estimator::StraightThrough,
            sharing: Sharing::PerImage,
            frozen: Groups::NONE,
            evaluation_temperature: 0.1,
            place: Place::AfterCropAndFlip,
        }
    }
}

/// Temperatures below this divide noise up to where single precision has no digits left.
const TEMPERATURES: (f64, f64) = (1e-3, 1e3);
/// More Sinkhorn iterations change nothing and would only take time.
const MOST_ITERATIONS: f64 = 1000.0;

impl PolicyConfig {
    /// The untrained policy: uniform over depths and types, magnitudes in the middle three quarters of their ranges.
    pub fn init(self) -> Result<Policy, Error> {
        self.check()?;
        let parameters = Parameters::initial(&self);
        Policy::new(self, parameters)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.first_problem().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// What is wrong, if anything is, and the key under which the policy file has it.
    pub(crate) fn first_problem(&self) -> Option<(String, Error)> {
        let count = self.transformations.len();
        let most = Transformation::all().len() as f64;
        let mut checks = vec![
            (
                "transformations".to_owned(),
                check_value("the number of transformations", count as f64, 1.0, most),
            ),
            ("layers".to_owned(), check_value("the number of layers", self.layers as f64, 1.0, count as f64)),
        ];
        for (at, RangedTransformation { transformation, range }) in self.transformations.iter().enumerate() {
            let is_repeated =
                self.transformations[..at].iter().any(|other| other.transformation == *transformation);
            if is_repeated {
                checks.push((
                    format!("transformations[{at}].name"),
                    Err(Error::Repeated(transformation.name())),
                ));
            }
            let (low, high) = transformation.magnitude().map_or((0.0, 1.0), |magnitude| magnitude.limits);
            for end in [range.0, range.1] {
                let what = format!("an end of the range of {}", transformation.name());
                let check = check_value(what, end.into(), low.into(), high.into());
                checks.push((format!("transformations[{at}].range"), check));
            }
        }
        if let DepthKind::Fixed { depth } = self.depth {
            let check = check_value("the fixed depth", depth as f64, 0.0, self.layers as f64);
            checks.push(("depth.depth".to_owned(), check));
        }
        if let TypesKind::Sinkhorn { iterations, pad } = self.types {
            let check =
                check_value("the number of Sinkhorn iterations", iterations as f64, 1.0, MOST_ITERATIONS);
            checks.push(("types.iterations".to_owned(), check));
            checks.push(("types.pad".to_owned(), check_value("the padding logit", pad.into(), -1e3, 1e3)));
        }
        let check = check_temperature(self.evaluation_temperature);
        checks.push(("sampling.evaluation_temperature".to_owned(), check));
        checks.into_iter().find_map(|(key, check)| check.err().map(|error| (key, error)))
    }
}

pub(crate) fn check_temperature(temperature: f32) -> Result<(), Error> {
    let (low, high) = TEMPERATURES;
    // As the number that was written, not as the float next to it.
    let temperature: f64 = temperature.to_string().parse().unwrap_or(f64::NAN);
    check_value("the temperature", temperature, low, high)
}
