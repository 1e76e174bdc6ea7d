//! One list: the files of one domain for training or testing.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::reader::listing::{Folder, folder_of, is_image, name};
use crate::reader::npz;
use crate::reader::numpy::Elements;
use crate::reader::quote::quote;

/// The official lists have some 10 MB.
const MOST_BYTES: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Split {
    Train,
    Test,
}

/// A list file, by its name: `clipart_train.txt`, with a path and a number a line, or `clipart_train.npz`, with
/// an array of file names per class.
#[derive(Debug)]
pub(super) struct List {
    path: PathBuf,
    pub(super) domain: String,
    pub(super) split: Split,
}

/// One image of a list.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) file: PathBuf,
    pub(super) class: String,
    /// The class's number, where the list has numbers.
    pub(super) number: Option<u64>,
    /// Where it is in the list, for messages.
    place: usize,
}

impl List {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = name(path);
        let stem = name.strip_suffix(".txt").or(name.strip_suffix(".npz"))?;
        let (domain, split) = match (stem.strip_suffix("_train"), stem.strip_suffix("_test")) {
            (Some(domain), _) => (domain, Split::Train),
            (_, Some(domain)) => (domain, Split::Test),
            _ => return None,
        };
        Some(Self { path: path.to_owned(), domain: domain.to_owned(), split })
    }

    /// The lists of a folder; those as text, where there are any.
    pub(super) fn all(folder: &Folder) -> Vec<Self> {
        let (packed, text): (Vec<_>, Vec<_>) =
            folder.files.iter().filter_map(|path| Self::of(path)).partition(Self::is_packed);
        if text.is_empty() { packed } else { text }
    }

    pub(super) fn is_packed(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "npz")
    }

    /// Whether the first line names an image and a number; archives are taken at their name.
    pub(super) fn looks_right(&self) -> Result<bool, Error> {
        if self.is_packed() {
            return Ok(true);
        }
        let mut line = Vec::new();
        let file = File::open(&self.path).map_err(Error::io(&self.path))?;
        BufReader::new(file.take(4096)).read_until(b'\n', &mut line).map_err(Error::io(&self.path))?;
        Ok(std::str::from_utf8(&line).ok().and_then(parse).is_some_and(|(path, _)| is_image(Path::new(path))))
    }

    pub(super) fn read(&self) -> Result<Vec<Entry>, Error> {
        let entries = if self.is_packed() { self.read_packed()? } else { self.read_text()? };
        if entries.is_empty() {
            return Err(Error::bad_file(&self.path, "lists no images"));
        }
        Ok(entries)
    }

    fn read_text(&self) -> Result<Vec<Entry>, Error> {
        let length = fs::metadata(&self.path).map_err(Error::io(&self.path))?.len();
        if length > MOST_BYTES {
            let reason = format!("has {length} bytes, at most {MOST_BYTES} are allowed");
            return Err(Error::bad_file(&self.path, reason));
        }
        let bytes = fs::read(&self.path).map_err(Error::io(&self.path))?;
        self.locate(self.parse(&bytes)?, |entry| vec![entry.file.clone()])
    }

    /// The entries of a text, as they are written there.
    pub(super) fn parse(&self, bytes: &[u8]) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        for (line, place) in bytes.split(|&byte| byte == b'\n').zip(1..) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let (path, number) = std::str::from_utf8(line).ok().and_then(parse).ok_or_else(|| {
                let found = quote(&String::from_utf8_lossy(line));
                let reason =
                    format!("line {place}: a path and the number of a class are expected, not {found}");
                Error::bad_file(&self.path, reason)
            })?;
            let class = Path::new(path).parent().and_then(Path::file_name);
            let class = class.ok_or_else(|| {
                let reason = format!("line {place}: `{path}` is not in the folder of a class");
                Error::bad_file(&self.path, reason)
            })?;
            let class = class.to_string_lossy().into_owned();
            entries.push(Entry { file: PathBuf::from(path), class, number: Some(number), place });
        }
        Ok(entries)
    }

    fn read_packed(&self) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        for (class, array) in npz::read(&self.path)? {
            let Elements::Texts(files) = array.elements else {
                let reason = format!("`{class}`: an array of file names is expected");
                return Err(Error::bad_file(&self.path, reason));
            };
            for file in files {
                let place = entries.len();
                entries.push(Entry { file: file.into(), class: class.clone(), number: None, place });
            }
        }
        self.locate(entries, |Entry { file, class, .. }| {
            let domain = Path::new(&self.domain);
            vec![domain.join(class).join(file), domain.join(file), file.clone(), Path::new(class).join(file)]
        })
    }

    /// Turns names in the list into paths. The first image tells which of the places they may be at is meant:
    /// beside the list or a folder above it. To look for every one would take minutes where disks are far away.
    fn locate(
        &self,
        mut entries: Vec<Entry>,
        places: impl Fn(&Entry) -> Vec<PathBuf>,
    ) -> Result<Vec<Entry>, Error> {
        let Some(first) = entries.first() else { return Ok(entries) };
        let beside = folder_of(&self.path);
        let roots = [beside.to_owned(), beside.join("..")];
        let found = roots.iter().find_map(|root| {
            let place = places(first).iter().position(|path| root.join(path).is_file())?;
            Some((root, place))
        });
        let Some((root, place)) = found else {
            let reason = format!("the image is not there, looked for it in {}", beside.display());
            return Err(self.bad(first, reason));
        };
        for entry in &mut entries {
            entry.file = root.join(places(entry).swap_remove(place));
        }
        Ok(entries)
    }

    /// What is wrong with one image of the list.
    pub(super) fn bad(&self, entry: &Entry, reason: impl std::fmt::Display) -> Error {
        let unit = if self.is_packed() { "entry" } else { "line" };
        Error::bad_file(&self.path, format!("{unit} {}, `{}`: {reason}", entry.place, entry.file.display()))
    }
}

/// A path, which may hold spaces, and a number.
fn parse(line: &str) -> Option<(&str, u64)> {
    let (path, number) = line.trim().rsplit_once(char::is_whitespace)?;
    Some((path.trim_end(), number.parse().ok()?))
}
