//! Population Based Augmentation: a schedule of stages, each with 30 operations to choose up to two from.

use serde::{Deserialize, Serialize};

use super::draw::Draw;
use super::name::Name;
use super::python::{self, Value};
use crate::operation::Operation;

/// The operations in the order of the file; each stage has them twice.
const OPERATIONS: [Name; 15] = [
    Name::Rotate,
    Name::TranslateX,
    Name::TranslateY,
    Name::Brightness,
    Name::Color,
    Name::Invert,
    Name::Sharpness,
    Name::Posterize,
    Name::ShearX,
    Name::Solarize,
    Name::ShearY,
    Name::Equalize,
    Name::AutoContrast,
    Name::Cutout,
    Name::Contrast,
];
/// The probabilities of 0, 1 and 2 operations.
const COUNTS: [f64; 3] = [0.2, 0.3, 0.5];
/// Probabilities and levels are tenths.
const TENTHS: f64 = 10.0;

/// Stages, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Schedule {
    pub(super) stages: Vec<Stage>,
}

/// What holds for some epochs of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stage {
    pub(super) epochs: f64,
    pub(super) operations: Vec<Entry>,
}

/// Operation, probability in tenths, level (0 to 10).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry(pub(super) Name, pub(super) f64, pub(super) f64);

/// A line of the file: one member of the population became a copy of another.
struct Update {
    target: Value,
    clone: Value,
    clone_epochs: f64,
    old: Vec<f64>,
    new: Vec<f64>,
}

impl Update {
    fn parse(line: &str) -> Result<Self, String> {
        let value = python::literal(line)?;
        let Some([target, clone, _, Value::Number(clone_epochs), old, new]) = value.items() else {
            return Err(
                "it is not a list of two names, two epochs, and the policies before and after".to_owned()
            );
        };
        // A policy is a list, or a setting among others.
        let policy = |value: &Value| {
            let numbers = value.get("hp_policy").unwrap_or(value).numbers();
            numbers.ok_or("a policy is not a list of numbers".to_owned())
        };
        Ok(Self {
            target: target.clone(),
            clone: clone.clone(),
            clone_epochs: *clone_epochs,
            old: policy(old)?,
            new: policy(new)?,
        })
    }
}

impl Schedule {
    /// From the text of the file and the epochs that the search had, which it does not say.
    pub(super) fn from_text(text: &str, epochs: f64) -> Result<Self, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let updates: Vec<Update> = lines
            .map(|(at, line)| Update::parse(line).map_err(|reason| format!("line {}: {reason}", at + 1)))
            .collect::<Result<_, _>>()?;
        // The last unbroken chain of copies is the one that counts; what is before it belongs to others.
        let breaks = updates.windows(2).rposition(|pair| pair[0].target != pair[1].clone);
        let chain = &updates[breaks.map_or(0, |at| at + 1)..];
        let first = chain.first().ok_or("it is empty")?;
        let ends = chain.iter().skip(1).map(|update| update.clone_epochs).chain([epochs]);
        let mut stages = vec![stage(first.clone_epochs, &first.old)?];
        for (update, end) in chain.iter().zip(ends) {
            let length = end - update.clone_epochs;
            if length < 0.0 {
                return Err(format!(
                    "a stage begins at epoch {} and ends at {end}; the search had {epochs} epochs",
                    update.clone_epochs
                ));
            }
            stages.push(stage(length, &update.new)?);
        }
        let found = Self { stages };
        found.check()?;
        Ok(found)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        for (at, stage) in self.stages.iter().enumerate() {
            if !(0.0..=1e6).contains(&stage.epochs) {
                return Err(format!("stage {at} has {} epochs", stage.epochs));
            }
            for Entry(name, probability, level) in &stage.operations {
                if !OPERATIONS.contains(name) {
                    return Err(format!("stage {at}: {name:?} is not an operation of this system"));
                }
                for (what, value) in [("probability", probability), ("level", level)] {
                    if !(0.0..=TENTHS).contains(value) {
                        return Err(format!("stage {at}: the {what} {value} is not between 0 and {TENTHS}"));
                    }
                }
            }
        }
        if self.epochs() <= 0.0 {
            return Err("there are no epochs".to_owned());
        }
        Ok(())
    }

    pub(super) fn epochs(&self) -> f64 {
        self.stages.iter().map(|stage| stage.epochs).sum()
    }

    /// What holds when this share of the training is over. The authors stretch the schedule to the training.
    fn stage(&self, progress: f64) -> Option<&Stage> {
        let mut left = progress.max(0.0) * self.epochs();
        for stage in &self.stages {
            if left < stage.epochs {
                return Some(stage);
            }
            left -= stage.epochs;
        }
        self.stages.last()
    }

    pub(super) fn draw(&self, draw: &mut Draw<'_>) {
        let Some(stage) = self.stage(draw.moment.progress) else { return };
        let mut left = draw.choose(COUNTS.iter().copied());
        let mut waiting: Vec<Entry> = stage.operations.clone();
        while left > 0 && !waiting.is_empty() {
            let chosen = draw.below(waiting.len());
            let Entry(name, probability, level) = waiting.swap_remove(chosen);
            if draw.happens(probability / TENTHS) {
                act(draw, name, level / TENTHS);
                left -= 1;
            }
        }
    }
}

fn stage(epochs: f64, numbers: &[f64]) -> Result<Stage, String> {
    let (pairs, rest) = numbers.as_chunks::<2>();
    if !rest.is_empty() || pairs.len() != 2 * OPERATIONS.len() {
        return Err(format!("a policy has {} numbers, it must have {}", numbers.len(), 4 * OPERATIONS.len()));
    }
    let names = OPERATIONS.iter().chain(&OPERATIONS);
    let operations = names.zip(pairs).map(|(&name, &[probability, level])| Entry(name, probability, level));
    Ok(Stage { epochs, operations: operations.collect() })
}

/// Level is from 0 to 1.
fn act(draw: &mut Draw<'_>, name: Name, level: f64) {
    // Tenths times a whole number: what should be whole is, but for rounding.
    let whole = |most: f64| (level * most + 1e-9).floor();
    match name {
        Name::Rotate => draw.either_way(Operation::Rotate, whole(30.0)),
        Name::TranslateX => draw.either_way(Operation::TranslateX, whole(10.0)),
        Name::TranslateY => draw.either_way(Operation::TranslateY, whole(10.0)),
        Name::ShearX => draw.either_way(Operation::ShearX, 0.3 * level),
        Name::ShearY => draw.either_way(Operation::ShearY, 0.3 * level),
        Name::Brightness => draw.act(Operation::Brightness, 0.1 + 1.8 * level),
        Name::Color => draw.act(Operation::Color, 0.1 + 1.8 * level),
        Name::Sharpness => draw.act(Operation::Sharpness, 0.1 + 1.8 * level),
        Name::Contrast => draw.act(Operation::Contrast, 0.1 + 1.8 * level),
        Name::Posterize => draw.act(Operation::Posterize, 4.0 - whole(4.0)),
        Name::Solarize => draw.act(Operation::Solarize, 256.0 - whole(256.0)),
        Name::Invert => draw.act(Operation::Invert, 0.0),
        Name::Equalize => draw.act(Operation::Equalize, 0.0),
        Name::AutoContrast => draw.act(Operation::AutoContrast, 0.0),
        // Half the side, rounded down, goes to either side of the centre.
        Name::Cutout => draw.cutout(2.0 * (whole(20.0) / 2.0).floor()),
        _ => {}
    }
}
