//! A policy as people want to read it: how many, which, how strong, where.

use std::fmt;
use std::path::Path;

use freeaugment::{DepthKind, Description, MagnitudeRange, Policy, Provenance};
use freeaugment_base::{Table, bar, percent};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::run::Effective;

/// Fewer transformations than this, as many as are really in use, are suspicious.
const COLLAPSED: f64 = 3.0;
/// Letters of the longest bar.
const BAR: usize = 20;

/// What a policy does.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Learned {
    /// How many layers there are at most.
    pub layers: usize,
    /// The probability of each depth.
    pub depth: Vec<f64>,
    /// How many transformations are applied on average.
    pub mean_depth: f64,
    /// Most used first.
    pub transformations: Vec<Usage>,
    /// How often a sample of all layers uses some transformation more than once.
    pub repetition: f64,
    /// How many depths and transformations are really in use.
    pub effective: Effective,
    /// Where the policy comes from.
    pub provenance: Provenance,
    /// Every number of every layer.
    #[serde(skip)]
    pub description: Description,
    #[serde(skip)]
    depth_kind: DepthKind,
}

/// What a policy does with one transformation.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Its name.
    pub name: &'static str,
    /// Its share among all that are applied.
    pub share: f64,
    /// Its place by share, from 1.
    pub rank: usize,
    /// The learned range over all layers; none where it takes no magnitude.
    pub range: Option<Range>,
    /// The range that could be learned.
    pub allowed: Option<Range>,
    /// What magnitudes are counted in.
    pub unit: Option<&'static str>,
    /// Its frequency in each layer.
    pub layers: Vec<f64>,
    /// Its learned range in each layer.
    pub layer_ranges: Option<Vec<Range>>,
}

/// Lowest and highest magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range(pub f32, pub f32);

impl From<MagnitudeRange> for Range {
    fn from(MagnitudeRange { low, high }: MagnitudeRange) -> Self {
        Self(low, high)
    }
}

impl From<(f32, f32)> for Range {
    /// Ranges may be given from high to low.
    fn from((first, second): (f32, f32)) -> Self {
        Self(first.min(second), first.max(second))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MagnitudeRange { low: self.0, high: self.1 }.fmt(f)
    }
}

/// A range in a cell.
pub(super) fn shown(range: Option<Range>) -> String {
    range.map(|range| range.to_string()).unwrap_or_default()
}

impl Learned {
    /// Reads a policy file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::new(&Policy::load(path)?)
    }

    /// Describes a policy.
    pub fn new(policy: &Policy) -> Result<Self, Error> {
        let description = policy.describe()?;
        let config = policy.config();
        let mut transformations: Vec<Usage> = (config.transformations.iter().enumerate())
            .map(|(i, ranged)| {
                let magnitude = ranged.transformation.magnitude();
                let ranges = description.magnitudes[i].iter().map(|range| range.map(Range::from));
                Usage {
                    name: ranged.transformation.name(),
                    share: description.usage[i],
                    rank: 0,
                    range: description.ranges[i].map(Range::from),
                    allowed: magnitude.map(|_| ranged.range.into()),
                    unit: magnitude.map(|magnitude| magnitude.unit),
                    layers: description.types.iter().map(|layer| layer[i]).collect(),
                    layer_ranges: ranges.collect(),
                }
            })
            .collect();
        transformations.sort_by(|a, b| b.share.total_cmp(&a.share));
        for (at, share) in transformations.iter_mut().enumerate() {
            share.rank = at + 1;
        }
        Ok(Self {
            layers: config.layers,
            depth: description.depth.clone(),
            mean_depth: description.depth.iter().enumerate().map(|(depth, p)| depth as f64 * p).sum(),
            transformations,
            repetition: description.repetition,
            effective: Effective::of(&description.depth, &description.usage),
            provenance: policy.provenance().clone(),
            description,
            depth_kind: config.depth,
        })
    }

    /// The share that each transformation has before it learns.
    pub fn uniform(&self) -> f64 {
        1.0 / self.transformations.len() as f64
    }

    /// A warning where hardly anything is left to choose from: no search should end so unseen.
    pub fn collapse(&self) -> Option<String> {
        let all = self.transformations.len() as f64;
        let first = self.transformations.first()?;
        (self.effective.types < COLLAPSED.min(0.4 * all)).then(|| {
            format!(
                "the policy has collapsed: {} of all transformations are {}; compare it with `standard` before you use it",
                percent(first.share),
                first.name
            )
        })
    }

    fn how_many(&self) -> String {
        match self.depth_kind {
            DepthKind::Fixed { depth } => return format!("how many are applied: always {depth}"),
            DepthKind::Application => {
                return format!(
                    "how many are applied: up to {}, each with a probability of its own",
                    self.layers
                );
            }
            DepthKind::Learned => {}
        }
        let mut table = Table::new(">><");
        let most = self.depth.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        for (depth, &share) in self.depth.iter().enumerate() {
            table.row([depth.to_string(), percent(share), bar(share / most, BAR)]);
        }
        format!("how many are applied: {:.1} on average\n{table}", self.mean_depth)
    }

    fn which(&self) -> String {
        let mut table = Table::new("<><>><<");
        table.row(["", "share", "", "learned", "allowed", "", "most in"]);
        let most = self.transformations.first().map_or(1.0, |first| first.share).max(f64::MIN_POSITIVE);
        for share in &self.transformations {
            let layer = (0..share.layers.len())
                .max_by(|&a, &b| share.layers[a].total_cmp(&share.layers[b]).then(b.cmp(&a)));
            let layer =
                layer.map(|layer| format!("layer {} ({:.0} %)", layer + 1, 100.0 * share.layers[layer]));
            table.row([
                share.name.to_owned(),
                percent(share.share),
                bar(share.share / most, BAR),
                shown(share.range),
                shown(share.allowed),
                share.unit.unwrap_or_default().to_owned(),
                layer.unwrap_or_default(),
            ]);
        }
        format!("which, and how strongly ({} each before learning)\n{table}", percent(self.uniform()))
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{}\n", self.how_many(), self.which())?;
        write!(f, "{} of samples use a transformation more than once", percent(self.repetition))
    }
}
