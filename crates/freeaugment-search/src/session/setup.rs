//! From settings to what a search or a training works with: data, pipeline, batches, numbers of steps.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use freeaugment::Place;
use freeaugment_base::Fnv;
use freeaugment_base::random::Purpose;
use freeaugment_data::{
    Crop, DataKind, Dataset, Error as DataError, Order, Pipeline, Plant, Scan, Scanned, Sequence, Synthetic,
    Unreadable, halve, take_stratified,
};
use freeaugment_nn::ranks::{Alone, Ranks};
use serde::{Deserialize, Serialize};

use super::shared::Shared;
use crate::config::{CropChoice, Settings, Task, refuse};
use crate::error::Error;
use crate::find::Stage;

const TRAINING: Purpose = Purpose::named("search/training-order");
const VALIDATION: Purpose = Purpose::named("search/validation-order");

/// Images at least this large are not used as they are but cut by a random resized crop.
const LARGE: usize = 64;
/// From so many validation images on, search and selection have a half each; fewer serve both. Half of fewer could not tell
/// policies apart: with 500 images, accuracies of 75 % are known to two points.
pub(crate) const SHARED: usize = 1000;

/// Data and pipeline of a search or a training.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The data set; decoded pictures are in memory where they fit.
    pub dataset: Arc<Dataset>,
    /// What happens around the policy.
    pub pipeline: Arc<Pipeline>,
    /// The training batches.
    pub training: Arc<Order>,
    /// The validation batches.
    pub validation: Arc<Order>,
    /// The images for testing.
    pub test: Vec<u32>,
    /// Images that could not be read and were left out.
    pub unreadable: Vec<Unreadable>,
    /// Whether decoded pictures are kept in memory.
    pub cached: bool,
    /// Steps in an epoch.
    pub steps_per_epoch: u64,
    /// Which data this is.
    pub identity: DataIdentity,
    /// The processes that share the batches.
    pub ranks: Arc<dyn Ranks>,
}

/// Which data something was made with: what people call it, how many images it had, and a number that changes with any
/// pixel and any label of any split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataIdentity {
    /// What was recognised, such as `CIFAR-10 (binary)`.
    pub title: String,
    /// Images for training.
    pub training: usize,
    /// Images for validation.
    pub validation: usize,
    /// Images for testing.
    pub test: usize,
    /// The number, in hexadecimal digits.
    pub fingerprint: String,
}

impl fmt::Display for DataIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { title, training, validation, test, fingerprint } = self;
        write!(
            f,
            "{title} with {training} training, {validation} validation and {test} test images, fingerprint {fingerprint}"
        )
    }
}

/// Lists the data that settings name.
pub fn open_data(settings: &Settings) -> Result<Dataset, Error> {
    if !settings.data.is_empty() {
        return Ok(freeaugment_data::open(Path::new(&settings.data))?);
    }
    let plants = settings.plant.iter().map(|text| text.parse()).collect::<Result<Vec<Plant>, _>>()?;
    let synthetic = Synthetic {
        train: settings.drawings_train,
        validation: settings.drawings_validation,
        plants,
        seed: settings.seed,
    };
    Ok(synthetic.dataset())
}

impl Setup {
    /// Reads the data that will be used and settles what the settings leave open. `progress` is told the number of
    /// images to read and then of every image.
    pub fn for_search(settings: &Settings, progress: &dyn ReadProgress) -> Result<Self, Error> {
        let dataset = open_data(settings)?;
        let chosen = choose(settings, &dataset);
        let setup = Self::of(settings, dataset, chosen, progress)?;
        require_a_batch(&setup.validation, "validation")?;
        Ok(setup)
    }

    /// The same for training alone: images that a search would keep for validation are trained on too, those that the
    /// data itself keeps for validation are not used, and the images for testing are the same.
    pub fn for_training(settings: &Settings, progress: &dyn ReadProgress) -> Result<Self, Error> {
        let dataset = open_data(settings)?;
        let (train, validation, test) = choose(settings, &dataset);
        let train = if dataset.splits.validation.is_some() {
            train
        } else {
            let mut all = [train, validation].concat();
            all.sort_unstable();
            all
        };
        if test.is_empty() {
            let reason = "there are no images for testing: the data has no test split, and `test_share` of its images is none";
            return Err(refuse("test_share", reason));
        }
        Self::of(settings, dataset, (train, Vec::new(), test), progress)
    }

    /// For search or selection in `find`: neither sees test images, and they see different validation images where there
    /// are enough for both. Selection judges by its own, so these stand where images for testing do.
    pub fn for_stage(settings: &Settings, stage: Stage, progress: &dyn ReadProgress) -> Result<Self, Error> {
        let dataset = open_data(settings)?;
        let (train, validation, _) = choose(settings, &dataset);
        let (first, second) = if validation.len() >= SHARED {
            halve(&validation, |index| dataset.label(index), 0.5, settings.seed ^ 2)
        } else {
            (validation.clone(), validation)
        };
        let chosen = match stage {
            Stage::Search => (train, first, Vec::new()),
            Stage::Opening | Stage::Selection => (train, Vec::new(), second),
            Stage::Proof => return Self::for_training(settings, progress),
        };
        let setup = Self::of(settings, dataset, chosen, progress)?;
        if stage == Stage::Search {
            require_a_batch(&setup.validation, "validation")?;
        }
        Ok(setup)
    }

    /// How many images there are for training and for judging, and how many classes, without reading the images.
    pub fn count(dataset: &Dataset, settings: &Settings, task: Task) -> [usize; 3] {
        let (training, validation, test) = choose(settings, dataset);
        let kept = task == Task::Search || dataset.splits.validation.is_some();
        let judging = if task == Task::Search { validation.len() } else { test.len() };
        [training.len() + if kept { 0 } else { validation.len() }, judging, dataset.classes.len()]
    }

    fn of(
        settings: &Settings,
        dataset: Dataset,
        (train, validation, test): (Vec<u32>, Vec<u32>, Vec<u32>),
        progress: &dyn ReadProgress,
    ) -> Result<Self, Error> {
        let used: Vec<u32> = [&train[..], &validation, &test].concat();
        progress.begin(used.len());
        let options = Scan { cache_bytes: settings.cache_mib << 20, max_unreadable: settings.max_unreadable };
        // The mean is that of training images alone: validation and test images are not to be looked at.
        let scanned = dataset.scan(&train, options, &|| progress.advance())?;
        let left = Scan {
            max_unreadable: options.max_unreadable - scanned.unreadable.len(),
            cache_bytes: options.cache_bytes.saturating_sub(scanned.cached_bytes()),
        };
        let others = dataset.scan(&used[train.len()..], left, &|| progress.advance())?;
        let dataset = dataset.with_cache(&scanned).with_cache(&others);
        let pipeline = pipeline(settings, &dataset, &scanned)?;

        let lost = others.unreadable.iter().filter(|image| validation.contains(&image.index)).count();
        let (validation, test) = others.good.split_at(validation.len() - lost);
        let shuffled = |purpose| Sequence::Shuffled { purpose, seed: settings.seed };
        let training = Order::new(scanned.good.clone(), settings.batch, shuffled(TRAINING), true);
        let validation = Order::new(validation.to_vec(), settings.batch, shuffled(VALIDATION), false);
        require_a_batch(&training, "training")?;
        let identity = DataIdentity {
            title: dataset.title.clone(),
            training: training.indices().len(),
            validation: validation.indices().len(),
            test: test.len(),
            fingerprint: fingerprint(&dataset, &scanned, &others, validation.indices().len()),
        };
        Ok(Self {
            pipeline: Arc::new(pipeline),
            steps_per_epoch: training.batches() as u64,
            training: Arc::new(training),
            validation: Arc::new(validation),
            test: test.to_vec(),
            unreadable: [scanned.unreadable.clone(), others.unreadable.clone()].concat(),
            cached: scanned.is_cached() && others.is_cached(),
            dataset: Arc::new(dataset),
            identity,
            ranks: Arc::new(Alone),
        })
    }

    /// The same, for a search or a training that these processes share: every one of them reads its part of every batch.
    /// Batches that are too small for that are refused.
    pub fn with_ranks(self, ranks: &Arc<dyn Ranks>) -> Result<Self, Error> {
        Shared::new(Arc::clone(ranks), self.training.batch())?;
        Ok(Self { ranks: Arc::clone(ranks), ..self })
    }

    /// The training batches of one classifier of a comparison: by its own seed, with or without views.
    pub(crate) fn training_order(&self, purpose: Purpose, seed: u64, views: bool) -> Order {
        let sequence = Sequence::Shuffled { purpose, seed };
        Order::new(self.training.indices().to_vec(), self.training.batch(), sequence, views)
    }
}

fn require_a_batch(order: &Order, split: &'static str) -> Result<(), Error> {
    if order.batches() > 0 {
        return Ok(());
    }
    Err(DataError::TooFew {
        split,
        found: order.indices().len(),
        needed: order.batch(),
        why: "for one batch (`batch`, `images`, `validation_share`)".to_owned(),
    }
    .into())
}

/// Told of reading, which may take a while.
pub trait ReadProgress: Sync {
    /// So many images will be read.
    fn begin(&self, _images: usize) {}
    /// One more was read.
    fn advance(&self) {}
}

/// No one is told.
impl ReadProgress for () {}

/// Training, validation and test images: the data's own splits where it has them, otherwise drawn by seed.
pub(super) fn choose(settings: &Settings, dataset: &Dataset) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let label = |index: u32| dataset.label(index);
    let seed = settings.seed;
    let (rest, test) = match &dataset.splits.test {
        Some(test) => (dataset.splits.train.clone(), test.clone()),
        None => halve(&dataset.splits.train, label, settings.test_share, seed ^ 1),
    };
    let most = if settings.images == 0 { usize::MAX } else { settings.images };
    if let Some(validation) = &dataset.splits.validation {
        // Each split gives in proportion to its size.
        let total = rest.len() + validation.len();
        let share = validation.len() as f64 / total.max(1) as f64;
        let for_validation = (most.min(total) as f64 * share).round() as usize;
        let train = take_stratified(&rest, label, most.min(total) - for_validation, seed);
        return (train, take_stratified(validation, label, for_validation, seed), test);
    }
    let searched = take_stratified(&rest, label, most, seed);
    let (train, validation) = halve(&searched, label, settings.validation_share, seed);
    (train, validation, test)
}

/// Settles what `auto` and 0 leave to the look of the data.
pub(super) fn pipeline(settings: &Settings, dataset: &Dataset, scanned: &Scanned) -> Result<Pipeline, Error> {
    let alike = scanned.sizes.filter(|(smallest, largest)| smallest == largest).map(|(size, _)| size);
    let small = alike.filter(|(height, width)| height == width && *height <= LARGE).map(|(side, _)| side);
    let size = match settings.size {
        0 => small.unwrap_or(LARGE),
        size => size,
    };
    let crop = match settings.crop {
        CropChoice::None => Crop::None,
        CropChoice::Pad => Crop::Pad { pad: settings.pad },
        CropChoice::Auto if small.is_some() => Crop::Pad { pad: settings.pad },
        CropChoice::Auto | CropChoice::Resized => {
            Crop::Resized { smallest: (100.0 * settings.smallest_box).round() as u8 }
        }
    };
    let policy_first = settings.place == Place::First;
    if policy_first && matches!(crop, Crop::Resized { .. }) {
        let reason = "`first` needs images of one size: it cannot be combined with a resized crop; allowed there is \
                      `after-crop-and-flip`";
        return Err(refuse("place", reason));
    }
    if settings.cutout >= 2 * size {
        let reason =
            format!("a hole of {} pixels covers every image of {size}: less is allowed", settings.cutout);
        return Err(refuse("cutout", reason));
    }
    let flip = match settings.flip {
        // A mirrored digit is no digit, and drawings that lean would lean the other way.
        by_data if by_data < 0.0 => {
            if matches!(dataset.kind, DataKind::Idx | DataKind::Synthetic) {
                0.0
            } else {
                0.5
            }
        }
        given => given,
    };
    Ok(Pipeline {
        size,
        crop,
        flip: flip as f32,
        cutout: settings.cutout,
        mean: scanned.mean.clone(),
        deviation: scanned.deviation.clone(),
        policy_first,
    })
}

/// Changes with the classes, the images, their labels, and with what belongs to which split.
fn fingerprint(dataset: &Dataset, training: &Scanned, others: &Scanned, validation: usize) -> String {
    let mut hash = Fnv::default();
    for class in &dataset.classes {
        hash.add(class.as_bytes());
        hash.add(&[0]);
    }
    for number in [training.fingerprint, others.fingerprint, training.good.len() as u64, validation as u64] {
        hash.add(&number.to_le_bytes());
    }
    format!("{:016x}", hash.finish())
}
