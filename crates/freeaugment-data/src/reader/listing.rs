//! What a folder holds, in an order that does not depend on the file system.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The visible entries of a folder, sorted by name. Symbolic links count as what they point to.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) files: Vec<PathBuf>,
    pub(super) folders: Vec<PathBuf>,
}

impl Folder {
    pub(super) fn list(path: &Path) -> Result<Self, Error> {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(path).map_err(Error::io(path))? {
            let entry = entry.map_err(Error::io(path))?;
            let name = entry.file_name();
            // `__MACOSX` is what the Finder adds to archives; it never holds data.
            if name.as_encoded_bytes().starts_with(b".") || name == "__MACOSX" {
                continue;
            }
            let path = entry.path();
            let kind = entry.file_type().map_err(Error::io(&path))?;
            if kind.is_symlink() {
                // A link that leads nowhere counts as a file, so that it is reported where it is read.
                match fs::metadata(&path) {
                    Ok(target) if target.is_dir() => folders.push(path),
                    Ok(target) if !target.is_file() => {}
                    _ => files.push(path),
                }
            } else if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
        files.sort();
        folders.sort();
        Ok(Self { path: path.to_owned(), files, folders })
    }

    /// The file of this name, if there is one.
    pub(super) fn file(&self, name: &str) -> Option<&Path> {
        self.files.iter().find(|file| file.file_name().is_some_and(|own| own == name)).map(PathBuf::as_path)
    }

    /// The folder of this name, if there is one.
    pub(super) fn folder(&self, name: &str) -> Option<&Path> {
        self.folders
            .iter()
            .find(|folder| folder.file_name().is_some_and(|own| own == name))
            .map(PathBuf::as_path)
    }

    /// What is here, for a message.
    pub(super) fn describe(&self) -> String {
        let several = |count: usize, one: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {one}s"),
        };
        match (self.folders.first(), self.files.first()) {
            (None, None) => "it is empty".to_owned(),
            (Some(folder), None) => {
                format!("it holds {}, the first is `{}`", several(self.folders.len(), "folder"), name(folder))
            }
            (None, Some(file)) => {
                format!("it holds {}, the first is `{}`", several(self.files.len(), "file"), name(file))
            }
            (Some(folder), Some(file)) => format!(
                "it holds {} and {}, the first are `{}` and `{}`",
                several(self.folders.len(), "folder"),
                several(self.files.len(), "file"),
                name(folder),
                name(file)
            ),
        }
    }
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file's or folder's own name, for people.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Whether the extension is that of an image.
pub(super) fn is_image(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|extension| {
        ["jpg", "jpeg", "png", "webp", "bmp"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// The image files in a folder and all folders in it, sorted by path.
pub(super) fn images_below(root: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(files_below(root)?.into_iter().filter(|file| is_image(file)).collect())
}

/// The visible files in a folder and all folders in it, sorted by path.
///
/// Every real folder is visited once, so that links which lead back up, or which fan out, cannot hang.
pub(super) fn files_below(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut files, mut pending, mut seen) = (Vec::new(), vec![root.to_owned()], BTreeSet::new());
    while let Some(path) = pending.pop() {
        if seen.insert(fs::canonicalize(&path).map_err(Error::io(&path))?) {
            let folder = Folder::list(&path)?;
            files.extend(folder.files);
            pending.extend(folder.folders.into_iter().rev());
        }
    }
    files.sort();
    Ok(files)
}
