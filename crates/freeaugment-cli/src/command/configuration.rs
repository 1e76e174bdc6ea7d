//! From arguments to settings.

use std::io::ErrorKind;
use std::path::Path;

use freeaugment_search::{Error, Patch, Settings, Task, resolve};
use toml::{Table, Value};

use crate::arguments::Source;

/// Flag over file over preset; paths are made absolute, so that a run can be resumed from anywhere.
pub(crate) fn settings(task: Task, source: &Source, flags: &Table) -> Result<Settings, Error> {
    let mut patches = Vec::new();
    let mut preset = None;
    if let Some(path) = &source.config {
        let mut patch = read(path)?;
        preset = take_preset(&mut patch)?;
        patches.push(patch);
    }
    patches.push(Patch { place: "the command line".to_owned(), values: flags.clone() });
    let preset = source.preset.clone().or(preset).unwrap_or_else(|| usual_preset(&patches).to_owned());
    let mut settings = resolve(task, &preset, &patches)?;
    make_absolute("data", &mut settings.data)?;
    make_absolute("warm_start", &mut settings.warm_start)?;
    if !settings.warm_start.is_empty() && !Path::new(&settings.warm_start).exists() {
        return Err(Error::Setting {
            place: "the command line".to_owned(),
            key: "warm_start".to_owned(),
            reason: format!("there is no file or run {}", settings.warm_start),
        });
    }
    Ok(settings)
}

fn make_absolute(key: &str, text: &mut String) -> Result<(), Error> {
    if text.is_empty() {
        return Ok(());
    }
    let path = Path::new(&*text);
    let absolute = std::path::absolute(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    // It was text before, and so was the folder it is in, or the path cannot be written down.
    *text = absolute.into_os_string().into_string().map_err(|path| Error::Setting {
        place: "the command line".to_owned(),
        key: key.to_owned(),
        reason: format!("{} is not Unicode, so it cannot be written into the run", path.display()),
    })?;
    Ok(())
}

fn read(path: &Path) -> Result<Patch, Error> {
    Patch::read(path).map_err(|error| match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => Error::Setting {
            place: "the command line".to_owned(),
            key: "config".to_owned(),
            reason: format!("there is no file {}", path.display()),
        },
        other => other,
    })
}

/// The preset that a file names; it is no setting.
fn take_preset(patch: &mut Patch) -> Result<Option<String>, Error> {
    match patch.values.remove("preset") {
        None => Ok(None),
        Some(Value::String(name)) => Ok(Some(name)),
        Some(other) => Err(Error::Setting {
            place: patch.place.clone(),
            key: "preset".to_owned(),
            reason: format!("{other} is no name"),
        }),
    }
}

/// Drawings have their own; for anything else a CPU must do.
fn usual_preset(patches: &[Patch]) -> &'static str {
    let names_data =
        |values: &Table| values.get("data").and_then(Value::as_str).is_some_and(|data| !data.is_empty());
    let last = patches.iter().rev().find(|patch| patch.values.contains_key("data"));
    if last.is_some_and(|patch| names_data(&patch.values)) { "quick" } else { "drawings" }
}
