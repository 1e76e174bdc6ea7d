//! Files of a run that grow by a line at a time.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::Error;

/// Adds a line.
pub(crate) fn append(path: &Path, line: &str) -> Result<(), Error> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
        .map_err(Error::io(path))
}

/// The text of a file; nothing where there is none.
fn text(path: &Path) -> Result<String, Error> {
    if path.exists() { std::fs::read_to_string(path).map_err(Error::io(path)) } else { Ok(String::new()) }
}

/// All lines, whole or not.
pub(crate) fn count_lines(path: &Path) -> Result<usize, Error> {
    Ok(text(path)?.lines().count())
}

/// The whole lines of metrics of type `T`; a line that was cut off by a crash is not one.
pub(crate) fn whole_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<String>, Error> {
    let text = text(path)?;
    let whole = text.lines().take_while(|line| serde_json::from_str::<T>(line).is_ok());
    Ok(whole.map(str::to_owned).collect())
}
