//! What the finished cells of a comparison say together.

use serde::{Deserialize, Serialize};

use super::TrialResult;
use super::statistics::{mean, paired_test};

/// A comparison as a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What the others are compared with.
    pub baseline: String,
    /// A candidate each, in the order in which they were named; those of which no cell is finished are missing.
    pub rows: Vec<Row>,
}

/// What a candidate reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The seeds that are finished.
    pub seeds: Vec<u64>,
    /// Top-1 test accuracy with each of them.
    pub accuracies: Vec<f64>,
    /// Their mean.
    pub accuracy: f64,
    /// Half the width of its 95 % confidence interval.
    pub interval: Option<f64>,
    /// Mean probability of the right class on the test images ([`TrialResult::test_probability`]), where all results have it.
    pub probability: Option<f64>,
    /// Mean accuracy on the training batches of the last epoch.
    pub training_accuracy: f64,
    /// The mean difference to the baseline with the same seed.
    pub difference: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub difference_interval: Option<f64>,
    /// The paired t-test's probability of such differences by chance.
    pub p: Option<f64>,
    /// Mean seconds of a training.
    pub seconds: f64,
    /// Of these, seconds in which the network waited for images.
    pub waiting_seconds: f64,
}

impl Summary {
    /// Of the results of each candidate, by name; the one at `baseline` is what the others are compared with.
    pub(crate) fn new(results: &[(&str, Vec<TrialResult>)], baseline: usize) -> Self {
        let (reference, others) = &results[baseline];
        let rows = results.iter().enumerate().filter(|(_, (_, found))| !found.is_empty());
        let rows = rows.map(|(at, (name, found))| Row::new(name, found, (at != baseline).then_some(others)));
        Self { baseline: (*reference).to_owned(), rows: rows.collect() }
    }
}

impl Row {
    fn new(name: &str, results: &[TrialResult], reference: Option<&Vec<TrialResult>>) -> Self {
        let values: Vec<f64> = results.iter().map(|result| result.test_accuracy).collect();
        let accuracy = mean(&values);
        let pairs = results.iter().filter_map(|result| {
            let other = reference?.iter().find(|other| other.seed == result.seed)?;
            Some(result.test_accuracy - other.test_accuracy)
        });
        let differences: Vec<f64> = pairs.collect();
        let probabilities: Option<Vec<f64>> = results.iter().map(|result| result.test_probability).collect();
        let is_compared = !differences.is_empty();
        let difference = mean(&differences);
        let average = |of: fn(&TrialResult) -> f64| mean(&results.iter().map(of).collect::<Vec<_>>()).value;
        Self {
            name: name.to_owned(),
            seeds: results.iter().map(|result| result.seed).collect(),
            accuracies: values,
            accuracy: accuracy.value,
            interval: accuracy.interval,
            probability: probabilities.map(|found| mean(&found).value),
            training_accuracy: average(|result| result.training_accuracy),
            difference: is_compared.then_some(difference.value),
            difference_interval: difference.interval.filter(|_| is_compared),
            p: paired_test(&differences).filter(|_| is_compared),
            seconds: average(|result| result.seconds),
            waiting_seconds: average(|result| result.waiting_seconds),
        }
    }
}
