//! What a search is going to do.

use std::fmt;

use freeaugment::Groups;
use freeaugment_base::Table;
use freeaugment_data::{Crop, Pipeline};
use serde::{Deserialize, Serialize};

use crate::config::Settings;
use crate::error::Error;
use crate::session::Setup;

/// More names than this are counted, not listed.
const MOST_NAMES: usize = 20;

/// The plan of a search, for people and for programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Overview {
    /// What the data is called.
    pub data: String,
    /// Its classes.
    pub classes: usize,
    /// Images for training.
    pub training_images: usize,
    /// Images for validation.
    pub validation_images: usize,
    /// Images for testing.
    pub test_images: usize,
    /// Images that are left out, and why.
    pub unreadable: Vec<String>,
    /// What people should know about how the data was understood.
    pub notes: Vec<String>,
    /// Whether decoded images are kept in memory.
    pub in_memory: bool,
    /// Rows and columns of the network's images.
    pub size: usize,
    /// Channels of the images.
    pub channels: usize,
    /// Crop, flip and cutout.
    pub preparation: String,
    /// The network.
    pub network: String,
    /// Where it is computed.
    pub device: String,
    /// Images in a batch.
    pub batch: usize,
    /// Passes over the training images.
    pub epochs: u64,
    /// Steps in an epoch.
    pub steps_per_epoch: u64,
    /// Steps of the whole search.
    pub steps: u64,
    /// How many transformations there are to choose from.
    pub transformations: usize,
    /// How many of them are applied at most.
    pub layers: usize,
    /// How many steps the search looks ahead.
    pub horizon: u64,
    /// The epochs, from 1, in which groups begin to learn; none where they never do.
    pub learning_from: Starts,
}

/// The epochs, from 1, in which groups begin to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Starts {
    /// The magnitudes.
    pub magnitudes: Option<u64>,
    /// Types and order.
    pub types: Option<u64>,
    /// The depth.
    pub depth: Option<u64>,
}

impl Overview {
    /// What settings and data come to.
    pub fn new(settings: &Settings, setup: &Setup) -> Result<Self, Error> {
        let policy = settings.policy_config()?;
        let first = |learns: fn(Groups) -> bool| {
            let epoch = (0..settings.epochs).find(|&epoch| learns(settings.learning(epoch, policy.frozen)));
            epoch.map(|epoch| epoch + 1)
        };
        Ok(Self {
            data: setup.dataset.title.clone(),
            classes: setup.dataset.classes.len(),
            training_images: setup.training.indices().len(),
            validation_images: setup.validation.indices().len(),
            test_images: setup.test.len(),
            unreadable: setup.unreadable.iter().map(|image| image.message.clone()).collect(),
            notes: setup.dataset.notes.clone(),
            in_memory: setup.cached,
            size: setup.pipeline.size,
            channels: setup.dataset.channels,
            preparation: preparation(&setup.pipeline),
            network: settings.network.clone(),
            device: settings.device.clone(),
            batch: settings.batch,
            epochs: settings.epochs,
            steps_per_epoch: setup.steps_per_epoch,
            steps: settings.epochs * setup.steps_per_epoch,
            transformations: policy.transformations.len(),
            layers: policy.layers,
            horizon: settings.horizon,
            learning_from: Starts {
                magnitudes: first(|groups| groups.magnitudes),
                types: first(|groups| groups.types),
                depth: first(|groups| groups.depth),
            },
        })
    }
}

/// The steps around the policy.
pub(crate) fn preparation(pipeline: &Pipeline) -> String {
    let crop = match pipeline.crop {
        Crop::None => "no crop".to_owned(),
        Crop::Pad { pad } => format!("padded by {pad} and cropped"),
        Crop::Resized { .. } => "a random box, resized".to_owned(),
    };
    let flip = if pipeline.flip > 0.0 {
        format!("flipped {:.0} %", 100.0 * pipeline.flip)
    } else {
        "no flip".to_owned()
    };
    let cutout =
        if pipeline.cutout > 0 { format!("cutout {}", pipeline.cutout) } else { "no cutout".to_owned() };
    format!("{crop}, {flip}, {cutout}")
}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new("<<");
        table.row(["data", &self.data]);
        let memory = if self.in_memory { "kept in memory" } else { "read every time" };
        let (training, validation, test) = (self.training_images, self.validation_images, self.test_images);
        table.row([
            "images",
            &format!(
                "{training} training, {validation} validation, {test} test; {} classes; {memory}",
                self.classes
            ),
        ]);
        let colours = if self.channels == 1 { "grey" } else { "colour" };
        table.row(["size", &format!("{0}x{0}, {colours}; {1}", self.size, self.preparation)]);
        table.row(["network", &format!("{} on {}", self.network, self.device)]);
        let (epochs, each) = (self.epochs, self.steps_per_epoch);
        table.row([
            "steps",
            &format!("{epochs} epochs × {each} steps of {} images = {}", self.batch, self.steps),
        ]);
        table.row([
            "policy",
            &format!("{} transformations in up to {} layers", self.transformations, self.layers),
        ]);
        let starts = [
            ("magnitudes", self.learning_from.magnitudes),
            ("types and order", self.learning_from.types),
            ("depth", self.learning_from.depth),
        ];
        let begin = starts.map(|(name, epoch)| match epoch {
            Some(epoch) => format!("{name} from epoch {epoch}"),
            None => format!("{name} never"),
        });
        table.row(["learning", &begin.join(", ")]);
        if self.horizon > 1 {
            table.row(["horizon", &format!("{} steps ahead, in cycles", self.horizon)]);
        }
        write!(f, "{table}{}{}", Unreadable(&self.unreadable), Notes(&self.notes))
    }
}

/// Images that cannot be read, by name; nothing where there are none.
#[derive(Debug)]
pub struct Unreadable<'a>(pub &'a [String]);

impl fmt::Display for Unreadable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        let count = self.0.len();
        write!(
            f,
            "\n\n{count} {} left out because {} cannot be read:",
            noun(count, "image is", "images are"),
            noun(count, "it", "they")
        )?;
        for message in self.0.iter().take(MOST_NAMES) {
            write!(f, "\n  {message}")?;
        }
        match count.saturating_sub(MOST_NAMES) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// What people should know about how data was understood, a paragraph each; nothing where there is nothing.
#[derive(Debug)]
pub struct Notes<'a>(pub &'a [String]);

impl fmt::Display for Notes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|note| write!(f, "\n\nnote: {note}"))
    }
}

/// A word that goes with a count.
pub(crate) fn noun(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}
