//! Named settings: the paper's, and ones that suit a CPU.

use freeaugment::Estimator;

use super::{CropChoice, Settings, Task};
use crate::error::Error;

/// The presets' names.
pub const NAMES: [&str; 9] = [
    "cifar10",
    "cifar100",
    "imagenet100",
    "domainnet",
    "imagenet100-slack",
    "domainnet-slack",
    "quick",
    "one-step",
    "drawings",
];

/// The settings of a preset.
pub fn preset(task: Task, name: &str) -> Result<Settings, Error> {
    let search = match name {
        "cifar10" | "cifar100" => Settings { size: 32, crop: CropChoice::Pad, ..Settings::default() },
        "imagenet100" => Settings { images: 10_000, ..large() },
        "domainnet" => Settings { images: 6_000, ..large() },
        "imagenet100-slack" => Settings { images: 10_000, ..slack() },
        "domainnet-slack" => Settings { images: 6_000, ..slack() },
        "quick" => quick(),
        "one-step" => one_step(),
        "drawings" => drawings(),
        _ => return Err(Error::UnknownPreset { name: name.to_owned() }),
    };
    match task {
        Task::Search => return Ok(search),
        // All images there are, trained as long as it takes; most of them for training, so that what is selected is right for
        // about as many images as the proof and the user will train on.
        Task::Find => return Ok(Settings { images: 0, epochs: 0, validation_share: 0.4, ..search }),
        Task::Comparison => {}
    }
    // Policies are searched for on a part of the images and judged on all of them.
    let (epochs, batch, images) = match name {
        "cifar10" | "cifar100" | "domainnet" | "domainnet-slack" => (200, 128, 0),
        "imagenet100" | "imagenet100-slack" => (270, 256, 0),
        "quick" | "one-step" => (60, search.batch, search.images),
        _ => (search.epochs, search.batch, search.images),
    };
    Ok(Settings { epochs, batch, images, evaluate_every: 0, ..search })
}

fn large() -> Settings {
    Settings {
        size: 224,
        crop: CropChoice::Resized,
        cutout: 75,
        network: "ResNet-18".to_owned(),
        batch: 64,
        weight_decay: 1e-4,
        ..Settings::default()
    }
}

/// SLACK's recipe for large images, as its released settings have it: no cutout and more weight decay. Its momentum is not
/// Nesterov's and its rate rises for five epochs on ImageNet-100; here it is Nesterov's and begins at the top.
fn slack() -> Settings {
    Settings { cutout: 0, weight_decay: 1e-3, ..large() }
}

/// What a CPU does in reasonable time, looking far ahead.
fn quick() -> Settings {
    Settings {
        horizon: 150,
        estimator: Estimator::Gain,
        // Steps of whole cycles, not of every batch.
        depth_rate: 0.3,
        type_rate: 0.15,
        magnitude_rate: 0.1,
        magnitude_start: 30,
        type_start: 30,
        depth_start: 30,
        ..one_step()
    }
}

/// The paper's method with what a CPU does in reasonable time.
fn one_step() -> Settings {
    Settings {
        // A small network that trains for a short time overfits only few images, and one that does not overfit has little
        // to gain from augmentation: so most images are for validation, there is no cutout, and the policy is small.
        validation_share: 0.8,
        cutout: 0,
        network: "WRN-16-1".to_owned(),
        layers: 3,
        epochs: 160,
        batch: 64,
        learning_rate: 0.05,
        // Later than in proportion to the paper, for the same reason.
        magnitude_start: 60,
        type_start: 60,
        depth_start: 80,
        type_rate: 0.02,
        depth_rate: 0.03,
        evaluate_every: 10,
        ..Settings::default()
    }
}

/// For the built-in drawings: some three minutes on two cores.
fn drawings() -> Settings {
    Settings {
        images: 0,
        size: 32,
        crop: CropChoice::None,
        cutout: 0,
        network: "WRN-10-1".to_owned(),
        epochs: 10,
        batch: 64,
        learning_rate: 0.05,
        layers: 2,
        // What settles whether planted transformations are found (docs/search.md): how choices are credited, a steady
        // validation gradient, ranges that have widened and a classifier that has learned its task before types begin,
        // slopes that do not vanish with the learning rate, and small steps where there is little to learn.
        estimator: Estimator::Gain,
        validation_momentum: 0.98,
        learning_rate_floor: 0.15,
        magnitude_start: 3,
        type_start: 6,
        depth_start: 7,
        magnitude_rate: 0.05,
        type_rate: 0.05,
        type_epsilon: 1.5e-5,
        depth_rate: 0.05,
        depth_epsilon: 2e-5,
        evaluate_every: 0,
        proof_epochs: 3,
        ..Settings::default()
    }
}
