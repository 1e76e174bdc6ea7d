//! A comparison at a glance: differences to the baseline, and the accuracy with every seed.

use freeaugment_search::{Row, Summary, statistics};

use super::Figure;
use crate::axis::{Scale, extent, number};
use crate::escape::shortened;
use crate::svg::Svg;
use freeaugment_base::csv::{Csv, cell};

const WIDTH: f64 = 400.0;
const TOP: f64 = 26.0;
const ROW: f64 = 24.0;
const LEFT: f64 = 116.0;
/// Letters of a policy's name, and how wide one is.
const NAME: usize = 17;
const LETTER: f64 = 6.5;

/// Paired differences to the baseline with their intervals, in points of a percent. None where nothing is compared.
pub(crate) fn differences(id: &str, summary: &Summary) -> Option<Figure> {
    let rows: Vec<(&Row, f64)> =
        summary.rows.iter().filter_map(|row| Some((row, 100.0 * row.difference?))).collect();
    let half = |row: &Row| 100.0 * row.difference_interval.unwrap_or(0.0);
    let ends = rows.iter().flat_map(|(row, value)| [value - half(row), value + half(row)]).chain([0.0]);
    let (low, high) = extent(ends);
    // Accuracies that are all the same want an axis too.
    let room = (0.06 * (high - low)).max(0.5);
    if rows.is_empty() {
        return None;
    }
    let right = WIDTH - 96.0;
    let across = Scale::new((low - room, high + room), (LEFT, right));
    let bottom = TOP + ROW * rows.len() as f64;
    let words: Vec<String> =
        rows.iter().map(|(row, value)| format!("{} {value:+.2} ± {:.2}", row.name, half(row))).collect();
    let mut svg =
        Svg::new(WIDTH, bottom + 34.0, &format!("Differences to {}: {}", summary.baseline, words.join("; ")));
    svg.text((4.0, 14.0), "t", &format!("Against {}", shortened(&summary.baseline, 40)));
    for tick in across.ticks(5) {
        svg.line((across.at(tick), TOP), (across.at(tick), bottom), "grid");
        svg.text((across.at(tick), bottom + 14.0), "m s", &number(tick));
    }
    svg.line((across.at(0.0), TOP), (across.at(0.0), bottom), "axis");
    svg.text((right, bottom + 29.0), "e s", "points of test accuracy");
    let mut csv = Csv::new(["policy", "baseline", "difference", "interval", "p", "pairs"]);
    for (at, (row, value)) in rows.iter().enumerate() {
        let y = TOP + ROW * (at as f64 + 0.5);
        // Certain, in either direction, or not.
        let colour = match row.difference_interval {
            Some(_) if value.abs() > half(row) => usize::from(*value < 0.0),
            _ => 6,
        };
        let p = row.p.map(|p| format!(", {}", statistics::p_in_words(p))).unwrap_or_default();
        let text = format!(
            "{value:+.2}{}",
            row.difference_interval.map(|_| format!(" ± {:.2}", half(row))).unwrap_or_default()
        )
        .replace('-', "−");
        let title = format!("{}: {text}{p}", row.name);
        svg.text((LEFT - 6.0, y + 4.0), "e", &shortened(&row.name, NAME));
        let (from, to) = (across.at(value - half(row)), across.at(value + half(row)));
        svg.rect((from, y - 1.5), ((to - from).max(1.0), 3.0), &format!("f{colour}"), 1.0, &title);
        svg.circle((across.at(*value), y), 5.0, &format!("f{colour}"), &title);
        svg.text((right + 8.0, y + 4.0), "", &text);
        let numbers = [row.difference, row.difference_interval, row.p].map(cell);
        let names = [row.name.clone(), summary.baseline.clone()];
        csv.row(names.into_iter().chain(numbers).chain([row.seeds.len().to_string()]));
    }
    Some(Figure {
        id: id.to_owned(),
        title: "How much each policy is worth".to_owned(),
        caption: format!(
            "Mean difference to {} with the same seed, and its 95 % confidence interval. Grey: the interval holds 0, so it may \
             be noise; blue: better; orange: worse.",
            summary.baseline
        ),
        panels: vec![svg],
        csv,
    })
}

/// A row of points with their mean.
pub(crate) struct Dots {
    pub(crate) name: String,
    pub(crate) mean: f64,
    /// Half the width of the mean's interval, where that is drawn.
    pub(crate) interval: Option<f64>,
    /// Each with what it is.
    pub(crate) points: Vec<(String, f64)>,
}

/// Rows of points under a title; `axis` says what they are, and names are shortened to so many letters. None without rows.
pub(crate) fn dots(title: &str, axis: &str, letters: usize, rows: &[Dots]) -> Option<Svg> {
    let half = |row: &Dots| row.interval.unwrap_or(0.0);
    let ends = rows.iter().flat_map(|row| [row.mean - half(row), row.mean + half(row)]);
    let (low, high) = extent(ends.chain(rows.iter().flat_map(|row| row.points.iter().map(|point| point.1))));
    if !low.is_finite() {
        return None;
    }
    // Numbers that are all the same want an axis too.
    let room = (0.06 * (high - low)).max(0.5);
    let longest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).min(letters);
    let more = LETTER * longest.saturating_sub(NAME) as f64;
    let (left, width) = (LEFT + more, WIDTH + more);
    let right = width - 52.0;
    let across = Scale::new((low - room, high + room), (left, right));
    let bottom = TOP + ROW * rows.len() as f64;
    let words: Vec<String> = rows.iter().map(|row| format!("{} {:.2}", row.name, row.mean)).collect();
    let mut svg = Svg::new(width, bottom + 34.0, &format!("{title}, {axis}: {}", words.join("; ")));
    svg.text((4.0, 14.0), "t", &shortened(title, 60));
    for tick in across.ticks(4) {
        svg.line((across.at(tick), TOP), (across.at(tick), bottom), "grid");
        svg.text((across.at(tick), bottom + 14.0), "m s", &number(tick));
    }
    svg.text((right, bottom + 29.0), "e s", axis);
    for (at, row) in rows.iter().enumerate() {
        let y = TOP + ROW * (at as f64 + 0.5);
        svg.text((left - 6.0, y + 4.0), "e", &shortened(&row.name, letters));
        svg.line((left, y), (right, y), "grid");
        if let Some(interval) = row.interval {
            let (from, to) = (across.at(row.mean - interval), across.at(row.mean + interval));
            let title = format!("{}: {:.2} ± {interval:.2}", row.name, row.mean);
            svg.rect((from, y - 1.5), ((to - from).max(1.0), 3.0), "f1", 1.0, &title);
        }
        for (name, value) in &row.points {
            svg.circle((across.at(*value), y), 4.0, "f0", &format!("{}, {name}: {value:.2}", row.name));
        }
        let mean = across.at(row.mean);
        svg.line((mean, y - 9.0), (mean, y + 9.0), "l k1");
        svg.text((right + 8.0, y + 4.0), "", &format!("{:.2}", row.mean));
    }
    Some(svg)
}

/// The accuracy of every classifier, and the mean of each policy.
pub(crate) fn seeds(id: &str, summary: &Summary, images: &str) -> Option<Figure> {
    let mut csv = Csv::new(["policy", "seed", "accuracy"]);
    let mut rows = Vec::new();
    for row in &summary.rows {
        let mut points = Vec::new();
        for (seed, accuracy) in row.seeds.iter().zip(&row.accuracies) {
            points.push((format!("seed {seed}"), 100.0 * accuracy));
            csv.row([row.name.clone(), seed.to_string(), cell(Some(*accuracy))]);
        }
        rows.push(Dots { name: row.name.clone(), mean: 100.0 * row.accuracy, interval: None, points });
    }
    let svg = dots("Accuracy with each seed", &format!("accuracy on {images} images, %"), NAME, &rows)?;
    Some(Figure {
        id: id.to_owned(),
        title: "Every classifier".to_owned(),
        caption: "A point is a classifier with its seed, the orange line the mean of its policy.".to_owned(),
        panels: vec![svg],
        csv,
    })
}
