//! The baselines by name.

use std::fmt;
use std::str::FromStr;

use freeaugment_base::nearest;

use crate::{
    Augmentation, AutoAugment, AutoAugmentTable, BaselineError, Crop, DomainBed, Order, RandAugment, Recipe,
    TrivialAugment, UniformAugment,
};

/// What a learned policy is compared with.
///
/// ```
/// use freeaugment_baseline::Baseline;
///
/// let baseline: Baseline = "rand:1:14".parse()?;
/// assert_eq!(baseline.name(), "rand:1:14");
/// assert!("trival".parse::<Baseline>().unwrap_err().to_string().contains("did you mean `trivial`?"));
/// # Ok::<(), freeaugment_baseline::BaselineError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Baseline {
    /// Images as they are.
    None,
    /// Crop and flip.
    Standard,
    /// TrivialAugment in the space of RandAugment.
    Trivial,
    /// TrivialAugment in its wide space.
    TrivialWide,
    /// RandAugment, its authors' or torchvision's.
    Rand(RandAugment),
    /// UniformAugment.
    Uniform,
    /// AutoAugment.
    Auto(AutoAugmentTable),
    /// DomainBed's augmentation.
    DomainBed,
    /// TrivialAugment Wide as torchvision has it.
    TorchvisionTrivialWide,
    /// AutoAugment as torchvision has it.
    TorchvisionAuto(AutoAugmentTable),
}

impl Baseline {
    /// The names to choose from. `rand` and `torchvision-rand` may be followed by their two numbers: `rand:2:9`.
    pub const NAMES: [&'static str; 15] = [
        "none",
        "standard",
        "trivial",
        "trivial-wide",
        "rand",
        "uniform",
        "auto-cifar10",
        "auto-svhn",
        "auto-imagenet",
        "domainbed",
        "torchvision-trivial-wide",
        "torchvision-rand",
        "torchvision-auto-cifar10",
        "torchvision-auto-svhn",
        "torchvision-auto-imagenet",
    ];

    /// Its name; [`str::parse`] gives the same baseline again.
    pub fn name(&self) -> String {
        match self {
            Self::Rand(rand) => format!("{}:{}:{}", self.family(), rand.operations(), rand.level()),
            _ => self.family().into(),
        }
    }

    /// Its name without numbers, one of [`Baseline::NAMES`].
    const fn family(&self) -> &'static str {
        use AutoAugmentTable::{Cifar10, ImageNet, Svhn};
        match self {
            Self::None => "none",
            Self::Standard => "standard",
            Self::Trivial => "trivial",
            Self::TrivialWide => "trivial-wide",
            Self::Rand(rand) if rand.is_torchvision() => "torchvision-rand",
            Self::Rand(_) => "rand",
            Self::Uniform => "uniform",
            Self::Auto(Cifar10) => "auto-cifar10",
            Self::Auto(Svhn) => "auto-svhn",
            Self::Auto(ImageNet) => "auto-imagenet",
            Self::DomainBed => "domainbed",
            Self::TorchvisionTrivialWide => "torchvision-trivial-wide",
            Self::TorchvisionAuto(Cifar10) => "torchvision-auto-cifar10",
            Self::TorchvisionAuto(Svhn) => "torchvision-auto-svhn",
            Self::TorchvisionAuto(ImageNet) => "torchvision-auto-imagenet",
        }
    }

    /// What it is, in one line.
    pub const fn description(&self) -> &'static str {
        match self {
            Self::None => "images as they are, neither cropped nor flipped",
            Self::Standard => "crop and flip only",
            Self::Trivial => {
                "TrivialAugment in RandAugment's space: one of 14 operations at one of 31 levels"
            }
            Self::TrivialWide => "TrivialAugment in its wide space: one of 14 operations at one of 31 levels",
            Self::Rand(rand) if rand.is_torchvision() => {
                "RandAugment of torchvision: enhancers mirrored around 1"
            }
            Self::Rand(_) => {
                "RandAugment, as rand:N:M: N operations of 14 at level M of 30 (2 and 9 if not said)"
            }
            Self::Uniform => {
                "UniformAugment: two of 16 operations, each applied every other time, at any strength"
            }
            Self::Auto(_) => "AutoAugment: one of the 25 sub-policies of its paper",
            Self::DomainBed => "DomainBed: resized crop (0.7 to 1), flip, colour jitter 0.3, one in ten grey",
            Self::TorchvisionTrivialWide => "TrivialAugmentWide of torchvision: enhancers mirrored around 1",
            Self::TorchvisionAuto(_) => "AutoAugment of torchvision: enhancers mirrored around 1",
        }
    }

    /// What its recipe does beside the operations.
    ///
    /// The code of TrivialAugment, of AutoAugment for CIFAR-10 and of Fast AutoAugment, which UniformAugment and
    /// RandAugment for PyTorch follow, has the operations first; torchvision's recipes and DomainBed have them last.
    pub const fn recipe(&self) -> Recipe {
        let (crop, flip) = match self {
            Self::None => (Crop::None, false),
            Self::DomainBed => (Crop::Resized { scale: [0.7, 1.0] }, true),
            _ => (Crop::Standard, true),
        };
        let order = match self {
            Self::Trivial | Self::TrivialWide | Self::Uniform | Self::Auto(_) => Order::Before,
            Self::Rand(rand) if !rand.is_torchvision() => Order::Before,
            _ => Order::After,
        };
        Recipe { crop, flip, order }
    }

    /// What draws its operations; nothing where there are none.
    pub fn augmentation(&self) -> Option<Box<dyn Augmentation>> {
        Some(match *self {
            Self::None | Self::Standard => return None,
            Self::Trivial => Box::new(TrivialAugment::new()),
            Self::TrivialWide => Box::new(TrivialAugment::wide()),
            Self::Rand(rand) => Box::new(rand),
            Self::Uniform => Box::new(UniformAugment),
            Self::Auto(table) => Box::new(AutoAugment::new(table)),
            Self::DomainBed => Box::new(DomainBed),
            Self::TorchvisionTrivialWide => Box::new(TrivialAugment::torchvision_wide()),
            Self::TorchvisionAuto(table) => Box::new(AutoAugment::torchvision(table)),
        })
    }

    /// All of them, in the order of [`Baseline::NAMES`]; RandAugment with two operations at level 9.
    pub fn all() -> impl Iterator<Item = Self> {
        let rand = RandAugment::default();
        [Self::None, Self::Standard, Self::Trivial, Self::TrivialWide, Self::Rand(rand), Self::Uniform]
            .into_iter()
            .chain(AutoAugmentTable::ALL.map(Self::Auto))
            .chain([Self::DomainBed, Self::TorchvisionTrivialWide, Self::Rand(rand.torchvision())])
            .chain(AutoAugmentTable::ALL.map(Self::TorchvisionAuto))
    }
}

impl FromStr for Baseline {
    type Err = BaselineError;

    fn from_str(name: &str) -> Result<Self, BaselineError> {
        let (family, numbers) = match name.split_once(':') {
            Some((family, numbers)) => (family, Some(numbers)),
            None => (name, None),
        };
        let known = Self::all().find(|baseline| baseline.family() == family);
        let baseline = known.ok_or_else(|| BaselineError::Name {
            name: name.into(),
            nearest: nearest(family, Self::NAMES.into_iter()),
        })?;
        let Some(numbers) = numbers else { return Ok(baseline) };
        let Self::Rand(default) = baseline else {
            return Err(BaselineError::Numbers { name: name.into(), takes: false });
        };
        let numbers = numbers.split_once(':').and_then(|(n, m)| Some((n.parse().ok()?, m.parse().ok()?)));
        let (operations, level) =
            numbers.ok_or_else(|| BaselineError::Numbers { name: name.into(), takes: true })?;
        let rand = RandAugment::new(operations, level)?;
        Ok(Self::Rand(if default.is_torchvision() { rand.torchvision() } else { rand }))
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}
