//! Differentiable RandAugment: two layers, each a categorical over operations and a normal magnitude for each.

use serde::{Deserialize, Serialize};

use super::draw::Draw;
use super::name::Name;
use super::python::{Assignment, Value};
use crate::operation::Operation;

/// The bounds between which the probability of doing anything is drawn for each layer of each image.
const PROBABILITIES: (f64, f64) = (0.2, 0.8);
/// How far images move at level 1, in pixels: small images, and images of 224 pixels.
const TRANSLATIONS: [f64; 2] = [10.0, 100.0];

/// All matrices have a row for each layer and a column for each operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dra {
    pub(super) operations: Vec<Name>,
    pub(super) logits: Vec<Vec<f64>>,
    pub(super) means: Vec<Vec<f64>>,
    pub(super) deviations: Vec<Vec<f64>>,
    /// The highest level.
    pub(super) highest_level: f64,
    /// How far images move at level 1, in pixels.
    pub(super) translation: f64,
}

/// Policies by their names.
type Policies = Vec<(String, Dra)>;

impl Dra {
    /// The policies of a file by the comments above them, and what had to be said about it.
    pub(super) fn all_of(assignments: &[Assignment]) -> Result<(Policies, Vec<String>), String> {
        let missing = |name: &str, line: usize| format!("`{name}` is missing after `W` in line {line}");
        let operations =
            assignments.iter().find_map(|at| value_of(at, "OPS")).ok_or("`OPS` is missing")??;
        let words = operations.items().ok_or("`OPS` is not a list")?;
        let words: Option<Vec<&str>> = words.iter().map(Value::text).collect();
        let mut notes = Vec::new();
        let operations = split(&words.ok_or("`OPS` is not a list of names")?, &mut notes)?;

        let mut policies = Policies::new();
        for (at, first) in assignments.iter().enumerate() {
            let Some(logits) = value_of(first, "W") else { continue };
            // What belongs to it stands between it and the next one.
            let own = assignments[at + 1..].iter().take_while(|next| next.names != ["W"]);
            let matrix = |name: &str| -> Result<Vec<Vec<f64>>, String> {
                let value = own.clone().find_map(|at| value_of(at, name));
                rows(name, value.ok_or_else(|| missing(name, first.line))??)
            };
            let name = match &first.comment {
                Some(comment) => comment.chars().take(80).collect(),
                None => format!("line {}", first.line),
            };
            let means = matrix("M_MEAN")?;
            let is_large = name.to_lowercase().contains("imagenet");
            let policy = Self {
                operations: operations.clone(),
                logits: rows("W", logits?)?,
                // The authors let levels go up to 3 where they learned means above 1.
                highest_level: if means.iter().flatten().any(|&mean| mean > 1.0) { 3.0 } else { 1.0 },
                means,
                deviations: matrix("M_STD")?,
                translation: TRANSLATIONS[usize::from(is_large)],
            };
            policy.check().map_err(|reason| format!("{name}: {reason}"))?;
            policies.push((name, policy));
        }
        Ok((policies, notes))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let count = self.operations.len();
        if count == 0 || self.logits.is_empty() {
            return Err("there are no operations or no layers".to_owned());
        }
        for (what, matrix) in [("W", &self.logits), ("M_MEAN", &self.means), ("M_STD", &self.deviations)] {
            if matrix.len() != self.logits.len() {
                return Err(format!("`{what}` has {} rows, `W` has {}", matrix.len(), self.logits.len()));
            }
            for row in matrix {
                if row.len() != count {
                    return Err(format!("`{what}` has a row of {} values for {count} operations", row.len()));
                }
                if let Some(value) = row.iter().find(|value| value.abs() >= 1e3 || value.is_nan()) {
                    return Err(format!("`{what}` has the value {value}, it must be between -1000 and 1000"));
                }
            }
        }
        if let Some(deviation) = self.deviations.iter().flatten().find(|&&deviation| deviation < 0.0) {
            return Err(format!("`M_STD` has the value {deviation}, it must not be negative"));
        }
        if let Some(name) = self.operations.iter().find(|name| !OPERATIONS.contains(name)) {
            return Err(format!("{name:?} is not an operation of this system"));
        }
        for (what, value, most) in
            [("highest_level", self.highest_level, 10.0), ("translation", self.translation, 1e4)]
        {
            if !(0.0..=most).contains(&value) {
                return Err(format!("`{what}` is {value}, it must be between 0 and {most}"));
            }
        }
        Ok(())
    }

    pub(super) fn draw(&self, draw: &mut Draw<'_>) {
        for ((logits, means), deviations) in self.logits.iter().zip(&self.means).zip(&self.deviations) {
            let chosen = draw.choose_by_logits(logits.iter().copied());
            let level = means[chosen] + deviations[chosen] * draw.normal();
            let (low, high) = PROBABILITIES;
            let probability = low + (high - low) * draw.unit();
            if draw.happens(probability) {
                self.act(draw, self.operations[chosen], level.clamp(0.0, self.highest_level));
            }
        }
    }

    fn act(&self, draw: &mut Draw<'_>, name: Name, level: f64) {
        let longest = draw.moment.width.max(draw.moment.height) as f64;
        let mut enhance = |operation| {
            let sign = if draw.happens(0.5) { -0.9 } else { 0.9 };
            draw.act(operation, 1.0 + sign * level);
        };
        match name {
            Name::Color => enhance(Operation::Color),
            Name::Contrast => enhance(Operation::Contrast),
            Name::Brightness => enhance(Operation::Brightness),
            Name::Sharpness => enhance(Operation::Sharpness),
            Name::ShearX => draw.either_way(Operation::ShearX, 0.3 * level),
            Name::ShearY => draw.either_way(Operation::ShearY, 0.3 * level),
            Name::TranslateX => draw.either_way(Operation::TranslateX, self.translation * level),
            Name::TranslateY => draw.either_way(Operation::TranslateY, self.translation * level),
            Name::Rotate => draw.either_way(Operation::Rotate, 30.0 * level),
            Name::Posterize => draw.act(Operation::Posterize, (8.0 - 4.0 * level).ceil().max(0.0)),
            Name::Solarize => draw.act(Operation::Solarize, (256.0 - 256.0 * level).ceil().max(0.0)),
            Name::SolarizeAdd => draw.act(Operation::SolarizeAdd, (110.0 * level).trunc()),
            Name::AutoContrast => draw.act(Operation::AutoContrast, 0.0),
            Name::Equalize => draw.act(Operation::Equalize, 0.0),
            Name::Invert => draw.act(Operation::Invert, 0.0),
            Name::Identity => draw.act(Operation::Identity, 0.0),
            Name::Cutout => draw.cutout((0.2 * level * longest).trunc()),
            _ => {}
        }
    }
}

const OPERATIONS: [Name; 17] = [
    Name::Identity,
    Name::AutoContrast,
    Name::Equalize,
    Name::Invert,
    Name::Solarize,
    Name::SolarizeAdd,
    Name::Posterize,
    Name::Color,
    Name::Contrast,
    Name::Brightness,
    Name::Sharpness,
    Name::Rotate,
    Name::ShearX,
    Name::ShearY,
    Name::TranslateX,
    Name::TranslateY,
    Name::Cutout,
];

fn rows(name: &str, value: &Value) -> Result<Vec<Vec<f64>>, String> {
    let rows = value.items().and_then(|rows| rows.iter().map(Value::numbers).collect());
    rows.ok_or_else(|| format!("`{name}` is not a list of lists of numbers"))
}

/// The value of an assignment to this name.
fn value_of<'a>(at: &'a Assignment, name: &str) -> Option<Result<&'a Value, String>> {
    let value = at.value.as_ref().map_err(|reason| format!("`{name}` in line {}: {reason}", at.line));
    (at.names == [name]).then_some(value)
}

/// Names of operations. Where a comma is missing, Python joins two of them: they are taken apart again.
fn split(words: &[&str], notes: &mut Vec<String>) -> Result<Vec<Name>, String> {
    let mut names = Vec::new();
    for word in words {
        if let Ok(name) = Name::parse(word) {
            names.push(name);
            continue;
        }
        let ends = word.char_indices().map(|(at, _)| at).take(40);
        let parts = ends.filter_map(|at| {
            let (first, second) = word.split_at(at);
            Name::parse(first).ok().zip(Name::parse(second).ok())
        });
        let (first, second) = parts.last().ok_or_else(|| Name::parse(word).err().unwrap_or_default())?;
        notes.push(format!(
            "a comma is missing in `OPS` between {first:?} and {second:?}: they are read as two operations"
        ));
        names.extend([first, second]);
    }
    Ok(names)
}
