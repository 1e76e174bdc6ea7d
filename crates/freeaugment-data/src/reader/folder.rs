//! Image folders: `CLASS/…`, or `train/CLASS/…` with `val` and `test` beside it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::image_files::ImageFiles;
use super::listing::{Folder, images_below, is_image, name};
use super::nesting;
use crate::dataset::{DataKind, Dataset, Splits};
use crate::error::Error;

/// Lists an image folder, or says that this is none.
pub(super) fn open(folder: &Folder) -> Result<Option<Dataset>, Error> {
    if let Some(split) = SplitFolders::find(folder)? {
        return split.open().map(Some);
    }
    if folder.folders.is_empty() {
        return Ok(None);
    }
    // A lone folder without images of its own is more likely a wrapper around the data than a class.
    if let [only] = folder.folders.as_slice()
        && !holds_images(&Folder::list(only)?)
    {
        return Ok(None);
    }
    let classes = class_folders(folder)?;
    if classes.values().all(Vec::is_empty) {
        return Ok(None);
    }
    let mut listing = Listing::new(&classes, nesting::note(&folder.path, &classes, false));
    let train = listing.add(&folder.path, classes)?;
    Ok(Some(listing.finish(Splits { train, ..Splits::default() })))
}

/// The folders of the splits.
struct SplitFolders {
    train: PathBuf,
    validation: Option<PathBuf>,
    test: Option<PathBuf>,
}

impl SplitFolders {
    fn find(folder: &Folder) -> Result<Option<Self>, Error> {
        let one = |names: &[&str]| {
            let is_named = |path: &&PathBuf| names.iter().any(|known| name(path).eq_ignore_ascii_case(known));
            let found: Vec<_> = folder.folders.iter().filter(is_named).collect();
            match found.as_slice() {
                [first, second, ..] => Err(Error::bad_file(
                    &folder.path,
                    format!("holds both `{}` and `{}`: a split has one folder", name(first), name(second)),
                )),
                found => Ok(found.first().map(|&path| path.clone())),
            }
        };
        let (train, validation) = (one(&["train"])?, one(&["val", "valid", "validation"])?);
        let test = one(&["test"])?;
        let Some(train) = train else {
            return match validation.or(test) {
                // Two folders of splits cannot be classes when nothing else is there.
                Some(other) if folder.folders.len() <= 2 && !holds_images(&Folder::list(&other)?) => {
                    let reason = format!("holds `{}`, but no `train` beside it", name(&other));
                    Err(Error::bad_file(&folder.path, reason))
                }
                _ => Ok(None),
            };
        };
        // `train` may also be a class, of pictures of trains: then the pictures lie directly in it.
        let inside = Folder::list(&train)?;
        Ok((!inside.folders.is_empty() && !holds_images(&inside)).then_some(Self { train, validation, test }))
    }

    fn open(self) -> Result<Dataset, Error> {
        let classes = class_folders(&Folder::list(&self.train)?)?;
        let mut listing = Listing::new(&classes, nesting::note(&self.train, &classes, true));
        let train = listing.add(&self.train, classes)?;
        let mut other =
            |path: Option<PathBuf>| path.map(|path| listing.add_other(&path, &self.train)).transpose();
        let splits = Splits { train, validation: other(self.validation)?, test: other(self.test)? };
        Ok(listing.finish(splits))
    }
}

fn holds_images(folder: &Folder) -> bool {
    folder.files.iter().any(|file| is_image(file))
}

/// The images of every class, by the name of its folder.
fn class_folders(folder: &Folder) -> Result<BTreeMap<OsString, Vec<PathBuf>>, Error> {
    folder
        .folders
        .iter()
        .map(|class| Ok((class.file_name().unwrap_or_default().to_owned(), images_below(class)?)))
        .collect()
}

/// Files and labels, as they are gathered.
struct Listing {
    classes: BTreeMap<OsString, u32>,
    files: Vec<PathBuf>,
    labels: Vec<u32>,
    notes: Vec<String>,
}

impl Listing {
    fn new(classes: &BTreeMap<OsString, Vec<PathBuf>>, note: Option<String>) -> Self {
        let classes = classes.keys().cloned().zip(0..).collect();
        Self { classes, files: Vec::new(), labels: Vec::new(), notes: note.into_iter().collect() }
    }

    /// Adds a split whose every class must have images; returns its indices.
    fn add(&mut self, path: &Path, split: BTreeMap<OsString, Vec<PathBuf>>) -> Result<Vec<u32>, Error> {
        if let Some((class, _)) = split.iter().find(|(_, files)| files.is_empty()) {
            return Err(Error::bad_file(
                &path.join(class),
                "holds no images (JPEG, PNG, WebP or BMP), and a class needs some",
            ));
        }
        Ok(self.push(split))
    }

    /// Adds a split that may lack classes, but not have others.
    fn add_other(&mut self, path: &Path, train: &Path) -> Result<Vec<u32>, Error> {
        let split = class_folders(&Folder::list(path)?)?;
        if let Some(class) = split.keys().find(|class| !self.classes.contains_key(*class)) {
            let reason = format!("the class `{}` is not in {}", class.to_string_lossy(), train.display());
            return Err(Error::bad_file(path, reason));
        }
        if split.values().all(Vec::is_empty) {
            return Err(Error::bad_file(path, "holds no images in folders of classes"));
        }
        Ok(self.push(split))
    }

    fn push(&mut self, split: BTreeMap<OsString, Vec<PathBuf>>) -> Vec<u32> {
        let first = self.files.len() as u32;
        for (class, files) in split {
            let label = self.classes[&class];
            self.labels.extend(std::iter::repeat_n(label, files.len()));
            self.files.extend(files);
        }
        (first..self.files.len() as u32).collect()
    }

    fn finish(self, splits: Splits) -> Dataset {
        let files = ImageFiles::new(self.files);
        Dataset {
            kind: DataKind::Folder,
            title: "image folder".to_owned(),
            classes: self.classes.into_keys().map(|class| class.to_string_lossy().into_owned()).collect(),
            labels: self.labels,
            channels: 3,
            size: files.common_size(),
            splits,
            notes: self.notes,
            source: Arc::new(files),
        }
    }
}
