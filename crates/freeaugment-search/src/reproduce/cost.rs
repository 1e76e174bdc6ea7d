//! What a search costs.

use super::experiment::Number::Plain;
use super::experiment::Under::{Nothing, Search};
use super::experiment::{Data, Experiment, Group, Number, Shown, Spec, Under};

pub(super) const COST: Experiment = Experiment {
    name: "search-cost",
    about: "measured hours of a search beside the published ones (CIFAR)",
    seeds: 1,
    groups: &[Group {
        title: "hours of a search on CIFAR",
        shows: Shown::Hours,
        data: Data::Cifar10,
        network: "WRN-40-2",
        recipe: "cifar10",
        searched: (Data::Cifar10, "WRN-40-2"),
        baseline: "FreeAugment",
        rows: &[
            spec("AutoAugment", Plain(5000.0), "P100, WRN-40-2"),
            spec("PBA", Plain(5.0), "Titan XP, WRN-40-2"),
            spec("Fast AA", Plain(3.5), "V100, WRN-40-2"),
            spec("DADA", Plain(0.1), "Titan XP, WRN-28-10; 0.2 on CIFAR-100"),
            spec("RandAugment", Plain(33.0), "2080 Ti, WRN-28-10"),
            spec("Faster AA", Plain(0.23), "V100, WRN-40-2"),
            spec("DeepAA", Plain(9.0), "unnamed GPU, WRN-28-10"),
            spec("DRA", Plain(0.4), "P100, WRN-28-10"),
            spec("DDAS", Plain(0.15), "2080 Ti, WRN-28-10"),
            spec("SLACK", Plain(4.0), "unnamed GPU, WRN-40-2"),
            spec("MADAO", Plain(1.7), "unnamed GPU, WRN-28-2"),
            Spec { under: Search(""), ..spec("FreeAugment", Plain(1.2), "RTX A6000, WRN-40-2") },
        ],
        at_small: None,
        large_only: false,
    }],
    average: &[],
    notes: &[
        "published hours are those of a GPU, measured ones those of the machine that did the cell; other programs that ran there \
         count",
        "DRA, DDAS, SLACK and MADAO need a further search for the depth; AutoAugment, PBA, Fast AA, DADA, RandAugment and Faster \
         AA are limited to two transformations",
        "the row of DADA: its paper has 0.1 for CIFAR-10 and 0.2 for CIFAR-100",
    ],
};

const fn spec(name: &'static str, published: Number, about: &'static str) -> Spec {
    Spec { name, published, about, under: NOTHING }
}

const NOTHING: Under = Nothing;
