//! `.npz` files of NumPy: zip archives of arrays.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use zip::ZipArchive;

use super::numpy::Array;
use crate::error::Error;

/// The most that all arrays of an archive may unpack to. Lists of a million file names take less.
const MOST_BYTES: u64 = 1 << 30;

/// The arrays of an archive, sorted by name.
pub fn read(path: &Path) -> Result<Vec<(String, Array)>, Error> {
    let file = File::open(path).map_err(Error::io(path))?;
    arrays(BufReader::new(file)).map_err(|reason| Error::bad_file(path, reason))
}

/// The arrays of an archive in memory, sorted by name; the error says what is wrong.
pub fn parse(bytes: &[u8]) -> Result<Vec<(String, Array)>, String> {
    arrays(Cursor::new(bytes))
}

fn arrays(reader: impl Read + Seek) -> Result<Vec<(String, Array)>, String> {
    let mut archive = ZipArchive::new(reader).map_err(|error| no_archive(&error))?;
    let (mut arrays, mut left) = (Vec::new(), MOST_BYTES);
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| no_archive(&error))?;
        let name = entry.name().map_err(|error| no_archive(&error))?;
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
        let mut bytes = Vec::new();
        // What the archive says of the size is not to be trusted, so one byte more is asked for.
        (&mut entry).take(left + 1).read_to_end(&mut bytes).map_err(|error| format!("`{name}`: {error}"))?;
        left = left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| format!("the archive unpacks to more than the {MOST_BYTES} bytes allowed"))?;
        let array = Array::from_npy(&bytes).map_err(|reason| format!("`{name}`: {reason}"))?;
        arrays.push((name, array));
    }
    arrays.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(arrays)
}

fn no_archive(error: &zip::result::ZipError) -> String {
    format!("is cut short or no .npz archive: {error}")
}
