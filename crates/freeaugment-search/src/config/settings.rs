//! The settings of a search: one flat table of keys, the same in files, presets and flags.

use freeaugment::{
    Assignment, DepthKind, Estimator, Groups, MagnitudeKind, Place, PolicyConfig, RangedTransformation,
    Sharing, TypesKind,
};
use freeaugment_data::Plant;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::field::{
    AssignmentChoice, CropChoice, DepthChoice, Field, HypergradientChoice, MagnitudeChoice, Setting,
    TypesChoice,
};
use crate::error::Error;
use crate::find::parse_budget;

macro_rules! range {
    () => {
        None
    };
    ($low:expr, $high:expr) => {
        Some(($low as f64, $high as f64))
    };
}

/// Declares the settings once: the struct, its defaults, its ranges and the list of fields come from it.
macro_rules! settings {
    ($($group:literal { $($(#[doc = $help:literal])+ $name:ident: $type:ty = $default:expr $(=> ($low:expr, $high:expr))?,)* })*) => {
        /// Everything that decides what a search or a training does. The defaults are those of the paper on CIFAR-10.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings { $($($(#[doc = $help])+ pub $name: $type,)*)* }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($($name: $default,)*)* }
            }
        }

        /// All settings, in the order of the file.
        pub const FIELDS: &[Field] = &[$($(Field {
            name: stringify!($name),
            group: $group,
            help: concat!($($help),+),
            kind: <$type as Setting>::KIND,
            range: range!($($low, $high)?),
        },)*)*];
    };
}

settings! {
    "Data" {
        /// The folder or file with the images; empty for the built-in drawings
        data: String = String::new(),
        /// How many images to use, those for validation included; 0 for all
        images: usize = 5000,
        /// The seed of everything; in training, of which images are used (its classifiers have their own: 1, 2, 3…)
        seed: u64 = 0,
        /// The share of them that is for validation, where the data brings no validation split; 0.4 in `find`
        validation_share: f64 = 0.5 => (0.01, 0.99),
        /// The share of all images that is kept for testing, where the data brings no test split
        test_share: f64 = 0.2 => (0.0, 0.9),
        /// How many images may be unreadable (they are named and skipped)
        max_unreadable: usize = 20,
        /// Keep decoded images in memory if they take no more MiB than this; 0 to read them every time
        cache_mib: usize = 2048,
        /// Threads that read and prepare images
        workers: usize = 1 => (1, 64),
        /// Built-in drawings: training images
        drawings_train: usize = 8000,
        /// Built-in drawings: validation images, and as many again for testing
        drawings_validation: usize = 2000,
        /// Built-in drawings: what validation and test images undergo, such as Rotate:-30..30,Invert
        plant: Vec<String> = vec!["Rotate:-30..30".to_owned(), "Brightness:-0.4..0.4".to_owned()],
    }
    "Pipeline" {
        /// Rows and columns of the network's images; 0 for the images' own if they are small and alike, else 64
        size: usize = 0 => (0, 1024),
        /// How training images are cut: by their look, not at all, padded and cut, or a random box resized
        crop: CropChoice = CropChoice::Auto,
        /// Pixels of padding for crop = pad
        pad: usize = 4 => (0, 512),
        /// The smallest box for crop = resized, as a share of the area
        smallest_box: f64 = 0.08 => (0.01, 1.0),
        /// The probability of mirroring left to right; -1 for 0.5, or 0 where the data is of the MNIST family or drawings
        flip: f64 = -1.0 => (-1.0, 1.0),
        /// The side of the square cut out after the policy; 0 for none
        cutout: usize = 16,
    }
    "Classifier" {
        /// The network: WRN-DEPTH-WIDTH, ResNet-18 or ResNet-50
        network: String = "WRN-40-2".to_owned(),
        /// Where it is computed: cpu, or a device that the program was built with: flex, cuda, rocm, metal, vulkan, webgpu
        device: String = "cpu".to_owned(),
        /// Passes over the training images; `find` settles them by the data where they are 0
        epochs: u64 = 300 => (0, 1_000_000),
        /// Images in a batch, for training and for validation
        batch: usize = 128 => (2, 65_536),
        /// The learning rate at the start; it falls to 0 by a cosine
        learning_rate: f64 = 0.1 => (0.0, 1e3),
        /// The momentum (Nesterov)
        momentum: f64 = 0.9 => (0.0, 0.999_999),
        /// The weight decay
        weight_decay: f64 = 5e-4 => (0.0, 10.0),
        /// Label smoothing
        label_smoothing: f64 = 0.0 => (0.0, 0.999),
        /// Evaluate on all validation images (in training: test images) every so many epochs; 0 for the last epoch only
        evaluate_every: u64 = 1,
    }
    "Policy" {
        /// The transformations to choose from, such as Rotate,Brightness:-0.2..0.2; empty for the paper's 14
        transformations: Vec<String> = Vec::new(),
        /// How many layers there are at most
        layers: usize = 7,
        /// How it is decided how many layers are applied
        depth: DepthChoice = DepthChoice::Learned,
        /// How many, for depth = fixed
        fixed_depth: usize = 2,
        /// How types and their order are drawn
        types: TypesChoice = TypesChoice::Sinkhorn,
        /// How often Sinkhorn normalises rows and columns
        sinkhorn_iterations: usize = 20,
        /// The logit of the columns that pad Sinkhorn's matrix
        sinkhorn_pad: f64 = -10.0 => (-1e3, 1e3),
        /// How a relaxed sample of types becomes a choice
        assignment: Assignment = Assignment::ColumnMaximum,
        /// How magnitudes are drawn
        magnitudes: MagnitudeChoice = MagnitudeChoice::Uniform,
        /// How gradients pass the hard choices
        estimator: Estimator = Estimator::StraightThrough,
        /// Whether every image or every batch has its own sample
        sharing: Sharing = Sharing::PerImage,
        /// Groups that stay as they are: depth, types, magnitudes
        frozen: Vec<String> = Vec::new(),
        /// Where the policy stands in the pipeline
        place: Place = Place::AfterCropAndFlip,
        /// The temperature of evaluation
        evaluation_temperature: f64 = 0.1 => (1e-3, 1e3),
    }
    "Search" {
        /// How the gradient to the policy is found
        hypergradient: HypergradientChoice = HypergradientChoice::Exact,
        /// How many training steps the search looks ahead; 1 is the paper's method
        horizon: u64 = 1 => (1, 100_000),
        /// With a horizon: the learning rate at the start of every cycle of so many steps; it falls to 0 by a cosine
        cycle_rate: f64 = 0.03 => (0.0, 1e3),
        /// With a horizon: how many validation batches judge a cycle; 0 for all
        cycle_batches: usize = 0,
        /// With a horizon and gain: how often every batch is drawn once more on the way back, which makes slopes surer
        draws: u64 = 4 => (0, 1000),
        /// With a horizon: how many standard errors a slope must have before the policy follows it
        significance: f64 = 1.5 => (0.0, 100.0),
        /// With a horizon: how much the slopes of earlier cycles still count in every next one
        slope_memory: f64 = 0.9 => (0.0, 1.0),
        /// With a horizon: whether all layers have the same types and ranges, which are then known better
        tie_layers: bool = true,
        /// With a horizon: keep the weights of all steps of a cycle if they take no more MiB than this, else compute most again
        horizon_mib: u64 = 1024 => (0, 1_048_576),
        /// How much of the validation gradient is that of earlier steps, which makes it steadier; 0 for none
        validation_momentum: f64 = 0.0 => (0.0, 0.999_999),
        /// What part of the learning rate is left at the end in place of 0; the policy's slopes are in proportion to it
        learning_rate_floor: f64 = 0.0 => (0.0, 1.0),
        /// Adam's learning rate for magnitudes
        magnitude_rate: f64 = 0.02 => (0.0, 1e3),
        /// Adam's learning rate for types and order
        type_rate: f64 = 0.01 => (0.0, 1e3),
        /// Adam's epsilon for types and order: slopes well below it make smaller steps, so that noise is not learned
        type_epsilon: f64 = 1e-8 => (1e-12, 1e3),
        /// Adam's learning rate for the depth
        depth_rate: f64 = 1.0 => (0.0, 1e3),
        /// Adam's epsilon for the depth, as `type_epsilon`
        depth_epsilon: f64 = 1e-8 => (1e-12, 1e3),
        /// Whether groups wait for their epoch before they learn
        warm_up: bool = true,
        /// The epoch (from 0) in which magnitudes begin to learn; starts that are not given move with `epochs`
        magnitude_start: u64 = 50,
        /// The epoch in which types and order begin to learn
        type_start: u64 = 65,
        /// The epoch in which the depth begins to learn
        depth_start: u64 = 80,
        /// The temperature of the first epoch
        first_temperature: f64 = 1.0 => (1e-3, 1e3),
        /// The temperature of the last epoch
        last_temperature: f64 = 0.5 => (1e-3, 1e3),
        /// Built-in drawings: epochs of each classifier trained afterwards to judge the policy; 0 for none
        proof_epochs: u64 = 0,
    }
    "Find" {
        /// How long all of it may take: search, selection and proof, such as 45m, 1h or 1h30m
        budget: String = "1h".to_owned(),
    }
    "Training" {
        /// Begin with these weights (a safetensors file, or the run of a search); empty to begin from scratch
        warm_start: String = String::new(),
        /// Epochs in which the learning rate rises from 0 after a warm start
        warm_start_epochs: u64 = 5,
        /// How learned policies choose transformations
        policy_assignment: AssignmentChoice = AssignmentChoice::Policy,
        /// The temperature of learned policies; 0 for the one in their file
        policy_temperature: f64 = 0.0 => (0.0, 1e3),
    }
}

impl Settings {
    /// The policy that is searched for, untrained.
    pub fn policy_config(&self) -> Result<PolicyConfig, Error> {
        let transformations = if self.transformations.is_empty() {
            PolicyConfig::default().transformations
        } else {
            let read = |text: &String| {
                // The same spelling as a plant: a name, and a range where it is not the paper's.
                let plant: Plant = text.parse().map_err(|error: freeaugment_data::Error| match error {
                    freeaugment_data::Error::Setting { reason, .. } => refuse("transformations", reason),
                    other => other.into(),
                })?;
                let range = plant.range.unwrap_or((0.0, 1.0));
                Ok(RangedTransformation { transformation: plant.transformation, range })
            };
            self.transformations.iter().map(read).collect::<Result<_, Error>>()?
        };
        let count = transformations.len();
        if !(1..=count).contains(&self.layers) {
            let reason = format!(
                "{} layers cannot be: with {count} transformations, 1 to {count} are allowed",
                self.layers
            );
            return Err(refuse("layers", reason));
        }
        Ok(PolicyConfig {
            transformations,
            layers: self.layers,
            depth: match self.depth {
                DepthChoice::Learned => DepthKind::Learned,
                DepthChoice::Fixed => DepthKind::Fixed { depth: self.fixed_depth },
                DepthChoice::Application => DepthKind::Application,
            },
            types: match self.types {
                TypesChoice::Sinkhorn => TypesKind::Sinkhorn {
                    iterations: self.sinkhorn_iterations,
                    pad: self.sinkhorn_pad as f32,
                },
                TypesChoice::Softmax => TypesKind::Softmax,
            },
            assignment: self.assignment,
            magnitudes: match self.magnitudes {
                MagnitudeChoice::Uniform => MagnitudeKind::Uniform,
                MagnitudeChoice::Gaussian => MagnitudeKind::Gaussian,
            },
            estimator: self.estimator,
            sharing: self.sharing,
            frozen: self.frozen_groups()?,
            evaluation_temperature: self.evaluation_temperature as f32,
            place: self.place,
        })
    }

    /// The same settings for policies of this kind. How gradients pass the choices and what stays as it is are matters of the
    /// search and not of the policy.
    #[must_use]
    pub fn with_policy(self, config: &PolicyConfig) -> Self {
        let spelt = |ranged: &RangedTransformation| {
            let (name, (low, high)) = (ranged.transformation.name(), ranged.range);
            if ranged.transformation.magnitude().is_some() {
                format!("{name}:{low}..{high}")
            } else {
                name.to_owned()
            }
        };
        let (depth, fixed_depth) = match config.depth {
            DepthKind::Learned => (DepthChoice::Learned, self.fixed_depth),
            DepthKind::Fixed { depth } => (DepthChoice::Fixed, depth),
            DepthKind::Application => (DepthChoice::Application, self.fixed_depth),
        };
        let (types, sinkhorn_iterations, sinkhorn_pad) = match config.types {
            TypesKind::Sinkhorn { iterations, pad } => (TypesChoice::Sinkhorn, iterations, f64::from(pad)),
            _ => (TypesChoice::Softmax, self.sinkhorn_iterations, self.sinkhorn_pad),
        };
        Self {
            transformations: config.transformations.iter().map(spelt).collect(),
            layers: config.layers,
            depth,
            fixed_depth,
            types,
            sinkhorn_iterations,
            sinkhorn_pad,
            assignment: config.assignment,
            magnitudes: match config.magnitudes {
                MagnitudeKind::Gaussian => MagnitudeChoice::Gaussian,
                _ => MagnitudeChoice::Uniform,
            },
            sharing: config.sharing,
            place: config.place,
            evaluation_temperature: f64::from(config.evaluation_temperature),
            ..self
        }
    }

    /// The name of a network that is not one of this library's, written `own:NAME`: a search around it goes on only where
    /// that network is.
    pub fn own_network(&self) -> Option<&str> {
        self.network.strip_prefix("own:")
    }

    fn frozen_groups(&self) -> Result<Groups, Error> {
        let mut groups = Groups::NONE;
        for name in &self.frozen {
            match name.as_str() {
                "depth" => groups.depth = true,
                "types" => groups.types = true,
                "magnitudes" => groups.magnitudes = true,
                other => {
                    let reason = format!("there is no group `{other}`; there are depth, types, magnitudes");
                    return Err(refuse("frozen", reason));
                }
            }
        }
        Ok(groups)
    }

    /// The groups that learn in an epoch (from 0).
    pub fn learning(&self, epoch: u64, frozen: Groups) -> Groups {
        let begun = |start: u64| !self.warm_up || epoch >= start;
        let begun = Groups {
            depth: begun(self.depth_start) && self.depth != DepthChoice::Fixed,
            types: begun(self.type_start),
            magnitudes: begun(self.magnitude_start),
        };
        begun.without(frozen)
    }

    /// The first epoch in which anything learns; the number of epochs where nothing does.
    pub(crate) fn first_learning(&self, frozen: Groups) -> u64 {
        let first = (0..self.epochs).find(|&epoch| self.learning(epoch, frozen) != Groups::NONE);
        first.unwrap_or(self.epochs)
    }

    /// Whether there is an evaluation after an epoch (from 1): every so often, and always after the last.
    pub fn evaluates_after(&self, epoch: u64) -> bool {
        epoch == self.epochs || (self.evaluate_every > 0 && epoch.is_multiple_of(self.evaluate_every))
    }

    /// The temperature of an epoch (from 0): exponential from first to last.
    pub fn temperature(&self, epoch: u64) -> f64 {
        if self.epochs < 2 {
            return self.first_temperature;
        }
        let done = epoch as f64 / (self.epochs - 1) as f64;
        self.first_temperature * (self.last_temperature / self.first_temperature).powf(done)
    }

    /// Refuses what cannot be, whatever the data.
    pub fn check(&self) -> Result<(), Error> {
        let values = Table::try_from(self).map_err(|error| refuse("settings", error.to_string()))?;
        for field in FIELDS {
            let Some((low, high)) = field.range else { continue };
            let value = &values[field.name];
            let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
            // Not-a-number is in no range.
            if !number.is_some_and(|number| (low..=high).contains(&number)) {
                return Err(refuse(field.name, format!("{value} is not allowed: {low} to {high} are")));
            }
        }
        if self.depth == DepthChoice::Fixed && self.fixed_depth > self.layers {
            let reason = format!("{} is more than the {} layers", self.fixed_depth, self.layers);
            return Err(refuse("fixed_depth", reason));
        }
        if self.horizon > 1 && self.hypergradient == HypergradientChoice::Difference {
            let reason = "the difference looks one step ahead; a horizon needs `exact`";
            return Err(refuse("hypergradient", reason));
        }
        if self.estimator == Estimator::Gain {
            if self.sharing == Sharing::PerBatch {
                return Err(refuse(
                    "estimator",
                    "`gain` compares the images of a batch, so they cannot share a sample; `straight-through` is allowed there",
                ));
            }
            if self.hypergradient == HypergradientChoice::Difference {
                return Err(refuse(
                    "estimator",
                    "`gain` needs the exact hypergradient; `straight-through` is allowed with the difference",
                ));
            }
        }
        parse_budget(&self.budget)?;
        if self.own_network().is_none() {
            let known = self.network.parse::<freeaugment_nn::Architecture>();
            known.map_err(|error| refuse("network", error.to_string()))?;
        }
        self.policy_config()?.init().map_err(|error| refuse("policy", error.to_string()))?;
        Ok(())
    }
}

/// Where a setting stands of which nobody knows any more who gave it.
pub(crate) const CONFIGURATION: &str = "the configuration";

/// A setting that cannot be.
pub(crate) fn refuse(key: &str, reason: impl Into<String>) -> Error {
    Error::Setting { place: CONFIGURATION.to_owned(), key: key.to_owned(), reason: reason.into() }
}
