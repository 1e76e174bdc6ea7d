//! Every baseline: to add one, add a row.

use crate::AutoAugmentTable::{Cifar10, ImageNet, Svhn};
use crate::{
    Augmentation, AutoAugment, Crop, DomainBed, Order, RandAugment, Recipe, TrivialAugment, UniformAugment,
};

/// One baseline; its name, its help, its errors and its place in every list follow from this.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// One line, without the name.
    pub(crate) description: &'static str,
    pub(crate) recipe: Recipe,
    pub(crate) operations: Operations,
}

/// Where the operations of a baseline come from.
#[derive(Clone, Copy)]
pub(crate) enum Operations {
    /// There are none.
    None,
    /// From what this makes.
    Drawn(fn() -> Box<dyn Augmentation>),
    /// From RandAugment, with these numbers if none follow the name.
    Numbered(RandAugment),
}

/// The code of TrivialAugment, of AutoAugment for CIFAR-10 and of Fast AutoAugment, which UniformAugment and RandAugment
/// for PyTorch follow, has the operations first.
const FIRST: Recipe = Recipe { crop: Crop::Standard, flip: true, order: Order::Before };
/// The recipes of torchvision have them last.
const LAST: Recipe = Recipe { crop: Crop::Standard, flip: true, order: Order::After };

pub(crate) static TABLE: [Row; 15] = [
    Row {
        name: "none",
        description: "images as they are: no crop, no flip, no cutout",
        recipe: Recipe { crop: Crop::None, flip: false, order: Order::After },
        operations: Operations::None,
    },
    Row {
        name: "standard",
        description: "crop, flip and cutout as the settings have them; so do all below",
        recipe: LAST,
        operations: Operations::None,
    },
    Row {
        name: "trivial",
        description: "TrivialAugment in RandAugment's space: one of 14 operations",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(TrivialAugment::new())),
    },
    Row {
        name: "trivial-wide",
        description: "TrivialAugment in its wide space: one of 14 operations",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(TrivialAugment::wide())),
    },
    Row {
        name: "rand",
        description: "RandAugment; rand:N:M for N operations at level M of 30 (2 and 9)",
        recipe: FIRST,
        operations: Operations::Numbered(RandAugment::USUAL),
    },
    Row {
        name: "uniform",
        description: "UniformAugment: two of 16 operations, each every other time",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(UniformAugment)),
    },
    Row {
        name: "auto-cifar10",
        description: "AutoAugment's published policy for CIFAR-10",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::new(Cifar10))),
    },
    Row {
        name: "auto-svhn",
        description: "AutoAugment's published policy for SVHN",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::new(Svhn))),
    },
    Row {
        name: "auto-imagenet",
        description: "AutoAugment's published policy for ImageNet",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::new(ImageNet))),
    },
    Row {
        name: "domainbed",
        description: "DomainBed's augmentation, with its own crop",
        recipe: Recipe { crop: Crop::Resized { scale: [0.7, 1.0] }, ..LAST },
        operations: Operations::Drawn(|| Box::new(DomainBed)),
    },
    Row {
        name: "torchvision-trivial-wide",
        description: "TrivialAugmentWide as torchvision has it",
        recipe: LAST,
        operations: Operations::Drawn(|| Box::new(TrivialAugment::torchvision_wide())),
    },
    Row {
        name: "torchvision-rand",
        description: "RandAugment as torchvision has it; torchvision-rand:N:M",
        recipe: LAST,
        operations: Operations::Numbered(RandAugment::USUAL.torchvision()),
    },
    Row {
        name: "torchvision-auto-cifar10",
        description: "AutoAugment for CIFAR-10 as torchvision has it",
        recipe: LAST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::torchvision(Cifar10))),
    },
    Row {
        name: "torchvision-auto-svhn",
        description: "AutoAugment for SVHN as torchvision has it",
        recipe: LAST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::torchvision(Svhn))),
    },
    Row {
        name: "torchvision-auto-imagenet",
        description: "AutoAugment for ImageNet as torchvision has it",
        recipe: LAST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::torchvision(ImageNet))),
    },
];
