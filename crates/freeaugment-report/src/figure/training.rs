//! How classifiers learned: means and spreads over the seeds.

use freeaugment_search::TrainingEpoch;

use super::Figure;
use crate::chart::{Chart, Numbers, Series};
use freeaugment_base::csv::{Csv, cell};

/// A policy and the epochs of each of its classifiers.
pub(crate) struct Trained {
    pub(crate) name: String,
    pub(crate) classifiers: Vec<(u64, Vec<TrainingEpoch>)>,
}

type Value = fn(&TrainingEpoch) -> Option<f64>;

const CURVES: [(&str, &str, Numbers, Value); 3] = [
    ("training-loss", "Training loss", Numbers::Plain, |epoch| Some(epoch.loss)),
    ("training-accuracy", "Training accuracy", Numbers::Percent, |epoch| Some(epoch.accuracy)),
    ("test-accuracy", "Test accuracy", Numbers::Percent, |epoch| epoch.test_accuracy),
];

/// The curves for which there are numbers.
pub(crate) fn figures(prefix: &str, trained: &[Trained]) -> Vec<Figure> {
    let measured = |value: Value| {
        trained.iter().flat_map(|of| &of.classifiers).flat_map(|(_, epochs)| epochs).filter_map(value).count()
    };
    // One test at the end is a point of another figure and no curve.
    let most = trained.iter().map(|of| of.classifiers.len()).sum();
    let curves = CURVES.iter().filter(|curve| measured(curve.3) > most);
    curves
        .map(|&(id, title, numbers, value)| figure(&format!("{prefix}{id}"), title, numbers, value, trained))
        .collect()
}

fn figure(id: &str, title: &str, numbers: Numbers, value: Value, trained: &[Trained]) -> Figure {
    let mut csv = Csv::new(["policy", "seed", "epoch", title]);
    for of in trained {
        for (seed, epochs) in &of.classifiers {
            for epoch in epochs {
                csv.row([of.name.clone(), seed.to_string(), epoch.epoch.to_string(), cell(value(epoch))]);
            }
        }
    }
    let series = trained.iter().enumerate().map(|(colour, of)| {
        let last =
            of.classifiers.iter().filter_map(|(_, epochs)| Some(epochs.last()?.epoch)).max().unwrap_or(0);
        let (mut points, mut band) = (Vec::new(), Vec::new());
        for number in 1..=last {
            let of_epoch = of
                .classifiers
                .iter()
                .filter_map(|(_, epochs)| value(epochs.iter().find(|epoch| epoch.epoch == number)?));
            let values: Vec<f64> = of_epoch.collect();
            if values.is_empty() {
                continue;
            }
            points.push((number as f64, values.iter().sum::<f64>() / values.len() as f64));
            band.push(values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v))));
        }
        let several = of.classifiers.len() > 1;
        Series {
            name: of.name.clone(),
            colour,
            dashed: colour >= crate::svg::COLOURS,
            points,
            band: if several { band } else { Vec::new() },
        }
    });
    let mut chart = Chart::new(title, numbers, series.collect());
    chart.legend = true;
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: "The mean over the seeds, in a band from the lowest to the highest.".to_owned(),
        panels: vec![chart.draw()],
        csv,
    }
}
