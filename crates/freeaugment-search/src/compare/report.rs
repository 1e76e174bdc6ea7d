//! The table of a comparison: for people, for documents and for programs.

use std::fmt::{self, Write as _};

use freeaugment_base::{Table, duration, percent};
use serde::{Deserialize, Serialize};

use super::statistics::p_value;
use super::{Row, Summary, TrialResult};
use crate::config::Settings;
use crate::describe::preparation;
use crate::error::Error;
use crate::run::{RunWriter, write, write_json};
use crate::session::Setup;

/// What every classifier is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// What the data is called.
    pub data: String,
    /// Images for training.
    pub training_images: usize,
    /// Images for testing.
    pub test_images: usize,
    /// Rows and columns of the network's images.
    pub size: usize,
    /// Crop, flip and cutout.
    pub preparation: String,
    /// The network.
    pub network: String,
    /// Where it is computed.
    pub device: String,
    /// Passes over the training images.
    pub epochs: u64,
    /// Steps of the whole training.
    pub steps: u64,
    /// Images in a batch.
    pub batch: usize,
    /// The learning rate at the start.
    pub learning_rate: f64,
    /// The weight decay.
    pub weight_decay: f64,
    /// Whether all begin with trained weights.
    pub warm_start: bool,
}

impl Budget {
    /// What settings and data come to.
    pub fn new(settings: &Settings, setup: &Setup) -> Self {
        Self {
            data: setup.dataset.title.clone(),
            training_images: setup.training.indices().len(),
            test_images: setup.test.len(),
            size: setup.pipeline.size,
            preparation: preparation(&setup.pipeline),
            network: settings.network.clone(),
            device: settings.device.clone(),
            epochs: settings.epochs,
            steps: settings.epochs * setup.steps_per_epoch,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What every classifier was given.
    pub budget: Budget,
    /// What they reached.
    #[serde(flatten)]
    pub summary: Summary,
}

impl Report {
    /// Writes the table into the run.
    pub(super) fn write(&self, run: &RunWriter) -> Result<(), Error> {
        let [json, markdown] = run.files().report();
        write(&markdown, self.markdown().as_bytes())?;
        write_json(&json, self)
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
            row.p.map(p_value).unwrap_or_default(),
            percent(row.training_accuracy),
            duration(row.seconds),
        ]
    }

    /// The table for a document.
    pub fn markdown(&self) -> String {
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

impl TrialResult {
    /// A line for people; `images` says which ones judged, such as `test` or `validation`.
    pub fn line(&self, images: &str) -> String {
        let (reached, training) = (percent(self.test_accuracy), percent(self.training_accuracy));
        format!("{images} accuracy {reached}, training {training}; {}", duration(self.seconds))
    }
}
