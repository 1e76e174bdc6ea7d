//! The tables of a plan, of what is finished.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use freeaugment_base::Table;
use serde::{Deserialize, Serialize};

use super::manifest::{Cell, CellTask, Grid, GridRow, GridTable, PolicySource, Shows};
use super::outcome::CellState;
use crate::compare::statistics::{mean, p_value};
use crate::compare::{Row, Summary, TrialResult};
use crate::error::Error;
use crate::run::{Run, write, write_json};

/// What a plan has found so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collected {
    /// What it is a plan of.
    pub title: String,
    /// What whoever reads the tables should know.
    pub notes: Vec<String>,
    /// The tables.
    pub tables: Vec<CollectedTable>,
    /// Cells that are not finished.
    pub missing: Vec<Missing>,
    /// What the finished ones were computed on.
    pub machines: Vec<Machine>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectedTable {
    /// What it is a table of.
    pub title: String,
    /// What stands in it.
    pub shows: Shows,
    /// The row that others are compared with.
    pub baseline: Option<String>,
    /// Published and measured numbers of each row, beside each other.
    pub lines: Vec<Line>,
}

/// Whose number it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It stands in the paper.
    Published,
    /// It was measured here.
    Measured,
}

/// A number with all that is known about it: accuracies and differences in percent, or hours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The row.
    pub row: String,
    /// Whose it is.
    pub source: Source,
    /// The number.
    pub value: f64,
    /// Half the width of its 95 % confidence interval.
    pub interval: Option<f64>,
    /// The seeds it is the mean of, with the number of each.
    pub seeds: Vec<(u64, f64)>,
    /// The mean difference to the baseline with the same seed.
    pub difference: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub difference_interval: Option<f64>,
    /// The paired t-test's probability of such differences by chance.
    pub p: Option<f64>,
    /// Accuracy in the last epoch's training batches.
    pub training_accuracy: Option<f64>,
    /// Of the samples of its policies, how many in a hundred use a transformation twice.
    pub repetition: Option<f64>,
    /// What it was measured with, where that differs from the table's.
    pub about: String,
}

/// A cell that is not finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Its index.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Whether it was begun.
    pub begun: bool,
}

/// Processors with the same instruction set, on which the same cell has the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Processor and instruction set.
    pub instructions: String,
    /// The hosts.
    pub hosts: Vec<String>,
    /// How many finished cells they worked on.
    pub cells: usize,
}

/// What a search leaves for a table.
struct Found {
    hours: f64,
    repetition: f64,
}

impl Collected {
    /// Reads all that is finished.
    pub fn new(grid: &Grid) -> Result<Self, Error> {
        let mut results = BTreeMap::new();
        let mut searches = BTreeMap::new();
        let mut missing = Vec::new();
        let mut machines: BTreeMap<String, Machine> = BTreeMap::new();
        for (index, cell) in grid.cells().iter().enumerate() {
            let state = grid.state(cell)?;
            if state != CellState::Finished {
                let begun = state == CellState::Begun;
                missing.push(Missing { index, name: cell.name.clone(), begun });
                continue;
            }
            grid.note_machines(cell, &mut machines)?;
            if cell.task == CellTask::Search {
                searches.insert(&*cell.name, grid.found(cell)?);
            } else {
                results.extend(grid.result(cell)?.map(|result| (&*cell.name, result)));
            }
        }
        let tables = grid.tables().iter().map(|table| match table.shows {
            Shows::Hours => hours(grid, table, &searches),
            Shows::Accuracy | Shows::Repetition => accuracies(grid, table, &results, &searches),
        });
        Ok(Self {
            title: grid.title().to_owned(),
            notes: grid.notes().to_vec(),
            tables: tables.collect(),
            missing,
            machines: machines.into_values().collect(),
        })
    }

    /// Writes the tables into the plan's folder: for people, for programs and for spreadsheets.
    pub fn write(&self, grid: &Grid) -> Result<(), Error> {
        write(&grid.folder.join("result.md"), self.markdown().as_bytes())?;
        write(&grid.folder.join("result.csv"), self.csv().as_bytes())?;
        write_json(&grid.folder.join("result.json"), self)
    }

    /// What has to be said of machines that do not compute the same bits.
    pub fn mixed(&self) -> Option<String> {
        let told = |machine: &Machine| {
            let hosts = machine.hosts.join(", ");
            format!("{} ({} cells on {hosts})", machine.instructions, machine.cells)
        };
        let told: Vec<String> = self.machines.iter().map(told).collect();
        (told.len() > 1).then(|| {
            format!("these tables mix instruction sets, whose last bits differ: {}", told.join("; "))
        })
    }

    /// What is missing, in one line.
    pub fn gap(&self) -> Option<String> {
        const MOST: usize = 8;
        let count = self.missing.len();
        let named: Vec<String> = (self.missing.iter().take(MOST))
            .map(|cell| format!("{} {}{}", cell.index, cell.name, if cell.begun { " (begun)" } else { "" }))
            .collect();
        let more = if count > MOST { format!(" and {} more", count - MOST) } else { String::new() };
        (count > 0).then(|| format!("{count} cells are not finished: {}{more}", named.join(", ")))
    }

    /// The tables for a document.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        for note in self.notes.iter().cloned().chain(self.mixed()).chain(self.gap()) {
            let _ = writeln!(text, "- {note}");
        }
        for table in &self.tables {
            let head = table.head();
            let _ = writeln!(
                text,
                "\n## {}\n\n| {} |\n|---|---|{}",
                table.title,
                head.join(" | "),
                "--:|".repeat(head.len() - 2)
            );
            for line in &table.lines {
                let _ = writeln!(text, "| {} |", table.cells(line).join(" | "));
            }
        }
        let _ = writeln!(text, "\n{EXPLANATION}");
        text
    }

    fn csv(&self) -> String {
        let mut text = "table,row,source,value,interval,seeds,difference,difference_interval,p,training_accuracy,repetition\n".to_owned();
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        for (table, line) in
            self.tables.iter().flat_map(|table| table.lines.iter().map(move |line| (table, line)))
        {
            let source = if line.source == Source::Published { "published" } else { "measured" };
            let numbers =
                [line.difference, line.difference_interval, line.p, line.training_accuracy, line.repetition];
            let _ = writeln!(
                text,
                "{},{},{source},{},{},{},{}",
                quoted(&table.title),
                quoted(&line.row),
                line.value,
                number(line.interval),
                line.seeds.len(),
                numbers.map(number).join(",")
            );
        }
        text
    }
}

const EXPLANATION: &str = "Accuracies are top-1 in percent, with the 95 % confidence interval over seeds where there are several; \
    differences are paired by seed, p is that of a two-sided paired t-test. What is published was measured by its authors, with \
    their code and, where they differ, other settings.";

impl Grid {
    fn found(&self, cell: &Cell) -> Result<Found, Error> {
        let epochs = Run::open(&self.folder_of(cell))?.epochs()?;
        let seconds: f64 = epochs.iter().map(|epoch| epoch.seconds.total() + epoch.evaluation_seconds).sum();
        let repetition = epochs.last().map_or(f64::NAN, |epoch| epoch.repetition);
        Ok(Found { hours: seconds / 3600.0, repetition })
    }

    fn note_machines(&self, cell: &Cell, machines: &mut BTreeMap<String, Machine>) -> Result<(), Error> {
        for record in self.records(cell)? {
            let empty = || Machine { instructions: record.instructions.clone(), hosts: Vec::new(), cells: 0 };
            let machine = machines.entry(record.instructions.clone()).or_insert_with(empty);
            if !machine.hosts.contains(&record.host) {
                machine.hosts.push(record.host.clone());
            }
        }
        // A cell that went on elsewhere counts where it ended.
        if let Some(last) = self.records(cell)?.last()
            && let Some(machine) = machines.get_mut(&last.instructions)
        {
            machine.cells += 1;
        }
        Ok(())
    }
}

impl Line {
    fn new(row: &GridRow, source: Source, value: f64) -> Self {
        Self {
            row: row.name.clone(),
            source,
            value,
            interval: None,
            seeds: Vec::new(),
            difference: None,
            difference_interval: None,
            p: None,
            training_accuracy: None,
            repetition: None,
            about: String::new(),
        }
    }

    fn published(row: &GridRow) -> Option<Self> {
        let published = row.published.as_ref()?;
        let line = Self::new(row, Source::Published, published.value);
        Some(Self { interval: published.interval, about: published.about.clone(), ..line })
    }
}

/// The results of a row, one for each seed of which all cells are finished.
fn by_seed(grid: &Grid, row: &GridRow, results: &BTreeMap<&str, TrialResult>) -> Vec<TrialResult> {
    let mut seeds: BTreeMap<u64, Vec<Option<&TrialResult>>> = BTreeMap::new();
    for name in &row.cells {
        seeds.entry(grid.named(name).seed).or_default().push(results.get(&**name));
    }
    let whole = seeds.into_values().filter_map(|found| found.into_iter().collect::<Option<Vec<_>>>());
    let averaged = whole.map(|found| {
        let average = |of: fn(&TrialResult) -> f64| {
            mean(&found.iter().map(|found| of(found)).collect::<Vec<_>>()).value
        };
        TrialResult {
            test_accuracy: average(|found| found.test_accuracy),
            training_accuracy: average(|found| found.training_accuracy),
            seconds: average(|found| found.seconds),
            waiting_seconds: average(|found| found.waiting_seconds),
            ..found[0].clone()
        }
    });
    averaged.collect()
}

fn accuracies(
    grid: &Grid,
    table: &GridTable,
    results: &BTreeMap<&str, TrialResult>,
    searches: &BTreeMap<&str, Found>,
) -> CollectedTable {
    let found: Vec<(&str, Vec<TrialResult>)> =
        table.rows.iter().map(|row| (&*row.name, by_seed(grid, row, results))).collect();
    let baseline = table.rows.iter().position(|row| Some(&row.name) == table.baseline.as_ref());
    let summary = if found.is_empty() { None } else { Some(Summary::new(&found, baseline.unwrap_or(0))) };
    let measured = |row: &GridRow| -> Option<Line> {
        let of: &Row = summary.as_ref()?.rows.iter().find(|of| of.name == row.name)?;
        let percent = |value: f64| 100.0 * value;
        let compared = |value: Option<f64>| value.filter(|_| baseline.is_some());
        let policies = row.cells.iter().filter_map(|name| match &grid.named(name).task {
            CellTask::Train { policy: PolicySource::Cell(search), .. } => searches.get(&**search),
            _ => None,
        });
        let repetitions: Vec<f64> = policies.map(|found| found.repetition).collect();
        Some(Line {
            interval: of.interval.map(percent),
            seeds: of.seeds.iter().copied().zip(of.accuracies.iter().copied().map(percent)).collect(),
            difference: compared(of.difference).map(percent),
            difference_interval: compared(of.difference_interval).map(percent),
            p: compared(of.p),
            training_accuracy: Some(percent(of.training_accuracy)),
            repetition: (!repetitions.is_empty()).then(|| percent(mean(&repetitions).value)),
            ..Line::new(row, Source::Measured, percent(of.accuracy))
        })
    };
    CollectedTable::of(table, measured)
}

fn hours(grid: &Grid, table: &GridTable, searches: &BTreeMap<&str, Found>) -> CollectedTable {
    CollectedTable::of(table, |row| {
        let found =
            row.cells.iter().filter_map(|name| Some((grid.named(name).seed, searches.get(&**name)?.hours)));
        let seeds: Vec<(u64, f64)> = found.collect();
        let average = mean(&seeds.iter().map(|(_, hours)| *hours).collect::<Vec<_>>());
        let line = Line { interval: average.interval, ..Line::new(row, Source::Measured, average.value) };
        (!seeds.is_empty()).then_some(Line { seeds, ..line })
    })
}

impl CollectedTable {
    fn of(table: &GridTable, measured: impl Fn(&GridRow) -> Option<Line>) -> Self {
        let lines = table.rows.iter().flat_map(|row| Line::published(row).into_iter().chain(measured(row)));
        Self {
            title: table.title.clone(),
            shows: table.shows,
            baseline: table.baseline.clone(),
            lines: lines.collect(),
        }
    }

    fn head(&self) -> Vec<String> {
        let against = format!("against {}", self.baseline.as_deref().unwrap_or("-"));
        let words: &[&str] = match self.shows {
            Shows::Accuracy => &["", "", "test accuracy", "seeds", &against, "p", "training accuracy"],
            Shows::Repetition => &["", "", "test accuracy", "seeds", &against, "p", "repetition"],
            Shows::Hours => &["", "", "hours", "seeds", "with"],
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn cells(&self, line: &Line) -> Vec<String> {
        let number = |value: f64| format!("{value:.2}");
        let ranged = |text: String, interval: Option<f64>| match interval {
            Some(interval) => format!("{text} ± {interval:.2}"),
            None => text,
        };
        let (source, seeds) = match line.source {
            Source::Published => ("published", String::new()),
            Source::Measured => ("measured", line.seeds.len().to_string()),
        };
        let difference =
            line.difference.map(|value| ranged(format!("{value:+.2}"), line.difference_interval));
        let p = line.p.map(p_value);
        let mut cells =
            vec![line.row.clone(), source.to_owned(), ranged(number(line.value), line.interval), seeds];
        match self.shows {
            Shows::Hours => cells.push(line.about.clone()),
            Shows::Accuracy | Shows::Repetition => {
                let last =
                    if self.shows == Shows::Repetition { line.repetition } else { line.training_accuracy };
                cells.extend([difference.unwrap_or_default(), p.unwrap_or_default()]);
                cells.push(last.map(|value| format!("{value:.1} %")).unwrap_or_default());
            }
        }
        cells
    }
}

impl fmt::Display for Collected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        for table in &self.tables {
            let head = table.head();
            let mut aligned = Table::new(match table.shows {
                Shows::Hours => "<<>><",
                _ => "<<>>>>>",
            });
            aligned.row(head);
            for line in &table.lines {
                aligned.row(table.cells(line));
            }
            writeln!(f, "\n{}\n{aligned}", table.title)?;
        }
        write!(f, "\n{EXPLANATION}")
    }
}
