//! CIFAR-10 and CIFAR-100: images of 32 × 32 pixels in three planes.

mod binary;
mod names;
mod python;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::listing::{Folder, name};
use super::records::{Layout, Records};
use crate::dataset::{DataKind, Dataset, Splits};
use crate::error::Error;

const LAYOUT: Layout = Layout { height: 32, width: 32, channels: 3 };
/// Far more than any file has (30 MB, 150 MB).
const MOST_BYTES: u64 = 1 << 30;

/// The folders that the distributed archives unpack to; of the two forms of the same data, the first is read.
const FOLDERS: [[&str; 2]; 2] =
    [["cifar-10-batches-bin", "cifar-10-batches-py"], ["cifar-100-binary", "cifar-100-python"]];

/// Lists CIFAR in this folder or in the one its archive unpacks to, or says that there is none.
pub(super) fn open(folder: &Folder) -> Result<Option<Dataset>, Error> {
    if let Some(files) = Files::find(folder) {
        return files.open().map(Some);
    }
    let found: Vec<&Path> =
        FOLDERS.iter().filter_map(|forms| forms.iter().find_map(|form| folder.folder(form))).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => match Files::find(&Folder::list(one)?) {
            Some(files) => files.open().map(Some),
            None => Err(Error::bad_file(one, "holds no CIFAR training batch")),
        },
        [one, other, ..] => Err(Error::bad_file(
            &folder.path,
            format!("holds both `{}` and `{}`: give one of them", name(one), name(other)),
        )),
    }
}

/// Images and labels of one file.
struct Batch {
    pixels: Vec<u8>,
    labels: Vec<i128>,
}

/// One of the two data sets in one of its two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Binary10,
    Binary100,
    Python10,
    Python100,
}

impl Form {
    const ALL: [Self; 4] = [Self::Binary10, Self::Python10, Self::Binary100, Self::Python100];

    fn title(self) -> &'static str {
        match self {
            Self::Binary10 => "CIFAR-10 (binary)",
            Self::Binary100 => "CIFAR-100 (binary)",
            Self::Python10 => "CIFAR-10 (python)",
            Self::Python100 => "CIFAR-100 (python)",
        }
    }

    /// The files of training images in a folder.
    fn train(self, folder: &Folder) -> Vec<PathBuf> {
        let one = |name| folder.file(name).map(Path::to_owned).into_iter().collect();
        match self {
            Self::Binary10 => batches(folder, ".bin"),
            Self::Python10 => batches(folder, ""),
            Self::Binary100 => one("train.bin"),
            // A file called `train` alone could be anything.
            Self::Python100 if folder.file("meta").or(folder.file("test")).is_some() => one("train"),
            Self::Python100 => Vec::new(),
        }
    }

    fn test(self) -> &'static str {
        match self {
            Self::Binary10 => "test_batch.bin",
            Self::Binary100 => "test.bin",
            Self::Python10 => "test_batch",
            Self::Python100 => "test",
        }
    }

    /// The file of class names.
    fn names(self) -> &'static str {
        match self {
            Self::Binary10 => "batches.meta.txt",
            Self::Binary100 => "fine_label_names.txt",
            Self::Python10 => "batches.meta",
            Self::Python100 => "meta",
        }
    }

    fn parse(self, path: &Path, bytes: &[u8]) -> Result<Batch, Error> {
        match self {
            Self::Binary10 => binary::parse(path, bytes, 1),
            Self::Binary100 => binary::parse(path, bytes, 2),
            Self::Python10 => python::parse(path, bytes, "labels"),
            Self::Python100 => python::parse(path, bytes, "fine_labels"),
        }
    }

    fn read_names(self, path: Option<&Path>) -> Result<Vec<String>, Error> {
        let Some(path) = path else {
            let published = match self {
                Self::Binary10 | Self::Python10 => &names::CIFAR_10[..],
                Self::Binary100 | Self::Python100 => &names::CIFAR_100[..],
            };
            return Ok(published.iter().map(|&name| name.to_owned()).collect());
        };
        self.parse_names(path, &load(path)?)
    }

    fn parse_names(self, path: &Path, bytes: &[u8]) -> Result<Vec<String>, Error> {
        let names = match self {
            Self::Binary10 | Self::Binary100 => binary::parse_names(bytes),
            Self::Python10 => python::parse_names(path, bytes, "label_names")?,
            Self::Python100 => python::parse_names(path, bytes, "fine_label_names")?,
        };
        if names.is_empty() { Err(Error::bad_file(path, "holds no names of classes")) } else { Ok(names) }
    }
}

/// The files of one data set.
#[derive(Debug)]
struct Files {
    form: Form,
    train: Vec<PathBuf>,
    test: Option<PathBuf>,
    names: Option<PathBuf>,
}

impl Files {
    fn find(folder: &Folder) -> Option<Self> {
        let (form, train) =
            Form::ALL.iter().map(|&form| (form, form.train(folder))).find(|(_, train)| !train.is_empty())?;
        let file = |name| folder.file(name).map(Path::to_owned);
        Some(Self { form, train, test: file(form.test()), names: file(form.names()) })
    }

    fn open(self) -> Result<Dataset, Error> {
        let classes = self.form.read_names(self.names.as_deref())?;
        let (mut records, mut labels) = (Records::new(LAYOUT), Vec::new());
        let mut add = |path: &Path| {
            let first = records.count();
            let batch = self.form.parse(path, &load(path)?)?;
            for (at, label) in batch.labels.into_iter().enumerate() {
                labels.push(checked_label(path, at, label, classes.len())?);
            }
            records.begin(path);
            records.extend(batch.pixels);
            Ok::<_, Error>(first..records.count())
        };
        let mut train = Vec::new();
        for path in &self.train {
            train.extend(add(path)?);
        }
        let test = self.test.as_deref().map(add).transpose()?.map(Iterator::collect);
        Ok(Dataset {
            kind: DataKind::Cifar,
            title: self.form.title().to_owned(),
            classes,
            labels,
            channels: LAYOUT.channels,
            size: Some((LAYOUT.height, LAYOUT.width)),
            splits: Splits { train, validation: None, test },
            notes: Vec::new(),
            source: Arc::new(records),
        })
    }
}

fn load(path: &Path) -> Result<Vec<u8>, Error> {
    let length = fs::metadata(path).map_err(Error::io(path))?.len();
    if length > MOST_BYTES {
        return Err(Error::bad_file(path, format!("has {length} bytes, at most {MOST_BYTES} are allowed")));
    }
    fs::read(path).map_err(Error::io(path))
}

/// Reads bytes as every file that CIFAR has.
pub(super) fn fuzz(bytes: &[u8]) {
    let path = Path::new("data_batch_1");
    for form in Form::ALL {
        let classes = form.parse_names(path, bytes).map_or(10, |names| names.len());
        if let Ok(batch) = form.parse(path, bytes) {
            assert_eq!(batch.pixels.len(), batch.labels.len() * LAYOUT.len());
            for (at, &label) in batch.labels.iter().enumerate() {
                let _ = checked_label(path, at, label, classes);
            }
        }
    }
}

/// The files `data_batch_1`, `data_batch_2`… in the order of their numbers.
fn batches(folder: &Folder, extension: &str) -> Vec<PathBuf> {
    let number = |path: &PathBuf| -> Option<u32> {
        name(path).strip_prefix("data_batch_")?.strip_suffix(extension)?.parse().ok()
    };
    let mut numbered: Vec<_> =
        folder.files.iter().filter_map(|path| Some((number(path)?, path.clone()))).collect();
    numbered.sort();
    numbered.into_iter().map(|(_, path)| path).collect()
}

/// A label, where there is a class for it.
fn checked_label(path: &Path, record: usize, label: i128, classes: usize) -> Result<u32, Error> {
    u32::try_from(label).ok().filter(|&label| (label as usize) < classes).ok_or_else(|| {
        let largest = classes.saturating_sub(1);
        let reason = format!(
            "record {record} has the label {label}; with {classes} classes, 0 to {largest} are allowed"
        );
        Error::bad_file(path, reason)
    })
}
