//! The networks: what can be built, and the one place that says how.

mod resnet;
mod wide_resnet;

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::pass::{Activation, Pass};

/// The shape of a network, without the number of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A network to be built: its architecture and what goes in and comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    architecture: Architecture,
    classes: usize,
    channels: usize,
    activation: Activation,
}

impl Network {
    /// A network for images of `channels` (1 or 3) channels and `classes` classes.
    pub fn new(architecture: Architecture, classes: usize, channels: usize) -> Result<Self, Error> {
        architecture.check()?;
        if !(1..=1_000_000).contains(&classes) {
            return Err(Error::BadClasses { classes });
        }
        if channels != 1 && channels != 3 {
            return Err(Error::BadChannels { channels });
        }
        Ok(Self { architecture, classes, channels, activation: Activation::Relu })
    }

    /// The same network with another activation in place of the rectifier.
    #[must_use]
    pub fn with_activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// The shape of the network.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The number of channels of the images it takes.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The forward pass: images `[batch, channel, height, width]` in, logits `[batch, class, 1, 1]` out.
    pub fn forward<P: Pass>(&self, pass: &mut P, images: &P::Value) -> P::Value {
        match self.architecture {
            Architecture::WideResNet { depth, width } => {
                wide_resnet::forward(self, depth, width, pass, images)
            }
            Architecture::ResNet18 => resnet::forward(self, &resnet::RESNET18, pass, images),
            Architecture::ResNet50 => resnet::forward(self, &resnet::RESNET50, pass, images),
        }
    }
}
