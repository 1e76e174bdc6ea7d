//! SLACK: three layers, each a categorical over operations; magnitudes are uniform up to a learned bound, smoothed.

use serde::{Deserialize, Serialize};

use super::draw::Draw;
use super::name::Name;
use super::torch::Checkpoint;
use crate::operation::Operation;

/// The noise that smooths the end of the uniform distribution.
const SMOOTHING: f64 = 0.1;
/// Layers, where the file does not say.
const LAYERS: usize = 3;

/// Logits have a row for each layer and a column for each operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Slack {
    pub(super) operations: Vec<Name>,
    pub(super) logits: Vec<Vec<f32>>,
    /// Levels are drawn from 0 up to these.
    pub(super) bounds: Vec<f32>,
}

const CIFAR: [Name; 17] = [
    Name::ShearX,
    Name::ShearY,
    Name::TranslateX,
    Name::TranslateY,
    Name::Rotate,
    Name::AutoContrast,
    Name::Invert,
    Name::Equalize,
    Name::Solarize,
    Name::Posterize,
    Name::Contrast,
    Name::Color,
    Name::Brightness,
    Name::Sharpness,
    Name::Cutout,
    Name::RandomCrop,
    Name::Identity,
];

/// The operations of a checkpoint with so many of them: CIFAR, ImageNet-100, DomainNet.
fn operations(count: usize) -> Result<Vec<Name>, String> {
    let mut names = CIFAR.to_vec();
    match count {
        17 => {}
        18 => {
            names.insert(14, Name::Hue);
            names[16] = Name::RandomResizeCrop;
        }
        20 => {
            names.insert(14, Name::Hue);
            names.insert(16, Name::RandomResizeCrop);
            names.insert(8, Name::Grayscale);
        }
        _ => {
            return Err(format!(
                "it has {count} operations, it must have 17 (CIFAR), 18 (ImageNet-100) or 20 (DomainNet)"
            ));
        }
    }
    Ok(names)
}

impl Slack {
    /// `pi` and `mu` by their names, or else the first two tensors of the file.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let mut checkpoint = Checkpoint::open(bytes)?;
        let (logits, bounds) = match checkpoint.tensors(["pi", "mu"]) {
            Ok([pi, mu]) => (pi, mu.concat()),
            Err(reason) => {
                let without = |other: String| format!("{reason}, and without it: {other}");
                let pi = checkpoint.storage("0").map_err(without)?;
                let mu = checkpoint.storage("1").map_err(without)?;
                if mu.is_empty() || mu.len() * LAYERS != pi.len() {
                    return Err(without(format!(
                        "the first tensors have {} and {} numbers, which are not {LAYERS} layers",
                        pi.len(),
                        mu.len()
                    )));
                }
                (pi.chunks(mu.len()).map(<[f32]>::to_vec).collect(), mu)
            }
        };
        let found = Self { operations: operations(bounds.len())?, logits, bounds };
        found.check()?;
        Ok(found)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let count = self.operations.len();
        if self.logits.is_empty() || count == 0 {
            return Err("there are no layers or no operations".to_owned());
        }
        if self.bounds.len() != count {
            return Err(format!("`mu` has {} values for {count} operations", self.bounds.len()));
        }
        for row in &self.logits {
            if row.len() != count {
                return Err(format!("`pi` has a row of {} values for {count} operations", row.len()));
            }
            if let Some(logit) = row.iter().find(|logit| !logit.is_finite()) {
                return Err(format!("`pi` has the value {logit}"));
            }
        }
        if let Some(bound) = self.bounds.iter().find(|bound| !(0.0..=1.0).contains(*bound)) {
            return Err(format!("`mu` has the value {bound}, it must be between 0 and 1"));
        }
        let is_known = |name: &Name| {
            CIFAR.contains(name) || matches!(name, Name::Hue | Name::Grayscale | Name::RandomResizeCrop)
        };
        match self.operations.iter().find(|name| !is_known(name)) {
            Some(name) => Err(format!("{name:?} is not an operation of this system")),
            None => Ok(()),
        }
    }

    /// The probability of each operation in a layer.
    pub(super) fn probabilities(logits: &[f32]) -> Vec<f64> {
        let most = logits.iter().copied().fold(f32::MIN, f32::max);
        let weights: Vec<f64> = logits.iter().map(|&logit| f64::from(logit - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    pub(super) fn draw(&self, draw: &mut Draw<'_>) {
        for logits in &self.logits {
            let chosen = draw.choose_by_logits(logits.iter().map(|&logit| logit.into()));
            let level = draw.unit() * f64::from(self.bounds[chosen]) + SMOOTHING * draw.normal();
            act(draw, self.operations[chosen], level.clamp(0.0, 1.0));
        }
    }
}

fn act(draw: &mut Draw<'_>, name: Name, level: f64) {
    let (width, height) = (draw.moment.width as f64, draw.moment.height as f64);
    let mut enhance = |operation| {
        let sign = if draw.happens(0.5) { -0.99 } else { 0.99 };
        draw.act(operation, 1.0 + sign * level);
    };
    match name {
        Name::Contrast => enhance(Operation::Contrast),
        Name::Color => enhance(Operation::Color),
        Name::Brightness => enhance(Operation::Brightness),
        Name::Sharpness => enhance(Operation::Sharpness),
        Name::ShearX => draw.either_way(Operation::ShearX, level),
        Name::ShearY => draw.either_way(Operation::ShearY, level),
        Name::TranslateX => draw.either_way(Operation::TranslateX, 0.75 * level * width),
        Name::TranslateY => draw.either_way(Operation::TranslateY, 0.75 * level * height),
        Name::Rotate => draw.either_way(Operation::Rotate, 90.0 * level),
        Name::Hue => draw.either_way(Operation::Hue, 0.5 * level),
        Name::Solarize => draw.act(Operation::Solarize, 255.0 - 255.0 * level),
        Name::Posterize => draw.act(Operation::Posterize, 8.0 - (6.0 * level).round_ties_even()),
        Name::AutoContrast => draw.act(Operation::AutoContrast, 0.0),
        Name::Invert => draw.act(Operation::Invert, 0.0),
        Name::Equalize => draw.act(Operation::Equalize, 0.0),
        Name::Grayscale => draw.act(Operation::Grayscale, 0.0),
        Name::Identity => draw.act(Operation::Identity, 0.0),
        // The level is the share of the area.
        Name::Cutout => draw.cutout(level.sqrt() * width),
        Name::RandomCrop => draw.padded_crop((0.5 * level * width).round_ties_even() as usize),
        _ => {}
    }
}
