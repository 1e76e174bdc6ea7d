//! Table 1: CIFAR-10 and CIFAR-100.

use super::experiment::Number::{Plain, Unknown, Within};
use super::experiment::Under::{Nothing, Policy, Search};
use super::experiment::{Data, Experiment, Group, Shown, Spec, row};

const TWICE: [&str; 2] = ["WRN-40-2", "WRN-28-10"];

pub(super) const TABLE: Experiment = Experiment {
    name: "table-1",
    about: "CIFAR-10 and CIFAR-100 with WRN-40-2 and WRN-28-10 against other policies",
    seeds: 5,
    groups: &[
        group("CIFAR-10, WRN-40-2", Data::Cifar10, 0, &CIFAR10_SMALL),
        group("CIFAR-10, WRN-28-10", Data::Cifar10, 1, &CIFAR10_LARGE),
        group("CIFAR-100, WRN-40-2", Data::Cifar100, 0, &CIFAR100_SMALL),
        group("CIFAR-100, WRN-28-10", Data::Cifar100, 1, &CIFAR100_LARGE),
    ],
    average: &[],
    notes: &[
        "FreeAugment searches with WRN-40-2 for both networks, and every seed has a search of its own; all others are trained \
         under the one policy of their authors",
        "RandAugment has the numbers of its paper for WRN-28-10 (3 and 5; 2 and 14 on CIFAR-100) and is not published for \
         WRN-40-2, where it has 2 and 9; AutoAugment is the policy for CIFAR-10 everywhere",
    ],
};

const fn group(title: &'static str, data: Data, network: usize, rows: &'static [Spec]) -> Group {
    Group {
        title,
        shows: Shown::Accuracy,
        data,
        network: TWICE[network],
        recipe: "cifar10",
        searched: (data, TWICE[0]),
        baseline: "baseline",
        rows,
        at_small: None,
        large_only: network == 1,
    }
}

const CIFAR10_SMALL: [Spec; 17] = [
    row("baseline", Within(95.49, 0.14), Policy("standard")),
    row("AutoAugment", Plain(96.3), Policy("auto-cifar10")),
    row("PBA", Unknown, Nothing),
    row("Fast AA", Plain(96.4), Nothing),
    row("DADA", Plain(96.4), Nothing),
    row("RandAugment", Unknown, Policy("rand:2:9")),
    row("TeachAugment", Unknown, Nothing),
    row("UniformAugment", Plain(96.25), Policy("uniform")),
    row("TrivialAugment (Wide)", Within(96.32, 0.05), Policy("trivial-wide")),
    row("Faster AA", Plain(96.30), Nothing),
    row("DABO", Unknown, Nothing),
    row("DeepAA", Unknown, Nothing),
    row("DRA", Unknown, Nothing),
    row("DDAS", Unknown, Nothing),
    row("SLACK", Within(96.29, 0.08), Nothing),
    row("MADAO", Plain(93.3), Nothing),
    row("FreeAugment", Within(96.54, 0.16), Search("")),
];

const CIFAR10_LARGE: [Spec; 17] = [
    row("baseline", Within(96.48, 0.15), Policy("standard")),
    row("AutoAugment", Plain(97.4), Policy("auto-cifar10")),
    row("PBA", Within(97.42, 0.06), Nothing),
    row("Fast AA", Plain(97.3), Nothing),
    row("DADA", Plain(97.3), Nothing),
    row("RandAugment", Plain(97.3), Policy("rand:3:5")),
    row("TeachAugment", Plain(97.5), Nothing),
    row("UniformAugment", Plain(97.33), Policy("uniform")),
    row("TrivialAugment (Wide)", Within(97.46, 0.06), Policy("trivial-wide")),
    row("Faster AA", Plain(97.40), Nothing),
    row("DABO", Plain(96.44), Nothing),
    row("DeepAA", Within(97.56, 0.14), Nothing),
    row("DRA", Within(97.44, 0.10), Nothing),
    row("DDAS", Within(97.30, 0.10), Nothing),
    row("SLACK", Within(97.46, 0.06), Nothing),
    row("MADAO", Plain(97.3), Nothing),
    row("FreeAugment", Within(97.66, 0.09), Search("")),
];

const CIFAR100_SMALL: [Spec; 17] = [
    row("baseline", Within(76.74, 0.29), Policy("standard")),
    row("AutoAugment", Plain(79.3), Policy("auto-cifar10")),
    row("PBA", Unknown, Nothing),
    row("Fast AA", Plain(79.4), Nothing),
    row("DADA", Plain(79.1), Nothing),
    row("RandAugment", Unknown, Policy("rand:2:9")),
    row("TeachAugment", Unknown, Nothing),
    row("UniformAugment", Plain(79.01), Policy("uniform")),
    row("TrivialAugment (Wide)", Within(79.86, 0.19), Policy("trivial-wide")),
    row("Faster AA", Plain(78.60), Nothing),
    row("DABO", Unknown, Nothing),
    row("DeepAA", Unknown, Nothing),
    row("DRA", Unknown, Nothing),
    row("DDAS", Unknown, Nothing),
    row("SLACK", Within(79.87, 0.11), Nothing),
    row("MADAO", Plain(77.6), Nothing),
    row("FreeAugment", Within(80.04, 0.23), Search("")),
];

const CIFAR100_LARGE: [Spec; 17] = [
    row("baseline", Within(81.75, 0.12), Policy("standard")),
    row("AutoAugment", Plain(82.9), Policy("auto-cifar10")),
    row("PBA", Within(83.27, 0.15), Nothing),
    row("Fast AA", Plain(82.7), Nothing),
    row("DADA", Plain(82.5), Nothing),
    row("RandAugment", Plain(83.3), Policy("rand:2:14")),
    row("TeachAugment", Plain(83.2), Nothing),
    row("UniformAugment", Plain(82.82), Policy("uniform")),
    row("TrivialAugment (Wide)", Within(84.33, 0.17), Policy("trivial-wide")),
    row("Faster AA", Plain(82.70), Nothing),
    row("DABO", Plain(81.90), Nothing),
    row("DeepAA", Within(84.02, 0.18), Nothing),
    row("DRA", Within(83.85, 0.16), Nothing),
    row("DDAS", Within(83.40, 0.2), Nothing),
    row("SLACK", Within(84.08, 0.16), Nothing),
    row("MADAO", Unknown, Nothing),
    row("FreeAugment", Within(84.13, 0.18), Search("")),
];
