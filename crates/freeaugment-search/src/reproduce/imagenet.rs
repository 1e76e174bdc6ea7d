//! Tables 2 and 7, and ImageNet.

use super::experiment::Number::{Plain, Within};
use super::experiment::Under::{Nothing, Policy, Search};
use super::experiment::{Data, Experiment, Group, Shown, Spec, row};

const SEARCHED: (Data, &str) = (Data::ImageNet100, "ResNet-18");
const NOTES: &[&str] = &[
    "every seed has a search of its own; the baseline has no colour jitter, which TrivialAugment's recipe adds",
];

pub(super) const TABLE: Experiment = Experiment {
    name: "table-2",
    about: "ImageNet-100, ResNet-18, TrivialAugment's recipe",
    seeds: 4,
    groups: &[hundred(
        "ImageNet-100, ResNet-18, TrivialAugment's recipe",
        "imagenet100",
        "baseline",
        &[
            row("baseline", Within(84.84, 0.43), Policy("standard")),
            row("TrivialAugment (Wide)", Within(85.68, 0.54), Policy("trivial-wide")),
            row("SLACK", Within(86.19, 0.81), Nothing),
            row("FreeAugment", Within(86.62, 0.12), Search("")),
        ],
    )],
    average: &[],
    notes: NOTES,
};

pub(super) const SLACK: Experiment = Experiment {
    name: "table-7",
    about: "ImageNet-100, ResNet-18, SLACK's recipe",
    seeds: 4,
    groups: &[hundred(
        "ImageNet-100, ResNet-18, SLACK's recipe",
        "imagenet100-slack",
        "TrivialAugment (Wide)",
        &[
            row("TrivialAugment (Wide)", Plain(86.39), Policy("trivial-wide")),
            row("SLACK", Plain(86.06), Nothing),
            row("FreeAugment", Plain(86.26), Search("")),
        ],
    )],
    average: &[],
    notes: NOTES,
};

const fn hundred(
    title: &'static str,
    recipe: &'static str,
    baseline: &'static str,
    rows: &'static [Spec],
) -> Group {
    Group {
        title,
        shows: Shown::Accuracy,
        data: Data::ImageNet100,
        network: "ResNet-18",
        recipe,
        searched: SEARCHED,
        baseline,
        rows,
        at_small: None,
        large_only: false,
    }
}

pub(super) const WHOLE: Experiment = Experiment {
    name: "table-imagenet",
    about: "ImageNet, ResNet-50, the policy found on ImageNet-100 with ResNet-18",
    seeds: 4,
    groups: &[Group {
        title: "ImageNet, ResNet-50",
        shows: Shown::Accuracy,
        data: Data::ImageNet,
        network: "ResNet-50",
        recipe: "imagenet100",
        searched: SEARCHED,
        baseline: "baseline",
        rows: &[
            row("baseline", Plain(76.3), Policy("standard")),
            row("AutoAugment", Plain(77.6), Policy("auto-imagenet")),
            row("Fast AA", Plain(77.6), Nothing),
            row("Faster AA", Plain(76.5), Nothing),
            row("DADA", Plain(77.5), Nothing),
            row("TrivialAugment (Wide)", Plain(78.07), Policy("trivial-wide")),
            row("DDAS", Plain(77.7), Nothing),
            row("DRA", Plain(78.19), Nothing),
            row("FreeAugment", Within(77.63, 0.15), Search("")),
        ],
        at_small: None,
        large_only: false,
    }],
    average: &[],
    notes: NOTES,
};
