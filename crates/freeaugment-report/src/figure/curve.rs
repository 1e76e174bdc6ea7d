//! What a search tells of every epoch: losses, accuracies, temperature, rates, gradients, repetition.

use freeaugment_search::SearchEpoch;

use super::Figure;
use crate::chart::{Chart, Numbers, Series};
use freeaugment_base::csv::{Csv, cell};

type Value = fn(&SearchEpoch) -> Option<f64>;

/// A line: its name, whether it is dashed, and its number.
type Line = (&'static str, bool, Value);

struct Curve {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    numbers: Numbers,
    lines: &'static [Line],
}

const CURVES: [Curve; 7] = [
    Curve {
        id: "loss",
        title: "Losses",
        caption: "Cross entropy: training batches under the policy, validation batches as the policy learned from them, all \
                  validation images where they were measured.",
        numbers: Numbers::Plain,
        lines: &[
            ("training", false, |epoch| Some(epoch.loss)),
            ("validation batches", false, |epoch| epoch.validation_loss),
            ("all validation images", true, |epoch| epoch.evaluation_loss),
        ],
    },
    Curve {
        id: "accuracy",
        title: "Accuracies",
        caption: "The share of images that were classified rightly, on the same images.",
        numbers: Numbers::Percent,
        lines: &[
            ("training", false, |epoch| Some(epoch.accuracy)),
            ("validation batches", false, |epoch| epoch.validation_accuracy),
            ("all validation images", true, |epoch| epoch.evaluation_accuracy),
        ],
    },
    Curve {
        id: "gradients",
        title: "Gradient norms",
        caption: "Means over each epoch; a group that does not learn has none.",
        numbers: Numbers::Powers,
        lines: &[
            ("weights", false, |epoch| positive(epoch.gradients.weights)),
            ("depth", false, |epoch| positive(epoch.gradients.depth)),
            ("types", false, |epoch| positive(epoch.gradients.types)),
            ("magnitudes", false, |epoch| positive(epoch.gradients.magnitudes)),
        ],
    },
    Curve {
        id: "effective",
        title: "How much is in use",
        caption: "The exponential of the entropy: how many equally likely depths or transformations would be as undecided. It \
                  falls to 1 where a policy collapses.",
        numbers: Numbers::Plain,
        lines: &[
            ("depths", false, |epoch| Some(epoch.effective.depths)),
            ("transformations", false, |epoch| Some(epoch.effective.types)),
        ],
    },
    Curve {
        id: "repetition",
        title: "Repetition",
        caption: "How often a sample of all layers uses a transformation more than once.",
        numbers: Numbers::Percent,
        lines: &[("repetition", false, |epoch| Some(epoch.repetition))],
    },
    Curve {
        id: "temperature",
        title: "Temperature",
        caption: "Of the samplers.",
        numbers: Numbers::Plain,
        lines: &[("temperature", false, |epoch| Some(epoch.temperature))],
    },
    Curve {
        id: "learning-rate",
        title: "Learning rate",
        caption: "Of the classifier, at the last step of each epoch.",
        numbers: Numbers::Plain,
        lines: &[("learning rate", false, |epoch| Some(epoch.learning_rate))],
    },
];

fn positive(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// All curves of a search.
pub(crate) fn figures(epochs: &[SearchEpoch]) -> Vec<Figure> {
    CURVES.iter().map(|curve| figure(curve, epochs)).collect()
}

fn figure(curve: &Curve, epochs: &[SearchEpoch]) -> Figure {
    let series = curve.lines.iter().enumerate().map(|(colour, (name, dashed, value))| Series {
        name: (*name).to_owned(),
        colour,
        dashed: *dashed,
        points: epochs.iter().filter_map(|epoch| Some((epoch.epoch as f64, value(epoch)?))).collect(),
        band: Vec::new(),
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let mut csv = Csv::new(["epoch"].into_iter().chain(curve.lines.iter().map(|line| line.0)));
    for epoch in epochs {
        let values = curve.lines.iter().map(|(_, _, value)| cell(value(epoch)));
        csv.row([epoch.epoch.to_string()].into_iter().chain(values));
    }
    let mut chart = Chart::new(curve.title, curve.numbers, series);
    // One line of several that there may be wants a name too.
    chart.legend = curve.lines.len() > 1;
    if curve.numbers == Numbers::Plain && matches!(curve.id, "temperature" | "learning-rate") {
        let most = epochs.iter().filter_map(curve.lines[0].2).fold(0.0, f64::max);
        chart.range = Some((0.0, most));
    }
    Figure {
        id: curve.id.to_owned(),
        title: curve.title.to_owned(),
        caption: curve.caption.to_owned(),
        panels: vec![chart.draw()],
        csv,
    }
}
