//! Images of one size, packed in few files and held in memory.

use std::path::{Path, PathBuf};

use crate::dataset::Source;
use crate::error::Error;
use crate::picture::Picture;

/// How the values of an image lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) height: usize,
    pub(super) width: usize,
    /// 1, or 3 planes one after the other.
    pub(super) channels: usize,
}

impl Layout {
    /// Values in one image.
    pub(super) fn len(self) -> usize {
        self.height * self.width * self.channels
    }
}

#[derive(Debug)]
pub(super) struct Records {
    layout: Layout,
    pixels: Vec<u8>,
    /// Every file, with the index of its first image.
    files: Vec<(u32, PathBuf)>,
}

impl Records {
    pub(super) fn new(layout: Layout) -> Self {
        Self { layout, pixels: Vec::new(), files: Vec::new() }
    }

    /// Images so far.
    pub(super) fn count(&self) -> u32 {
        (self.pixels.len() / self.layout.len()) as u32
    }

    /// What is added from now on comes from this file.
    pub(super) fn begin(&mut self, file: &Path) {
        self.files.push((self.count(), file.to_owned()));
    }

    /// Adds whole images.
    pub(super) fn extend(&mut self, pixels: Vec<u8>) {
        if self.pixels.is_empty() {
            self.pixels = pixels;
        } else {
            self.pixels.extend(pixels);
        }
    }
}

impl Source for Records {
    fn read(&self, index: u32) -> Result<Picture, Error> {
        let Layout { height, width, channels } = self.layout;
        let Some(planes) = self.pixels.chunks_exact(self.layout.len()).nth(index as usize) else {
            let reason = format!("there are {} images", self.count());
            return Err(Error::BadImage { name: self.name(index), reason });
        };
        let area = height * width;
        let pixels = match channels {
            1 => planes.to_vec(),
            _ => (0..area)
                .flat_map(|at| (0..channels).map(move |channel| planes[channel * area + at]))
                .collect(),
        };
        Ok(Picture { height, width, channels, pixels })
    }

    fn name(&self, index: u32) -> String {
        match self.files.iter().rev().find(|(first, _)| *first <= index) {
            Some((first, file)) => format!("{}, image {}", file.display(), index - first),
            None => format!("image {index}"),
        }
    }

    fn in_memory(&self) -> bool {
        true
    }
}
