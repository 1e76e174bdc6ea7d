//! The python form: a pickled dictionary with an array of pixels and a list of labels.

use std::borrow::Cow;
use std::path::Path;

use super::{Batch, LAYOUT};
use crate::error::Error;
use crate::reader::numpy::{self, Array, Elements};
use crate::reader::pickle::{self, Value};

/// The batch in a file's bytes, with its labels under this key.
pub(super) fn parse(path: &Path, bytes: &[u8], labels: &str) -> Result<Batch, Error> {
    let bad = |reason: String| Error::bad_file(path, reason);
    let batch = pickle::parse(bytes).map_err(bad)?;
    let array = Array::from_pickle(entry(path, &batch, "data")?)
        .map_err(|reason| bad(format!("`data`: {reason}")))?;
    let labels = numpy::integers(entry(path, &batch, labels)?)
        .ok_or_else(|| bad(format!("`{labels}` is no list of whole numbers")))?;
    match array {
        Array { shape, elements: Elements::Bytes(pixels) }
            if shape.len() > 1 && !pixels.is_empty() && pixels.len() == labels.len() * LAYOUT.len() =>
        {
            Ok(Batch { pixels, labels })
        }
        Array { shape, .. } => Err(bad(format!(
            "`data` has the shape {shape:?}; for {} labels bytes of the shape [{0}, {}] are expected",
            labels.len(),
            LAYOUT.len()
        ))),
    }
}

/// Class names, a list under this key.
pub(super) fn parse_names(path: &Path, bytes: &[u8], key: &str) -> Result<Vec<String>, Error> {
    let meta = pickle::parse(bytes).map_err(|reason| Error::bad_file(path, reason))?;
    let names = entry(path, &meta, key)?.items();
    names
        .and_then(|names| names.iter().map(|name| name.text().map(Cow::into_owned)).collect())
        .ok_or_else(|| Error::bad_file(path, format!("`{key}` is no list of names")))
}

fn entry<'v, 'a>(path: &Path, dictionary: &'v Value<'a>, key: &str) -> Result<&'v Value<'a>, Error> {
    dictionary.get(key).ok_or_else(|| Error::bad_file(path, format!("the pickle has no entry `{key}`")))
}
