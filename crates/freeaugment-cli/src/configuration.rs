//! From arguments to settings.

use std::io::ErrorKind;
use std::path::Path;

use freeaugment_search::{Error, Patch, Settings, resolve};
use toml::{Table, Value};

use crate::arguments::SearchArguments;

/// Flag over file over preset; the data's path is made absolute, so that a run can be resumed from anywhere.
pub(crate) fn settings(arguments: &SearchArguments) -> Result<Settings, Error> {
    let mut patches = Vec::new();
    let mut preset = None;
    if let Some(path) = &arguments.config {
        let mut patch = read(path)?;
        preset = take_preset(&mut patch)?;
        patches.push(patch);
    }
    patches.push(Patch { place: "the command line".to_owned(), values: arguments.settings.0.clone() });
    let preset = arguments.preset.clone().or(preset).unwrap_or_else(|| usual_preset(&patches).to_owned());
    let mut settings = resolve(&preset, &patches)?;
    if !settings.data.is_empty() {
        let path = Path::new(&settings.data);
        let absolute =
            std::path::absolute(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        // It was text before, and so was the folder it is in, or the path cannot be written down.
        settings.data = absolute.into_os_string().into_string().map_err(|path| Error::Setting {
            place: "the command line".to_owned(),
            key: "data".to_owned(),
            reason: format!("{} is not Unicode, so it cannot be written into the run", path.display()),
        })?;
    }
    Ok(settings)
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
