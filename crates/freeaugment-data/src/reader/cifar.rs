//! CIFAR-10 and CIFAR-100: 32 × 32 pixels in three planes, after one or two bytes of labels.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cifar_names::{CIFAR_10, CIFAR_100};
use super::listing::{Folder, name};
use super::records::{Layout, Records};
use crate::dataset::{Dataset, Kind, Splits};
use crate::error::Error;

const LAYOUT: Layout = Layout { height: 32, width: 32, channels: 3 };

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

/// One of the two data sets, in one of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    title: &'static str,
    /// Label bytes before the pixels, the last of which is ours (the first of two is the coarse class).
    label_bytes: usize,
    /// The file of class names.
    names: &'static str,
    usual_names: &'static [&'static str],
}

const BINARY_10: Form =
    Form { title: "CIFAR-10 (binary)", label_bytes: 1, names: "batches.meta.txt", usual_names: &CIFAR_10 };
const BINARY_100: Form = Form {
    title: "CIFAR-100 (binary)",
    label_bytes: 2,
    names: "fine_label_names.txt",
    usual_names: &CIFAR_100,
};

#[derive(Debug)]
struct Files {
    form: Form,
    train: Vec<PathBuf>,
    test: Option<PathBuf>,
    names: Option<PathBuf>,
}

impl Files {
    fn find(folder: &Folder) -> Option<Self> {
        let batches = batches(folder, ".bin");
        let (form, train, test) = if batches.is_empty() {
            (BINARY_100, vec![folder.file("train.bin")?.to_owned()], "test.bin")
        } else {
            (BINARY_10, batches, "test_batch.bin")
        };
        let file = |name| folder.file(name).map(Path::to_owned);
        Some(Self { form, train, test: file(test), names: file(form.names) })
    }

    fn open(self) -> Result<Dataset, Error> {
        let classes = match &self.names {
            Some(path) => read_names(path)?,
            None => self.form.usual_names.iter().map(|&name| name.to_owned()).collect(),
        };
        let (mut records, mut labels) = (Records::new(LAYOUT), Vec::new());
        for path in &self.train {
            read_binary(path, self.form, classes.len(), &mut records, &mut labels)?;
        }
        let train = (0..records.count()).collect();
        let mut test = None;
        if let Some(path) = &self.test {
            let first = records.count();
            read_binary(path, self.form, classes.len(), &mut records, &mut labels)?;
            test = Some((first..records.count()).collect());
        }
        Ok(Dataset {
            kind: Kind::Cifar,
            title: self.form.title.to_owned(),
            classes,
            labels,
            channels: LAYOUT.channels,
            size: Some((LAYOUT.height, LAYOUT.width)),
            splits: Splits { train, validation: None, test },
            source: Arc::new(records),
        })
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

fn read_names(path: &Path) -> Result<Vec<String>, Error> {
    let text = fs::read(path).map_err(Error::io(path))?;
    let names: Vec<String> = String::from_utf8_lossy(&text)
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    if names.is_empty() {
        return Err(Error::bad_file(path, "holds no names of classes, one a line"));
    }
    Ok(names)
}

fn read_binary(
    path: &Path,
    form: Form,
    classes: usize,
    records: &mut Records,
    labels: &mut Vec<u32>,
) -> Result<(), Error> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    let length = form.label_bytes + LAYOUT.len();
    if bytes.is_empty() || !bytes.len().is_multiple_of(length) {
        return Err(Error::bad_file(
            path,
            format!(
                "has {} bytes, which is not a multiple of the {length} of a record: it is cut short or no CIFAR file",
                bytes.len()
            ),
        ));
    }
    records.begin(path);
    for (at, record) in bytes.chunks_exact(length).enumerate() {
        let (own_labels, pixels) = record.split_at(form.label_bytes);
        labels.push(checked_label(path, at, own_labels[form.label_bytes - 1].into(), classes)?);
        records.extend(pixels);
    }
    Ok(())
}

/// A label, where there is a class for it.
fn checked_label(path: &Path, record: usize, label: i128, classes: usize) -> Result<u32, Error> {
    u32::try_from(label).ok().filter(|&label| (label as usize) < classes).ok_or_else(|| {
        Error::bad_file(
            path,
            format!(
                "record {record} has the label {label}, but there are {classes} classes: 0 to {} are allowed",
                classes.saturating_sub(1)
            ),
        )
    })
}
