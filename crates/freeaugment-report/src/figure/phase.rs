//! Where the time of a search went.

use freeaugment_base::duration;
use freeaugment_search::{Phases, SearchEpoch};

use super::Figure;
use crate::axis::number;
use crate::svg::Svg;
use freeaugment_base::csv::{Csv, cell};

type Seconds = fn(&Phases) -> f64;

const PHASES: [(&str, Seconds); 6] = [
    ("waiting for batches", |phases| phases.data),
    ("policy", |phases| phases.policy),
    ("training step", |phases| phases.training),
    ("validation gradient", |phases| phases.validation),
    ("hypergradient", |phases| phases.hypergradient),
    ("pullback", |phases| phases.pullback),
];

/// Seconds and share of every phase; `cores` are those of the machine.
pub(crate) fn figure(epochs: &[SearchEpoch], cores: Option<usize>) -> Option<Figure> {
    epochs.last()?;
    let sum = |of: &dyn Fn(&SearchEpoch) -> f64| epochs.iter().map(of).sum::<f64>();
    let mut phases: Vec<(&str, f64)> =
        PHASES.iter().map(|(name, of)| (*name, sum(&|epoch| of(&epoch.seconds)))).collect();
    phases.push(("evaluation", sum(&|epoch| epoch.evaluation_seconds)));
    let total: f64 = phases.iter().map(|phase| phase.1).sum();
    let most = phases.iter().map(|phase| phase.1).fold(f64::MIN_POSITIVE, f64::max);
    let (width, top, row) = (400.0, 26.0, 22.0);
    let label = format!("Time of each phase, {} together", duration(total));
    let mut svg = Svg::new(width, top + row * phases.len() as f64 + 6.0, &label);
    svg.text((4.0, 14.0), "t", "Where the time went");
    let mut csv = Csv::new(["phase", "seconds", "share"]);
    for (at, (name, seconds)) in phases.iter().enumerate() {
        let y = top + row * at as f64;
        let share = if total > 0.0 { seconds / total } else { 0.0 };
        let text = format!("{}, {} %", duration(*seconds), number((1000.0 * share).round() / 10.0));
        svg.text((122.0, y + 15.0), "e", name);
        svg.rect(
            (128.0, y + 3.0),
            (160.0 * seconds / most, row - 7.0),
            "f0",
            0.85,
            &format!("{name}: {text}"),
        );
        svg.text((134.0 + 160.0 * seconds / most, y + 15.0), "s", &text);
        csv.row([(*name).to_owned(), cell(Some(*seconds)), cell(Some(share))]);
    }
    let cost = cores.filter(|cores| *cores > 0).map(|cores| {
        let hours = total * cores as f64 / 3600.0;
        format!(", at most {} core-hours on {cores} cores", number(hours))
    });
    Some(Figure {
        id: "time".to_owned(),
        title: "Where the time went".to_owned(),
        caption: format!("{} in all{}.", duration(total), cost.unwrap_or_default()),
        panels: vec![svg],
        csv,
    })
}
