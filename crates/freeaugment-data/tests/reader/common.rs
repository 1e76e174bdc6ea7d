//! Files for the tests.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use freeaugment_data::{Dataset, open};
use image::{Rgb, RgbImage};

/// A folder of its own for a test, gone when dropped.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Writes a file and the folders it is in.
pub(crate) fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
    fs::write(path, contents).expect("a file can be written");
}

/// Writes an image of one colour; the extension says how.
pub(crate) fn paint(path: impl AsRef<Path>, colour: [u8; 3]) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
    RgbImage::from_pixel(4, 3, Rgb(colour)).save(path).expect("an image can be written");
}

pub(crate) fn gzip(contents: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(contents).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Opens what must be sound.
pub(crate) fn opened(path: impl AsRef<Path>) -> Dataset {
    open(path).unwrap_or_else(|error| panic!("{error}"))
}

/// The message for what is not, which is always one line, with the folder of the test left out.
pub(crate) fn message(root: &Path, path: impl AsRef<Path>) -> String {
    let error = open(path).expect_err("this data is wrong").to_string();
    assert!(!error.contains('\n'), "{error}");
    error.replace(&format!("{}/", root.display()), "").replace(&root.display().to_string(), "ROOT")
}
