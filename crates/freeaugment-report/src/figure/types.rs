//! Which transformation stands in which layer: at the end, over time for each layer, and for each transformation.

use freeaugment_search::SearchEpoch;

use super::Figure;
use crate::axis::number;
use crate::chart::{Chart, Numbers, SMALL, Series};
use crate::svg::Svg;
use freeaugment_base::csv::{Csv, cell};

/// Columns of a map over time.
const MOST_COLUMNS: usize = 48;
/// From this shade on, letters have the colour of the page.
const DARK: f64 = 0.6;

/// The names of the transformations, in the order of all lists.
fn names(epoch: &SearchEpoch) -> Vec<&str> {
    epoch.usage.iter().map(|share| &*share.name).collect()
}

fn largest<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    values.copied().fold(f64::MIN_POSITIVE, f64::max)
}

/// The matrix of types and layers after the last epoch.
pub(crate) fn matrix(epochs: &[SearchEpoch]) -> Option<Figure> {
    let last = epochs.last()?;
    let (names, layers) = (names(last), last.types.len());
    let (left, top, row) = (92.0, 42.0, 19.0);
    let width = 400.0;
    let column = ((width - left - 6.0) / layers as f64).min(90.0);
    let height = top + row * names.len() as f64 + 6.0;
    let label =
        format!("Frequency of {} transformations in {layers} layers after epoch {}", names.len(), last.epoch);
    let mut svg = Svg::new(width, height, &label);
    svg.text((4.0, 14.0), "t", "Frequency by layer, %");
    let most = largest(last.types.iter().flatten());
    for layer in 0..layers {
        let name = if layers > 4 { (layer + 1).to_string() } else { format!("layer {}", layer + 1) };
        svg.text((left + column * (layer as f64 + 0.5), top - 8.0), "m s", &name);
    }
    if layers > 4 {
        svg.text((left - 6.0, top - 8.0), "e s", "layer");
    }
    let mut csv = Csv::new(["transformation", "layer", "frequency"]);
    for (i, name) in names.iter().enumerate() {
        let y = top + row * i as f64;
        svg.text((left - 6.0, y + 13.0), "e", name);
        for (layer, shares) in last.types.iter().enumerate() {
            let share = shares.get(i).copied().unwrap_or(0.0);
            let x = left + column * layer as f64;
            let title = format!("{name} in layer {}: {} %", layer + 1, number(100.0 * share));
            svg.rect((x + 1.0, y + 1.0), (column - 2.0, row - 2.0), "f0", share / most, &title);
            let class = if share / most > DARK { "m i" } else { "m" };
            svg.text((x + column / 2.0, y + 13.0), class, &format!("{:.0}", 100.0 * share));
            csv.row([(*name).to_owned(), (layer + 1).to_string(), cell(Some(share))]);
        }
    }
    Some(Figure {
        id: "types".to_owned(),
        title: "Which transformation in which layer".to_owned(),
        caption: format!("How often each transformation is drawn in each layer, after epoch {}.", last.epoch),
        panels: vec![svg],
        csv,
    })
}

const TITLE: &str = "How each layer came to its transformations";

/// A map of transformations and epochs for each layer.
pub(crate) fn by_layer(epochs: &[SearchEpoch]) -> Option<Figure> {
    let last = epochs.last()?;
    let most = largest(epochs.iter().flat_map(|epoch| epoch.types.iter().flatten()));
    let panels = (0..last.types.len()).map(|layer| map(epochs, last, layer, most)).collect();
    let mut csv = Csv::new(["epoch", "layer", "transformation", "frequency"]);
    for epoch in epochs {
        for (layer, shares) in epoch.types.iter().enumerate() {
            for (name, share) in names(epoch).into_iter().zip(shares) {
                let numbers = [epoch.epoch.to_string(), (layer + 1).to_string()];
                csv.row(numbers.into_iter().chain([name.to_owned(), cell(Some(*share))]));
            }
        }
    }
    Some(Figure {
        id: "types-by-layer".to_owned(),
        title: TITLE.to_owned(),
        caption: format!(
            "Epochs from left to right; the stronger the colour, the more often. All maps have one scale: its end is {} %.",
            number(100.0 * most)
        ),
        panels,
        csv,
    })
}

fn map(epochs: &[SearchEpoch], last: &SearchEpoch, layer: usize, most: f64) -> Svg {
    let names = names(last);
    let (left, top, row, width) = (92.0, 24.0, 13.0, 400.0);
    let height = top + row * names.len() as f64 + 20.0;
    let label = format!("Layer {}: frequency of each transformation over {} epochs", layer + 1, epochs.len());
    let mut svg = Svg::new(width, height, &label);
    let only = last.types.len() == 1;
    let title = if only { TITLE.to_owned() } else { format!("Layer {}", layer + 1) };
    svg.text((4.0, 14.0), "t", &title);
    let step = epochs.len().div_ceil(MOST_COLUMNS).max(1);
    // Each column shows the last of its epochs.
    let columns: Vec<&SearchEpoch> = epochs.chunks(step).filter_map(<[_]>::last).collect();
    let column = (width - left - 8.0) / columns.len() as f64;
    let share = |epoch: &SearchEpoch, i: usize| {
        epoch.types.get(layer).and_then(|shares| shares.get(i)).copied().unwrap_or(0.0)
    };
    for (i, name) in names.iter().enumerate() {
        let y = top + row * i as f64;
        svg.text((left - 6.0, y + 10.0), "e", name);
        let (first, end) = (epochs.first().map_or(0.0, |epoch| share(epoch, i)), share(last, i));
        let title =
            format!("{name}: {} % at first, {} % at last", number(100.0 * first), number(100.0 * end));
        svg.group(&title, |svg| {
            for (at, epoch) in columns.iter().enumerate() {
                let x = left + column * at as f64;
                svg.rect((x, y), (column + 0.2, row - 1.0), "f0", share(epoch, i) / most, "");
            }
        });
    }
    let bottom = height - 6.0;
    svg.text((left, bottom), "s", &format!("epoch {}", epochs.first().map_or(1, |epoch| epoch.epoch)));
    if epochs.len() > 1 {
        svg.text((width - 8.0, bottom), "e s", &last.epoch.to_string());
    }
    svg
}

/// A chart for each transformation, a line for each layer.
pub(crate) fn by_transformation(epochs: &[SearchEpoch]) -> Option<Figure> {
    let last = epochs.last()?;
    let layers = last.types.len();
    let most = largest(epochs.iter().flat_map(|epoch| epoch.types.iter().flatten()));
    let mut csv = Csv::new(["epoch", "transformation", "layer", "frequency"]);
    let mut panels = Vec::new();
    for (i, name) in names(last).into_iter().enumerate() {
        let series = (0..layers).map(|layer| Series {
            name: format!("layer {}", layer + 1),
            colour: layer,
            points: (epochs.iter())
                .filter_map(|epoch| Some((epoch.epoch as f64, *epoch.types.get(layer)?.get(i)?)))
                .collect(),
            ..Series::default()
        });
        let mut chart = Chart::new(name, Numbers::Percent, series.collect());
        (chart.size, chart.range, chart.legend) = (SMALL, Some((0.0, most)), layers > 1 && i == 0);
        panels.push(chart.draw());
        for epoch in epochs {
            for (layer, shares) in epoch.types.iter().enumerate() {
                let frequency = cell(shares.get(i).copied());
                csv.row([epoch.epoch.to_string(), name.to_owned(), (layer + 1).to_string(), frequency]);
            }
        }
    }
    Some(Figure {
        id: "types-by-transformation".to_owned(),
        title: "How each transformation found its layers".to_owned(),
        caption: "How often it is drawn in each layer, over the epochs; the colours of the layers are those of the first chart."
            .to_owned(),
        panels,
        csv,
    })
}
