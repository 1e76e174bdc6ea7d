//! How far things are: a bar on a terminal, a line per epoch elsewhere, nothing for those who want quiet.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use freeaugment_base::{duration, percent};
use freeaugment_search::{
    ApplyProgress, ComparisonObserver, Observer, ReadProgress, Search, SearchEpoch, Session as _, Step,
    Training, TrainingEpoch, Trial, TrialResult, Under,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::arguments::Manner;
use crate::follow::Follow;
use crate::output;

/// Reading that takes less is not worth a bar.
const PATIENCE: Duration = Duration::from_secs(2);

/// A bar that shows itself only on a terminal. `unit` says what is counted and may hold indicatif's keys.
fn bar(length: u64, unit: &str, quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let template = format!("{{bar:20}} {{pos}}/{{len}} {unit}  {{wide_msg}}");
    let style = ProgressStyle::with_template(&template).expect("the template is right").progress_chars("█▌░");
    ProgressBar::with_draw_target(Some(length), target).with_style(style)
}

/// Whether lines take the place of bars.
fn in_lines(quiet: bool) -> bool {
    !quiet && !io::stderr().is_terminal()
}

/// Reading images.
pub(crate) struct Reading {
    bar: ProgressBar,
    began: Instant,
    quiet: bool,
    shown: AtomicBool,
}

impl Reading {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = bar(0, "images read, {eta} left", true);
        Self { bar, began: Instant::now(), quiet, shown: AtomicBool::new(quiet) }
    }
}

impl ReadProgress for Reading {
    fn begin(&self, images: usize) {
        self.bar.set_length(images as u64);
    }

    fn advance(&self) {
        self.bar.inc(1);
        if self.began.elapsed() >= PATIENCE && !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            if in_lines(self.quiet) {
                output::say(&format!("reading {} images", self.bar.length().unwrap_or(0)));
            }
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// How fast the machine is, and how soon images are known by heart: over when they are, or after the longest it may take.
pub(crate) struct Measuring(ProgressBar);

impl Measuring {
    pub(crate) fn new(quiet: bool) -> Self {
        Self(bar(100, "% measured, {eta} left at most", quiet))
    }

    pub(crate) fn advance(&self, share: f64) {
        self.0.set_position((100.0 * share) as u64);
    }

    pub(crate) fn end(self) {
        self.0.finish_and_clear();
    }
}

/// Copies of images that are written.
pub(crate) struct Copying(ProgressBar);

impl Copying {
    pub(crate) fn new(quiet: bool) -> Self {
        Self(bar(0, "files, {eta} left", quiet))
    }

    pub(crate) fn end(self) {
        self.0.finish_and_clear();
    }
}

impl ApplyProgress for Copying {
    fn begin(&self, files: usize, before: usize) {
        self.0.set_length(files as u64);
        self.0.set_position(before as u64);
        // The time that is left follows from what is done from now on.
        self.0.reset_eta();
    }

    fn advance(&self, files: usize) {
        self.0.inc(files as u64);
    }
}

/// The steps of a search.
pub(crate) struct Steps {
    bar: ProgressBar,
    json: bool,
    in_lines: bool,
    began: Instant,
    /// Steps that were done before this began.
    before: u64,
    training: Recent,
    validation: Recent,
    /// The first result that could not be printed.
    failure: Option<io::Error>,
    follow: Follow,
}

/// Loss and accuracy of the last steps: single batches jump too much to be read.
#[derive(Default)]
struct Recent(Option<(f64, f64)>);

impl Recent {
    fn add(&mut self, (loss, accuracy): (f64, f64)) {
        let mix = |old: f64, new: f64| 0.9 * old + 0.1 * new;
        let mixed = self.0.map(|old| (mix(old.0, loss), mix(old.1, accuracy)));
        self.0 = Some(mixed.unwrap_or((loss, accuracy)));
    }

    fn shown(&self, name: &str) -> String {
        let text = |(loss, accuracy)| format!("{name} loss {loss:.3}, {}  ", percent(accuracy));
        self.0.map(text).unwrap_or_default()
    }
}

impl Steps {
    pub(crate) fn new(search: &Search, manner: Manner, follow: Follow) -> Self {
        let progress = search.progress();
        let bar = bar(progress.total, "steps", manner.quiet);
        bar.set_position(progress.done);
        Self {
            bar,
            json: manner.json,
            in_lines: in_lines(manner.quiet),
            began: Instant::now(),
            before: progress.done,
            training: Recent::default(),
            validation: Recent::default(),
            failure: None,
            follow,
        }
    }

    /// Takes the bar away. Fails if a result could not be printed.
    pub(crate) fn end(self) -> io::Result<()> {
        self.bar.finish_and_clear();
        self.failure.map_or(Ok(()), Err)
    }

    fn seconds_left(&self, search: &Search) -> f64 {
        let progress = search.progress();
        let done = search.work(self.before..progress.done);
        let left = search.work(progress.done..progress.total);
        self.began.elapsed().as_secs_f64() * left / done.max(1.0)
    }
}

impl Observer<Search> for Steps {
    fn step(&mut self, search: &Search, step: &Step) {
        if let Some((done, steps)) = step.looking_back {
            let left = duration(self.seconds_left(search));
            self.bar.set_message(format!("{left} left  looking back through {steps} steps: {done}"));
            return;
        }
        self.training.add((step.loss, step.accuracy));
        if let Some(validation) = step.validation {
            self.validation.add(validation);
        }
        let left = duration(self.seconds_left(search));
        let epoch = format!("{left} left  epoch {}/{}  ", step.epoch + 1, search.settings().epochs);
        let (training, validation) = (self.training.shown("training"), self.validation.shown("validation"));
        self.bar.set_message(epoch + &training + &validation);
        self.bar.set_position(search.progress().done);
    }

    fn epoch(&mut self, search: &Search, epoch: &SearchEpoch) {
        if self.json
            && let Err(error) = self.bar.suspend(|| output::print_json(epoch))
        {
            self.failure.get_or_insert(error);
        }
        if self.in_lines {
            let left = duration(self.seconds_left(search));
            output::say(&format!("{}; {left} left", line(epoch, search.settings().epochs)));
        }
        self.bar.suspend(|| self.follow.epoch());
    }
}

/// The cells of a comparison.
pub(crate) struct Cells {
    bar: ProgressBar,
    quiet: bool,
    /// The images that judge: `test`, or `validation`.
    images: &'static str,
    total: usize,
    /// Cells that were left when this began, and how many of them are finished.
    left: usize,
    done: usize,
    follow: Follow,
}

impl Cells {
    pub(crate) fn new(images: &'static str, quiet: bool, follow: Follow) -> Self {
        let bar = bar(0, "steps, {eta} left", quiet);
        Self { bar, quiet, images, total: 0, left: 0, done: 0, follow }
    }

    /// Takes the bar away; how many cells were finished of how many that were left.
    pub(crate) fn end(self) -> (usize, usize) {
        self.bar.finish_and_clear();
        (self.done, self.left)
    }

    fn about(&self, number: usize, trial: &Trial) -> String {
        format!("[{number}/{}] {}, seed {}", self.total, trial.candidate().name(), trial.seed())
    }
}

impl ComparisonObserver for Cells {
    fn begin(&mut self, cells: usize, finished: usize) {
        (self.total, self.left, self.done) = (cells, cells - finished, 0);
        if !self.quiet {
            let before =
                if finished > 0 { format!(", {finished} of them done before") } else { String::new() };
            output::say(&format!("  cells     {cells}{before}\n"));
        }
    }

    fn step(&mut self, number: usize, trial: &Trial, training: &Training, step: &Step) {
        let progress = training.progress();
        self.bar.set_length(self.left as u64 * progress.total);
        self.bar.set_position(self.done as u64 * progress.total + progress.done);
        self.bar.set_message(format!(
            "{}  epoch {}/{}  loss {:.3}, {}",
            self.about(number, trial),
            step.epoch + 1,
            progress.epochs(),
            step.loss,
            percent(step.accuracy)
        ));
    }

    fn epoch(&mut self, _number: usize, _trial: &Trial, _epoch: &TrainingEpoch) {
        self.bar.suspend(|| self.follow.epoch());
    }

    fn finished(&mut self, number: usize, trial: &Trial, result: &TrialResult) {
        self.done += 1;
        if !self.quiet {
            let line = format!("{}: {}", self.about(number, trial), result.line(self.images));
            self.bar.suspend(|| output::say(&line));
        }
    }
}

/// The classifiers that judge a policy after its search.
pub(crate) struct Proving {
    bar: ProgressBar,
    quiet: bool,
    /// The one that was told of last, counted from 1.
    told: usize,
    before: usize,
}

impl Proving {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { bar: bar(0, "steps, {eta} left", quiet), quiet, told: 0, before: 0 }
    }

    pub(crate) fn end(self) {
        self.bar.finish_and_clear();
    }
}

impl ComparisonObserver for Proving {
    fn begin(&mut self, _cells: usize, finished: usize) {
        self.before = finished;
    }

    fn step(&mut self, number: usize, _trial: &Trial, training: &Training, _step: &Step) {
        let progress = training.progress();
        if self.told != number {
            self.told = number;
            let about = format!("a fresh classifier trained {}", Under::ALL[number - 1]);
            self.bar.set_length((Under::ALL.len() - self.before) as u64 * progress.total);
            self.bar.set_message(about.clone());
            if in_lines(self.quiet) {
                output::say(&about);
            }
        }
        self.bar.set_position((number - 1 - self.before) as u64 * progress.total + progress.done);
    }
}

/// An epoch in one line.
fn line(epoch: &SearchEpoch, epochs: u64) -> String {
    let mut text = format!(
        "epoch {} of {epochs}: training loss {:.3}, accuracy {}",
        epoch.epoch,
        epoch.loss,
        percent(epoch.accuracy)
    );
    for (name, loss, accuracy) in [
        ("validation", epoch.validation_loss, epoch.validation_accuracy),
        ("all validation images", epoch.evaluation_loss, epoch.evaluation_accuracy),
    ] {
        if let (Some(loss), Some(accuracy)) = (loss, accuracy) {
            let _ = write!(text, "; {name} loss {loss:.3}, accuracy {}", percent(accuracy));
        }
    }
    text + &format!("; {}", duration(epoch.seconds.total() + epoch.evaluation_seconds))
}
