//! Magnitude ranges over the epochs.

use freeaugment_search::{Learned, Range, SearchEpoch};

use super::Figure;
use crate::chart::{Chart, Numbers, SMALL, Series};
use freeaugment_base::csv::{Csv, cell};

/// From so many different layers on, bands would hide each other.
const MOST_BANDS: usize = 3;

/// What was planted, by the name of the transformation.
pub(crate) type Plants = Vec<(&'static str, Option<Range>)>;

/// A chart for each transformation with a magnitude: lower bound, upper bound and mean of every layer.
pub(crate) fn figure(epochs: &[SearchEpoch], learned: Option<&Learned>, plants: &Plants) -> Option<Figure> {
    let last = epochs.last()?;
    let mut csv = Csv::new(["epoch", "transformation", "layer", "lowest", "highest"]);
    for epoch in epochs {
        for of in &epoch.ranges {
            for (layer, &(low, high)) in of.ranges.iter().enumerate() {
                let bounds = [low, high].map(|bound| cell(Some(bound.into())));
                let place = [epoch.epoch.to_string(), of.name.clone(), (layer + 1).to_string()];
                csv.row(place.into_iter().chain(bounds));
            }
        }
    }
    let mut panels = Vec::new();
    for (i, of) in last.ranges.iter().enumerate() {
        let usage =
            learned.and_then(|learned| learned.transformations.iter().find(|usage| usage.name == of.name));
        // Where layers are tied, one says all.
        let is_tied = |epoch: &SearchEpoch| {
            epoch
                .ranges
                .get(i)
                .is_none_or(|of| of.ranges.iter().all(|range| Some(range) == of.ranges.first()))
        };
        let layers = if epochs.iter().all(is_tied) { 1 } else { of.ranges.len() };
        let series = (0..layers).flat_map(|layer| lines(epochs, i, layer, layers));
        let unit = usage.and_then(|usage| usage.unit).map(|unit| format!(", {unit}")).unwrap_or_default();
        let mut chart = Chart::new(&format!("{}{unit}", of.name), Numbers::Plain, series.collect());
        chart.size = SMALL;
        chart.legend = false;
        chart.range = usage.and_then(|usage| usage.allowed).map(ends);
        let plant = plants.iter().find(|plant| plant.0 == of.name).and_then(|plant| plant.1);
        chart.marked =
            plant.map(|range| (f64::from(range.0), f64::from(range.1), format!("planted: {range}")));
        panels.push(chart.draw());
    }
    let planted = if plants.is_empty() {
        ""
    } else {
        " What was planted lies between the dashed black or white lines."
    };
    (!panels.is_empty()).then(|| Figure {
        id: "ranges".to_owned(),
        title: "How strongly: magnitudes over the epochs".to_owned(),
        caption: format!(
            "Lower and upper bound, and their mean as a dashed line; a colour for each layer where layers differ (1 blue, 2 \
             orange, 3 green…). The axis is the range that could be learned.{planted}"
        ),
        panels,
        csv,
    })
}

fn ends(range: Range) -> (f64, f64) {
    (f64::from(range.0.min(range.1)), f64::from(range.0.max(range.1)))
}

/// The bounds and the mean of one layer, and the band between the bounds where there is room for it.
fn lines(epochs: &[SearchEpoch], i: usize, layer: usize, layers: usize) -> Vec<Series> {
    let ranges: Vec<(f64, f64, f64)> = (epochs.iter())
        .filter_map(|epoch| {
            let &(low, high) = epoch.ranges.get(i)?.ranges.get(layer)?;
            Some((epoch.epoch as f64, f64::from(low), f64::from(high)))
        })
        .collect();
    let of = if layers == 1 { String::new() } else { format!("layer {}: ", layer + 1) };
    let line = |name: &str, dashed: bool, value: fn((f64, f64, f64)) -> f64| Series {
        name: format!("{of}{name}"),
        colour: layer,
        dashed,
        points: ranges.iter().map(|&range| (range.0, value(range))).collect(),
        band: Vec::new(),
    };
    let mut upper = line("highest", false, |range| range.2);
    if layers <= MOST_BANDS {
        upper.band = ranges.iter().map(|range| (range.1, range.2)).collect();
    }
    vec![
        upper,
        line("lowest", false, |range| range.1),
        line("mean", true, |range| f64::midpoint(range.1, range.2)),
    ]
}
