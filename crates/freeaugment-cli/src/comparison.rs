//! A comparison for people, for documents and for programs.

use std::fmt::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use freeaugment_search::{Comparison, Error, Plan, Row, Run, Settings, Summary, Training};
use serde::Serialize;

use crate::overview::preparation;
use freeaugment_base::{Table, duration, percent};

/// What every classifier is given.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Budget {
    data: String,
    training_images: usize,
    test_images: usize,
    size: usize,
    preparation: String,
    network: String,
    device: String,
    epochs: u64,
    steps: u64,
    batch: usize,
    learning_rate: f64,
    weight_decay: f64,
    warm_start: bool,
}

impl Budget {
    pub(crate) fn new(settings: &Settings, plan: &Plan) -> Self {
        Self {
            data: plan.dataset.title.clone(),
            training_images: plan.training.indices.len(),
            test_images: plan.test.len(),
            size: plan.pipeline.size,
            preparation: preparation(plan),
            network: settings.network.clone(),
            device: settings.device.clone(),
            epochs: settings.epochs,
            steps: settings.epochs * plan.steps,
            batch: settings.batch,
            learning_rate: settings.learning_rate,
            weight_decay: settings.weight_decay,
            warm_start: !settings.warm_start.is_empty(),
        }
    }

    fn lines(&self) -> [(&'static str, String); 4] {
        let start = if self.warm_start { ", warm start" } else { "" };
        [
            (
                "data",
                format!("{}: {} training, {} test images", self.data, self.training_images, self.test_images),
            ),
            ("size", format!("{0}x{0}; {1}", self.size, self.preparation)),
            ("network", format!("{} on {}{start}", self.network, self.device)),
            (
                "training",
                format!(
                    "{} epochs, {} steps of {} images; learning rate {}, weight decay {}",
                    self.epochs, self.steps, self.batch, self.learning_rate, self.weight_decay
                ),
            ),
        ]
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new("<<");
        for (name, text) in self.lines() {
            table.row([name.to_owned(), text]);
        }
        table.fmt(f)
    }
}

/// What a comparison found so far.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    budget: Budget,
    #[serde(flatten)]
    summary: Summary,
}

impl Report {
    pub(crate) const MARKDOWN: &'static str = "result.md";
    pub(crate) const JSON: &'static str = "result.json";

    pub(crate) fn new(comparison: &Comparison, run: &Path, budget: Budget) -> Result<Self, Error> {
        Ok(Self { budget, summary: comparison.summary(run)? })
    }

    /// Writes the table into the run.
    pub(crate) fn write(&self, run: &Run) -> Result<(), Error> {
        run.write(Self::MARKDOWN, self.markdown().as_bytes())?;
        let text = serde_json::to_string_pretty(self).expect("plain values") + "\n";
        run.write(Self::JSON, text.as_bytes())
    }

    fn head(&self) -> [String; 6] {
        [
            "policy".to_owned(),
            "test accuracy".to_owned(),
            format!("against {}", self.summary.baseline),
            "p".to_owned(),
            "training accuracy".to_owned(),
            "time".to_owned(),
        ]
    }

    fn cells(row: &Row) -> [String; 6] {
        [
            row.name.clone(),
            with_interval(&percent_number(row.accuracy), row.interval),
            row.difference
                .map(|difference| {
                    with_interval(&format!("{:+.2}", 100.0 * difference), row.difference_interval)
                })
                .unwrap_or_default(),
            row.p.map(probability).unwrap_or_default(),
            percent(row.training_accuracy),
            duration(row.seconds),
        ]
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        for (name, line) in self.budget.lines() {
            let _ = writeln!(text, "- {name}: {line}");
        }
        let _ = writeln!(text, "\n| {} |\n|---|--:|--:|--:|--:|--:|", self.head().join(" | "));
        for row in &self.summary.rows {
            let _ = writeln!(text, "| {} |", Self::cells(row).join(" | "));
        }
        let _ = writeln!(text, "\n{}", self.explanation());
        text
    }

    fn explanation(&self) -> String {
        let seeds = self.summary.rows.iter().map(|row| row.seeds.len());
        let (least, most) = (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0));
        let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
        format!(
            "Top-1 in percent, mean ± 95 % confidence interval over the seeds ({count} each); differences are paired by \
             seed, p is that of a two-sided paired t-test; time is that of one training."
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [row] = &self.summary.rows[..] {
            let each: Vec<String> = row.accuracies.iter().map(|&accuracy| percent_number(accuracy)).collect();
            let value = with_interval(&percent_number(row.accuracy), row.interval);
            let of = if row.interval.is_some() { ", mean and 95 % confidence interval of" } else { ":" };
            return write!(f, "top-1 test accuracy under {}: {value} %{of} {}", row.name, each.join(", "));
        }
        let mut table = Table::new("<>>>>>");
        table.row(self.head());
        for row in &self.summary.rows {
            table.row(Self::cells(row));
        }
        write!(f, "{table}\n\n{}", self.explanation())
    }
}

fn percent_number(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

fn with_interval(value: &str, interval: Option<f64>) -> String {
    interval.map_or_else(|| value.to_owned(), |interval| format!("{value} ± {:.2}", 100.0 * interval))
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// How long a comparison will take, from a few real steps of each candidate.
#[derive(Debug, Serialize)]
pub(crate) struct Estimate {
    candidates: Vec<Timed>,
    seeds: u64,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Timed {
    name: String,
    step_seconds: f64,
    /// The share of it in which the network waits for images.
    waiting: f64,
    training_seconds: f64,
}

/// Steps that are timed at most, and how long at most.
const STEPS: u64 = 20;
const TIME: Duration = Duration::from_secs(5);

impl Estimate {
    pub(crate) fn measure(comparison: &Comparison, settings: &Settings, plan: &Plan) -> Result<Self, Error> {
        // Enough epochs for the steps that are timed, however short the real training is.
        let timed = Settings { epochs: settings.epochs.max(STEPS + 1), ..settings.clone() };
        let measure = |candidate| {
            let mut training = Training::new(&timed, plan, candidate, 1)?;
            // The first one finds nothing prepared.
            training.step()?;
            let (began, before, mut count) = (Instant::now(), training.waiting(), 0);
            while count < STEPS && (count == 0 || began.elapsed() < TIME) {
                training.step()?;
                count += 1;
            }
            let step_seconds = began.elapsed().as_secs_f64() / count as f64;
            Ok(Timed {
                name: candidate.name().to_owned(),
                step_seconds,
                waiting: (training.waiting() - before) / count as f64 / step_seconds,
                training_seconds: step_seconds * (settings.epochs * plan.steps) as f64,
            })
        };
        let candidates = comparison.candidates().iter().map(measure).collect::<Result<Vec<_>, Error>>()?;
        let one: f64 = candidates.iter().map(|timed| timed.training_seconds).sum();
        Ok(Self { candidates, seeds: comparison.seeds(), seconds: one * comparison.seeds() as f64 })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new("<>>>");
        table.row(["policy", "step", "waiting for images", "one training"]);
        for timed in &self.candidates {
            table.row([
                timed.name.clone(),
                format!("{:.0} ms", 1000.0 * timed.step_seconds),
                percent(timed.waiting),
                duration(timed.training_seconds),
            ]);
        }
        let cells = self.candidates.len() as u64 * self.seeds;
        write!(
            f,
            "{table}\n\n{cells} trainings will take about {}, evaluations not counted",
            duration(self.seconds)
        )
    }
}
