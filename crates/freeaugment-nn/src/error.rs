//! What can go wrong.

use std::path::PathBuf;

use crate::network::Fault;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A network of that name does not exist.
    #[error(
        "unknown network {name:?}: expected WRN-<depth>-<width> with depth 6n + 4 from 10 and width from 1 to 64 \
         (such as WRN-40-2), ResNet-18 or ResNet-50"
    )]
    UnknownArchitecture {
        /// The name that was asked for.
        name: String,
    },
    /// A network needs at least one class.
    #[error("cannot build a network for {classes} classes: allowed are 1 to 1000000")]
    BadClasses {
        /// The number that was asked for.
        classes: usize,
    },
    /// A network that does not fit together.
    #[error("network {network:?}: {fault}")]
    BadNetwork {
        /// The network's name.
        network: String,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A window does not fit into the images.
    #[error("images of {height}x{width} are too small: nothing is left of them at {operation}")]
    ImagesTooSmall {
        /// The operation.
        operation: String,
        /// Rows of an image.
        height: usize,
        /// Columns of an image.
        width: usize,
    },
    /// Images are gray or coloured.
    #[error("cannot build a network for images of {channels} channels: allowed are 1 and 3")]
    BadChannels {
        /// The number that was asked for.
        channels: usize,
    },
    /// Label smoothing is out of range.
    #[error("label smoothing is {smoothing}: allowed is 0 up to, but not including, 1")]
    BadSmoothing {
        /// The value that was asked for.
        smoothing: f32,
    },
    /// A batch whose parts do not fit together.
    #[error("a batch of {images} images of {channels}x{height}x{width} has {expected} numbers, not {found}")]
    BatchShape {
        /// Images in the batch.
        images: usize,
        /// Channels of the network.
        channels: usize,
        /// Rows of an image.
        height: usize,
        /// Columns of an image.
        width: usize,
        /// How many numbers that makes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A batch without images.
    #[error("the batch has no images")]
    EmptyBatch,
    /// Processes that share a batch, and one of them has another part of it than it should.
    #[error("process {rank} has {found} images of a batch of {total}: its share is {expected}")]
    BadShare {
        /// Which process, from 0.
        rank: usize,
        /// The images it has.
        found: usize,
        /// The images that are its own.
        expected: usize,
        /// Images in the batch.
        total: usize,
    },
    /// A device that computes for one process only.
    #[error("device {device:?} cannot share a batch with other processes: `cpu` can")]
    DeviceAlone {
        /// The device.
        device: String,
    },
    /// A label that the network has no class for.
    #[error("label {label} of image {image} is not below the number of classes, {classes}")]
    BadLabel {
        /// The image's place in the batch.
        image: usize,
        /// Its label.
        label: u32,
        /// The number of classes.
        classes: usize,
    },
    /// Logits that are not one row per label.
    #[error("{logits} logits cannot be shared out among {labels} labels")]
    LogitsShape {
        /// How many logits there are.
        logits: usize,
        /// How many labels there are.
        labels: usize,
    },
    /// Batch norm cannot compute a variance from one number.
    #[error(
        "{name} sees one number per channel in this batch: batch norm needs more images or larger ones to train"
    )]
    BatchTooSmall {
        /// The batch norm's name.
        name: String,
    },
    /// Parameters of another network.
    #[error("the parameters belong to another network: {expected} numbers expected, {found} found")]
    ForeignParameters {
        /// How many numbers this network has.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// A hyperparameter is out of range.
    #[error("{name} is {value}: allowed is {allowed}")]
    BadSetting {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// No device of that name.
    #[error("unknown device {name:?}: this program has {}", .available.join(", "))]
    UnknownDevice {
        /// The name that was asked for.
        name: String,
        /// What is there.
        available: Vec<String>,
    },
    /// A device that this program was built without.
    #[error("device {name:?} needs a build with the cargo feature `{feature}`: this program has {}", .available.join(", "))]
    DeviceNotBuilt {
        /// The name that was asked for.
        name: String,
        /// The feature that would bring it.
        feature: &'static str,
        /// What is there.
        available: Vec<String>,
    },
    /// A device whose driver is absent.
    #[error("device {name:?} cannot be used here ({reason}): this program has {}", .available.join(", "))]
    DeviceAbsent {
        /// The name that was asked for.
        name: String,
        /// What the driver said.
        reason: String,
        /// What is there.
        available: Vec<String>,
    },
    /// A device failed while it worked.
    #[error("device {device:?} failed: {reason}")]
    DeviceFailed {
        /// The device.
        device: String,
        /// What it said.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not what its name promises.
    #[error("{}: not a safetensors file: {reason}", .path.display())]
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor that a weights file must have is missing.
    #[error("{}: tensor {name:?} is missing", .path.display())]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// A tensor of a weights file has another shape or type.
    #[error("{}: tensor {name:?} is {found}, expected {expected}", .path.display())]
    WrongTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// What this network needs.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// A weights file has a tensor that the network does not know.
    #[error("{}: tensor {name:?} does not belong to this network", .path.display())]
    ForeignTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
}
