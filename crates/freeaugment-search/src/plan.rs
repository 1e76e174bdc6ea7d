//! From settings to what a search works with: data, pipeline, batches, numbers of steps.

use std::path::Path;
use std::sync::Arc;

use freeaugment::Place;
use freeaugment_base::random::Purpose;
use freeaugment_data::{
    Crop, Dataset, Error as DataError, Kind, Order, Pipeline, Plant, Scan, Synthetic, Unreadable, halve,
    take_stratified,
};

use crate::error::Error;
use crate::settings::{CropChoice, Settings, refuse};

const TRAINING: Purpose = Purpose::named("search/training-order");
const VALIDATION: Purpose = Purpose::named("search/validation-order");

/// Images at least this large are not used as they are but cut by a random resized crop.
const LARGE: usize = 64;
/// The smallest box of a random resized crop, in percent of the area.
const SMALLEST: u8 = 8;

/// Data and pipeline of a search or a training.
#[derive(Clone, Debug)]
pub struct Plan {
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
    pub steps: u64,
    /// A number that changes when the data does.
    pub fingerprint: u64,
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

impl Plan {
    /// Reads the data that will be used and settles what the settings leave open. `progress` is told the number of
    /// images to read and then of every image.
    pub fn new(settings: &Settings, progress: &dyn ReadProgress) -> Result<Self, Error> {
        let dataset = open_data(settings)?;
        let chosen = choose(settings, &dataset);
        let plan = Self::of(settings, dataset, chosen, progress)?;
        plan.validation.require_a_batch("validation")?;
        Ok(plan)
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

        let good = |indices: &[u32], scanned: &freeaugment_data::Scanned| -> Vec<u32> {
            let bad: std::collections::BTreeSet<u32> =
                scanned.unreadable.iter().map(|unreadable| unreadable.index).collect();
            indices.iter().copied().filter(|index| !bad.contains(index)).collect()
        };
        let order = |indices: Vec<u32>, purpose, views| Order {
            indices,
            batch: settings.batch,
            purpose,
            seed: settings.seed,
            training: true,
            views,
        };
        let training = order(good(&train, &scanned), TRAINING, true);
        let validation = order(good(&validation, &others), VALIDATION, false);
        training.require_a_batch("training")?;
        let steps = training.batches() as u64;
        let fingerprint = fingerprint(&dataset, &training.indices, &validation.indices, &scanned, &others);
        Ok(Self {
            pipeline: Arc::new(pipeline),
            training: Arc::new(training),
            validation: Arc::new(validation),
            test: good(&test, &others),
            unreadable: [scanned.unreadable.clone(), others.unreadable.clone()].concat(),
            cached: scanned.is_cached() && others.is_cached(),
            dataset: Arc::new(dataset),
            steps,
            fingerprint,
        })
    }
}

/// What [`Plan`] asks of batches.
trait Batches {
    fn require_a_batch(&self, split: &'static str) -> Result<(), Error>;
}

impl Batches for Order {
    fn require_a_batch(&self, split: &'static str) -> Result<(), Error> {
        if self.batches() > 0 {
            return Ok(());
        }
        Err(DataError::TooFew {
            split,
            found: self.indices.len(),
            needed: self.batch,
            why: "for one batch (`batch`, `images`, `validation_share`)".to_owned(),
        }
        .into())
    }
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
fn choose(settings: &Settings, dataset: &Dataset) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
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
fn pipeline(
    settings: &Settings,
    dataset: &Dataset,
    scanned: &freeaugment_data::Scanned,
) -> Result<Pipeline, Error> {
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
        CropChoice::Auto | CropChoice::Resized => Crop::Resized { smallest: SMALLEST },
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
            if matches!(dataset.kind, Kind::Idx | Kind::Synthetic) {
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

/// FNV-1a over what the search will see of the data.
fn fingerprint(
    dataset: &Dataset,
    training: &[u32],
    validation: &[u32],
    scanned: &freeaugment_data::Scanned,
    others: &freeaugment_data::Scanned,
) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for &index in training.iter().chain(validation) {
        mix(&index.to_le_bytes());
        mix(&dataset.label(index).to_le_bytes());
    }
    for values in [&scanned.mean, &scanned.deviation, &others.mean, &others.deviation] {
        for value in values {
            mix(&value.to_le_bytes());
        }
    }
    hash
}
