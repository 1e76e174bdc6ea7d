//! How long a search will take, from a few real steps.

use std::fmt;
use std::time::{Duration, Instant};

use freeaugment::Groups;
use freeaugment_search::{Error, Plan, Search, Settings, evaluate};
use serde::Serialize;

use crate::proof;
use freeaugment_base::duration;

/// Steps of each kind that are timed at most, and how long at most.
const STEPS: u64 = 10;
const TIME: Duration = Duration::from_secs(5);

/// What a search takes.
#[derive(Debug, Serialize)]
pub(crate) struct Estimate {
    /// Steps before anything of the policy learns.
    warm_up_steps: u64,
    learning_steps: u64,
    warm_up_step_seconds: f64,
    learning_step_seconds: f64,
    /// The whole search, evaluations included.
    search_seconds: f64,
    /// The classifiers that are trained afterwards.
    proof_seconds: f64,
}

impl Estimate {
    /// Takes a few steps in memory.
    pub(crate) fn measure(settings: &Settings, plan: &Plan) -> Result<Self, Error> {
        let frozen = settings.policy_config()?.frozen;
        let learns = |epoch: &u64| settings.learning(*epoch, frozen) != Groups::NONE;
        let learning_epochs = (0..settings.epochs).filter(learns).count() as u64;
        let learning_steps = learning_epochs * plan.steps;
        let warm_up_steps = (settings.epochs - learning_epochs) * plan.steps;
        let proof_epochs = if plan.test.is_empty() { 0 } else { settings.proof_epochs };

        // Enough epochs for the steps that are timed, however short the real run is.
        let timed = Settings { epochs: settings.epochs.max(STEPS + 1), ..settings.clone() };
        let never = u64::MAX;
        let warm_up = Settings {
            warm_up: true,
            magnitude_start: never,
            type_start: never,
            depth_start: never,
            ..timed.clone()
        };
        let learning = Settings { warm_up: false, ..timed };
        let time = |needed: bool, settings| if needed { time_steps(settings, plan) } else { Ok(0.0) };
        let warm_up_step_seconds = time(warm_up_steps > 0 || proof_epochs > 0, warm_up)?;
        let learning_step_seconds = time(learning_steps > 0, learning)?;

        let each = time_evaluation(settings, plan)?;
        let evaluations = match settings.evaluate_every {
            0 => 1,
            every => settings.epochs.div_ceil(every),
        };
        let evaluation = each * (evaluations as usize * plan.validation.indices.len()) as f64;
        let taken = |steps: u64, seconds: f64| steps as f64 * seconds;
        let proof_one =
            taken(proof_epochs * plan.steps, warm_up_step_seconds) + each * plan.test.len() as f64;
        Ok(Self {
            warm_up_steps,
            learning_steps,
            warm_up_step_seconds,
            learning_step_seconds,
            search_seconds: taken(warm_up_steps, warm_up_step_seconds)
                + taken(learning_steps, learning_step_seconds)
                + evaluation,
            proof_seconds: if proof_epochs > 0 { proof::CLASSIFIERS as f64 * proof_one } else { 0.0 },
        })
    }
}

/// Seconds of a step.
fn time_steps(settings: Settings, plan: &Plan) -> Result<f64, Error> {
    let mut search = Search::new(settings, plan.clone())?;
    // The first one finds nothing prepared.
    search.step()?;
    let began = Instant::now();
    let mut count = 0;
    while count < STEPS && (count == 0 || began.elapsed() < TIME) {
        search.step()?;
        count += 1;
    }
    Ok(began.elapsed().as_secs_f64() / count as f64)
}

/// Seconds per image of an evaluation.
fn time_evaluation(settings: &Settings, plan: &Plan) -> Result<f64, Error> {
    let search = Search::new(settings.clone(), plan.clone())?;
    let images = &plan.validation.indices[..settings.batch];
    let began = Instant::now();
    evaluate(search.classifier(), plan, images, settings.batch)?;
    Ok(began.elapsed().as_secs_f64() / images.len() as f64)
}

impl fmt::Display for Estimate {
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
