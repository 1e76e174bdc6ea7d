//! What each part of the method is worth: the ablations of the paper and of its supplement, on CIFAR-100 with WRN-40-2.

use super::experiment::Number::{Unknown, Within};
use super::experiment::Under::{Continued, Policy, Search};
use super::experiment::{Data, Experiment, Group, Number, Shown, Spec, row};

const SEARCHED: (Data, &str) = (Data::Cifar100, "WRN-40-2");
const LEARNED: &str = "all learned";
/// Table 1's own number: what every ablation is compared with.
const ALL: Spec = row(LEARNED, Within(80.04, 0.23), Search(""));
const FIGURE: &[&str] = &["the paper draws these numbers and does not print them"];

const fn ablation(
    name: &'static str,
    about: &'static str,
    groups: &'static [Group],
    notes: &'static [&'static str],
) -> Experiment {
    Experiment { name, about, seeds: 5, groups, average: &[], notes }
}

const fn group(title: &'static str, shows: Shown, rows: &'static [Spec]) -> Group {
    Group {
        title,
        shows,
        data: Data::Cifar100,
        network: "WRN-40-2",
        recipe: "cifar10",
        searched: SEARCHED,
        baseline: LEARNED,
        rows,
        at_small: Some(Data::Cifar10),
        large_only: false,
    }
}

const fn searched(name: &'static str, published: Number, settings: &'static str) -> Spec {
    row(name, published, Search(settings))
}

pub(super) const JOINT: Experiment = ablation(
    "ablation-joint",
    "magnitudes, types and order, depth frozen one at a time, against all learned",
    &[group(
        "what is learned",
        Shown::Accuracy,
        &[
            ALL,
            searched("magnitudes frozen", Within(79.64, 0.25), "frozen = ['magnitudes']"),
            searched("types and order frozen", Within(79.54, 0.45), "frozen = ['types']"),
            searched("depth frozen", Within(79.61, 0.13), "frozen = ['depth']"),
            row("nothing learned", Unknown, Policy("uniform-free")),
        ],
    )],
    &[],
);

pub(super) const DEPTH: Experiment = ablation(
    "ablation-depth",
    "fixed depth 1 to 7 against the learned one (figure)",
    &[group(
        "depth",
        Shown::Accuracy,
        &[
            ALL,
            searched("depth 1", Unknown, "depth = 'fixed'\nfixed_depth = 1"),
            searched("depth 2", Unknown, "depth = 'fixed'\nfixed_depth = 2"),
            searched("depth 3", Unknown, "depth = 'fixed'\nfixed_depth = 3"),
            searched("depth 4", Unknown, "depth = 'fixed'\nfixed_depth = 4"),
            searched("depth 5", Unknown, "depth = 'fixed'\nfixed_depth = 5"),
            searched("depth 6", Unknown, "depth = 'fixed'\nfixed_depth = 6"),
            searched("depth 7", Unknown, "depth = 'fixed'\nfixed_depth = 7"),
        ],
    )],
    FIGURE,
);

pub(super) const REPETITION: Experiment = ablation(
    "ablation-repetition",
    "Gumbel-Softmax, and Gumbel-Sinkhorn with L = 1, 2, 5, 10, 20: repetition and accuracy (figure)",
    &[group(
        "how types are drawn",
        Shown::Repetition,
        &[
            // Twenty iterations are the preset's.
            searched(LEARNED, Within(80.04, 0.23), ""),
            searched("Gumbel-Softmax", Unknown, "types = 'softmax'"),
            searched("Gumbel-Sinkhorn, L = 1", Unknown, "sinkhorn_iterations = 1"),
            searched("Gumbel-Sinkhorn, L = 2", Unknown, "sinkhorn_iterations = 2"),
            searched("Gumbel-Sinkhorn, L = 5", Unknown, "sinkhorn_iterations = 5"),
            searched("Gumbel-Sinkhorn, L = 10", Unknown, "sinkhorn_iterations = 10"),
            searched("Gumbel-Sinkhorn, L = 20", Unknown, "sinkhorn_iterations = 20"),
        ],
    )],
    FIGURE,
);

pub(super) const BATCH: Experiment = ablation(
    "ablation-batch",
    "one sample for every image against one for the whole batch",
    &[group(
        "who shares a sample",
        Shown::Accuracy,
        &[
            ALL,
            // What compares the images of a batch needs them to differ.
            searched(
                "one sample per batch",
                Within(79.43, 0.23),
                "sharing = 'per-batch'\nestimator = 'straight-through'",
            ),
        ],
    )],
    &[],
);

pub(super) const WARM_UP: Experiment = ablation(
    "ablation-warm-up",
    "the policy learns from the first epoch on, or after a warm-up",
    &[group(
        "warm-up",
        Shown::Accuracy,
        &[ALL, searched("without warm-up", Within(79.53, 0.13), "warm_up = false")],
    )],
    &[],
);

pub(super) const MAGNITUDE: Experiment = ablation(
    "ablation-magnitude",
    "uniform or Gaussian magnitudes",
    &[group(
        "magnitudes",
        Shown::Accuracy,
        &[ALL, searched("Gaussian magnitudes", Within(79.9, 0.19), "magnitudes = 'gaussian'")],
    )],
    &[],
);

pub(super) const APPLICATION: Experiment = ablation(
    "ablation-application",
    "application probabilities in place of a learned depth",
    &[group(
        "depth or application probabilities",
        Shown::Accuracy,
        &[
            ALL,
            searched(
                "application probabilities, Gumbel-Softmax",
                Within(78.36, 0.51),
                "depth = 'application'\ntypes = 'softmax'",
            ),
            searched(
                "application probabilities, Gumbel-Sinkhorn",
                Within(79.11, 0.30),
                "depth = 'application'",
            ),
        ],
    )],
    &[],
);

pub(super) const WARM_START: Experiment = ablation(
    "ablation-warm-start",
    "training from scratch, or from the classifier that the search ended with",
    &[group(
        "where training begins",
        Shown::Accuracy,
        &[ALL, row("continued from the search's classifier", Within(79.85, 0.1), Continued)],
    )],
    &[],
);

const fn table(ablation: &Experiment) -> Group {
    ablation.groups[0]
}

/// All of the above: what they share, the search with all learned first of all, is done once.
pub(super) const EVERY: Experiment = ablation(
    "ablations",
    "all eight ablations in one plan: what they share is done once",
    &[
        table(&JOINT),
        table(&DEPTH),
        table(&REPETITION),
        table(&BATCH),
        table(&WARM_UP),
        table(&MAGNITUDE),
        table(&APPLICATION),
        table(&WARM_START),
    ],
    FIGURE,
);
