//! Augmented copies of a folder of images, for tools that cannot augment on the fly.

mod image;
mod place;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use freeaugment_data::{Error as DataError, list_images};
use rayon::prelude::*;
use serde::Serialize;

pub use self::image::ApplySeconds;
use self::image::{Fate, Source};
use self::place::Places;
use self::record::{Record, Row, save_manifest};
use crate::augmenter::Augmenter;
use crate::compare::Candidate;
use crate::error::Error;
use crate::session::Halt;

/// What to make of every image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplySettings {
    /// Augmented copies of each.
    pub copies: u32,
    /// Whether the images themselves are copied too, byte for byte.
    pub include_originals: bool,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// Of JPEG files, 1 to 100.
    pub jpeg_quality: u8,
    /// How many images may be unreadable.
    pub max_unreadable: usize,
}

/// Told how far it is; by several threads.
pub trait ApplyProgress: Sync {
    /// So many files are to be there at the end, of which so many are there already.
    fn begin(&self, _files: usize, _before: usize) {}
    /// So many more are written, or will not be because their image is unreadable.
    fn advance(&self, _files: usize) {}
}

/// No one is told.
impl ApplyProgress for () {}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Applied {
    /// Images that were found.
    pub images: usize,
    /// Files that are written now.
    pub written: usize,
    /// Files that were there from before.
    pub before: usize,
    /// Images that cannot be read, with the reason.
    pub unreadable: Vec<String>,
    /// Visible files of the folder that are no images.
    pub not_images: usize,
    /// Images with more than 8 bits a channel, of which the upper 8 are kept.
    pub deeper: usize,
    /// Images whose colour profile does not fit their copies.
    pub lost_profiles: usize,
    /// What the threads spent their time on, all of them together.
    pub seconds: ApplySeconds,
}

/// A folder of images, a policy, and a folder for what the policy makes of them.
#[derive(Debug)]
pub struct Apply<'a> {
    augmenter: &'a Augmenter,
    settings: ApplySettings,
    places: Places,
    record: Record,
    sources: Vec<Source>,
    not_images: usize,
}

impl<'a> Apply<'a> {
    /// Looks whether it can be done; nothing is written yet.
    pub fn new(
        policy: &'a Candidate,
        input: &Path,
        output: &Path,
        settings: ApplySettings,
    ) -> Result<Self, Error> {
        if matches!(policy.augmenter(), Augmenter::Nothing) {
            let reason = "it has nothing to apply: crop and flip are not applied to files".to_owned();
            return Err(Error::Candidate { name: policy.name().to_owned(), reason });
        }
        let (images, others) = list_images(input)?;
        if images.is_empty() {
            let reason =
                format!("holds no images ({} other files): JPEG, PNG, WebP and BMP are known", others.len());
            return Err(DataError::BadFile { path: input.to_owned(), reason }.into());
        }
        let places = Places::new(input, output)?;
        places.check_sources(images.iter().map(PathBuf::as_path))?;
        let record = Record::new(policy, places.real_input(), &settings);
        let sources: Vec<Source> =
            images.into_iter().map(|path| Source::new(path, input, &settings)).collect();
        let apply = Self {
            augmenter: policy.augmenter(),
            settings,
            places,
            record,
            sources,
            not_images: others.len(),
        };
        apply.check_target()?;
        Ok(apply)
    }

    /// How many files there are at the end.
    pub fn files(&self) -> usize {
        self.sources.iter().map(|source| source.targets.len()).sum()
    }

    /// Refuses a folder that holds anything but files of this very work.
    fn check_target(&self) -> Result<(), Error> {
        let mut own = BTreeMap::new();
        for source in &self.sources {
            for target in &source.targets {
                if let Some(other) = own.insert(&target.path, &source.name) {
                    let reason = format!(
                        "would get `{}` twice, of `{other}` and of `{}`: rename one of them",
                        target.path.display(),
                        source.name
                    );
                    return Err(Error::target(&self.places.output, reason));
                }
            }
        }
        if !self.record.check(&self.places.output)? {
            return self.places.check_free();
        }
        let (images, others) = list_images(&self.places.output)?;
        for path in images.iter().chain(&others) {
            let name = path.strip_prefix(&self.places.output).unwrap_or(path);
            if !own.contains_key(&name.to_owned()) && !Record::is_own_file(name) {
                let reason = format!(
                    "holds `{}`, which is no copy of what is in {} now: choose a new folder",
                    name.display(),
                    self.places.input.display()
                );
                return Err(Error::target(&self.places.output, reason));
            }
        }
        Ok(())
    }

    /// Writes all files that are not there yet, on all threads; when `stop` is set, those under way are finished. Files do
    /// not depend on the number of threads, nor on interruptions.
    pub fn run(&self, progress: &dyn ApplyProgress, stop: &AtomicBool) -> Result<(Halt, Applied), Error> {
        let _held = self.places.hold()?;
        // What another process did before this one held the folder.
        self.check_target()?;
        self.record.save(&self.places.output)?;
        let targets = self.sources.iter().flat_map(|source| &source.targets);
        let folders: BTreeSet<PathBuf> =
            targets.filter_map(|target| target.path.parent().map(Path::to_owned)).collect();
        self.places.prepare(&folders)?;

        let missing: Vec<Vec<usize>> =
            self.sources.iter().map(|source| source.missing(&self.places.output)).collect();
        let before = self.files() - missing.iter().map(Vec::len).sum::<usize>();
        progress.begin(self.files(), before);
        let unreadable = AtomicUsize::new(0);
        let work = |(source, missing): (&Source, &Vec<usize>)| -> Result<Option<Fate>, Error> {
            if stop.load(Ordering::Relaxed)
                || unreadable.load(Ordering::Relaxed) > self.settings.max_unreadable
            {
                return Ok(None);
            }
            let fate = source.make(missing, self.augmenter, &self.settings, &self.places.output)?;
            unreadable.fetch_add(usize::from(fate.unreadable.is_some()), Ordering::Relaxed);
            progress.advance(missing.len());
            Ok(Some(fate))
        };
        let fates: Vec<Option<Fate>> =
            self.sources.par_iter().zip(&missing).map(work).collect::<Result<_, Error>>()?;

        let done: Vec<&Fate> = fates.iter().flatten().collect();
        let applied = self.applied(&done, before);
        if applied.unreadable.len() > self.settings.max_unreadable {
            return Err(DataError::TooManyUnreadable {
                count: applied.unreadable.len(),
                total: done.len(),
                limit: self.settings.max_unreadable,
                first: applied.unreadable[0].clone(),
            }
            .into());
        }
        if done.len() < fates.len() {
            return Ok((Halt::Stopped, applied));
        }
        let rows: Vec<Row> = fates.into_iter().flatten().flat_map(|fate| fate.rows).collect();
        save_manifest(&self.places.output, rows)?;
        Ok((Halt::Finished, applied))
    }

    fn applied(&self, fates: &[&Fate], before: usize) -> Applied {
        let count = |is: fn(&Fate) -> bool| fates.iter().filter(|fate| is(fate)).count();
        let mut seconds = ApplySeconds::default();
        for fate in fates {
            seconds.add(&fate.seconds);
        }
        Applied {
            images: self.sources.len(),
            written: fates.iter().map(|fate| fate.written).sum(),
            before,
            unreadable: fates.iter().filter_map(|fate| fate.unreadable.clone()).collect(),
            not_images: self.not_images,
            deeper: count(|fate| fate.deeper),
            lost_profiles: count(|fate| fate.lost_profile),
            seconds,
        }
    }
}
