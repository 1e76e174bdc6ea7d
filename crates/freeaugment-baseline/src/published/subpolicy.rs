//! DADA and Fast AutoAugment: one of many short sequences, each step with a probability and a level.

use serde::{Deserialize, Serialize};

use super::draw::Draw;
use super::name::{FAST, Name, act_fast};
use super::python::{Assignment, Value};

/// One is chosen uniformly; its steps are taken in order, each with its probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SubPolicies {
    pub(super) sub_policies: Vec<Vec<Step>>,
}

/// Operation, probability, level (0 to 1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Step(pub(super) Name, pub(super) f64, pub(super) f64);

impl SubPolicies {
    /// From lists of lists of (operation, probability, level). DADA cuts levels off at 0 and 1.
    pub(super) fn from_python(value: &Value, clamped: bool) -> Result<Self, String> {
        let step = |value: &Value| match value.items() {
            Some([name, Value::Number(probability), Value::Number(level)]) => {
                let name = name.text().ok_or("an operation has no name")?;
                let level = if clamped { level.clamp(0.0, 1.0) } else { *level };
                Ok(Step(Name::parse(name)?, *probability, level))
            }
            _ => Err("a step is not (operation, probability, level)".to_owned()),
        };
        let sub_policies = value.items().ok_or("it is not a list of sub-policies")?;
        let sub_policies = sub_policies.iter().enumerate().map(|(at, sub_policy)| {
            let steps = sub_policy.items().ok_or("it is not a list of steps".to_owned());
            steps
                .and_then(|steps| steps.iter().map(step).collect::<Result<Vec<_>, String>>())
                .map_err(|reason| format!("sub-policy {at}: {reason}"))
        });
        let found = Self { sub_policies: sub_policies.collect::<Result<_, _>>()? };
        found.check()?;
        Ok(found)
    }

    /// The policies of a file, by their first names.
    pub(super) fn all_of(assignments: &[Assignment], clamped: bool) -> Vec<(&str, Self)> {
        let found = assignments.iter().filter_map(|assignment| {
            let policy = Self::from_python(assignment.value.as_ref().ok()?, clamped).ok()?;
            Some((assignment.names.first()?.as_str(), policy))
        });
        found.collect()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.sub_policies.is_empty() {
            return Err("there are no sub-policies".to_owned());
        }
        for (at, steps) in self.sub_policies.iter().enumerate() {
            if steps.is_empty() {
                return Err(format!("sub-policy {at} has no steps"));
            }
            for Step(name, probability, level) in steps {
                if !FAST.contains(name) {
                    return Err(format!("sub-policy {at}: {name:?} is not an operation of this system"));
                }
                for (what, value) in [("probability", probability), ("level", level)] {
                    if !(0.0..=1.0).contains(value) {
                        return Err(format!("sub-policy {at}: the {what} {value} is not between 0 and 1"));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn draw(&self, draw: &mut Draw<'_>) {
        let chosen = draw.below(self.sub_policies.len());
        for &Step(name, probability, level) in &self.sub_policies[chosen] {
            if draw.happens(probability) {
                act_fast(draw, name, level);
            }
        }
    }
}
