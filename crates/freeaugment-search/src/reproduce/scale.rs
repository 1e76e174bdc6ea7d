//! How large an experiment is.

use toml::{Table, Value};

use super::experiment::{Data, Group};
use crate::config::{Patch, Settings, Task, resolve};
use crate::error::Error;

/// How large an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The paper's settings.
    Paper,
    /// What two cores manage: few images, trained until they are known by heart, which is where policies differ.
    Small,
    /// A proof that the plumbing holds, on the built-in drawings.
    Tiny,
}

/// How many images of each class a small budget has, and how many at least.
const EACH: usize = 10;
const LEAST: usize = 500;
/// Its epochs.
const EPOCHS: i64 = 200;

impl Scale {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Small, Self::Tiny];

    /// What it is asked for by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Small => "small",
            Self::Tiny => "tiny",
        }
    }

    /// How many seeds there are where nobody says.
    pub(super) fn seeds(self, paper: u64) -> u64 {
        match self {
            Self::Paper => paper,
            Self::Small => paper.min(3),
            Self::Tiny => 1,
        }
    }

    pub(super) fn note(self) -> &'static str {
        match self {
            Self::Paper => "scale paper: the paper's settings, as far as this program has them",
            Self::Small => {
                "scale small: few images, a small network and long trainings; differences between rows can be compared with \
                 the published ones, accuracies cannot"
            }
            Self::Tiny => {
                "scale tiny: seconds of training on drawings; it proves that the plumbing holds and says nothing about any \
                 policy"
            }
        }
    }

    /// What a group is trained on, and what it searches on.
    pub(super) fn data(self, group: &Group) -> [Data; 2] {
        match group.at_small {
            Some(data) if self == Self::Small => [data; 2],
            _ => [group.data, group.searched.0],
        }
    }

    pub(super) fn includes(self, group: &Group) -> bool {
        self != Self::Small || !group.large_only
    }

    /// Settings of a search, with those of a row on top. `preset` names another method for a small budget.
    pub(super) fn searched(self, group: &Group, row: &str, preset: Option<&str>) -> Result<Settings, Error> {
        let ([_, data], network) = (self.data(group), group.searched.1);
        let usual = if self == Self::Small { "one-step" } else { data.preset() };
        let mut own = self.patch(data, network);
        own.extend(match self {
            Self::Small => Table::from_iter([
                ("validation_share".to_owned(), Value::Float(0.5)),
                // The preset has three; the space is to be the paper's.
                ("layers".to_owned(), Value::Integer(7)),
            ]),
            Self::Paper | Self::Tiny => Table::new(),
        });
        let row: Table = row.parse().expect("rows are TOML: a test reads all of them");
        let patches = [own, row].map(|values| Patch { place: "this experiment".to_owned(), values });
        resolve(Task::Search, preset.unwrap_or(usual), &patches)
    }

    /// Settings of a training.
    pub(super) fn trained(self, group: &Group) -> Result<Settings, Error> {
        let preset = if self == Self::Small { "one-step" } else { group.recipe };
        let patch = Patch {
            place: "this experiment".to_owned(),
            values: self.patch(self.data(group)[0], group.network),
        };
        let mut settings = resolve(Task::Comparison, preset, &[patch])?;
        settings.evaluate_every = 0;
        Ok(settings)
    }

    fn patch(self, data: Data, network: &str) -> Table {
        let facts = data.facts();
        let text = |text: &str| Value::String(text.to_owned());
        let values = match self {
            Self::Paper => vec![("network", text(network))],
            Self::Small => {
                let images = (EACH * facts.classes).clamp(LEAST, facts.training);
                vec![
                    ("network", text("WRN-10-1")),
                    ("images", Value::Integer(images as i64)),
                    ("size", Value::Integer(facts.side as i64)),
                    ("epochs", Value::Integer(EPOCHS)),
                    ("batch", Value::Integer(64)),
                    ("evaluate_every", Value::Integer(0)),
                ]
            }
            Self::Tiny => vec![
                ("network", text("WRN-10-1")),
                ("images", Value::Integer(0)),
                ("size", Value::Integer(32)),
                ("crop", text("pad")),
                ("cutout", Value::Integer(8)),
                ("weight_decay", Value::Float(5e-4)),
                ("drawings_train", Value::Integer(32)),
                ("drawings_validation", Value::Integer(16)),
                ("epochs", Value::Integer(2)),
                ("batch", Value::Integer(16)),
                ("evaluate_every", Value::Integer(0)),
            ],
        };
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
