//! What a classifier can be trained under: a learned policy, or something to compare it with.

use std::path::Path;

use freeaugment::{Images, Place, Policy, PolicyConfig, Sharing};
use freeaugment_base::random::Stream;
use freeaugment_base::{Fnv, nearest};
use freeaugment_baseline::{
    Baseline, BaselineError, BaselineFile, Crop as RecipeCrop, Moment, NamedBaseline, Order, Recipe,
};
use freeaugment_data::{Crop, Picture, PictureBatch, Pipeline};

use crate::augmenter::{ACTIONS, Augmenter};
use crate::config::{AssignmentChoice, Settings};
use crate::error::Error;
use crate::run::policy_file;

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
    document: Vec<u8>,
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

    /// A name, a policy file, the file of a baseline or of an imported policy, or a run that holds one of these.
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
        Ok(Self::of_baseline(name, &baseline.into(), None))
    }

    /// The same whether it was named or read from a file: nothing that the file says beside the name reaches an image.
    fn of_baseline(name: &str, named: &NamedBaseline, file: Option<Vec<u8>>) -> Self {
        let baseline = named.baseline;
        Self {
            name: name.to_owned(),
            identity: format!("baseline {}", baseline.name()),
            recipe: baseline.recipe(),
            augmenter: baseline.augmentation().map_or(Augmenter::Nothing, Augmenter::Actions),
            file,
            document: named.to_json().into_bytes(),
        }
    }

    /// A candidate from its file.
    pub(crate) fn read(name: &str, path: &Path, settings: &Settings) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(Error::io(path))?;
        if !BaselineFile::recognises(&bytes) {
            return Self::of_policy(name, &Policy::load(path)?, Some(bytes), settings);
        }
        match BaselineFile::load(path)? {
            BaselineFile::Named(named) => Ok(Self::of_baseline(name, &named, Some(bytes))),
            BaselineFile::Published(published) => Ok(Self {
                name: name.to_owned(),
                identity: format!("published {:016x}", Fnv::of(&bytes)),
                recipe: published.recipe(),
                augmenter: Augmenter::Actions(Box::new(published)),
                document: bytes.clone(),
                file: Some(bytes),
            }),
        }
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
        let provenance = policy.provenance().clone();
        let mut policy = Policy::new(config, policy.parameters().clone())?;
        let order = if policy.config().place == Place::First { Order::Before } else { Order::After };
        // Where a policy comes from changes no image.
        let identity = format!("policy {:016x}", Fnv::of(policy.to_json()?.as_bytes()));
        *policy.provenance_mut() = provenance;
        Ok(Self {
            name: name.to_owned(),
            identity,
            document: policy.to_json()?.into_bytes(),
            recipe: Recipe { order, ..USUAL },
            augmenter: Augmenter::Learned(Box::new(policy)),
            file,
        })
    }

    /// A policy that is at hand.
    pub fn policy(name: &str, policy: &Policy, settings: &Settings) -> Result<Self, Error> {
        Self::of_policy(name, policy, Some(policy.to_json()?.into_bytes()), settings)
    }

    /// Crop, flip and cutout alone, as the settings have them.
    pub fn standard() -> Self {
        let baseline: Baseline = "standard".parse().expect("it is in the table");
        Self::of_baseline("standard", &baseline.into(), None)
    }

    /// The name it was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does to images, apart from its recipe of crop and flip.
    pub fn augmenter(&self) -> &Augmenter {
        &self.augmenter
    }

    /// A text that differs where what is done to images differs.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// The file it was read from.
    pub fn file(&self) -> Option<&[u8]> {
        self.file.as_deref()
    }

    /// The text of a policy file that does to images what this does, for whoever hands it out: a policy as it is
    /// trained under, with what settings change in it, an imported policy, or a baseline by its name.
    pub fn policy_document(&self) -> &[u8] {
        &self.document
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
            Augmenter::Learned(policy) => {
                let is_shared = policy.config().sharing == Sharing::PerBatch;
                let drawn = if is_shared { &batch.members } else { &batch.indices };
                let noise = policy.draw(seed, batch.epoch, drawn);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Patch, Task, resolve};

    fn settings(more: &str) -> Settings {
        let patch = Patch { place: "a test".to_owned(), values: more.parse().unwrap() };
        resolve(Task::Comparison, "drawings", &[patch]).unwrap()
    }

    /// What is read from the document of a candidate.
    fn again(candidate: &Candidate, settings: &Settings) -> Candidate {
        let folder = tempfile::tempdir().unwrap();
        // A folder that holds it is as good as the file.
        std::fs::write(folder.path().join("policy.json"), candidate.policy_document()).unwrap();
        Candidate::open(folder.path().to_str().unwrap(), settings).unwrap()
    }

    #[test]
    fn the_document_of_a_name_is_the_same_candidate() {
        let settings = settings("");
        for name in Candidate::names().chain(["rand:1:14", "uniform-free:3"]) {
            let candidate = Candidate::open(name, &settings).unwrap();
            let again = again(&candidate, &settings);
            assert_eq!(again.identity(), candidate.identity(), "{name}");
            assert_eq!(again.recipe, candidate.recipe, "{name}");
            assert_eq!(again.policy_document(), candidate.policy_document(), "{name}");
            assert_eq!(again.file(), Some(candidate.policy_document()), "{name}");
        }
        let standard = Candidate::open("standard", &settings).unwrap();
        assert_eq!(Candidate::standard().identity(), standard.identity());
        assert_eq!(Candidate::standard().recipe, standard.recipe);
    }

    #[test]
    fn the_document_of_a_policy_is_its_file() {
        let usual = settings("");
        let mut policy = PolicyConfig { layers: 2, ..PolicyConfig::default() }.init().unwrap();
        policy.provenance_mut().insert("data".to_owned(), "flowers".to_owned());
        let candidate = Candidate::policy("mine", &policy, &usual).unwrap();
        assert_eq!(candidate.policy_document(), policy.to_json().unwrap().as_bytes());
        assert_eq!(again(&candidate, &usual).identity(), candidate.identity());
        // What settings change in a policy is handed out with it.
        let changed = settings("policy_assignment = \"exact\"\npolicy_temperature = 0.5");
        let candidate = Candidate::policy("mine", &policy, &changed).unwrap();
        assert_eq!(again(&candidate, &usual).identity(), candidate.identity());
        let written = Policy::from_json(candidate.policy_document()).unwrap();
        assert_eq!(written.config().evaluation_temperature, 0.5);
        assert_eq!(written.provenance(), policy.provenance());
    }

    #[test]
    fn the_document_of_an_imported_policy_is_its_file() {
        let settings = settings("");
        let text = "A = [[('Rotate', 1.0, 1.2), ('Invert', 0.25, 0.5)]]\n";
        let kind = freeaugment_baseline::Kind::Dada;
        let published = freeaugment_baseline::import_bytes(kind, "a.py", text.as_bytes(), None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dada.json");
        published.save(&path).unwrap();
        let candidate = Candidate::open(path.to_str().unwrap(), &settings).unwrap();
        assert_eq!(candidate.policy_document(), published.to_json().as_bytes());
        assert_eq!(candidate.recipe.order, Order::Before);
        assert_eq!(again(&candidate, &settings).identity(), candidate.identity());
    }
}
