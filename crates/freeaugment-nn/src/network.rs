//! The networks: what can be built, and the one place that says how.

mod fault;
mod recorder;
mod resnet;
mod step;
mod wide_resnet;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use self::step::{Operation, Step};
use crate::Error;
use crate::parameter::Layout;
use crate::pass::{Activation, Pass};

pub use self::fault::Fault;
pub use self::recorder::{Handle, Recorder};

/// The shape of a network, without the number of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Architecture {
    /// Wide-ResNet of Zagoruyko and Komodakis; `depth` is 6n + 4.
    WideResNet {
        /// The number of layers, 6n + 4.
        depth: usize,
        /// The factor by which the layers are wider than a ResNet's.
        width: usize,
    },
    /// The ResNet of 18 layers, as torchvision defines it.
    ResNet18,
    /// The ResNet of 50 layers, as torchvision defines it.
    ResNet50,
}

impl FromStr for Architecture {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownArchitecture { name: name.to_owned() };
        match name.to_ascii_lowercase().as_str() {
            "resnet-18" | "resnet18" => Ok(Self::ResNet18),
            "resnet-50" | "resnet50" => Ok(Self::ResNet50),
            lower => {
                let sizes = lower.strip_prefix("wrn-").ok_or_else(unknown)?;
                let (depth, width) = sizes.split_once('-').ok_or_else(unknown)?;
                let architecture = Self::WideResNet {
                    depth: depth.parse().map_err(|_| unknown())?,
                    width: width.parse().map_err(|_| unknown())?,
                };
                architecture.check().map_err(|_| unknown())?;
                Ok(architecture)
            }
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WideResNet { depth, width } => write!(f, "WRN-{depth}-{width}"),
            Self::ResNet18 => f.write_str("ResNet-18"),
            Self::ResNet50 => f.write_str("ResNet-50"),
        }
    }
}

impl Architecture {
    /// Deeper or wider networks than these are mistakes, not networks.
    const LARGEST_DEPTH: usize = 1204;
    const LARGEST_WIDTH: usize = 64;

    fn check(self) -> Result<(), Error> {
        if let Self::WideResNet { depth, width } = self {
            let good = (10..=Self::LARGEST_DEPTH).contains(&depth)
                && (depth - 4).is_multiple_of(6)
                && (1..=Self::LARGEST_WIDTH).contains(&width);
            if !good {
                return Err(Error::UnknownArchitecture { name: self.to_string() });
            }
        }
        Ok(())
    }
}

/// A network: what goes in, what comes out, and the operations between. Cheap to clone.
///
/// [`Network::new`] builds the architectures that this crate knows, [`Network::record`] one of your own.
#[derive(Clone, PartialEq, Eq)]
pub struct Network {
    name: Arc<str>,
    classes: usize,
    channels: usize,
    steps: Arc<[Step]>,
    layout: Arc<Layout>,
}

impl Network {
    /// A network for images of `channels` (1 or 3) channels and `classes` classes.
    pub fn new(architecture: Architecture, classes: usize, channels: usize) -> Result<Self, Error> {
        architecture.check()?;
        Self::record(&architecture.to_string(), classes, channels, |pass, images| match architecture {
            Architecture::WideResNet { depth, width } => {
                wide_resnet::forward((depth, width), (channels, classes), pass, images)
            }
            Architecture::ResNet18 => resnet::forward(&resnet::RESNET18, (channels, classes), pass, images),
            Architecture::ResNet50 => resnet::forward(&resnet::RESNET50, (channels, classes), pass, images),
        })
    }

    /// A network of your own: `forward` says what it computes, from images `[batch, channel, height, width]` of
    /// `channels` (1 or 3) channels to logits `[batch, class, 1, 1]`. It runs once, and its operations are written down.
    ///
    /// Every engine and every device computes it, gradients and `q` included. Parameters are in the order of the
    /// operations, and so are their initial values drawn.
    ///
    /// ```
    /// use freeaugment_nn::pass::{Activation, Convolution, Pass, Window};
    /// use freeaugment_nn::{Classifier, Device, Network};
    ///
    /// fn forward<P: Pass>(pass: &mut P, images: &P::Value) -> P::Value {
    ///     let window = Window::centred(3, 1);
    ///     let h = pass.convolve(images, "conv", Convolution { inputs: 3, outputs: 8, window });
    ///     let h = pass.normalize(&h, "norm", Some(Activation::Relu));
    ///     let h = pass.mean_pixels(&h);
    ///     pass.linear(&h, "head", 10)
    /// }
    ///
    /// # fn main() -> Result<(), freeaugment_nn::Error> {
    /// let network = Network::record("tiny", 10, 3, forward)?;
    /// let classifier = Classifier::new(network, &Device::cpu(), 1);
    /// assert_eq!(classifier.weights().get("head.weight").map(<[f32]>::len), Some(80));
    /// # Ok(())
    /// # }
    /// ```
    pub fn record(
        name: &str,
        classes: usize,
        channels: usize,
        forward: impl FnOnce(&mut Recorder, &Handle) -> Handle,
    ) -> Result<Self, Error> {
        if !(1..=1_000_000).contains(&classes) {
            return Err(Error::BadClasses { classes });
        }
        if channels != 1 && channels != 3 {
            return Err(Error::BadChannels { channels });
        }
        let mut recorder = Recorder::new(channels);
        let images = recorder.images();
        let logits = forward(&mut recorder, &images);
        let wrong = |fault| Error::BadNetwork { network: name.to_owned(), fault };
        let (steps, layout) = recorder.finish(logits, classes).map_err(wrong)?;
        Ok(Self { name: name.into(), classes, channels, steps: steps.into(), layout: Arc::new(layout) })
    }

    /// The same network with another activation in place of every one that it has.
    #[must_use]
    pub fn with_activation(self, activation: Activation) -> Self {
        let mut steps = self.steps.to_vec();
        for step in &mut steps {
            step.operation.activate(activation);
        }
        Self { steps: steps.into(), ..self }
    }

    /// The name it was given; that of the architecture where it has one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The number of channels of the images it takes.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Names, shapes and places of its parameters.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The forward pass: images `[batch, channel, height, width]` in, logits `[batch, class, 1, 1]` out.
    pub fn forward<P: Pass>(&self, pass: &mut P, images: &P::Value) -> P::Value {
        step::replay(&self.steps, pass, images)
    }

    /// Whether images of this size go through, and train where the batch is one image.
    pub(crate) fn check_size(&self, size: [usize; 2], training_on_one: bool) -> Result<(), Error> {
        let mut sizes = vec![size];
        for (index, Step { operation, .. }) in self.steps.iter().enumerate() {
            let found = operation.size(&sizes);
            if found.contains(&0) {
                let [height, width] = size;
                return Err(Error::ImagesTooSmall {
                    operation: operation.describe(index + 1),
                    height,
                    width,
                });
            }
            if let (true, [1, 1], Operation::Normalize { name, .. }) = (training_on_one, found, operation) {
                return Err(Error::BatchTooSmall { name: name.clone() });
            }
            sizes.push(found);
        }
        Ok(())
    }

    /// The name of the last layer with parameters: the one that knows the classes.
    pub(crate) fn head(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| step.operation.name())
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("name", &self.name)
            .field("classes", &self.classes)
            .field("channels", &self.channels)
            .finish_non_exhaustive()
    }
}
