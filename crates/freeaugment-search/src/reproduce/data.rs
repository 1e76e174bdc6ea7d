//! Where the data sets of the paper are looked for, and what to download where they are not.

use std::path::Path;

use super::experiment::Data;
use crate::error::Error;

/// What is known of a data set without reading it. How many images there are decides how long things take, and nothing else.
pub(super) struct Facts {
    pub(super) training: usize,
    pub(super) test: usize,
    pub(super) classes: usize,
    /// Rows and columns at which a small budget looks at it.
    pub(super) side: usize,
}

impl Data {
    pub(super) fn name(self) -> String {
        match self {
            Self::Cifar10 => "CIFAR-10".to_owned(),
            Self::Cifar100 => "CIFAR-100".to_owned(),
            Self::ImageNet100 => "ImageNet-100".to_owned(),
            Self::ImageNet => "ImageNet".to_owned(),
            Self::DomainNet(domain, _) => format!("DomainNet's {domain}"),
        }
    }

    pub(super) fn facts(self) -> Facts {
        let small = |classes| Facts { training: 50_000, test: 10_000, classes, side: 32 };
        match self {
            Self::Cifar10 => small(10),
            Self::Cifar100 => small(100),
            Self::ImageNet100 => Facts { training: 126_000, test: 5_000, classes: 100, side: 64 },
            Self::ImageNet => Facts { training: 1_281_167, test: 50_000, classes: 1000, side: 64 },
            Self::DomainNet(_, training) => Facts { training, test: training / 4, classes: 345, side: 64 },
        }
    }

    /// The preset of a search on it.
    pub(super) fn preset(self) -> &'static str {
        match self {
            Self::Cifar10 => "cifar10",
            Self::Cifar100 => "cifar100",
            Self::ImageNet100 | Self::ImageNet => "imagenet100",
            Self::DomainNet(..) => "domainnet",
        }
    }

    /// Its places below the folder of all data, the usual one first.
    fn places(self) -> Vec<String> {
        let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        match self {
            Self::Cifar10 => named(&["cifar-10-batches-bin", "cifar-10-batches-py", "cifar-10"]),
            Self::Cifar100 => named(&["cifar-100-binary", "cifar-100-python", "cifar-100"]),
            Self::ImageNet100 => named(&["imagenet-100"]),
            Self::ImageNet => named(&["imagenet"]),
            Self::DomainNet(domain, _) => {
                ["npz", "txt"].iter().map(|ending| format!("domainnet/{domain}_train.{ending}")).collect()
            }
        }
    }

    /// Where it is looked for first.
    pub(super) fn usual_place(self) -> String {
        self.places().swap_remove(0)
    }

    fn advice(self) -> String {
        let kriz = "from https://www.cs.toronto.edu/~kriz/cifar.html and unpack it there";
        match self {
            Self::Cifar10 => format!("download cifar-10-binary.tar.gz {kriz}"),
            Self::Cifar100 => format!("download cifar-100-binary.tar.gz {kriz}"),
            Self::ImageNet => "put ILSVRC 2012 (https://image-net.org) there as train/CLASS/*.JPEG and its official \
                               validation images as test/CLASS/*.JPEG"
                .to_owned(),
            Self::ImageNet100 => "put the 100 classes of https://github.com/HobbitLong/CMC/blob/master/imagenet100.txt of \
                                  ILSVRC 2012 there as train/CLASS/*.JPEG and their official validation images as \
                                  test/CLASS/*.JPEG"
                .to_owned(),
            Self::DomainNet(domain, _) => format!(
                "download {domain} (the cleaned version) from https://ai.bu.edu/M3SDA and unpack it in that folder, with \
                 SLACK's list {domain}_train.npz of https://github.com/naver/slack (slack/domain_net_splits) beside it, or \
                 with the official lists {domain}_train.txt and {domain}_test.txt"
            ),
        }
    }

    /// Its place below a folder; the folder itself where it is this data. What is missing is named, with where to get it.
    pub(super) fn find(self, root: &Path) -> Result<String, Error> {
        let places = self.places();
        let there = places.iter().find(|place| root.join(place).exists());
        let itself = || {
            let own = freeaugment_data::open(root).ok()?;
            let facts = self.facts();
            // A folder with as many classes is taken at its word only where it is what the name says.
            let is_it = own.classes.len() == facts.classes && own.title.contains(&*self.name());
            is_it.then(|| ".".to_owned())
        };
        let Some(place) = there.cloned().or_else(itself) else {
            let reason = format!("there is no {}: {}", self.name(), self.advice());
            return Err(Error::DataMissing { path: root.join(&places[0]), reason });
        };
        let found = freeaugment_data::open(root.join(&place))?;
        let (classes, expected) = (found.classes.len(), self.facts().classes);
        if classes != expected {
            let reason =
                format!("has {classes} classes, but {} has {expected}: {}", self.name(), self.advice());
            return Err(Error::DataMissing { path: root.join(&place), reason });
        }
        Ok(place)
    }
}
