//! From a path to a data set: what it is, is told from what it holds.

mod cifar;
mod decode;
mod domainnet;
mod folder;
pub mod fuzzing;
mod idx;
mod image_files;
mod listing;
mod nesting;
pub(crate) mod npz;
pub(crate) mod numpy;
mod packed;
pub(crate) mod pickle;
mod quickdraw;
mod quote;
mod records;
pub(crate) mod stored;

use std::fs;
use std::path::{Path, PathBuf};

use crate::dataset::Dataset;
use crate::error::Error;
use crate::picture::Picture;
use listing::Folder;

/// How many folders that hold nothing but one folder are looked through.
const DEEPEST: usize = 3;

/// Recognises and lists the data at a path: a folder, or a file where one file names a data set (an IDX file
/// of images, a list file of DomainNet).
///
/// Listing reads labels and names. Images that are files of their own are decoded only when they are asked for.
pub fn open(path: impl AsRef<Path>) -> Result<Dataset, Error> {
    let path = path.as_ref();
    let dataset = if fs::metadata(path).map_err(Error::io(path))?.is_dir() {
        open_folder(path, DEEPEST)?
    } else {
        open_file(path)?
    };
    check(path, dataset)
}

/// Reads one image file, as images of a folder are read: turned as it is meant to be seen, in red, green and blue.
pub fn read_image(path: impl AsRef<Path>) -> Result<Picture, Error> {
    let path = path.as_ref();
    fs::metadata(path).map_err(Error::io(path))?;
    let bad = |reason| Error::BadImage { name: path.display().to_string(), reason };
    decode::read(path).map_err(bad)
}

/// The files of a folder and of all folders in it, classes or not: those that are images by their names, and the others.
/// Both are sorted; hidden files are left out.
pub fn list_images(folder: impl AsRef<Path>) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Error> {
    let folder = folder.as_ref();
    if !fs::metadata(folder).map_err(Error::io(folder))?.is_dir() {
        return Err(Error::bad_file(folder, "is a file: give the folder that holds the images"));
    }
    Ok(listing::files_below(folder)?.into_iter().partition(|file| listing::is_image(file)))
}

fn open_folder(path: &Path, deepest: usize) -> Result<Dataset, Error> {
    let folder = Folder::list(path)?;
    if let Some(dataset) = open_packed(&folder)? {
        return Ok(dataset);
    }
    if let Some(dataset) = folder::open(&folder)? {
        return Ok(dataset);
    }
    match folder.folders.as_slice() {
        // Archives often unpack into a folder of their own.
        [only] if deepest > 0 => open_folder(only, deepest - 1),
        _ => Err(Error::Unrecognised { path: path.to_owned(), found: folder.describe() }),
    }
}

/// What is recognised by the names of its files, here or in the folder its archive unpacks to.
fn open_packed(folder: &Folder) -> Result<Option<Dataset>, Error> {
    for open in [cifar::open, idx::open, quickdraw::open, domainnet::open] {
        if let Some(dataset) = open(folder)? {
            return Ok(Some(dataset));
        }
    }
    Ok(None)
}

fn open_file(path: &Path) -> Result<Dataset, Error> {
    for open in [idx::open_file, domainnet::open_file] {
        if let Some(dataset) = open(path)? {
            return Ok(dataset);
        }
    }
    Err(Error::bad_file(path, "is a file: give the folder that holds the data set"))
}

/// What holds for every data set: something to train on, and something to tell apart.
fn check(path: &Path, dataset: Dataset) -> Result<Dataset, Error> {
    let mut labels = dataset.splits.train.iter().map(|&index| dataset.labels[index as usize]);
    let Some(first) = labels.next() else {
        return Err(Error::bad_file(path, "holds no training images"));
    };
    if labels.all(|label| label == first) {
        let class = dataset.classes[first as usize].clone();
        return Err(Error::OneClass { path: path.to_owned(), class });
    }
    Ok(dataset)
}
