//! What can be wrong with data.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why data could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A folder that holds no data this program knows.
    #[error("{}: no data set was recognised here ({found}); known are {}", .path.display(), crate::dataset::KNOWN)]
    Unrecognised {
        /// The folder.
        path: PathBuf,
        /// What it holds instead.
        found: String,
    },
    /// A file that is not what it should be.
    #[error("{}: {reason}", .path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// One image that cannot be decoded.
    #[error("{name}: {reason}")]
    BadImage {
        /// The file, or the file and the place in it.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// More unreadable images than are allowed.
    #[error(
        "{count} of {total} images cannot be read, more than the {limit} allowed (`max_unreadable`); the first is {first}"
    )]
    TooManyUnreadable {
        /// How many cannot be read.
        count: usize,
        /// How many were tried.
        total: usize,
        /// How many may be unreadable.
        limit: usize,
        /// Name of the first, and why.
        first: String,
    },
    /// A data set with a single class.
    #[error("{}: there is only one class, `{class}`: a classifier needs at least two", .path.display())]
    OneClass {
        /// The folder.
        path: PathBuf,
        /// The class.
        class: String,
    },
    /// A split has too few images for what is asked of it.
    #[error("the {split} split has {found} images, but {needed} are needed {why}")]
    TooFew {
        /// `training`, `validation` or `test`.
        split: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        needed: usize,
        /// For what.
        why: String,
    },
    /// A thread that prepares batches panicked.
    #[error("preparing a batch failed in a way nobody foresaw: {message}")]
    Panicked {
        /// What it said.
        message: String,
    },
    /// More batches were asked for than there are.
    #[error("the loader has no batches left")]
    NoBatchLeft,
    /// A setting that this data cannot serve.
    #[error("`{key}`: {reason}")]
    Setting {
        /// The setting's name.
        key: &'static str,
        /// What is wrong, and what would be allowed.
        reason: String,
    },
}

impl Error {
    /// An error of the system, with the path it is about.
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// A file that is not what it should be.
    pub(crate) fn bad_file(path: &Path, reason: impl Into<String>) -> Self {
        Self::BadFile { path: path.to_owned(), reason: reason.into() }
    }
}
