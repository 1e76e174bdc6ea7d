//! Where images come from and where their copies go: never the same place, never over what others wrote.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::run::{hold, make_folder};

/// What files are called that are not yet whole.
const UNFINISHED: &str = ".unfinished-";
const LOCK: &str = ".lock";

/// A folder to read and one to write that have nothing to do with each other, whatever links lead there.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
    /// Without links, to compare.
    real_input: PathBuf,
    real_output: PathBuf,
}

impl Places {
    pub(super) fn new(input: &Path, output: &Path) -> Result<Self, Error> {
        let real_input = fs::canonicalize(input)
            .map_err(|source| freeaugment_data::Error::Io { path: input.to_owned(), source })?;
        let real_output = real(output)?;
        if output.exists() && !output.is_dir() {
            return Err(Error::target(output, "is a file: copies are written into a folder"));
        }
        let overlap = if real_input == real_output {
            "is the folder that images are read from"
        } else if real_output.starts_with(&real_input) {
            "lies in the folder that images are read from"
        } else if real_input.starts_with(&real_output) {
            "holds the folder that images are read from"
        } else {
            let (input, output) = (input.to_owned(), output.to_owned());
            return Ok(Self { input, output, real_input, real_output });
        };
        Err(Error::target(output, format!("{overlap}: choose one apart from {}", input.display())))
    }

    /// The folder that is read, as the system knows it.
    pub(super) fn real_input(&self) -> &Path {
        &self.real_input
    }

    /// Refuses sources that links bring in from the folder that is written.
    pub(super) fn check_sources<'a>(&self, files: impl Iterator<Item = &'a Path>) -> Result<(), Error> {
        let folders: BTreeSet<&Path> = files.filter_map(Path::parent).collect();
        for folder in folders {
            if fs::canonicalize(folder).map_err(Error::io(folder))?.starts_with(&self.real_output) {
                let reason = format!("is also read, by a link: {} leads there", folder.display());
                return Err(Error::target(&self.output, reason));
            }
        }
        Ok(())
    }

    /// Whether a folder of others would be written into: one that is not empty and has no record.
    pub(super) fn check_free(&self) -> Result<(), Error> {
        let Ok(entries) = fs::read_dir(&self.output) else { return Ok(()) };
        for entry in entries {
            let name = entry.map_err(Error::io(&self.output))?.file_name();
            if name != LOCK && !is_unfinished(&name) {
                let reason = format!(
                    "exists, holds `{}`, and was not begun by `freeaugment apply`: choose a new or empty folder",
                    name.display()
                );
                return Err(Error::target(&self.output, reason));
            }
        }
        Ok(())
    }

    /// Makes the folder and holds it against other processes, as long as the file lives.
    pub(super) fn hold(&self) -> Result<fs::File, Error> {
        make_folder(&self.output)?;
        let busy = || Error::target(&self.output, "another process is writing into this folder");
        hold(&self.output.join(LOCK))?.ok_or_else(busy)
    }

    /// Makes the folders of copies and takes away what a process left there that was killed.
    pub(super) fn prepare(&self, folders: &BTreeSet<PathBuf>) -> Result<(), Error> {
        for folder in folders {
            let folder = self.output.join(folder);
            make_folder(&folder)?;
            if !fs::canonicalize(&folder).map_err(Error::io(&folder))?.starts_with(&self.real_output) {
                return Err(Error::target(
                    &folder,
                    "is a link that leads elsewhere: nothing is written there",
                ));
            }
            for entry in fs::read_dir(&folder).map_err(Error::io(&folder))? {
                let entry = entry.map_err(Error::io(&folder))?;
                if is_unfinished(&entry.file_name()) {
                    fs::remove_file(entry.path()).map_err(Error::io(&entry.path()))?;
                }
            }
        }
        Ok(())
    }
}

fn is_unfinished(name: &OsString) -> bool {
    name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes())
}

/// A path without links, of which the last parts may not exist yet.
fn real(path: &Path) -> Result<PathBuf, Error> {
    let whole = std::path::absolute(path).map_err(Error::io(path))?;
    for ancestor in whole.ancestors() {
        let Ok(found) = fs::canonicalize(ancestor) else { continue };
        let rest = whole.strip_prefix(ancestor).unwrap_or(Path::new(""));
        if rest.components().any(|part| part == Component::ParentDir) {
            return Err(Error::target(path, "goes back through folders that are not there"));
        }
        return Ok(found.join(rest));
    }
    Ok(whole)
}
