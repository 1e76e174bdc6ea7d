//! The binary form: records of one or two bytes of labels and 3,072 of pixels.

use std::path::Path;

use super::{Batch, LAYOUT};
use crate::error::Error;

/// The batch in a file's bytes. The last byte of the labels is ours: CIFAR-100 has the coarse class before it.
pub(super) fn parse(path: &Path, bytes: &[u8], label_bytes: usize) -> Result<Batch, Error> {
    let length = label_bytes + LAYOUT.len();
    if bytes.is_empty() || !bytes.len().is_multiple_of(length) {
        let reason = format!(
            "has {} bytes, not a multiple of the {length} of a record: it is cut short or no CIFAR file",
            bytes.len()
        );
        return Err(Error::bad_file(path, reason));
    }
    let mut batch = Batch { pixels: Vec::with_capacity(bytes.len()), labels: Vec::new() };
    for record in bytes.chunks_exact(length) {
        let (labels, pixels) = record.split_at(label_bytes);
        batch.labels.extend(labels.last().copied().map(i128::from));
        batch.pixels.extend_from_slice(pixels);
    }
    Ok(batch)
}

/// Class names, one a line.
pub(super) fn parse_names(bytes: &[u8]) -> Vec<String> {
    let lines = String::from_utf8_lossy(bytes);
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}
