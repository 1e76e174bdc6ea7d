//! What a classifier can be trained under: a learned policy, or something to compare it with.

use std::path::Path;

use freeaugment::{Images, Place, Policy, PolicyConfig};
use freeaugment_base::random::{Purpose, Stream};
use freeaugment_base::{Fnv, nearest};
use freeaugment_baseline::{
    Augmentation, Baseline, BaselineError, Crop as RecipeCrop, Moment, Order, Published, Recipe,
};
use freeaugment_data::{Crop, Picture, PictureBatch, Pipeline};

use crate::config::{AssignmentChoice, Settings};
use crate::error::Error;
use crate::run::policy_file;

const ACTIONS: Purpose = Purpose::named("training/actions");
/// The name of FreeAugment's own policy before it learns.
const UNIFORM_FREE: &str = "uniform-free";

/// Something to train under, by the name it was asked for.
#[derive(Debug)]
pub struct Candidate {
    name: String,
    identity: String,
    recipe: Recipe,
    augmenter: Augmenter,
    file: Option<Vec<u8>>,
}

enum Augmenter {
    Nothing,
    Policy(Box<Policy>),
    Actions(Box<dyn Augmentation>),
}

impl std::fmt::Debug for Augmenter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Policy(_) => "Policy",
            Self::Actions(_) => "Actions",
        })
    }
}

/// A batch as the network takes it.
#[derive(Debug)]
pub(crate) struct Augmented {
    pub(crate) images: Vec<f32>,
    pub(crate) labels: Vec<u32>,
}

/// Crop and flip as settings and data have them, the policy after them.
const USUAL: Recipe = Recipe { crop: RecipeCrop::Standard, flip: true, order: Order::After };

impl Candidate {
    /// The names to choose from, beside files.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Baseline::NAMES.into_iter().chain([UNIFORM_FREE])
    }

    /// A name, a policy file, an imported policy, or the run of a search.
    pub fn open(name: &str, settings: &Settings) -> Result<Self, Error> {
        let path = Path::new(name);
        let is_name = Self::names().any(|known| name.split(':').next() == Some(known));
        if !is_name && !path.exists() && name.contains(['/', '\\', '.']) {
            return Err(unknown(name, "there is no such file".to_owned()));
        }
        if is_name || !path.exists() {
            return Self::named(name, settings);
        }
        Self::read(name, &policy_file(path)?, settings)
    }

    fn named(name: &str, settings: &Settings) -> Result<Self, Error> {
        let (family, layers) =
            name.split_once(':').map_or((name, None), |(family, layers)| (family, Some(layers)));
        if family == UNIFORM_FREE {
            let config = PolicyConfig::default();
            let most = config.transformations.len();
            let layers = match layers {
                None => config.layers,
                Some(text) => {
                    text.parse().ok().filter(|layers| (1..=most).contains(layers)).ok_or_else(|| {
                        let reason =
                            format!("write the number of layers, 1 to {most}, as in `{UNIFORM_FREE}:3`");
                        unknown(name, reason)
                    })?
                }
            };
            let policy = PolicyConfig { layers, ..config }.init()?;
            return Self::of_policy(name, &policy, None, settings);
        }
        let baseline: Baseline = name.parse().map_err(|error| match error {
            BaselineError::Name { .. } => {
                let hint = nearest(family, Self::names());
                let hint = hint.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
                let names: Vec<&str> = Self::names().collect();
                unknown(
                    name,
                    format!("there is no such policy{hint}; there are {}, and files", names.join(", ")),
                )
            }
            BaselineError::Numbers { takes: true, .. } => {
                unknown(name, "write the number of operations and the level, as in `rand:2:9`".to_owned())
            }
            BaselineError::Numbers { .. } => unknown(name, "it takes no numbers".to_owned()),
            other => unknown(name, other.to_string()),
        })?;
        let augmentation = baseline.augmentation();
        Ok(Self {
            name: name.to_owned(),
            identity: format!("baseline {}", baseline.name()),
            recipe: baseline.recipe(),
            augmenter: augmentation.map_or(Augmenter::Nothing, Augmenter::Actions),
            file: None,
        })
    }

    /// A candidate from its file.
    pub(crate) fn read(name: &str, path: &Path, settings: &Settings) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(Error::io(path))?;
        if !Published::recognises(&bytes) {
            return Self::of_policy(name, &Policy::load(path)?, Some(bytes), settings);
        }
        let published = Published::load(path)?;
        Ok(Self {
            name: name.to_owned(),
            identity: format!("published {:016x}", Fnv::of(&bytes)),
            // As all of these searches' code has it.
            recipe: Recipe { order: Order::Before, ..USUAL },
            augmenter: Augmenter::Actions(Box::new(published)),
            file: Some(bytes),
        })
    }

    fn of_policy(
        name: &str,
        policy: &Policy,
        file: Option<Vec<u8>>,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let mut config = policy.config().clone();
        config.assignment = match settings.policy_assignment {
            AssignmentChoice::Policy => config.assignment,
            AssignmentChoice::ColumnMaximum => freeaugment::Assignment::ColumnMaximum,
            AssignmentChoice::Exact => freeaugment::Assignment::Exact,
        };
        if settings.policy_temperature > 0.0 {
            config.evaluation_temperature = settings.policy_temperature as f32;
        }
        let policy = Policy::new(config, policy.parameters().clone())?;
        let order = if policy.config().place == Place::First { Order::Before } else { Order::After };
        Ok(Self {
            name: name.to_owned(),
            identity: format!("policy {:016x}", Fnv::of(policy.to_json()?.as_bytes())),
            recipe: Recipe { order, ..USUAL },
            augmenter: Augmenter::Policy(Box::new(policy)),
            file,
        })
    }

    /// A policy that is at hand.
    pub fn policy(name: &str, policy: &Policy, settings: &Settings) -> Result<Self, Error> {
        Self::of_policy(name, policy, Some(policy.to_json()?.into_bytes()), settings)
    }

    /// Crop, flip and cutout alone, as the settings have them.
    pub fn standard() -> Self {
        Self {
            name: "standard".to_owned(),
            identity: "baseline standard".to_owned(),
            recipe: USUAL,
            augmenter: Augmenter::Nothing,
            file: None,
        }
    }

    /// The name it was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A text that differs where what is done to images differs.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// The file it was read from.
    pub(crate) fn file(&self) -> Option<&[u8]> {
        self.file.as_deref()
    }

    /// Whether training images are cropped and flipped at all.
    pub(crate) fn has_views(&self) -> bool {
        self.recipe.crop != RecipeCrop::None
    }

    /// The pipeline of its recipe, where the settings and the data ask for this one.
    pub(crate) fn pipeline(&self, usual: &Pipeline) -> Pipeline {
        let crop = match self.recipe.crop {
            RecipeCrop::None => Crop::None,
            RecipeCrop::Standard => usual.crop,
            RecipeCrop::Resized { scale } => Crop::Resized { smallest: (100.0 * scale[0]).round() as u8 },
        };
        Pipeline {
            crop,
            flip: if self.recipe.flip { usual.flip } else { 0.0 },
            cutout: if self.has_views() { usual.cutout } else { 0 },
            // What is cut from large images and resized comes first in every recipe.
            policy_first: self.recipe.order == Order::Before && !matches!(crop, Crop::Resized { .. }),
            ..usual.clone()
        }
    }

    /// Augments a batch: a pure function of its arguments. `progress` is the share of the training that is over.
    pub(crate) fn prepare(
        &self,
        pipeline: &Pipeline,
        batch: PictureBatch,
        seed: u64,
        progress: f64,
    ) -> Result<Augmented, Error> {
        let images = match &self.augmenter {
            Augmenter::Nothing => batch.images,
            Augmenter::Policy(policy) => {
                let noise = policy.draw(seed, batch.epoch, &batch.indices);
                let sample = policy.sample(noise, policy.config().evaluation_temperature)?;
                policy.apply(&batch.images, &sample)?
            }
            Augmenter::Actions(augmentation) => {
                let shape = batch.images.shape();
                let mut bytes = batch.images.to_u8();
                let moment = Moment { height: shape.height, width: shape.width, progress };
                for (pixels, &index) in bytes.chunks_exact_mut(shape.image()).zip(&batch.indices) {
                    let mut stream = Stream::new(seed, ACTIONS, batch.epoch, index);
                    let actions = augmentation.actions(&mut stream, moment);
                    let mut picture = Picture {
                        height: shape.height,
                        width: shape.width,
                        channels: shape.channels,
                        pixels: pixels.to_vec(),
                    };
                    for action in actions {
                        action.apply(&mut picture);
                    }
                    pixels.copy_from_slice(&picture.pixels);
                }
                Images::from_u8(&bytes, shape)?
            }
        };
        Ok(Augmented { images: pipeline.after(images.as_slice(), &batch.views), labels: batch.labels })
    }
}

fn unknown(name: &str, reason: String) -> Error {
    Error::Candidate { name: name.to_owned(), reason }
}
