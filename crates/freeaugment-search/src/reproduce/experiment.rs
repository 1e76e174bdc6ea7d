//! What an experiment of the paper is made of: plain data, with the numbers that were published.

/// A table or a figure.
#[derive(Debug)]
pub struct Experiment {
    /// What it is asked for by.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Seeds in the paper.
    pub seeds: u64,
    pub(super) groups: &'static [Group],
    /// Rows of one more table, of the mean over all groups.
    pub(super) average: &'static [(&'static str, Number)],
    /// What differs from the paper, whatever the scale.
    pub(super) notes: &'static [&'static str],
}

/// Rows that have data, network and recipe in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) shows: Shown,
    /// What is trained and tested on, with which network and by which preset.
    pub(super) data: Data,
    pub(super) network: &'static str,
    pub(super) recipe: &'static str,
    /// What is searched on, with which network; the preset follows from the data.
    pub(super) searched: (Data, &'static str),
    pub(super) baseline: &'static str,
    pub(super) rows: &'static [Spec],
    /// Another data set in its place for a small budget.
    pub(super) at_small: Option<Data>,
    /// Whether another group differs from this one only in what a small budget does not pay for.
    pub(super) large_only: bool,
}

/// What a group's table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Accuracy,
    Repetition,
    Hours,
}

/// A row.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) published: Number,
    pub(super) about: &'static str,
    pub(super) under: Under,
}

/// A published number and half the width of its interval.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// It was not published, or only drawn.
    Unknown,
    /// Without an interval.
    Plain(f64),
    /// With one.
    Within(f64, f64),
}

/// What is measured here for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Under {
    /// Nothing, unless a file of its policy is given.
    Nothing,
    /// Trainings under a baseline.
    Policy(&'static str),
    /// Searches with these settings over the preset's, and trainings under what they learn.
    Search(&'static str),
    /// The same, where trainings begin with the classifier that the search ended with.
    Continued,
}

/// A data set of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    Cifar10,
    Cifar100,
    ImageNet100,
    ImageNet,
    DomainNet(&'static str, usize),
}

/// A row with a published number.
pub(super) const fn row(name: &'static str, published: Number, under: Under) -> Spec {
    Spec { name, published, about: "", under }
}
