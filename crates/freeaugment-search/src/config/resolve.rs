//! Flag over file over preset.

use std::path::Path;

use freeaugment_base::nearest;
use toml::{Table, Value};

use super::preset::preset;
use super::settings::CONFIGURATION;
use super::{Settings, Task, refuse};
use crate::error::Error;

/// A few settings and where they were given.
#[derive(Clone, Debug)]
pub struct Patch {
    /// The file, or `the command line`.
    pub place: String,
    /// The settings.
    pub values: Table,
}

impl Patch {
    /// The settings of a TOML file. A `preset` may stand among them.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        let values = text
            .parse::<Table>()
            .map_err(|error| Error::NotToml { path: path.to_owned(), reason: one_line(&error, &text) })?;
        Ok(Self { place: path.display().to_string(), values })
    }
}

/// The settings of a preset with patches on top, later ones over earlier ones; checked.
pub fn resolve(task: Task, preset_name: &str, patches: &[Patch]) -> Result<Settings, Error> {
    let mut table = to_table(&preset(task, preset_name)?);
    for Patch { place, values } in patches {
        for (key, value) in values {
            let wrong = |reason: String| Error::Setting { place: place.clone(), key: key.clone(), reason };
            if !task.fields().any(|field| field.name == key) {
                let hint = nearest(key, task.fields().map(|field| field.name))
                    .map(|name| format!(" (did you mean `{name}`?)"))
                    .unwrap_or_default();
                return Err(wrong(format!("there is no such setting{hint}")));
            }
            table.insert(key.clone(), number_like(&table[key], value.clone()));
            // One key at a time, so that the message can name it.
            if let Err(reason) = from_table(&table) {
                return Err(wrong(plain(&reason)));
            }
        }
    }
    keep_proportions(&mut table, &preset(task, preset_name)?, patches);
    let settings = from_table(&table).map_err(|reason| refuse("settings", reason))?;
    if settings.epochs == 0 && task != Task::Find {
        return Err(with_place(refuse("epochs", "0 is not allowed: 1 and more are"), preset_name, patches));
    }
    settings.check().map_err(|error| with_place(error, preset_name, patches))?;
    Ok(settings)
}

/// An error of a setting with where its value came from: the last patch that gave it, or the preset.
fn with_place(error: Error, preset_name: &str, patches: &[Patch]) -> Error {
    match error {
        Error::Setting { place, key, reason } if place == CONFIGURATION => {
            let given = patches.iter().rev().find(|patch| patch.values.contains_key(&key));
            let place = given.map_or_else(|| format!("preset {preset_name}"), |patch| patch.place.clone());
            Error::Setting { place, key, reason }
        }
        other => other,
    }
}

/// Where the number of epochs is given and a start is not, the start moves with it: a search of half the length would
/// otherwise end before its policy begins to learn.
fn keep_proportions(table: &mut Table, preset: &Settings, patches: &[Patch]) {
    let is_given = |key: &str| patches.iter().any(|patch| patch.values.contains_key(key));
    let Some(epochs) = table["epochs"].as_integer().filter(|_| is_given("epochs")) else { return };
    if preset.epochs == 0 {
        // Whoever settles the epochs settles the starts.
        return;
    }
    let starts = [
        ("magnitude_start", preset.magnitude_start),
        ("type_start", preset.type_start),
        ("depth_start", preset.depth_start),
    ];
    for (key, start) in starts.into_iter().filter(|(key, _)| !is_given(key)) {
        let moved = i128::from(start) * i128::from(epochs) / i128::from(preset.epochs);
        table.insert(key.to_owned(), Value::Integer(moved as i64));
    }
}

/// What is wrong with a TOML text, and in which line.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().replace('\n', ", ");
    match error.span() {
        Some(span) => {
            let line = 1 + text[..span.start.min(text.len())].matches('\n').count();
            format!("{message}, in line {line}")
        }
        None => message,
    }
}

/// `1` where a number with a fraction stands is meant as `1.0`.
fn number_like(old: &Value, new: Value) -> Value {
    match (old, &new) {
        (Value::Float(_), Value::Integer(whole)) => Value::Float(*whole as f64),
        _ => new,
    }
}

/// Names of types as people know them.
fn plain(reason: &str) -> String {
    let words = [
        ("expected usize", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected f64", "expected a number"),
    ];
    words.iter().fold(reason.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn to_table(settings: &Settings) -> Table {
    Table::try_from(settings).expect("settings are a table")
}

fn from_table(table: &Table) -> Result<Settings, String> {
    table.clone().try_into::<Settings>().map_err(|error| error.message().replace('\n', " "))
}

impl Settings {
    /// The settings of a task as a file, every key with what it does.
    pub fn to_toml(&self, task: Task) -> String {
        let table = to_table(self);
        let mut lines = Vec::new();
        let mut group = "";
        for field in task.fields() {
            if field.group != group {
                lines.extend((!group.is_empty()).then(String::new));
                lines.push(format!("# {}", field.group));
                group = field.group;
            }
            lines.push(format!("#{}", field.help));
            lines.push(format!("{} = {}", field.name, table[field.name]));
        }
        lines.join("\n") + "\n"
    }

    /// Reads what [`Self::to_toml`] wrote; every key must be there.
    pub fn from_toml(task: Task, text: &str) -> Result<Self, String> {
        let table = text.parse::<Table>().map_err(|error| error.message().replace('\n', " "))?;
        if let Some(field) = task.fields().find(|field| !table.contains_key(field.name)) {
            return Err(format!("`{}` is missing", field.name));
        }
        let settings = from_table(&table)?;
        settings.check().map_err(|error| error.to_string())?;
        Ok(settings)
    }

    /// Takes over where things lie. On another machine that may be elsewhere; that they are the same things is told by
    /// fingerprints.
    pub(crate) fn take_places(&mut self, other: &Self) {
        if self.data.is_empty() == other.data.is_empty() {
            self.data.clone_from(&other.data);
        }
        if self.warm_start.is_empty() == other.warm_start.is_empty() {
            self.warm_start.clone_from(&other.warm_start);
        }
    }

    /// What decides which images are used for what, as a text.
    pub(crate) fn choice_of_images(&self) -> String {
        let table = to_table(self);
        let fields = super::FIELDS.iter().filter(|field| field.group == "Data");
        // Neither memory nor threads choose an image.
        let chosen = fields.filter(|field| !matches!(field.name, "cache_mib" | "workers"));
        let chosen: Vec<String> =
            chosen.map(|field| format!("{}={}", field.name, table[field.name])).collect();
        chosen.join(" ")
    }

    /// The first key of a task in which two settings differ, with both values.
    pub fn difference(&self, task: Task, other: &Self) -> Option<(&'static str, String, String)> {
        let both = self.listed(task).into_iter().zip(other.listed(task));
        let ((key, own), (_, others)) = both.into_iter().find(|(own, others)| own.1 != others.1)?;
        Some((key, own, others))
    }

    /// The keys of a task with their values as a file has them.
    pub fn listed(&self, task: Task) -> Vec<(&'static str, String)> {
        let table = to_table(self);
        task.fields().map(|field| (field.name, table[field.name].to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(text: &str) -> Patch {
        Patch { place: "search.toml".to_owned(), values: text.parse().unwrap() }
    }

    #[test]
    fn later_patches_win_over_earlier_ones_and_over_the_preset() {
        let file = patch("epochs = 7\nlearning_rate = 1");
        let flags = patch("epochs = 9");
        let settings = resolve(Task::Search, "quick", &[file, flags]).unwrap();
        assert_eq!((settings.epochs, settings.learning_rate), (9, 1.0));
        assert_eq!(settings.network, "WRN-16-1");
    }

    #[test]
    fn starts_that_are_not_given_move_with_the_epochs() {
        let starts = |patches: &[Patch]| {
            let settings = resolve(Task::Search, "cifar10", patches).unwrap();
            (settings.magnitude_start, settings.type_start, settings.depth_start)
        };
        assert_eq!(starts(&[]), (50, 65, 80));
        assert_eq!(starts(&[patch("epochs = 60")]), (10, 13, 16));
        assert_eq!(starts(&[patch("epochs = 1")]), (0, 0, 0));
        assert_eq!(starts(&[patch("type_start = 20"), patch("epochs = 60")]), (10, 20, 16));
    }

    #[test]
    fn what_cannot_be_is_named_with_its_place() {
        for (text, message) in [
            ("epoch = 3", "search.toml: `epoch`: there is no such setting (did you mean `epochs`?)"),
            (
                "types = 'sinkhorm'",
                "search.toml: `types`: unknown variant `sinkhorm`, expected `sinkhorn` or `softmax`",
            ),
            (
                "layers = 15",
                "search.toml: `layers`: 15 layers cannot be: with 14 transformations, 1 to 14 are allowed",
            ),
            (
                "frozen = ['type']",
                "search.toml: `frozen`: there is no group `type`; there are depth, types, magnitudes",
            ),
            ("batch = 1", "search.toml: `batch`: 1 is not allowed: 2 to 65536 are"),
        ] {
            assert_eq!(resolve(Task::Search, "cifar10", &[patch(text)]).unwrap_err().to_string(), message);
        }
        let flags = Patch { place: "the command line".to_owned(), values: "layers = 2".parse().unwrap() };
        let file = patch("depth = 'fixed'\nfixed_depth = 3");
        assert_eq!(
            resolve(Task::Search, "cifar10", &[file, flags]).unwrap_err().to_string(),
            "search.toml: `fixed_depth`: 3 is more than the 2 layers"
        );
        assert_eq!(
            resolve(Task::Search, "cifar10", &[patch("depth = 'fixed'\nlayers = 1")])
                .unwrap_err()
                .to_string(),
            "preset cifar10: `fixed_depth`: 2 is more than the 1 layers"
        );
        let message =
            resolve(Task::Search, "cifar10", &[patch("network = 'WRN-11-1'")]).unwrap_err().to_string();
        assert!(message.starts_with("search.toml: `network`: unknown network \"WRN-11-1\""), "{message}");
        let message = resolve(Task::Comparison, "quick", &[patch("type_rate = 1")]).unwrap_err().to_string();
        assert!(message.contains("`type_rate`: there is no such setting"), "{message}");
        assert!(
            resolve(Task::Search, "cifar", &[])
                .unwrap_err()
                .to_string()
                .contains("there are cifar10, cifar100")
        );
    }

    #[test]
    fn settings_take_over_the_kind_of_a_policy() {
        let settings = resolve(Task::Search, "quick", &[]).unwrap();
        for text in [
            "layers = 2\ntransformations = ['Rotate:-12.5..7', 'Invert', 'Color']\nassignment = 'exact'",
            "depth = 'fixed'\nfixed_depth = 1\nmagnitudes = 'gaussian'\nplace = 'first'",
            "depth = 'application'\ntypes = 'softmax'\nevaluation_temperature = 0.25\nsinkhorn_pad = -3.5",
        ] {
            let config = resolve(Task::Search, "quick", &[patch(text)]).unwrap().policy_config().unwrap();
            assert_eq!(settings.clone().with_policy(&config).policy_config().unwrap(), config, "{text}");
        }
    }

    #[test]
    fn every_preset_is_written_and_read_again() {
        for name in super::super::preset::NAMES {
            let settings = resolve(Task::Search, name, &[]).unwrap();
            assert_eq!(Settings::from_toml(Task::Search, &settings.to_toml(Task::Search)), Ok(settings));
            let settings = resolve(Task::Comparison, name, &[]).unwrap();
            let again = Settings::from_toml(Task::Comparison, &settings.to_toml(Task::Comparison)).unwrap();
            assert_eq!(settings.difference(Task::Comparison, &again), None);
        }
    }
}
