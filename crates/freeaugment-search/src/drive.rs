//! Running a search to its end, or until someone stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use freeaugment::Groups;

use crate::error::Error;
use crate::evaluate::evaluate;
use crate::metric::{Epoch, GradientNorms, LayerRanges, Share};
use crate::run::Run;
use crate::search::{Search, Step};

/// How long work may be lost to a crash.
const SAVE_EVERY: Duration = Duration::from_mins(1);

/// Told what happens.
pub trait Observer {
    /// A step was taken.
    fn step(&mut self, _search: &Search, _step: &Step) {}
    /// An epoch has ended and is written down.
    fn epoch(&mut self, _search: &Search, _epoch: &Epoch) {}
}

/// No one is told.
impl Observer for () {}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All steps are done.
    Finished,
    /// It was stopped between two steps and can be resumed.
    Stopped,
}

/// Takes all steps that are left, writing everything into the run's folder. When `stop` is set, the step is finished
/// and the state saved.
pub fn drive(
    search: &mut Search,
    run: &Run,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Outcome, Error> {
    let mut saved = Instant::now();
    while search.step < search.steps_total() {
        if stop.load(Ordering::Relaxed) {
            run.save(search)?;
            run.log(&format!("stopped at step {} of {}", search.step, search.steps_total()))?;
            return Ok(Outcome::Stopped);
        }
        let step = match search.step() {
            Ok(step) => step,
            Err(error) => {
                // If the log cannot be written either, the first error is the one to report.
                let _ = run.log(&format!("failed: {error}"));
                return Err(error);
            }
        };
        observer.step(search, &step);
        if search.step.is_multiple_of(search.plan.steps) {
            let epoch = end_epoch(search)?;
            run.save_epoch(search, &epoch)?;
            observer.epoch(search, &epoch);
            saved = Instant::now();
        } else if saved.elapsed() >= SAVE_EVERY {
            run.save(search)?;
            saved = Instant::now();
        }
    }
    run.save_classifier(search)?;
    run.log("finished")?;
    Ok(Outcome::Finished)
}

/// Measures the epoch that has just ended and begins a new tally.
fn end_epoch(search: &mut Search) -> Result<Epoch, Error> {
    let epoch = search.step / search.plan.steps - 1;
    let tally = std::mem::take(&mut search.tally);
    let (settings, plan) = (&search.settings, &search.plan);
    let every = settings.evaluate_every;
    let is_due = epoch + 1 == settings.epochs || (every > 0 && (epoch + 1).is_multiple_of(every));
    let start = Instant::now();
    let score = is_due
        .then(|| evaluate(&search.classifier, plan, &plan.validation.indices, settings.batch))
        .transpose()?;
    let description = search.policy.describe()?;
    let transformations = &search.policy.config().transformations;
    let names = || transformations.iter().map(|ranged| ranged.transformation.name().to_owned());
    let ranges = names().zip(&description.magnitudes).filter_map(|(name, ranges)| {
        let ranges = ranges.iter().map(|range| range.map(|range| (range.low, range.high)));
        Some(LayerRanges { name, ranges: ranges.collect::<Option<_>>()? })
    });
    let mean = |sum: f64, count: u64| sum / count.max(1) as f64;
    let learned = |sum: f64| (tally.validation_steps > 0).then(|| mean(sum, tally.validation_steps));
    Ok(Epoch {
        epoch: epoch + 1,
        learning_rate: search.schedule_rate(search.step - 1),
        temperature: settings.temperature(epoch),
        learning: group_names(search.learning(epoch)),
        loss: mean(tally.loss, tally.steps),
        accuracy: mean(tally.accuracy, tally.steps),
        validation_loss: learned(tally.validation_loss),
        validation_accuracy: learned(tally.validation_accuracy),
        evaluation_loss: score.map(|score| score.loss),
        evaluation_accuracy: score.map(|score| score.accuracy),
        depth: description.depth.clone(),
        usage: names().zip(&description.usage).map(|(name, &share)| Share { name, share }).collect(),
        types: description.types.clone(),
        ranges: ranges.collect(),
        repetition: description.repetition,
        gradients: GradientNorms {
            weights: mean(tally.weight_gradient, tally.steps),
            depth: mean(tally.depth_gradient, tally.validation_steps),
            types: mean(tally.type_gradient, tally.validation_steps),
            magnitudes: mean(tally.magnitude_gradient, tally.validation_steps),
        },
        seconds: tally.phases,
        evaluation_seconds: start.elapsed().as_secs_f64(),
    })
}

fn group_names(groups: Groups) -> Vec<String> {
    let named = [(groups.magnitudes, "magnitudes"), (groups.types, "types"), (groups.depth, "depth")];
    named.into_iter().filter(|(learns, _)| *learns).map(|(_, name)| name.to_owned()).collect()
}
