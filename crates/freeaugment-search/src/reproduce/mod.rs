//! The tables and figures of the FreeAugment paper, as plans.
//!
//! An [`Experiment`] is data: rows with what was published, and what to search and train to measure the same. [`Wanted`]
//! makes a plan of one.

mod ablation;
mod cifar;
mod cost;
mod data;
mod domainnet;
mod experiment;
mod imagenet;
mod scale;

use std::collections::BTreeMap;
use std::path::Path;

pub use experiment::Experiment;
pub use scale::Scale;

use self::experiment::{Data, Group, Number, Shown, Spec, Under};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::grid::{Cost, GridBuilder, GridRow, GridTable, PolicySource, Published, Shows, Speed};

/// All of them.
pub const EXPERIMENTS: [Experiment; 16] = [
    cifar::TABLE,
    imagenet::TABLE,
    imagenet::SLACK,
    domainnet::TABLE,
    domainnet::SLACK,
    imagenet::WHOLE,
    ablation::JOINT,
    ablation::DEPTH,
    ablation::REPETITION,
    ablation::BATCH,
    ablation::WARM_UP,
    ablation::MAGNITUDE,
    ablation::APPLICATION,
    ablation::WARM_START,
    ablation::EVERY,
    cost::COST,
];

/// What is asked of an experiment.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// How large it is.
    pub scale: Scale,
    /// The folder that all data lies in; what is missing there is an error. None where that is left to whoever works on cells.
    pub data: Option<&'a Path>,
    /// Seeds, where they are other than the scale's.
    pub seeds: Option<u64>,
    /// The preset of searches, where it is another than the scale's.
    pub preset: Option<&'a str>,
    /// Where classifiers are computed.
    pub device: &'a str,
    /// Published policies: the row they belong to, and the text of the file.
    pub policies: Vec<(String, Vec<u8>)>,
}

/// What an experiment comes to, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// Images that classifiers are trained on.
    pub images: Vec<usize>,
    /// Their epochs.
    pub epochs: Vec<u64>,
    /// The networks.
    pub networks: Vec<String>,
    /// Searches.
    pub searches: usize,
    /// Trainings.
    pub trainings: usize,
    /// Hours of one machine like this one.
    pub hours: f64,
}

impl Experiment {
    /// The experiment of a name.
    pub fn named(name: &str) -> Result<&'static Self, Error> {
        static ALL: [Experiment; 16] = EXPERIMENTS;
        ALL.iter().find(|known| known.name == name).ok_or_else(|| {
            let hint = freeaugment_base::nearest(name, ALL.iter().map(|known| known.name));
            let hint = hint.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
            let reason =
                format!("there is no such experiment{hint}; `freeaugment reproduce list` has all of them");
            Error::Setting { place: "the command line".to_owned(), key: name.to_owned(), reason }
        })
    }

    /// The plan, and what it comes to.
    pub fn plan(&self, wanted: &Wanted, speed: Speed) -> Result<(GridBuilder, Size), Error> {
        let scale = wanted.scale;
        let mut builder = GridBuilder::new(&format!("{}: {}", self.name, self.about));
        builder.note(scale.note());
        if scale == Scale::Small && self.groups.iter().any(|group| group.at_small.is_some()) {
            builder.note("measured on CIFAR-10, published on CIFAR-100");
        }
        if scale == Scale::Paper {
            self.notes.iter().for_each(|note| builder.note(note));
        }
        let mut planner = Planner {
            wanted,
            speed,
            seeds: wanted.seeds.unwrap_or_else(|| scale.seeds(self.seeds)),
            builder,
            size: Size {
                images: Vec::new(),
                epochs: Vec::new(),
                networks: Vec::new(),
                searches: 0,
                trainings: 0,
                hours: 0.0,
            },
        };
        let mut together: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for group in self.groups.iter().filter(|group| scale.includes(group)) {
            let rows = planner.rows(group)?;
            for row in &rows {
                if let Some((name, _)) = self.average.iter().find(|(name, _)| *name == row.name) {
                    together.entry(name).or_default().extend(row.cells.iter().cloned());
                }
            }
            planner.builder.table(GridTable {
                title: group.title.to_owned(),
                shows: match group.shows {
                    Shown::Accuracy => Shows::Accuracy,
                    Shown::Repetition => Shows::Repetition,
                    Shown::Hours => Shows::Hours,
                },
                baseline: Some(group.baseline.to_owned()),
                rows,
            });
        }
        if !self.average.is_empty() {
            let rows = self.average.iter().map(|(name, number)| GridRow {
                name: (*name).to_owned(),
                published: number.published(""),
                cells: together.remove(name).unwrap_or_default(),
            });
            planner.builder.table(GridTable {
                title: "average".to_owned(),
                shows: Shows::Accuracy,
                baseline: Some(self.groups[0].baseline.to_owned()),
                rows: rows.collect(),
            });
        }
        Ok(planner.finish())
    }
}

struct Planner<'a> {
    wanted: &'a Wanted<'a>,
    speed: Speed,
    seeds: u64,
    builder: GridBuilder,
    size: Size,
}

impl Planner<'_> {
    fn rows(&mut self, group: &Group) -> Result<Vec<GridRow>, Error> {
        let mut rows = Vec::new();
        for spec in group.rows {
            let cells = self.cells(group, spec)?;
            rows.push(GridRow {
                name: spec.name.to_owned(),
                published: spec.published.published(spec.about),
                cells,
            });
        }
        if group.shows == Shown::Hours {
            return Ok(rows);
        }
        for (name, bytes) in &self.wanted.policies {
            let policy = self.builder.policy_file(name, bytes.clone());
            let (settings, cost) = self.trained(group)?;
            let cells = self.train(&settings, &policy, cost);
            match rows.iter_mut().find(|row| row.name == *name) {
                Some(row) => row.cells = cells,
                None => rows.push(GridRow { name: name.clone(), published: None, cells }),
            }
        }
        Ok(rows)
    }

    fn cells(&mut self, group: &Group, spec: &Spec) -> Result<Vec<String>, Error> {
        let (patch, continued) = match spec.under {
            Under::Nothing => return Ok(Vec::new()),
            Under::Policy(name) => {
                let (settings, cost) = self.trained(group)?;
                return Ok(self.train(&settings, &PolicySource::Name(name.to_owned()), cost));
            }
            Under::Search(patch) => (patch, false),
            Under::Continued => ("", true),
        };
        let (searched, found) = self.searched(group, patch)?;
        let seeds = 1..=self.seeds;
        let searches: Vec<String> =
            seeds.clone().map(|seed| self.builder.search(&searched, seed, found)).collect();
        if group.shows == Shown::Hours {
            return Ok(searches);
        }
        let (settings, cost) = self.trained(group)?;
        let cells = seeds.zip(&searches).map(|(seed, search)| {
            let settings = Settings { seed, ..settings.clone() };
            let policy = PolicySource::Cell(search.clone());
            self.builder.train(&settings, &policy, seed, continued.then_some(search), cost)
        });
        Ok(cells.collect())
    }

    /// A training for every seed; the seed decides which images are used too, so that rows are paired.
    fn train(&mut self, settings: &Settings, policy: &PolicySource, cost: Cost) -> Vec<String> {
        let each = (1..=self.seeds)
            .map(|seed| self.builder.train(&Settings { seed, ..settings.clone() }, policy, seed, None, cost));
        each.collect()
    }

    fn searched(&self, group: &Group, patch: &str) -> Result<(Settings, Cost), Error> {
        let settings = self.wanted.scale.searched(group, patch, self.wanted.preset)?;
        let [_, data] = self.wanted.scale.data(group);
        let (images, test, classes) = self.counts(data, &settings);
        let validation = (images as f64 * settings.validation_share) as usize;
        let cost =
            self.speed.cost(Task::Search, &settings, [images - validation, test.min(validation), classes])?;
        Ok((self.placed(data, settings)?, cost))
    }

    fn trained(&mut self, group: &Group) -> Result<(Settings, Cost), Error> {
        let settings = self.wanted.scale.trained(group)?;
        let [data, _] = self.wanted.scale.data(group);
        let (images, test, classes) = self.counts(data, &settings);
        let cost = self.speed.cost(Task::Comparison, &settings, [images, test, classes])?;
        add(&mut self.size.images, images);
        add(&mut self.size.epochs, settings.epochs);
        add(&mut self.size.networks, settings.network.clone());
        Ok((self.placed(data, settings)?, cost))
    }

    /// Images to train on or to search with, images to test on, and classes.
    fn counts(&self, data: Data, settings: &Settings) -> (usize, usize, usize) {
        if self.wanted.scale == Scale::Tiny {
            return (settings.drawings_train, settings.drawings_validation, 10);
        }
        let facts = data.facts();
        let images = if settings.images == 0 { facts.training } else { settings.images.min(facts.training) };
        (images, facts.test, facts.classes)
    }

    /// Settings with the place of their data, and the device.
    fn placed(&self, data: Data, settings: Settings) -> Result<Settings, Error> {
        let place = match (self.wanted.scale, self.wanted.data) {
            (Scale::Tiny, _) => String::new(),
            (_, Some(root)) => data.find(root)?,
            (_, None) => data.usual_place(),
        };
        Ok(Settings { data: place, device: self.wanted.device.to_owned(), ..settings })
    }

    fn finish(mut self) -> (GridBuilder, Size) {
        let cells = self.builder.cells();
        self.size.trainings = cells.iter().filter(|cell| cell.kind() == Task::Comparison).count();
        self.size.searches = cells.len() - self.size.trainings;
        self.size.hours = cells.iter().map(|cell| cell.seconds).sum::<f64>() / 3600.0;
        (self.builder, self.size)
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

impl Number {
    fn published(self, about: &str) -> Option<Published> {
        let (value, interval) = match self {
            Self::Unknown => return None,
            Self::Plain(value) => (value, None),
            Self::Within(value, interval) => (value, Some(interval)),
        };
        Some(Published { value, interval, about: about.to_owned() })
    }
}
