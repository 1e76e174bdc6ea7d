//! One image and the files that are made of it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use freeaugment_base::{Fnv, write_atomically_unsynced};
use freeaugment_baseline::Moment;
use freeaugment_data::{Picture, Stored};
use serde::Serialize;

use super::ApplySettings;
use super::record::Row;
use crate::augmenter::{Augmenter, Drawn};
use crate::error::Error;

/// An image file.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    /// Its path in the folder that is read, with `/` on every system.
    pub(super) name: String,
    /// All that is drawn for it is a function of this and of the number of the copy.
    key: u64,
    pub(super) targets: Vec<Target>,
}

/// A file to be made of it.
#[derive(Debug)]
pub(super) struct Target {
    /// Within the folder that is written.
    pub(super) path: PathBuf,
    /// From 1; 0 is the original.
    copy: u32,
}

/// What became of an image.
#[derive(Debug, Default)]
pub(super) struct Fate {
    /// Of all its files, also of those that were there before.
    pub(super) rows: Vec<Row>,
    pub(super) written: usize,
    pub(super) unreadable: Option<String>,
    pub(super) deeper: bool,
    pub(super) lost_profile: bool,
    pub(super) seconds: ApplySeconds,
}

/// What time was spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ApplySeconds {
    /// Decoding images.
    pub decoding: f64,
    /// Drawing and applying transformations.
    pub augmentation: f64,
    /// Encoding copies.
    pub encoding: f64,
    /// Reading and writing files.
    pub files: f64,
}

impl ApplySeconds {
    pub(super) fn add(&mut self, other: &Self) {
        self.decoding += other.decoding;
        self.augmentation += other.augmentation;
        self.encoding += other.encoding;
        self.files += other.files;
    }

    /// All of them together.
    pub fn total(&self) -> f64 {
        self.decoding + self.augmentation + self.encoding + self.files
    }
}

/// Does something and adds the time it took.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = work();
    *seconds += began.elapsed().as_secs_f64();
    result
}

impl Source {
    pub(super) fn new(path: PathBuf, folder: &Path, settings: &ApplySettings) -> Self {
        let relative = path.strip_prefix(folder).unwrap_or(&path).to_owned();
        let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let name = parts.join("/");
        let mut key = Fnv::default();
        key.add(&settings.seed.to_le_bytes());
        key.add(name.as_bytes());
        let first = u32::from(!settings.include_originals);
        let targets = (first..=settings.copies)
            .map(|copy| Target { path: target_path(&relative, copy), copy })
            .collect();
        Self { path, name, key: key.finish(), targets }
    }

    /// The numbers of the targets that are not there. Files are written whole or not at all, so one that is there is done;
    /// an empty one is what a failure of power leaves, and no image.
    pub(super) fn missing(&self, output: &Path) -> Vec<usize> {
        let is_there = |at: usize| {
            output.join(&self.targets[at].path).metadata().is_ok_and(|file| file.is_file() && file.len() > 0)
        };
        (0..self.targets.len()).filter(|&at| !is_there(at)).collect()
    }

    /// Makes the targets of these numbers. That the image is unreadable is no error.
    pub(super) fn make(
        &self,
        missing: &[usize],
        augmenter: &Augmenter,
        settings: &ApplySettings,
        output: &Path,
    ) -> Result<Fate, Error> {
        let mut fate = Fate::default();
        let read = if missing.is_empty() {
            Stored::size(&self.path).map(|size| (size, None))
        } else {
            self.read(&mut fate.seconds)
                .map(|(bytes, stored)| ((stored.picture.height, stored.picture.width), Some((bytes, stored))))
        };
        let ((height, width), image) = match read {
            Ok(read) => read,
            Err(error) => {
                fate.unreadable = Some(error.to_string());
                return Ok(fate);
            }
        };
        if let Some((bytes, stored)) = &image {
            fate.deeper = stored.was_deeper;
            for &at in missing {
                self.write(&self.targets[at], (bytes, stored), augmenter, settings, output, &mut fate)?;
            }
        }
        fate.rows = self
            .targets
            .iter()
            .map(|target| self.row(target, augmenter, settings, (height, width)))
            .collect();
        Ok(fate)
    }

    fn read(&self, seconds: &mut ApplySeconds) -> Result<(Vec<u8>, Stored), freeaugment_data::Error> {
        let bytes = timed(&mut seconds.files, || Stored::load(&self.path))?;
        let stored = timed(&mut seconds.decoding, || Stored::decode(&self.path, &bytes))?;
        Ok((bytes, stored))
    }

    fn draw(
        &self,
        copy: u32,
        augmenter: &Augmenter,
        settings: &ApplySettings,
        size: (usize, usize),
    ) -> Drawn {
        // A schedule is gone through once by the copies, as by the epochs of a training.
        let progress = f64::from(copy - 1) / f64::from(settings.copies);
        augmenter.draw(self.key, 0, copy, Moment { height: size.0, width: size.1, progress })
    }

    fn write(
        &self,
        target: &Target,
        (bytes, stored): (&[u8], &Stored),
        augmenter: &Augmenter,
        settings: &ApplySettings,
        output: &Path,
        fate: &mut Fate,
    ) -> Result<(), Error> {
        let path = output.join(&target.path);
        let seconds = &mut fate.seconds;
        if target.copy == 0 {
            timed(&mut seconds.files, || write_atomically_unsynced(&path, bytes))
                .map_err(Error::io(&path))?;
        } else {
            let Picture { height, width, .. } = stored.picture;
            let copy = timed(&mut seconds.augmentation, || {
                augmented(&self.draw(target.copy, augmenter, settings, (height, width)), stored)
            })?;
            let encoded = timed(&mut seconds.encoding, || copy.encode(settings.jpeg_quality))?;
            fate.lost_profile |= encoded.lost_profile;
            timed(&mut seconds.files, || write_atomically_unsynced(&path, &encoded.bytes))
                .map_err(Error::io(&path))?;
        }
        fate.written += 1;
        Ok(())
    }

    /// What was done to a file; it is a function of the image's name and size, so that it is known of older files too.
    fn row(
        &self,
        target: &Target,
        augmenter: &Augmenter,
        settings: &ApplySettings,
        size: (usize, usize),
    ) -> Row {
        let done = match target.copy {
            0 => "nothing".to_owned(),
            copy => self.draw(copy, augmenter, settings, size).to_string(),
        };
        let parts: Vec<_> = target.path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Row { file: parts.join("/"), source: self.name.clone(), copy: target.copy, done }
    }
}

/// `cat/1.jpg` is `cat/1.aug2.jpg` as its second copy.
fn target_path(relative: &Path, copy: u32) -> PathBuf {
    if copy == 0 {
        return relative.to_owned();
    }
    let mut name = relative.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".aug{copy}."));
    name.push(relative.extension().unwrap_or_default());
    relative.with_file_name(name)
}

/// The image with what was drawn done to it. Transparency moves along; what comes into view from outside is transparent.
fn augmented(drawn: &Drawn, stored: &Stored) -> Result<Stored, Error> {
    let picture = drawn.apply(&stored.picture)?;
    let alpha = match &stored.alpha {
        None => None,
        Some(alpha) => {
            let moved = drawn.moved_pixels(picture.height, picture.width)?;
            Some(moved.into_iter().map(|from| alpha.get(from as usize).copied().unwrap_or(0)).collect())
        }
    };
    Ok(Stored { picture, alpha, format: stored.format, profile: stored.profile.clone(), was_deeper: false })
}

#[cfg(test)]
mod tests {
    use freeaugment::{Chain, Step, Transformation};
    use freeaugment_data::Format;

    use super::*;

    #[test]
    fn copies_have_the_name_of_their_image() {
        assert_eq!(target_path(Path::new("cat/1.jpg"), 2), Path::new("cat/1.aug2.jpg"));
        assert_eq!(target_path(Path::new("a.b.PNG"), 1), Path::new("a.b.aug1.PNG"));
        assert_eq!(target_path(Path::new("cat/1.jpg"), 0), Path::new("cat/1.jpg"));
    }

    #[test]
    fn transparency_moves_with_the_image() {
        let picture = Picture { height: 1, width: 4, channels: 1, pixels: vec![10, 20, 30, 40] };
        let alpha = Some(vec![1, 2, 3, 4]);
        let stored = Stored { format: Format::Png, picture, alpha, profile: None, was_deeper: false };
        let step =
            |name: &str, magnitude| Step { transformation: Transformation::named(name).unwrap(), magnitude };
        let done =
            |step| augmented(&Drawn::Chain(Chain::new(vec![step]).unwrap()), &stored).unwrap().alpha.unwrap();
        assert_eq!(done(step("TranslateX", Some(0.25))), [0, 1, 2, 3]);
        assert_eq!(done(step("Invert", None)), [1, 2, 3, 4]);
    }
}
