//! Several runs beside each other: what differs between their settings first.

use freeaugment_search::{Run, SearchEpoch, Task};

use super::search::Known;
use crate::chart::{Chart, Numbers, Series};
use crate::figure::{Figure, forest, policy};
use crate::page::Page;
use freeaugment_base::csv::{Csv, cell};

/// The page of several runs.
pub(crate) fn page(runs: &[Run]) -> Page {
    let mut page = Page::new(&format!("{} runs", runs.len()));
    let names: Vec<String> = runs.iter().map(|run| run.folder().display().to_string()).collect();
    page.heading("What differs between their settings");
    settings(&mut page, runs, &names);
    let mut searches = Vec::new();
    for (run, name) in runs.iter().zip(&names) {
        match run.task() {
            Task::Search => searches.push((name.as_str(), Known::read(&mut page, run))),
            Task::Find => {
                if let Some(part) = page.try_read(run.search_of_find()).flatten() {
                    searches.push((name.as_str(), Known::read(&mut page, &part)));
                }
            }
            Task::Comparison => {
                if let Some(summary) = page.try_read(run.summary()) {
                    let at = names.iter().position(|other| other == name).unwrap_or(0) + 1;
                    page.heading(&format!("{at}: {name}"));
                    let figures = [
                        forest::differences(&format!("differences-{at}"), &summary),
                        forest::seeds(&format!("seeds-{at}"), &summary, "test"),
                    ];
                    page.figures(figures.into_iter().flatten());
                }
            }
        }
    }
    if !searches.is_empty() {
        page.heading("Their policies");
        let bars = searches.iter().enumerate().filter_map(|(at, (name, known))| {
            Some(policy::figure(&format!("policy-{}", at + 1), name, known.learned.as_ref()?, &Vec::new()))
        });
        page.figures(bars.collect::<Vec<_>>());
        page.heading("Their curves");
        page.figures(curves(&searches));
    }
    page
}

fn settings(page: &mut Page, runs: &[Run], names: &[String]) {
    let read: Vec<_> =
        runs.iter().map(|run| page.try_read(run.settings()).map(|of| of.listed(run.task()))).collect();
    let mut keys: Vec<&str> = Vec::new();
    for key in read.iter().flatten().flatten().map(|(key, _)| *key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let value = |at: usize, key: &str| -> String {
        let listed = read[at].iter().flatten().find(|(known, _)| *known == key);
        listed.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let data: Vec<String> = runs.iter().map(|run| run.data().to_string()).collect();
    if data.iter().any(|of| *of != data[0]) {
        rows.push(["the data itself".to_owned()].into_iter().chain(data).collect());
    }
    for key in keys {
        let values: Vec<String> = (0..runs.len()).map(|at| value(at, key)).collect();
        if values.iter().any(|of| *of != values[0]) {
            rows.push([key.to_owned()].into_iter().chain(values).collect());
        }
    }
    if rows.is_empty() {
        page.paragraph("Nothing: they have the same settings and the same data.");
        return;
    }
    let head: Vec<String> = ["setting".to_owned()].into_iter().chain(names.iter().cloned()).collect();
    page.table(&head, &rows, usize::MAX);
}

type Value = fn(&SearchEpoch) -> Option<f64>;

fn mean_depth(epoch: &SearchEpoch) -> f64 {
    epoch.depth.iter().enumerate().map(|(depth, share)| depth as f64 * share).sum()
}

/// The same numbers of each search in one chart.
fn curves(searches: &[(&str, Known)]) -> Vec<Figure> {
    const CURVES: [(&str, &str, Numbers, Value); 4] = [
        ("validation-loss", "Validation loss", Numbers::Plain, |epoch| epoch.validation_loss),
        ("training-loss", "Training loss", Numbers::Plain, |epoch| Some(epoch.loss)),
        ("mean-depth", "Transformations applied on average", Numbers::Plain, |epoch| Some(mean_depth(epoch))),
        ("effective-types", "Transformations in use", Numbers::Plain, |epoch| Some(epoch.effective.types)),
    ];
    let figure = |(id, title, numbers, value): (&str, &str, Numbers, Value)| {
        let mut csv = Csv::new(["run", "epoch", title]);
        let mut series = Vec::new();
        for (colour, (name, known)) in searches.iter().enumerate() {
            for epoch in &known.epochs {
                csv.row([(*name).to_owned(), epoch.epoch.to_string(), cell(value(epoch))]);
            }
            let points = known.epochs.iter().filter_map(|epoch| Some((epoch.epoch as f64, value(epoch)?)));
            series.push(Series {
                name: (*name).to_owned(),
                colour,
                points: points.collect(),
                ..Series::default()
            });
        }
        Figure {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: "After every epoch of each search.".to_owned(),
            panels: vec![Chart::new(title, numbers, series).draw()],
            csv,
        }
    };
    CURVES.into_iter().map(figure).collect()
}
