//! How many transformations are applied, over the epochs.

use freeaugment_search::SearchEpoch;

use super::Figure;
use crate::axis::{Scale, number};
use crate::chart::{LARGE, thinned};
use crate::svg::Svg;
use freeaugment_base::csv::{Csv, cell};

/// The distribution over depths, deepest at the top; `planted` is the right depth where it is known.
pub(crate) fn figure(epochs: &[SearchEpoch], planted: Option<usize>) -> Option<Figure> {
    let last = epochs.last()?;
    let depths = last.depth.len();
    let (width, height) = LARGE;
    let (left, right, top, bottom) = (46.0, width - 10.0, 44.0, height - 30.0);
    let label =
        format!("How many transformations are applied: {} in epoch {}", shares(&last.depth), last.epoch);
    let mut svg = Svg::new(width, height, &label);
    svg.text((4.0, 14.0), "t", "How many are applied");
    let step = (width - 70.0) / depths as f64;
    svg.text((6.0, 32.0), "s", "depth");
    for depth in 0..depths {
        let x = 46.0 + step.min(56.0) * depth as f64;
        svg.rect((x, 23.0), (12.0, 11.0), "f0", opacity(depth, depths), "");
        svg.text((x + 16.0, 32.0), "", &depth.to_string());
    }
    let first = epochs.first().map_or(1, |epoch| epoch.epoch) as f64;
    // One epoch is drawn as a column.
    let (from, to) = if epochs.len() == 1 { (first - 0.5, first + 0.5) } else { (first, last.epoch as f64) };
    let (across, upright) = (Scale::new((from, to), (left, right)), Scale::new((0.0, 1.0), (bottom, top)));
    let kept = thinned(epochs.len());
    for depth in 0..depths {
        let edge = |epoch: &SearchEpoch, up_to: usize| -> f64 { epoch.depth.iter().take(up_to).sum() };
        let places = |up_to: usize| -> Vec<(f64, f64)> {
            let at = |x: f64, epoch: &SearchEpoch| (across.at(x), upright.at(edge(epoch, up_to)));
            if let [only] = epochs {
                return vec![at(from, only), at(to, only)];
            }
            kept.iter().map(|&i| at(epochs[i].epoch as f64, &epochs[i])).collect()
        };
        let upper = places(depth + 1);
        let points: Vec<(f64, f64)> = upper.iter().copied().chain(places(depth).into_iter().rev()).collect();
        let share = last.depth.get(depth).copied().unwrap_or(0.0);
        let title = format!("depth {depth}: {} % in epoch {}", number(100.0 * share), last.epoch);
        svg.area(&points, "f0", opacity(depth, depths), &title);
        // A thin line keeps bands of like shades apart.
        svg.polyline(&upper, "grid", "");
    }
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        svg.text((left - 5.0, upright.at(tick) + 4.0), "e s", &format!("{} %", 100.0 * tick));
    }
    for tick in across.ticks(6).into_iter().filter(|tick| tick.fract() == 0.0) {
        svg.text((across.at(tick), bottom + 15.0), "m s", &number(tick));
    }
    svg.line((left, bottom), (right, bottom), "axis");
    svg.text((right, height - 3.0), "e s", "epoch");
    let names: Vec<String> = (0..depths).map(|depth| format!("depth {depth}")).collect();
    let mut csv = Csv::new(["epoch"].into_iter().chain(names.iter().map(String::as_str)));
    for epoch in epochs {
        let shares = epoch.depth.iter().map(|&share| cell(Some(share)));
        csv.row([epoch.epoch.to_string()].into_iter().chain(shares));
    }
    let planted = planted.map(|depth| format!(" What was planted needs {depth}.")).unwrap_or_default();
    Some(Figure {
        id: "depth".to_owned(),
        title: "How many transformations are applied".to_owned(),
        caption: format!(
            "The probability of each depth after every epoch; the darker or brighter, the deeper.{planted}"
        ),
        panels: vec![svg],
        csv,
    })
}

fn opacity(depth: usize, depths: usize) -> f64 {
    0.12 + 0.88 * depth as f64 / (depths.max(2) - 1) as f64
}

fn shares(depth: &[f64]) -> String {
    let each: Vec<String> = depth
        .iter()
        .enumerate()
        .map(|(depth, share)| format!("{depth} in {} %", number(100.0 * share)))
        .collect();
    each.join(", ")
}
