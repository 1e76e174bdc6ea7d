//! The built-in drawings have a known answer: the planted transformations beside the learned ones.

use std::fmt;

use freeaugment_base::{Table, percent};
use freeaugment_data::Plant;
use serde::Serialize;

use super::learned::{Learned, Range, shown};
use crate::config::Settings;
use crate::error::Error;

/// What was planted and what was learned of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Planted {
    /// How many transformations were planted.
    pub planted_depth: usize,
    /// How many are applied on average.
    pub mean_depth: f64,
    /// The share that each transformation has before it learns.
    pub uniform: f64,
    /// Those that were planted.
    pub transformations: Vec<Found>,
    #[serde(skip)]
    count: usize,
}

/// A planted transformation.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// Its name.
    pub name: &'static str,
    /// The range that was planted.
    pub planted: Option<Range>,
    /// The range that was learned.
    pub learned: Option<Range>,
    /// Its share. None where the policy could not choose it.
    pub share: Option<f64>,
    /// Its place by share, from 1.
    pub rank: Option<usize>,
}

impl Planted {
    /// None where the right answer is not known.
    pub fn new(settings: &Settings, learned: &Learned) -> Result<Option<Self>, Error> {
        if !settings.data.is_empty() || settings.plant.is_empty() {
            return Ok(None);
        }
        let plants = settings.plant.iter().map(|text| text.parse()).collect::<Result<Vec<Plant>, _>>()?;
        let found = plants.iter().map(|plant| {
            let name = plant.transformation.name();
            let share = learned.transformations.iter().find(|share| share.name == name);
            Found {
                name,
                planted: plant.range.map(Range::from),
                learned: share.and_then(|share| share.range),
                share: share.map(|share| share.share),
                rank: share.map(|share| share.rank),
            }
        });
        Ok(Some(Self {
            planted_depth: plants.len(),
            mean_depth: learned.mean_depth,
            uniform: learned.uniform(),
            transformations: found.collect(),
            count: learned.transformations.len(),
        }))
    }
}

impl fmt::Display for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new("<>>><");
        table.row(["", "planted", "learned", "share", "rank"]);
        table.row(["how many", &self.planted_depth.to_string(), &format!("{:.1}", self.mean_depth)]);
        for found in &self.transformations {
            let rank = found.rank.map_or("not among those to choose from".to_owned(), |rank| {
                format!("{rank} of {}", self.count)
            });
            table.row([
                found.name.to_owned(),
                shown(found.planted),
                shown(found.learned),
                found.share.map(percent).unwrap_or_default(),
                rank,
            ]);
        }
        write!(
            f,
            "what was planted, and what was learned of it ({} each before learning)\n{table}",
            percent(self.uniform)
        )
    }
}
