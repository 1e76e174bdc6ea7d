//! DomainNet: images in `domain/class/file`, and lists of those for training and testing.

mod list;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::image_files::ImageFiles;
use super::listing::{Folder, folder_of};
use crate::dataset::{DataKind, Dataset, Splits};
use crate::error::Error;
use list::{Entry, List, Split};

/// Lists all domains of a folder, or says that it has no lists.
pub(super) fn open(folder: &Folder) -> Result<Option<Dataset>, Error> {
    let lists = List::all(folder);
    // Other data has files called `…_train.txt` too; ours begin with an image and a number.
    for list in &lists {
        if list.looks_right()? {
            return open_lists(folder, lists).map(Some);
        }
    }
    Ok(None)
}

/// Lists the domain of a list file, or says that it is none.
pub(super) fn open_file(path: &Path) -> Result<Option<Dataset>, Error> {
    let Some(given) = List::of(path) else { return Ok(None) };
    let folder = Folder::list(folder_of(path))?;
    let mut lists: Vec<_> = List::all(&folder)
        .into_iter()
        .filter(|list| {
            list.domain == given.domain && list.split != given.split && list.is_packed() == given.is_packed()
        })
        .collect();
    lists.push(given);
    open_lists(&folder, lists).map(Some)
}

fn open_lists(folder: &Folder, mut lists: Vec<List>) -> Result<Dataset, Error> {
    lists.sort_by_key(|list| list.split);
    let mut domains: Vec<_> = lists.iter().map(|list| list.domain.clone()).collect();
    domains.sort();
    domains.dedup();
    let mut read = Vec::new();
    for list in lists {
        let entries = list.read()?;
        read.push((list, entries));
    }
    let classes = Classes::of(&folder.path, &read)?;
    let (mut files, mut labels) = (Vec::new(), Vec::new());
    let (mut train, mut test) = (Vec::new(), None);
    for (list, entries) in read {
        let indices = files.len() as u32..(files.len() + entries.len()) as u32;
        match list.split {
            Split::Train => train.extend(indices),
            Split::Test => test.get_or_insert_with(Vec::new).extend(indices),
        }
        for entry in entries {
            labels.push(classes.label(&list, &entry)?);
            files.push(entry.file);
        }
    }
    let files = ImageFiles::new(files);
    Ok(Dataset {
        kind: DataKind::DomainNet,
        title: format!("DomainNet ({})", domains.join(", ")),
        classes: classes.names(),
        labels,
        channels: 3,
        size: files.common_size(),
        splits: Splits { train, validation: None, test },
        notes: Vec::new(),
        source: Arc::new(files),
    })
}

/// Reads bytes as a list, as the first and as the second one.
pub(super) fn fuzz(bytes: &[u8]) {
    let path = Path::new("photo_train.txt");
    let lists = || List::of(path).and_then(|list| Some((list.parse(bytes).ok()?, list)));
    let read: Vec<_> =
        [lists(), lists()].into_iter().flatten().map(|(entries, list)| (list, entries)).collect();
    if let Ok(classes) = Classes::of(Path::new("."), &read) {
        for (list, entries) in &read {
            for entry in entries {
                assert!(classes.label(list, entry).is_ok(), "every class of a list for training is known");
            }
        }
    }
}

/// The classes of the training lists, in the order of their numbers, or of their names where they have none.
struct Classes {
    /// Number in the lists, name, and our label.
    known: BTreeMap<(Option<u64>, String), u32>,
}

impl Classes {
    fn of(folder: &Path, read: &[(List, Vec<Entry>)]) -> Result<Self, Error> {
        let mut known = BTreeMap::new();
        let (mut number_of, mut name_of) = (BTreeMap::new(), BTreeMap::new());
        for (list, entries) in read.iter().filter(|(list, _)| list.split == Split::Train) {
            for entry in entries {
                let Entry { number, class, .. } = entry;
                known.insert((*number, class.clone()), 0);
                if let Some(number) = number {
                    let (own_name, own_number) =
                        (name_of.entry(*number).or_insert(class), number_of.entry(class).or_insert(*number));
                    if *own_name != class {
                        return Err(list.bad(
                            entry,
                            format!("{number} is the class `{class}` here and `{own_name}` before"),
                        ));
                    }
                    if own_number != number {
                        return Err(list.bad(
                            entry,
                            format!("the class `{class}` is {number} here and {own_number} before"),
                        ));
                    }
                }
            }
        }
        if known.is_empty() {
            return Err(Error::bad_file(
                folder,
                "there is no list of training images (`DOMAIN_train.txt` or `DOMAIN_train.npz`)",
            ));
        }
        known.values_mut().zip(0..).for_each(|(label, place)| *label = place);
        Ok(Self { known })
    }

    fn label(&self, list: &List, entry: &Entry) -> Result<u32, Error> {
        self.known.get(&(entry.number, entry.class.clone())).copied().ok_or_else(|| {
            let number = entry.number.map(|number| format!(" with the number {number}")).unwrap_or_default();
            list.bad(entry, format!("the class `{}`{number} is in no list of training images", entry.class))
        })
    }

    fn names(self) -> Vec<String> {
        self.known.into_keys().map(|(_, name)| name).collect()
    }
}
