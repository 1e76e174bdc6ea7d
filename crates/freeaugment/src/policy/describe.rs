//! What people want to know about a policy: how many transformations, which, where, how strong.

use std::fmt;

use super::config::{DepthKind, MagnitudeKind, RangedTransformation, Sharing, TypesKind};
use super::{Policy, PolicyConfig};
use crate::error::Error;
use crate::math::sigmoid;

/// Samples from which frequencies are estimated; a frequency of one half is then known to ±0.8 % (95 %).
const SAMPLES: u32 = 16_384;

/// A policy in numbers, as it is at its evaluation temperature. [`Display`](fmt::Display) shows it as tables.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// The probability of each depth, 0..=K. All on one where the depth is fixed; on K where applications are learned.
    pub depth: Vec<f64>,
    /// Per layer, the frequency of each transformation, estimated from samples.
    pub types: Vec<Vec<f64>>,
    /// Per transformation and layer, the range of its magnitude in own units; none where it takes none.
    pub magnitudes: Vec<Vec<Option<MagnitudeRange>>>,
    /// Per transformation and layer, the probability that it is applied when chosen, where that is learned.
    pub application: Option<Vec<Vec<f64>>>,
    /// Per transformation, its share among all transformations that are applied; sums to one where any is applied.
    pub usage: Vec<f64>,
    /// Per transformation, its range over all layers, each layer by how much it contributes to the usage.
    pub ranges: Vec<Option<MagnitudeRange>>,
    /// How often a sample of all K layers uses some transformation more than once.
    pub repetition: f64,
    config: PolicyConfig,
}

/// A range of magnitudes in own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MagnitudeRange {
    /// Uniform: the lower bound. Gaussian: one spread below the centre, or the end of the range.
    pub low: f32,
    /// Uniform: the upper bound. Gaussian: one spread above the centre, or the end of the range.
    pub high: f32,
}

impl Policy {
    /// Describes the policy. Frequencies of types come from samples with a fixed seed, so they are the same every time.
    pub fn describe(&self) -> Result<Description, Error> {
        let config = self.config().clone();
        let (count, layers) = (config.transformations.len(), config.layers);
        let (types, repetition) = self.count_types(SAMPLES, config.evaluation_temperature)?;
        let mut depth = vec![0.0; layers + 1];
        match config.depth {
            // The largest of logit + Gumbel noise is distributed as the softmax, at every temperature.
            DepthKind::Learned => depth.copy_from_slice(&softmax(self.parameters().depth())),
            DepthKind::Fixed { depth: fixed } => depth[fixed] = 1.0,
            DepthKind::Application => depth[layers] = 1.0,
        }
        let per_layer = |at: &dyn Fn(usize) -> f64| -> Vec<Vec<f64>> {
            (0..count).map(|i| (0..layers).map(|k| at(i * layers + k)).collect()).collect()
        };
        let application = (config.depth == DepthKind::Application)
            .then(|| per_layer(&|at| sigmoid(self.parameters().depth()[at])));
        let magnitudes: Vec<Vec<_>> = (0..count)
            .map(|i| {
                (0..layers).map(|k| self.magnitude_range(config.transformations[i], i * layers + k)).collect()
            })
            .collect();
        // How often transformation i is applied in layer k.
        let applied = |i: usize, k: usize| {
            let reached: f64 = depth[k + 1..].iter().sum();
            types[k][i] * reached * application.as_ref().map_or(1.0, |shares: &Vec<Vec<f64>>| shares[i][k])
        };
        let per_transformation: Vec<f64> =
            (0..count).map(|i| (0..layers).map(|k| applied(i, k)).sum()).collect();
        let total: f64 = per_transformation.iter().sum();
        let usage =
            per_transformation.iter().map(|share| if total > 0.0 { share / total } else { 0.0 }).collect();
        let ranges = (0..count)
            .map(|i| mean_range(&magnitudes[i], |k| if total > 0.0 { applied(i, k) } else { types[k][i] }))
            .collect();
        Ok(Description { depth, types, magnitudes, application, usage, ranges, repetition, config })
    }

    /// The share of samples of all K layers that use some transformation more than once, at a given temperature.
    pub fn repetition_rate(&self, samples: u32, temperature: f32) -> Result<f64, Error> {
        Ok(self.count_types(samples, temperature)?.1)
    }

    /// The frequency of each transformation in each layer, and of samples with a repetition.
    fn count_types(&self, samples: u32, temperature: f32) -> Result<(Vec<Vec<f64>>, f64), Error> {
        let config = self.config();
        let own_samples = PolicyConfig { sharing: Sharing::PerImage, ..config.clone() };
        let policy = Self::new(own_samples, self.parameters().clone())?;
        let mut counts = vec![vec![0_u32; config.transformations.len()]; config.layers];
        let mut repeated = 0_u32;
        let indices: Vec<u32> = (0..samples).collect();
        for indices in indices.chunks(1024) {
            let sample = policy.sample(policy.draw(0, 0, indices), temperature)?;
            for b in 0..indices.len() {
                for (counts, &chosen) in counts.iter_mut().zip(sample.types(b)) {
                    counts[usize::from(chosen)] += 1;
                }
                repeated += u32::from(has_repetition(sample.types(b)));
            }
        }
        let share = |count: u32| f64::from(count) / f64::from(samples.max(1));
        let types = counts.into_iter().map(|counts| counts.into_iter().map(share).collect()).collect();
        Ok((types, share(repeated)))
    }

    fn magnitude_range(&self, ranged: RangedTransformation, at: usize) -> Option<MagnitudeRange> {
        ranged.transformation.magnitude()?;
        let [first, second] = self.parameters().magnitudes().map(|values| values[at]);
        let (low, high) = match self.config().magnitudes {
            MagnitudeKind::Uniform => (sigmoid(first) as f32, sigmoid(second) as f32),
            MagnitudeKind::Gaussian => {
                ((first - second.abs()).clamp(0.0, 1.0), (first + second.abs()).clamp(0.0, 1.0))
            }
        };
        let (low, high) = (ranged.to_units(low), ranged.to_units(high));
        // Bounds may have crossed, and ranges may be given from high to low; people want the smaller number first.
        Some(MagnitudeRange { low: low.min(high), high: low.max(high) })
    }
}

/// The mean of a transformation's ranges, each layer with its weight; plainly where no layer has any.
fn mean_range(ranges: &[Option<MagnitudeRange>], weight: impl Fn(usize) -> f64) -> Option<MagnitudeRange> {
    let weights: Vec<f64> = (0..ranges.len()).map(weight).collect();
    let total: f64 = weights.iter().sum();
    let mean = |end: fn(&MagnitudeRange) -> f32| {
        let weighted = ranges.iter().flatten().zip(&weights).map(|(range, weight)| {
            f64::from(end(range)) * if total > 0.0 { weight / total } else { 1.0 / weights.len() as f64 }
        });
        weighted.sum::<f64>() as f32
    };
    ranges.first()?.as_ref()?;
    Some(MagnitudeRange { low: mean(|range| range.low), high: mean(|range| range.high) })
}

fn has_repetition(chosen: &[u8]) -> bool {
    chosen.iter().enumerate().any(|(k, i)| chosen[..k].contains(i))
}

fn softmax(logits: &[f32]) -> Vec<f64> {
    let highest = logits.iter().fold(f32::NEG_INFINITY, |highest, &logit| highest.max(logit));
    let exponentials: Vec<f64> = logits.iter().map(|&logit| libm::exp(f64::from(logit - highest))).collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.into_iter().map(|value| value / sum).collect()
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        let sampler = match config.types {
            TypesKind::Sinkhorn { iterations, .. } => format!("Sinkhorn with {iterations} iterations"),
            TypesKind::Softmax => "an independent softmax per layer".to_owned(),
        };
        let (count, layers) = (config.transformations.len(), config.layers);
        writeln!(f, "{count} transformations, up to {layers} layers; types by {sampler}")?;
        writeln!(f, "\nhow many are applied (%)")?;
        let numbers: Vec<String> = (0..=layers).map(|depth| depth.to_string()).collect();
        write_row(f, "depth", &numbers)?;
        write_row(f, "", &percentages(&self.depth))?;

        let heads: Vec<String> = (1..=layers).map(|layer| format!("layer {layer}")).collect();
        writeln!(f, "\nwhich, and in what order (%)")?;
        write_row(f, "", &heads)?;
        for (i, ranged) in config.transformations.iter().enumerate() {
            let shares: Vec<f64> = self.types.iter().map(|layer| layer[i]).collect();
            write_row(f, ranged.transformation.name(), &percentages(&shares))?;
        }
        writeln!(f, "\nhow strong")?;
        write_row(f, "", &heads)?;
        for (ranged, ranges) in config.transformations.iter().zip(&self.magnitudes) {
            let Some(magnitude) = ranged.transformation.magnitude() else { continue };
            let cells: Vec<String> = ranges.iter().flatten().map(MagnitudeRange::to_string).collect();
            let unit = format!("  {}", magnitude.unit);
            write_row(f, ranged.transformation.name(), &[cells, vec![unit]].concat())?;
        }
        if let Some(application) = &self.application {
            writeln!(f, "\napplied when chosen (%)")?;
            write_row(f, "", &heads)?;
            for (ranged, shares) in config.transformations.iter().zip(application) {
                write_row(f, ranged.transformation.name(), &percentages(shares))?;
            }
        }
        write!(f, "\n{:.1} % of samples use a transformation more than once", 100.0 * self.repetition)
    }
}

impl fmt::Display for MagnitudeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Two digits for units of a few, none for degrees.
        let digits = if self.low.abs().max(self.high.abs()) < 9.95 { 2 } else { 0 };
        // Rounding must not print a negative zero.
        let rounded = |value: f32| if value.abs() < 0.005 { 0.0 } else { value };
        write!(f, "{:.digits$}..{:.digits$}", rounded(self.low), rounded(self.high))
    }
}

fn percentages(shares: &[f64]) -> Vec<String> {
    shares.iter().map(|share| format!("{:.1}", 100.0 * share)).collect()
}

fn write_row(f: &mut fmt::Formatter<'_>, name: &str, cells: &[String]) -> fmt::Result {
    write!(f, "{name:<13}")?;
    for cell in cells {
        write!(f, "{cell:>13}")?;
    }
    writeln!(f)
}
