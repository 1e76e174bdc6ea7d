//! What is probably meant where the folders of classes hold folders of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::quote::quote;

/// Up to this share of the images may lie directly in the top folders: a cover or a sample, but not the data.
const DIRECT: f64 = 0.05;
/// How many names a note shows.
const SHOWN: usize = 3;
/// What a folder of a split is called; such names recur in every class without being classes.
const SPLITS: [&str; 6] = ["train", "training", "val", "valid", "validation", "test"];

/// What people should know about the images of every class, given by the name of its folder in `root`.
///
/// In `domain/class/…` the names of classes recur from domain to domain; in `class/anything/…` they mostly do not.
/// One name alone, such as `images` in every class, tells nothing apart and is no class. `has_splits`: there are other
/// folders beside `root`, laid out alike.
pub(super) fn note(
    root: &Path,
    classes: &BTreeMap<OsString, Vec<PathBuf>>,
    has_splits: bool,
) -> Option<String> {
    let inner: Vec<(&OsStr, BTreeSet<&OsStr>)> =
        classes.iter().map(|(top, files)| (top.as_os_str(), folders(&root.join(top), files))).collect();
    let direct: usize = classes.iter().map(|(top, files)| direct(&root.join(top), files)).sum();
    let all: usize = classes.values().map(Vec::len).sum();
    if direct as f64 > DIRECT * all as f64 {
        return None;
    }
    let mut counts: BTreeMap<&OsStr, usize> = BTreeMap::new();
    for name in inner.iter().flat_map(|(_, names)| names) {
        *counts.entry(name).or_default() += 1;
    }
    let pairs: usize = counts.values().sum();
    counts.retain(|_, count| *count > 1);
    let recurring: usize = counts.values().sum();
    if counts.len() < 2 || 2 * recurring < pairs {
        return None;
    }
    let tops = list(inner.iter().map(|(top, _)| *top));
    let names = list(counts.keys().copied());
    if counts.keys().all(|name| is_split(name)) {
        return Some(format!(
            "the folders {names} inside the {} classes ({tops}) are read as one: to keep them apart, move them above \
             the classes ({})",
            inner.len(),
            join(root, [counts.keys().next()?, inner.first()?.0]),
        ));
    }
    let (top, name) = inner
        .iter()
        .find_map(|(top, names)| Some((*top, *counts.keys().find(|name| names.contains(*name))?)))?;
    let swapped = join(root, [name, top]);
    let remedy = if has_splits {
        format!("swap the two levels in every split ({swapped})")
    } else {
        let one = root.join(top);
        format!(
            "open one of the top folders instead ({}), or swap the two levels to have all ({swapped})",
            one.display()
        )
    };
    Some(format!(
        "the classes are the {} top folders ({tops}), but these hold folders with the same names ({names}): if those \
         are the classes, {remedy}",
        inner.len(),
    ))
}

/// The names of the folders in `top` that hold images, at any depth.
fn folders<'f>(top: &Path, files: &'f [PathBuf]) -> BTreeSet<&'f OsStr> {
    let inside = |file: &'f PathBuf| {
        let mut parts = file.strip_prefix(top).ok()?.iter();
        let first = parts.next()?;
        parts.next().map(|_| first)
    };
    files.iter().filter_map(inside).collect()
}

/// How many of the files lie in `top` itself.
fn direct(top: &Path, files: &[PathBuf]) -> usize {
    files.iter().filter(|file| file.parent() == Some(top)).count()
}

fn is_split(name: &OsStr) -> bool {
    SPLITS.iter().any(|split| name.eq_ignore_ascii_case(split))
}

fn join(root: &Path, parts: [&OsStr; 2]) -> String {
    root.join(parts[0]).join(parts[1]).display().to_string()
}

/// The first names, for people.
fn list<'n>(names: impl ExactSizeIterator<Item = &'n OsStr>) -> String {
    let rest = if names.len() > SHOWN { ", …" } else { "" };
    let shown: Vec<_> = names.take(SHOWN).map(|name| quote(&name.to_string_lossy())).collect();
    shown.join(", ") + rest
}
