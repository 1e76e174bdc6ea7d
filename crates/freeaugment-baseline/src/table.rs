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
        description: "images as they are, neither cropped nor flipped",
        recipe: Recipe { crop: Crop::None, flip: false, order: Order::After },
        operations: Operations::None,
    },
    Row { name: "standard", description: "crop and flip only", recipe: LAST, operations: Operations::None },
    Row {
        name: "trivial",
        description: "TrivialAugment in RandAugment's space: one of 14 operations at one of 31 levels",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(TrivialAugment::new())),
    },
    Row {
        name: "trivial-wide",
        description: "TrivialAugment in its wide space: one of 14 operations at one of 31 levels",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(TrivialAugment::wide())),
    },
    Row {
        name: "rand",
        description: "RandAugment, as rand:N:M: N operations of 14 at level M of 30 (2 and 9 if not said)",
        recipe: FIRST,
        operations: Operations::Numbered(RandAugment::USUAL),
    },
    Row {
        name: "uniform",
        description: "UniformAugment: two of 16 operations, each applied every other time, at any strength",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(UniformAugment)),
    },
    Row {
        name: "auto-cifar10",
        description: "AutoAugment, found on CIFAR-10: one of the 25 sub-policies of its paper",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::new(Cifar10))),
    },
    Row {
        name: "auto-svhn",
        description: "AutoAugment, found on SVHN: one of the 25 sub-policies of its paper",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::new(Svhn))),
    },
    Row {
        name: "auto-imagenet",
        description: "AutoAugment, found on ImageNet: one of the 25 sub-policies of its paper",
        recipe: FIRST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::new(ImageNet))),
    },
    Row {
        name: "domainbed",
        description: "DomainBed: resized crop (0.7 to 1), flip, colour jitter 0.3, one in ten grey",
        recipe: Recipe { crop: Crop::Resized { scale: [0.7, 1.0] }, ..LAST },
        operations: Operations::Drawn(|| Box::new(DomainBed)),
    },
    Row {
        name: "torchvision-trivial-wide",
        description: "TrivialAugmentWide of torchvision: enhancers mirrored around 1",
        recipe: LAST,
        operations: Operations::Drawn(|| Box::new(TrivialAugment::torchvision_wide())),
    },
    Row {
        name: "torchvision-rand",
        description: "RandAugment of torchvision, also as torchvision-rand:N:M: enhancers mirrored around 1",
        recipe: LAST,
        operations: Operations::Numbered(RandAugment::USUAL.torchvision()),
    },
    Row {
        name: "torchvision-auto-cifar10",
        description: "AutoAugment of torchvision, found on CIFAR-10: enhancers mirrored around 1",
        recipe: LAST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::torchvision(Cifar10))),
    },
    Row {
        name: "torchvision-auto-svhn",
        description: "AutoAugment of torchvision, found on SVHN: enhancers mirrored around 1",
        recipe: LAST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::torchvision(Svhn))),
    },
    Row {
        name: "torchvision-auto-imagenet",
        description: "AutoAugment of torchvision, found on ImageNet: enhancers mirrored around 1",
        recipe: LAST,
        operations: Operations::Drawn(|| Box::new(AutoAugment::torchvision(ImageNet))),
    },
];
