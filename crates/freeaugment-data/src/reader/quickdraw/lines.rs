//! The lines of a file that may be large or packed.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::Error;
use crate::reader::packed;

/// The longest line that is believed to be a drawing.
const LONGEST: u64 = 16 << 20;

/// Where the lines that are not blank begin, and where the last ends.
pub(super) fn places(path: &Path) -> Result<Vec<u64>, Error> {
    let file = File::open(path).map_err(Error::io(path))?;
    places_in(BufReader::with_capacity(1 << 16, file)).map_err(Error::io(path))
}

pub(super) fn places_in(mut reader: impl BufRead) -> std::io::Result<Vec<u64>> {
    let (mut places, mut at, mut blank) = (Vec::new(), 0, true);
    loop {
        let bytes = reader.fill_buf()?;
        let length = bytes.len();
        if length == 0 {
            break;
        }
        for (&byte, place) in bytes.iter().zip(at..) {
            if byte == b'\n' {
                blank = true;
            } else if blank && !byte.is_ascii_whitespace() {
                blank = false;
                places.push(place);
            }
        }
        at += length as u64;
        reader.consume(length);
    }
    if !places.is_empty() {
        places.push(at);
    }
    Ok(places)
}

/// The line that begins here. What follows it up to the next one is white space, or the beginning of a blank line.
pub(super) fn first(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes)
}

/// One line, from its beginning to that of the next.
pub(super) fn read(path: &Path, start: u64, end: u64) -> Result<Vec<u8>, String> {
    if end - start > LONGEST {
        return Err(too_long());
    }
    let mut line = Vec::new();
    File::open(path)
        .and_then(|mut file| {
            file.seek(SeekFrom::Start(start))?;
            file.take(end - start).read_to_end(&mut line)
        })
        .map_err(|error| error.to_string())?;
    line.truncate(first(&line).len());
    Ok(line)
}

/// Gives every line that is not blank to `take`.
pub(super) fn each(
    path: &Path,
    reader: impl Read,
    take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut reader).take(LONGEST + 1).read_until(b'\n', &mut line).map_err(packed::failed(path))?;
        if line.is_empty() {
            return Ok(());
        }
        if line.len() as u64 > LONGEST {
            return Err(Error::bad_file(path, too_long()));
        }
        if !line.trim_ascii().is_empty() {
            take(&line)?;
        }
    }
}

fn too_long() -> String {
    format!("the line is longer than {LONGEST} bytes")
}
