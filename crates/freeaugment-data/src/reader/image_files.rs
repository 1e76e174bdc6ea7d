//! Images that are files of their own, decoded when they are asked for.

use std::path::PathBuf;

use rayon::prelude::*;

use super::decode;
use crate::dataset::Source;
use crate::error::Error;
use crate::picture::Picture;

/// Up to so many files, their headers are read to learn whether all have the same size.
const MOST_HEADERS: usize = 2_000;

#[derive(Debug)]
pub(super) struct ImageFiles {
    files: Vec<PathBuf>,
}

impl ImageFiles {
    pub(super) fn new(files: Vec<PathBuf>) -> Self {
        Self { files }
    }

    /// The height and width of all readable images, where they are the same and cheap to learn.
    pub(super) fn common_size(&self) -> Option<(usize, usize)> {
        if self.files.len() > MOST_HEADERS {
            return None;
        }
        self.files
            .par_iter()
            .filter_map(|file| decode::size(file).ok())
            .map(Some)
            .try_reduce_with(|one, other| (one == other).then_some(one))
            .flatten()
    }
}

impl Source for ImageFiles {
    fn read(&self, index: u32) -> Result<Picture, Error> {
        let picture = match self.files.get(index as usize) {
            Some(file) => decode::read(file),
            None => Err(format!("there are {} images", self.files.len())),
        };
        picture.map_err(|reason| Error::BadImage { name: self.name(index), reason })
    }

    fn mode(&self, index: u32) -> Option<String> {
        decode::mode(self.files.get(index as usize)?).ok()
    }

    fn name(&self, index: u32) -> String {
        match self.files.get(index as usize) {
            Some(file) => file.display().to_string(),
            None => format!("image {index}"),
        }
    }
}
