//! Deep AutoAugment: each layer is a categorical over pairs of an operation and a level.

use freeaugment_data::python::{Array, Elements, parse_npz};
use serde::{Deserialize, Serialize};

use super::draw::Draw;
use super::name::{DEEP, FAST, Name, act_fast};

/// One choice for each layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeepAa {
    pub(super) choices: Vec<Choice>,
    /// A row for each layer, a column for each choice.
    pub(super) probabilities: Vec<Vec<f32>>,
}

/// Operation and level (0 to 1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Choice(pub(super) Name, pub(super) f64);

impl DeepAa {
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let arrays = parse_npz(bytes)?;
        let array = |name: &str| {
            let found = arrays.iter().find(|(own, _)| own == name).map(|(_, array)| array);
            found.ok_or_else(|| format!("the array `{name}` is missing"))
        };
        let levels = match integers("l_mags", array("l_mags")?)?.as_slice() {
            [levels] if (2..=1000).contains(levels) => (levels - 1) as f64,
            _ => return Err("`l_mags` must be one number from 2 to 1000".to_owned()),
        };
        let Elements::Texts(names) = &array("op_names")?.elements else {
            return Err("`op_names` must be texts".to_owned());
        };
        // A range follows the name, which the authors' code does not look at.
        let names: Vec<Name> = names
            .iter()
            .map(|name| Name::parse(name.split(':').next().unwrap_or(name)))
            .collect::<Result<_, _>>()?;
        let (operations, levels_of) = (integers("ops", array("ops")?)?, integers("mags", array("mags")?)?);
        if operations.len() != levels_of.len() {
            return Err(format!("`ops` has {} values, `mags` has {}", operations.len(), levels_of.len()));
        }
        let choices = operations.iter().zip(levels_of).map(|(&operation, level)| {
            let name = usize::try_from(operation).ok().and_then(|operation| names.get(operation));
            let name = name
                .ok_or_else(|| format!("`ops` has the value {operation}, there are {} names", names.len()))?;
            Ok(Choice(*name, level as f64 / levels))
        });
        let choices = choices.collect::<Result<Vec<_>, String>>()?;
        let probabilities = array("policy_probs")?;
        let (Elements::Floats(values), [_, columns]) =
            (&probabilities.elements, probabilities.shape.as_slice())
        else {
            return Err("`policy_probs` must be a matrix of floats".to_owned());
        };
        let rows = values.chunks((*columns).max(1));
        let probabilities = rows.map(|row| row.iter().map(|&value| value as f32).collect()).collect();
        let found = Self { choices, probabilities };
        found.check()?;
        Ok(found)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.choices.is_empty() || self.probabilities.is_empty() {
            return Err("there are no choices or no layers".to_owned());
        }
        for row in &self.probabilities {
            if row.len() != self.choices.len() {
                return Err(format!(
                    "a layer has {} probabilities for {} choices",
                    row.len(),
                    self.choices.len()
                ));
            }
            if let Some(value) = row.iter().find(|value| !(0.0..=1.0).contains(*value)) {
                return Err(format!("a probability is {value}"));
            }
            let sum: f32 = row.iter().sum();
            if (sum - 1.0).abs() > 1e-3 {
                return Err(format!("the probabilities of a layer add up to {sum}"));
            }
        }
        for Choice(name, level) in &self.choices {
            if !FAST.contains(name) && !DEEP.contains(name) {
                return Err(format!("{name:?} is not an operation of this system"));
            }
            if !(0.0..=1.0).contains(level) {
                return Err(format!("the level {level} of {name:?} is not between 0 and 1"));
            }
        }
        Ok(())
    }

    pub(super) fn draw(&self, draw: &mut Draw<'_>) {
        for row in &self.probabilities {
            let chosen = draw.choose(row.iter().map(|&value| value.into()));
            let Choice(name, level) = self.choices[chosen];
            act_fast(draw, name, level);
        }
    }
}

fn integers(name: &str, array: &Array) -> Result<Vec<i64>, String> {
    match &array.elements {
        Elements::Integers(values) => Ok(values.clone()),
        Elements::Bytes(values) => Ok(values.iter().map(|&value| value.into()).collect()),
        _ => Err(format!("`{name}` must be whole numbers")),
    }
}
