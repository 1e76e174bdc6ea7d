//! `freeaugment data`

use std::collections::BTreeMap;
use std::fmt;

use freeaugment_base::Table;
use freeaugment_data::{Dataset, Scan};
use freeaugment_search::{Error, Notes, ReadProgress as _, Settings, Task, Unreadable, open_data, preset};
use rayon::prelude::*;
use serde::Serialize;

use super::sheet;
use crate::arguments::DataArguments;
use crate::exit::{Ending, Failure};
use crate::output::{print, print_json};
use crate::progress::Reading;

/// More classes than this are counted, not listed.
const MOST_CLASSES: usize = 20;

pub(crate) fn run(arguments: &DataArguments) -> Result<Ending, Failure> {
    let folder = arguments.folder.as_ref().map(|folder| folder.display().to_string());
    let settings = Settings { data: folder.unwrap_or_default(), ..preset::preset(Task::Search, "drawings")? };
    let dataset = open_data(&settings)?;
    if let Some(path) = &arguments.picture {
        sheet::save(&dataset, path)?;
    }
    let recognised = Recognised::new(&dataset)?;
    if arguments.json {
        print_json(&recognised)?;
    } else {
        print(&recognised.shown(arguments.full))?;
    }
    Ok(Ending::Done)
}

/// What was recognised and measured.
#[derive(Debug, Serialize)]
struct Recognised {
    title: String,
    /// Images in each split; none where the data does not come with it.
    training: usize,
    validation: Option<usize>,
    test: Option<usize>,
    channels: usize,
    /// How many images are stored in which way, where that differs.
    modes: BTreeMap<String, usize>,
    /// Smallest and largest height and width.
    smallest: Option<(usize, usize)>,
    largest: Option<(usize, usize)>,
    /// Of the training images, per channel.
    mean: Vec<f32>,
    deviation: Vec<f32>,
    classes: Vec<Class>,
    unreadable: Vec<String>,
    notes: Vec<String>,
}

/// How many images of a class there are.
#[derive(Clone, Debug, Serialize)]
struct Class {
    name: String,
    training: usize,
    validation: Option<usize>,
    test: Option<usize>,
}

impl Recognised {
    /// Reads every image.
    fn new(dataset: &Dataset) -> Result<Self, Error> {
        let splits = &dataset.splits;
        let others: Vec<u32> =
            [&splits.validation, &splits.test].into_iter().flatten().flatten().copied().collect();
        let progress = Reading::new(false);
        progress.begin(splits.train.len() + others.len());
        let options = Scan { cache_bytes: 0, max_unreadable: usize::MAX };
        let training = dataset.scan(&splits.train, options, &|| progress.advance())?;
        let rest = dataset.scan(&others, options, &|| progress.advance())?;
        let sizes = match (training.sizes, rest.sizes) {
            (Some((a, b)), Some((c, d))) => {
                Some(((a.0.min(c.0), a.1.min(c.1)), (b.0.max(d.0), b.1.max(d.1))))
            }
            (first, second) => first.or(second),
        };
        let unreadable = training.unreadable.iter().chain(&rest.unreadable);
        Ok(Self {
            title: dataset.title.clone(),
            training: splits.train.len(),
            validation: splits.validation.as_ref().map(Vec::len),
            test: splits.test.as_ref().map(Vec::len),
            channels: dataset.channels,
            modes: modes(dataset),
            smallest: sizes.map(|sizes| sizes.0),
            largest: sizes.map(|sizes| sizes.1),
            mean: training.mean,
            deviation: training.deviation,
            classes: classes(dataset),
            unreadable: unreadable.map(|image| image.message.clone()).collect(),
            notes: dataset.notes.clone(),
        })
    }

    fn shown(&self, full: bool) -> String {
        let numbers =
            |values: &[f32]| values.iter().map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(", ");
        let size = |(height, width): (usize, usize)| format!("{height}x{width}");
        let sizes = match (self.smallest, self.largest) {
            (Some(smallest), Some(largest)) if smallest == largest => size(smallest),
            (Some(smallest), Some(largest)) => {
                format!("{} to {} (height x width)", size(smallest), size(largest))
            }
            _ => "unknown".to_owned(),
        };
        let mut table = Table::new("<<");
        table.row(["classes", &self.classes.len().to_string()]);
        table.row(["size", &sizes]);
        table.row(["channels", if self.channels == 1 { "1 (grey)" } else { "3 (colour)" }]);
        if !self.modes.is_empty() {
            let modes: Vec<String> =
                self.modes.iter().map(|(mode, count)| format!("{count} {mode}")).collect();
            table.row(["modes", &modes.join("; ")]);
        }
        table.row(["mean", &numbers(&self.mean)]);
        table.row(["deviation", &numbers(&self.deviation)]);
        let missing: Vec<&str> = [("validation", self.validation), ("test", self.test)]
            .into_iter()
            .filter_map(|(name, count)| count.is_none().then_some(name))
            .collect();
        let note = if missing.is_empty() {
            String::new()
        } else {
            format!("\n\nit brings no {} split: a search draws one by seed", missing.join(" and no "))
        };
        let (unreadable, notes) = (Unreadable(&self.unreadable), Notes(&self.notes));
        format!("{}\n{table}\n\n{}{note}{unreadable}{notes}", self.title, Counts { recognised: self, full })
    }
}

/// How images are stored, and how many of each kind there are.
fn modes(dataset: &Dataset) -> BTreeMap<String, usize> {
    let found: Vec<String> = (0..dataset.labels.len() as u32)
        .into_par_iter()
        .filter_map(|index| dataset.source.mode(index))
        .collect();
    let mut counts = BTreeMap::new();
    for mode in found {
        *counts.entry(mode).or_default() += 1;
    }
    counts
}

fn classes(dataset: &Dataset) -> Vec<Class> {
    let splits = &dataset.splits;
    let count = |indices: &[u32]| {
        let mut counts = vec![0_usize; dataset.classes.len()];
        for &index in indices {
            counts[dataset.label(index) as usize] += 1;
        }
        counts
    };
    let training = count(&splits.train);
    let [validation, test] = [&splits.validation, &splits.test].map(|split| split.as_deref().map(count));
    let of = |counts: &Option<Vec<usize>>, class: usize| counts.as_ref().map(|counts| counts[class]);
    let classes = dataset.classes.iter().enumerate().map(|(class, name)| Class {
        name: name.clone(),
        training: training[class],
        validation: of(&validation, class),
        test: of(&test, class),
    });
    classes.collect()
}

/// Images per class and split.
struct Counts<'a> {
    recognised: &'a Recognised,
    full: bool,
}

impl fmt::Display for Counts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Recognised { classes, training, validation, test, .. } = self.recognised;
        let shown = |count: &Option<usize>| count.map_or("-".to_owned(), |count| count.to_string());
        let mut table = Table::new("<>>>");
        table.row(["", "training", "validation", "test"]);
        table.row(["all".to_owned(), training.to_string(), shown(validation), shown(test)]);
        let most = if self.full { classes.len() } else { MOST_CLASSES };
        for Class { name, training, validation, test } in classes.iter().take(most) {
            table.row([name.clone(), training.to_string(), shown(validation), shown(test)]);
        }
        write!(f, "{table}")?;
        match classes.len().saturating_sub(most) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more classes (--full shows them)"),
        }
    }
}
