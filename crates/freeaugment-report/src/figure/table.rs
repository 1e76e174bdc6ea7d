//! A table of a plan as a figure: what was measured here, and beside it what was published.

use freeaugment_base::csv::{Csv, cell};
use freeaugment_search::{CollectedTable, Line, Shows, Source};

use super::Figure;
use super::forest::{Dots, dots};

/// Letters of a row's name: rows of a table may differ in their last word.
const NAME: usize = 44;

/// None where nothing was measured: what is published alone is drawn elsewhere already.
pub(crate) fn figure(table: &CollectedTable) -> Option<Figure> {
    let (axis, what) = match table.shows {
        Shows::Hours => ("hours", "Hours"),
        Shows::Accuracy | Shows::Repetition => ("test accuracy, %", "Test accuracy"),
    };
    let of = |source: Source| -> Vec<Dots> {
        let lines = table.lines.iter().filter(|line| line.source == source);
        lines.map(|line| row(line, line.value, line.interval)).collect()
    };
    let measured = dots(&format!("{what}, measured here"), axis, NAME, &of(Source::Measured))?;
    let mut panels = vec![measured];
    if table.shows == Shows::Repetition {
        let repeated = |line: &Line| Some(Dots { points: Vec::new(), ..row(line, line.repetition?, None) });
        let rows: Vec<Dots> = table.lines.iter().filter_map(repeated).collect();
        panels.extend(dots("Samples that use a transformation twice", "of a hundred samples", NAME, &rows));
    }
    panels.extend(dots(&format!("{what}, published"), axis, NAME, &of(Source::Published)));
    let mut csv = Csv::new(["row", "source", "value", "interval", "seeds", "repetition"]);
    for line in &table.lines {
        let source = if line.source == Source::Published { "published" } else { "measured" };
        let names = [line.row.clone(), source.to_owned(), cell(Some(line.value)), cell(line.interval)];
        csv.row(names.into_iter().chain([line.seeds.len().to_string(), cell(line.repetition)]));
    }
    Some(Figure {
        id: id(&table.title),
        title: table.title.clone(),
        caption: "A point is a seed, the line the mean, the bar its 95 % confidence interval.".to_owned(),
        panels,
        csv,
    })
}

fn row(line: &Line, mean: f64, interval: Option<f64>) -> Dots {
    let points = line.seeds.iter().map(|(seed, value)| (format!("seed {seed}"), *value)).collect();
    Dots { name: line.row.clone(), mean, interval, points }
}

/// A title as the name of a file.
fn id(title: &str) -> String {
    let plain: String = (title.to_lowercase().chars())
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { ' ' })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(row: &str, source: Source, value: f64, repetition: Option<f64>) -> Line {
        Line {
            row: row.to_owned(),
            source,
            value,
            interval: Some(1.0),
            seeds: if source == Source::Measured {
                vec![(1, value - 1.0), (2, value + 1.0)]
            } else {
                Vec::new()
            },
            difference: None,
            difference_interval: None,
            p: None,
            training_accuracy: None,
            repetition,
            about: String::new(),
        }
    }

    fn table(lines: Vec<Line>) -> CollectedTable {
        let title = "Sinkhorn: L = 1, 2".to_owned();
        CollectedTable { title, shows: Shows::Repetition, baseline: None, lines }
    }

    #[test]
    fn measured_and_published_numbers_have_axes_of_their_own() {
        let lines = vec![
            line("L = 1", Source::Published, 97.0, None),
            line("L = 1", Source::Measured, 55.0, Some(12.5)),
            line("L = 2", Source::Measured, 56.0, Some(3.0)),
        ];
        let figure = figure(&table(lines)).unwrap();
        assert_eq!((figure.id.as_str(), figure.panels.len()), ("sinkhorn-l-1-2", 3));
        let text = figure.file();
        for shown in ["measured here", "published", "use a transformation twice", "12.50", "97.00", "seed 2"]
        {
            assert!(text.contains(shown), "{shown}");
        }
        assert_eq!(figure.csv.as_str().lines().count(), 4);
    }

    #[test]
    fn rows_that_differ_in_their_last_word_are_told_apart() {
        let name = |types: &str| format!("application probabilities, Gumbel-{types}");
        let lines = ["Softmax", "Sinkhorn"].map(|types| line(&name(types), Source::Measured, 97.0, None));
        let text = figure(&table(lines.to_vec())).unwrap().panels[0].inline();
        for types in ["Softmax", "Sinkhorn"] {
            assert!(text.contains(&format!(">{}<", name(types))), "{text}");
        }
    }

    #[test]
    fn nothing_is_drawn_before_anything_is_measured() {
        assert!(figure(&table(vec![line("L = 1", Source::Published, 97.0, None)])).is_none());
    }
}
