//! Files that may be packed with gzip.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::Error;

/// A file being read, unpacked on the way if its name ends in `.gz`.
pub(super) fn reader(path: &Path) -> Result<Box<dyn Read>, Error> {
    let file = File::open(path).map_err(Error::io(path))?;
    Ok(unpacked(path, BufReader::new(file)))
}

/// The contents of the file of this name, unpacked on the way if it ends in `.gz`.
pub(super) fn unpacked<'a>(path: &Path, file: impl BufRead + 'a) -> Box<dyn Read + 'a> {
    if is_packed(path) { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) }
}

pub(super) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Whether bytes begin as packed ones do. Files are told by their names; this is for fuzzing.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// What an error while reading means: a packed file that is not sound, or trouble of the system.
pub(super) fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |error| {
        if is_packed(path) {
            Error::bad_file(path, format!("cannot be unpacked, it is cut short or not gzip: {error}"))
        } else {
            Error::io(path)(error)
        }
    }
}
