//! How long a search or a comparison will take, from a few real steps.

use std::fmt;
use std::time::{Duration, Instant};

use freeaugment::Groups;
use freeaugment_base::{Table, duration, percent};
use serde::{Deserialize, Serialize};

use crate::compare::{Candidate, Comparison, Under};
use crate::config::Settings;
use crate::error::Error;
use crate::session::{Search, Session, Setup, Training, evaluate};

/// Steps of each kind that are timed at most, and how long at most.
const STEPS: u64 = 10;
const TIME: Duration = Duration::from_secs(5);

/// What a search takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchEstimate {
    /// Steps before anything of the policy learns.
    pub warm_up_steps: u64,
    /// Steps in which it learns.
    pub learning_steps: u64,
    /// Seconds of one of the first kind.
    pub warm_up_step_seconds: f64,
    /// Seconds of one of the second kind.
    pub learning_step_seconds: f64,
    /// The whole search, evaluations included.
    pub search_seconds: f64,
    /// The classifiers that are trained afterwards.
    pub proof_seconds: f64,
}

impl SearchEstimate {
    /// Takes a few steps in memory.
    pub fn measure(settings: &Settings, setup: &Setup) -> Result<Self, Error> {
        let frozen = settings.policy_config()?.frozen;
        let learns = |epoch: &u64| settings.learning(*epoch, frozen) != Groups::NONE;
        let learning_epochs = (0..settings.epochs).filter(learns).count() as u64;
        let learning_steps = learning_epochs * setup.steps_per_epoch;
        let warm_up_steps = (settings.epochs - learning_epochs) * setup.steps_per_epoch;
        let proof_epochs = if setup.test.is_empty() { 0 } else { settings.proof_epochs };

        // Enough epochs for the steps that are timed, however short the real run is.
        let timed = Settings { epochs: settings.epochs.max(STEPS + 1), ..settings.clone() };
        let never = timed.epochs;
        let warm_up = Settings {
            warm_up: true,
            magnitude_start: never,
            type_start: never,
            depth_start: never,
            ..timed.clone()
        };
        let learning = Settings { warm_up: false, ..timed };
        let time = |needed: bool, settings| if needed { time_steps(settings, setup) } else { Ok(0.0) };
        let warm_up_step_seconds = time(warm_up_steps > 0 || proof_epochs > 0, warm_up)?;
        let learning_step_seconds = match settings.horizon {
            1 => time(learning_steps > 0, learning)?,
            _ if learning_steps > 0 => time_cycle(settings, setup)?,
            _ => 0.0,
        };

        let each = time_evaluation(settings, setup)?;
        let evaluations = match settings.evaluate_every {
            0 => 1,
            every => settings.epochs.div_ceil(every),
        };
        let evaluation = each * (evaluations as usize * setup.validation.indices().len()) as f64;
        let taken = |steps: u64, seconds: f64| steps as f64 * seconds;
        let proof_one = taken(proof_epochs * setup.steps_per_epoch, warm_up_step_seconds)
            + each * setup.test.len() as f64;
        Ok(Self {
            warm_up_steps,
            learning_steps,
            warm_up_step_seconds,
            learning_step_seconds,
            search_seconds: taken(warm_up_steps, warm_up_step_seconds)
                + taken(learning_steps, learning_step_seconds)
                + evaluation,
            proof_seconds: if proof_epochs > 0 { Under::ALL.len() as f64 * proof_one } else { 0.0 },
        })
    }
}

/// Seconds of a step of a cycle, there and back.
pub(crate) fn time_cycle(settings: &Settings, setup: &Setup) -> Result<f64, Error> {
    const CYCLE: u64 = 6;
    let short = Settings {
        horizon: CYCLE,
        cycle_batches: 1,
        warm_up: false,
        epochs: (2 * CYCLE).div_ceil(setup.steps_per_epoch),
        ..settings.clone()
    };
    let mut search = Search::new(short, setup.clone())?;
    let began = Instant::now();
    // Cycles divide the steps evenly, so the first may be longer than asked for.
    while search.cycles_done() == 0 {
        search.step()?;
    }
    Ok(began.elapsed().as_secs_f64() / search.progress().done as f64)
}

/// Seconds of a step.
fn time_steps(settings: Settings, setup: &Setup) -> Result<f64, Error> {
    let mut search = Search::new(settings, setup.clone())?;
    // The first one finds nothing prepared.
    search.step()?;
    time(&mut search)
}

/// Seconds of a step of a session that has begun.
fn time(session: &mut impl Session) -> Result<f64, Error> {
    let began = Instant::now();
    let mut count = 0;
    while count < STEPS && (count == 0 || began.elapsed() < TIME) {
        session.step()?;
        count += 1;
    }
    Ok(began.elapsed().as_secs_f64() / count as f64)
}

/// Seconds per image of an evaluation.
fn time_evaluation(settings: &Settings, setup: &Setup) -> Result<f64, Error> {
    let search = Search::new(settings.clone(), setup.clone())?;
    let images = &setup.validation.indices()[..settings.batch];
    let began = Instant::now();
    evaluate(search.classifier(), setup, images, settings.batch)?;
    Ok(began.elapsed().as_secs_f64() / images.len() as f64)
}

impl fmt::Display for SearchEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |seconds: f64| format!("{:.0} ms", 1000.0 * seconds);
        let total = self.warm_up_steps + self.learning_steps;
        let mut kinds = Vec::new();
        if self.warm_up_steps > 0 {
            kinds.push(format!(
                "{} of warm-up, {} each",
                self.warm_up_steps,
                milliseconds(self.warm_up_step_seconds)
            ));
        }
        if self.learning_steps > 0 {
            kinds.push(format!(
                "{} that learn, {} each",
                self.learning_steps,
                milliseconds(self.learning_step_seconds)
            ));
        }
        writeln!(f, "{total} steps: {}", kinds.join("; "))?;
        write!(f, "the search will take about {}", duration(self.search_seconds))?;
        if self.proof_seconds > 0.0 {
            write!(f, ", the classifiers that judge it about {}", duration(self.proof_seconds))?;
        }
        Ok(())
    }
}

/// What a comparison takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ComparisonEstimate {
    /// Each candidate.
    pub candidates: Vec<CandidateEstimate>,
    /// How many seeds each of them has.
    pub seeds: u64,
    /// All trainings, evaluations not counted.
    pub seconds: f64,
}

/// What a classifier takes under one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CandidateEstimate {
    /// The candidate.
    pub name: String,
    /// Seconds of a step.
    pub step_seconds: f64,
    /// The share of it in which the network waits for images.
    pub waiting: f64,
    /// Seconds of one training.
    pub training_seconds: f64,
}

impl ComparisonEstimate {
    /// Takes a few steps of each candidate in memory.
    pub fn measure(comparison: &Comparison, settings: &Settings, setup: &Setup) -> Result<Self, Error> {
        // Enough epochs for the steps that are timed, however short the real training is.
        let timed = Settings { epochs: settings.epochs.max(STEPS + 1), ..settings.clone() };
        let measure = |candidate: &std::sync::Arc<Candidate>| {
            let mut training = Training::new(&timed, setup, candidate, 1)?;
            training.step()?;
            let before = (training.waiting(), training.progress().done);
            let step_seconds = time(&mut training)?;
            let (waited, steps) = (training.waiting() - before.0, training.progress().done - before.1);
            Ok(CandidateEstimate {
                name: candidate.name().to_owned(),
                step_seconds,
                waiting: waited / steps as f64 / step_seconds,
                training_seconds: step_seconds * (settings.epochs * setup.steps_per_epoch) as f64,
            })
        };
        let candidates = comparison.candidates().iter().map(measure).collect::<Result<Vec<_>, Error>>()?;
        let one: f64 = candidates.iter().map(|timed| timed.training_seconds).sum();
        let seeds = comparison.seeds().len() as u64;
        Ok(Self { candidates, seeds, seconds: one * seeds as f64 })
    }
}

impl fmt::Display for ComparisonEstimate {
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
