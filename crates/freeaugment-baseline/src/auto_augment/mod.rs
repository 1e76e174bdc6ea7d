//! AutoAugment (Cubuk et al., 2018): the policies that it found.

mod table;

use freeaugment_base::random::Stream;

use crate::space::{AUTO, Range, TORCHVISION_AUTO, choose, unit};
use crate::{Action, Augmentation, Moment, Operation};

/// The highest level; an operation's range is cut into ten values.
const TOP: f64 = 9.0;

type SubPolicy = [(Operation, f64, u8); 2];

/// Where a policy was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AutoAugmentTable {
    /// On a part of CIFAR-10; the paper uses it for CIFAR-100 as well.
    Cifar10,
    /// On SVHN.
    Svhn,
    /// On a part of ImageNet.
    ImageNet,
}

impl AutoAugmentTable {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cifar10, Self::Svhn, Self::ImageNet];

    const fn sub_policies(self) -> &'static [SubPolicy; 25] {
        match self {
            Self::Cifar10 => &table::CIFAR10,
            Self::Svhn => &table::SVHN,
            Self::ImageNet => &table::IMAGENET,
        }
    }
}

/// One of 25 sub-policies, drawn uniformly: two operations, each with its probability and its level.
///
/// Ranges and their ten levels are the paper's. The code that its authors published for CIFAR-10 differs from it: a
/// level is a tenth of the range and not a ninth, translations end at 10 pixels, 4 bits or fewer are left, and it has
/// 95 sub-policies.
#[derive(Clone, Debug)]
pub struct AutoAugment {
    sub_policies: &'static [SubPolicy; 25],
    space: &'static [Range; 14],
}

impl AutoAugment {
    /// As in the paper.
    pub const fn new(table: AutoAugmentTable) -> Self {
        Self { sub_policies: table.sub_policies(), space: &AUTO }
    }

    /// As in torchvision, which mirrors the enhancers around 1 and solarizes from 255 on.
    pub const fn torchvision(table: AutoAugmentTable) -> Self {
        Self { sub_policies: table.sub_policies(), space: &TORCHVISION_AUTO }
    }
}

impl Augmentation for AutoAugment {
    fn actions(&self, stream: &mut Stream, moment: Moment) -> Vec<Action> {
        let mut actions = Vec::with_capacity(2);
        for &(operation, probability, level) in choose(self.sub_policies, stream) {
            if unit(stream) < probability
                && let Some(range) = self.space.iter().find(|range| range.operation == operation)
            {
                actions.push(range.draw(level.into(), TOP, stream, moment));
            }
        }
        actions
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    type Table = Vec<Vec<(String, f64, i32)>>;

    #[derive(Deserialize)]
    struct Tables {
        policies: BTreeMap<String, Table>,
    }

    #[test]
    fn the_tables_are_those_of_torchvision() {
        let tables: Tables = serde_json::from_str(include_str!("../../tests/golden/spaces.json"))
            .expect("spaces.json is what make.py wrote");
        for (table, name) in AutoAugmentTable::ALL.into_iter().zip(["cifar10", "svhn", "imagenet"]) {
            let ours: Table = table
                .sub_policies()
                .iter()
                .map(|pair| {
                    pair.map(|(operation, p, level)| (operation.name().into(), p, level.into())).into()
                })
                .collect();
            // Where an operation has no value, torchvision gives no level.
            let theirs: Table = tables.policies[name]
                .iter()
                .map(|pair| pair.iter().map(|(name, p, level)| (name.clone(), *p, (*level).max(0))).collect())
                .collect();
            assert_eq!(ours, theirs, "{name}");
        }
    }

    #[test]
    fn every_operation_of_a_table_is_in_both_spaces() {
        for table in AutoAugmentTable::ALL {
            for (operation, probability, level) in table.sub_policies().iter().flatten() {
                assert!((0.0..=1.0).contains(probability) && *level <= 9);
                for space in [&AUTO, &TORCHVISION_AUTO] {
                    assert!(space.iter().any(|range| range.operation == *operation), "{operation:?}");
                }
            }
        }
    }
}
