//! What a search is going to do.

use std::fmt;

use freeaugment::Groups;
use freeaugment_data::Crop;
use freeaugment_search::{Error, Plan, Settings};
use serde::Serialize;

use freeaugment_base::Table;

/// More names than this are counted, not listed.
pub(crate) const MOST_NAMES: usize = 20;

/// The plan of a search, for people and for programs.
#[derive(Debug, Serialize)]
pub(crate) struct Overview {
    data: String,
    classes: usize,
    training_images: usize,
    validation_images: usize,
    test_images: usize,
    unreadable: Vec<String>,
    in_memory: bool,
    size: usize,
    channels: usize,
    preparation: String,
    network: String,
    device: String,
    batch: usize,
    epochs: u64,
    steps_per_epoch: u64,
    steps: u64,
    transformations: usize,
    layers: usize,
    /// The epochs, from 1, in which groups begin to learn; none where they never do.
    learning_from: Starts,
}

#[derive(Debug, Serialize)]
struct Starts {
    magnitudes: Option<u64>,
    types: Option<u64>,
    depth: Option<u64>,
}

impl Overview {
    pub(crate) fn new(settings: &Settings, plan: &Plan) -> Result<Self, Error> {
        let policy = settings.policy_config()?;
        let first = |learns: fn(Groups) -> bool| {
            let epoch = (0..settings.epochs).find(|&epoch| learns(settings.learning(epoch, policy.frozen)));
            epoch.map(|epoch| epoch + 1)
        };
        Ok(Self {
            data: plan.dataset.title.clone(),
            classes: plan.dataset.classes.len(),
            training_images: plan.training.indices.len(),
            validation_images: plan.validation.indices.len(),
            test_images: plan.test.len(),
            unreadable: plan.unreadable.iter().map(|image| image.message.clone()).collect(),
            in_memory: plan.cached,
            size: plan.pipeline.size,
            channels: plan.dataset.channels,
            preparation: preparation(plan),
            network: settings.network.clone(),
            device: settings.device.clone(),
            batch: settings.batch,
            epochs: settings.epochs,
            steps_per_epoch: plan.steps,
            steps: settings.epochs * plan.steps,
            transformations: policy.transformations.len(),
            layers: policy.layers,
            learning_from: Starts {
                magnitudes: first(|groups| groups.magnitudes),
                types: first(|groups| groups.types),
                depth: first(|groups| groups.depth),
            },
        })
    }
}

/// The steps around the policy.
pub(crate) fn preparation(plan: &Plan) -> String {
    let pipeline = &plan.pipeline;
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
        write!(f, "{table}{}", Unreadable(&self.unreadable))
    }
}

/// Images that cannot be read, by name; nothing where there are none.
pub(crate) struct Unreadable<'a>(pub(crate) &'a [String]);

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

/// A word that goes with a count.
pub(crate) fn noun(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}
