//! A data set: what was recognised, what belongs to which split, and where the images come from.

use std::fmt;
use std::sync::Arc;

use freeaugment_base::Fnv;
use rayon::prelude::*;

use crate::error::Error;
use crate::picture::Picture;

/// What [`Error::Unrecognised`] says is known.
pub(crate) const KNOWN: &str = "image folders (CLASS/… or {train,val,test}/CLASS/…; JPEG, PNG, WebP, BMP), CIFAR-10 and \
     CIFAR-100 (binary or python), IDX files (MNIST, Fashion-MNIST…; raw or gzip), DomainNet with its list files, and \
     Quick-Draw (ndjson; raw or gzip)";

/// Where images come from. Reading the same one twice gives the same picture.
pub trait Source: fmt::Debug + Send + Sync {
    /// Decodes one image.
    fn read(&self, index: u32) -> Result<Picture, Error>;

    /// What to call it in messages: its file, or its file and place.
    fn name(&self, index: u32) -> String;

    /// How an image is stored, for people: `JPEG, 8-bit RGB`. None where all are stored alike.
    fn mode(&self, _index: u32) -> Option<String> {
        None
    }

    /// Whether the images are in memory already, so that keeping decoded ones besides gains nothing.
    fn in_memory(&self) -> bool {
        false
    }
}

/// The kind of data that was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataKind {
    /// The built-in drawings.
    Synthetic,
    /// CIFAR-10 or CIFAR-100.
    Cifar,
    /// IDX files of the MNIST family.
    Idx,
    /// A folder of image files.
    Folder,
    /// DomainNet, by its list files.
    DomainNet,
    /// Quick-Draw drawings.
    QuickDraw,
}

/// Which images belong to which split, by index. A split that the data does not come with is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Splits {
    /// For training.
    pub train: Vec<u32>,
    /// For validation.
    pub validation: Option<Vec<u32>>,
    /// For testing.
    pub test: Option<Vec<u32>>,
}

/// A listed data set.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Its kind.
    pub kind: DataKind,
    /// What was recognised, for people: `CIFAR-10 (binary)`.
    pub title: String,
    /// The names of the classes; a label is an index into them.
    pub classes: Vec<String>,
    /// One label per image.
    pub labels: Vec<u32>,
    /// Channels of every picture that [`Self::read`] returns: 1 or 3.
    pub channels: usize,
    /// Height and width, where all images are known to have the same.
    pub size: Option<(usize, usize)>,
    /// Which image belongs where.
    pub splits: Splits,
    /// What people should know about how this was understood, a sentence each.
    pub notes: Vec<String>,
    /// Where the images come from.
    pub source: Arc<dyn Source>,
}

impl Dataset {
    /// Decodes one image.
    pub fn read(&self, index: u32) -> Result<Picture, Error> {
        Ok(self.source.read(index)?.with_channels(self.channels))
    }

    /// An image's label.
    pub fn label(&self, index: u32) -> u32 {
        self.labels[index as usize]
    }

    /// Reads images once: finds those that cannot be read, measures the others, and keeps them where
    /// `options.cache_bytes` allow. `progress` is told of every image.
    pub fn scan(
        &self,
        indices: &[u32],
        options: Scan,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Scanned, Error> {
        // Chunks bound the memory that pictures take before it is known whether they fit.
        let mut cache = (!self.source.in_memory()).then(Cache::default);
        let (mut good, mut unreadable) = (Vec::with_capacity(indices.len()), Vec::new());
        let (mut sums, mut fingerprint) = (Sums::default(), Fnv::default());
        let mut sizes: Option<((usize, usize), (usize, usize))> = None;
        for chunk in indices.chunks(256) {
            let pictures: Vec<_> = chunk
                .par_iter()
                .map(|&index| {
                    let picture = self.read(index);
                    let (sums, hash) = picture
                        .as_ref()
                        .map(|picture| (Sums::of(picture), picture.hash()))
                        .unwrap_or_default();
                    progress();
                    (index, picture, sums, hash)
                })
                .collect();
            for (index, picture, of, hash) in pictures {
                let picture = match picture {
                    Ok(picture) => picture,
                    Err(error) => {
                        unreadable.push(Unreadable { index, message: error.to_string() });
                        continue;
                    }
                };
                good.push(index);
                sums.add(&of);
                fingerprint.add(&self.label(index).to_le_bytes());
                fingerprint.add(&hash.to_le_bytes());
                let (height, width) = (picture.height, picture.width);
                let ((low, left), (high, right)) = sizes.get_or_insert(((height, width), (height, width)));
                (*low, *left) = (height.min(*low), width.min(*left));
                (*high, *right) = (height.max(*high), width.max(*right));
                cache = cache.take().and_then(|cache| cache.with(index, picture, options.cache_bytes));
            }
        }
        if let Some(first) = unreadable.first().filter(|_| unreadable.len() > options.max_unreadable) {
            return Err(Error::TooManyUnreadable {
                count: unreadable.len(),
                total: indices.len(),
                limit: options.max_unreadable,
                first: first.message.clone(),
            });
        }
        let (mean, deviation) = sums.mean_and_deviation(self.channels);
        let in_memory = self.source.in_memory() || cache.is_some();
        let fingerprint = fingerprint.finish();
        let cache = cache.map(Arc::new);
        Ok(Scanned { good, unreadable, mean, deviation, sizes, fingerprint, in_memory, cache })
    }

    /// Where pictures are read from from now on: memory where a scan kept them, files otherwise.
    #[must_use]
    pub fn with_cache(mut self, scanned: &Scanned) -> Self {
        if let Some(cache) = &scanned.cache {
            self.source = Arc::new(Cached { cache: Arc::clone(cache), source: self.source });
        }
        self
    }
}

/// How a scan is done.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// Keep the decoded pictures if they take no more than this.
    pub cache_bytes: usize,
    /// How many images may be unreadable.
    pub max_unreadable: usize,
}

/// An image that cannot be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// Its index.
    pub index: u32,
    /// Its name and what is wrong.
    pub message: String,
}

/// What a scan found.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The images that can be read, in the order they were asked for.
    pub good: Vec<u32>,
    /// Those that cannot.
    pub unreadable: Vec<Unreadable>,
    /// Mean of each channel, in [0, 1].
    pub mean: Vec<f32>,
    /// Standard deviation of each channel.
    pub deviation: Vec<f32>,
    /// Smallest and largest height and width.
    pub sizes: Option<((usize, usize), (usize, usize))>,
    /// A number that changes with any pixel, any label, or the order of the images that can be read.
    pub fingerprint: u64,
    in_memory: bool,
    cache: Option<Arc<Cache>>,
}

impl Scanned {
    /// Whether the pictures are in memory: they were kept, or they come from there.
    pub fn is_cached(&self) -> bool {
        self.in_memory
    }

    /// What the pictures that were kept take.
    pub fn cached_bytes(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.bytes)
    }
}

/// Sums of 8-bit values, exact in integers, so that the order of adding does not matter.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    pixels: u128,
    values: [u128; 3],
    squares: [u128; 3],
}

impl Sums {
    fn of(picture: &Picture) -> Self {
        let mut sums = Self { pixels: (picture.height * picture.width) as u128, ..Self::default() };
        for (channel, (values, squares)) in
            sums.values.iter_mut().zip(&mut sums.squares).enumerate().take(picture.channels)
        {
            let of_channel = picture.pixels[channel..].iter().step_by(picture.channels);
            let (sum, square) = of_channel.fold((0_u64, 0_u64), |(sum, square), &value| {
                (sum + u64::from(value), square + u64::from(value) * u64::from(value))
            });
            (*values, *squares) = (sum.into(), square.into());
        }
        sums
    }

    fn add(&mut self, other: &Self) {
        self.pixels += other.pixels;
        for channel in 0..3 {
            self.values[channel] += other.values[channel];
            self.squares[channel] += other.squares[channel];
        }
    }

    fn mean_and_deviation(&self, channels: usize) -> (Vec<f32>, Vec<f32>) {
        let count = self.pixels.max(1) as f64;
        let of = |channel: usize| {
            let mean = self.values[channel] as f64 / count;
            let variance = (self.squares[channel] as f64 / count - mean * mean).max(0.0);
            // A constant channel must not be divided by zero.
            ((mean / 255.0) as f32, (variance.sqrt() / 255.0).max(1e-3) as f32)
        };
        (0..channels).map(of).unzip()
    }
}

/// Decoded pictures in memory.
#[derive(Debug, Default)]
struct Cache {
    pictures: std::collections::BTreeMap<u32, Picture>,
    bytes: usize,
}

impl Cache {
    /// With one picture more, or nothing where that is too much.
    fn with(mut self, index: u32, picture: Picture, most: usize) -> Option<Self> {
        self.bytes += picture.pixels.len() + size_of::<Picture>();
        (self.bytes <= most).then(|| {
            self.pictures.insert(index, picture);
            self
        })
    }
}

/// A source behind pictures that are already decoded.
#[derive(Debug)]
struct Cached {
    cache: Arc<Cache>,
    source: Arc<dyn Source>,
}

impl Source for Cached {
    fn read(&self, index: u32) -> Result<Picture, Error> {
        match self.cache.pictures.get(&index) {
            Some(picture) => Ok(picture.clone()),
            None => self.source.read(index),
        }
    }

    fn name(&self, index: u32) -> String {
        self.source.name(index)
    }

    fn in_memory(&self) -> bool {
        self.source.in_memory()
    }
}
