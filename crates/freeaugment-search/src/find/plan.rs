//! What `find` does with the time it has.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use freeaugment_base::{Table, duration};
use serde::{Deserialize, Serialize};

use super::family::Variation;
use super::start::Start;
use super::{DEFAULTS, RELATIVES, Setups, Stage};
use crate::compare::Candidate;
use crate::config::{Settings, refuse};
use crate::error::Error;
use crate::estimate::time_cycle;
use crate::run::read_json;
use crate::session::{Session as _, Setup, Training};

/// The shares of the budget: search, selection, proof.
const SHARES: [f64; 3] = [0.27, 0.4, 0.33];
/// A classifier has learned its images by heart when it knows this share of them, as they are cropped and flipped.
const BY_HEART: f64 = 0.9;
/// It is trained so many times longer than that takes: a policy pays after the images are known without one.
const LONGER: f64 = 3.0;
/// Whatever the data, classifiers take at least and at most so many steps.
const STEPS: (u64, u64) = (400, 6000);
/// How many steps are tried before images count as too many to be learned by heart, and what share of the budget at most.
const PROBE: (u64, f64) = (1500, 0.04);
/// The share of a training that comes before the first cycle of the search.
const WARM_UP: f64 = 0.3;
/// The horizon as a share of a training, and its limits.
const HORIZON: (f64, u64, u64) = (0.11, 40, 300);
/// Cycles of the search, as few and as many as make sense.
const CYCLES: (u64, u64) = (6, 24);
/// With fewer cycles than this the policy takes longer steps, so that it gets as far.
const UNHURRIED: u64 = 16;
/// Seeds of the proof.
const SEEDS: (u64, u64) = (3, 5);

/// A round of selection: how many candidates are in it, and how many classifiers each of them has at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// The candidates that are still in.
    pub candidates: usize,
    /// The seeds that each of them has after it.
    pub seeds: u64,
}

/// What a plan rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Seconds of a training step.
    pub step_seconds: f64,
    /// Seconds of a step of a cycle, there and back.
    pub cycle_step_seconds: f64,
    /// After so many epochs the images were known by heart; none where that was not asked, or did not happen in time.
    pub by_heart: Option<u64>,
}

impl Measured {
    /// A few steps of each kind; and, where the settings leave the epochs open, how fast images are learned by heart.
    /// `progress` is told what share of the longest it may take is over.
    pub fn new(settings: &Settings, setups: &Setups, progress: &mut dyn FnMut(f64)) -> Result<Self, Error> {
        let (step_seconds, by_heart) = probe(settings, setups.of(Stage::Selection), progress)?;
        let cycle_step_seconds = time_cycle(settings, setups.of(Stage::Search))?;
        Ok(Self { step_seconds, cycle_step_seconds, by_heart })
    }
}

/// What is done, and how long it will take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Passes over the training images of every classifier.
    pub epochs: u64,
    /// How many steps the search looks ahead.
    pub horizon: u64,
    /// How often it does.
    pub cycles: u64,
    /// Epochs of the search before the first cycle.
    pub warm_up_epochs: u64,
    /// The rounds of selection.
    pub rungs: Vec<Rung>,
    /// The seeds of the proof.
    pub proof_seeds: u64,
    /// What was measured for it.
    pub measured: Measured,
    /// Seconds of search, selection and proof, as estimated.
    pub seconds: [f64; 3],
    /// What was asked for, in seconds.
    pub budget: f64,
}

impl Plan {
    /// What to do with the settings' budget, given what was measured.
    pub fn new(settings: &Settings, setups: &Setups, measured: Measured) -> Result<Self, Error> {
        let budget = parse_budget(&settings.budget)?;
        let Measured { step_seconds: step, cycle_step_seconds: cycle_step, by_heart } = measured;
        let each = setups.of(Stage::Selection).steps_per_epoch;
        let per_epoch = setups.of(Stage::Search).steps_per_epoch;
        let all = schedules(Variation::ALL.len());
        let affordable_steps = SHARES[1] * budget / step;
        // Some more ask how images are cut, and whether mirroring hurts.
        let tried = setups.view_cells(settings);
        let cells = |rungs: &[Rung]| cells(rungs) + tried * rungs[0].seeds;
        let epochs = if settings.epochs > 0 {
            settings.epochs
        } else {
            let wanted = by_heart.map_or(STEPS.1, |epochs| (LONGER * (epochs * each) as f64) as u64);
            // Longer trainings come before more of them.
            let affordable = affordable_steps / cells(&all[USUAL]) as f64;
            wanted.min(affordable as u64).clamp(STEPS.0, STEPS.1).div_ceil(each)
        };
        let steps = epochs * each;
        // Where the time is too short, fewer compete: never trainings too short to tell.
        let fits = |rungs: &&Vec<Rung>| (cells(rungs) * steps) as f64 <= affordable_steps;
        let rungs = all.iter().find(fits).unwrap_or(&all[all.len() - 1]).clone();
        let horizon = ((HORIZON.0 * steps as f64) as u64).clamp(HORIZON.1, HORIZON.2);
        let warm_up_epochs = ((WARM_UP * steps as f64) as u64).div_ceil(per_epoch);
        let warm_up = (warm_up_epochs * per_epoch) as f64 * step;
        let left = SHARES[0] * budget - warm_up;
        let cycles = ((left / (horizon as f64 * cycle_step)).max(0.0) as u64).clamp(CYCLES.0, CYCLES.1);
        let cell = steps as f64 * step;
        let proof_cells = (DEFAULTS.len() + 1) as f64;
        let proof_seeds = ((SHARES[2] * budget / (cell * proof_cells)) as u64).clamp(SEEDS.0, SEEDS.1);
        let seconds = [
            warm_up + (cycles * horizon) as f64 * cycle_step,
            cells(&rungs) as f64 * cell,
            proof_cells * proof_seeds as f64 * cell,
        ];
        Ok(Self { epochs, horizon, cycles, warm_up_epochs, rungs, proof_seeds, measured, seconds, budget })
    }

    /// A plan that was written down, as `find` did in its run. The same plan and the same seed give the same policy on
    /// machines of any speed.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let plan: Self = read_json(path, "a plan")?;
        let within = |value: u64, least: u64, most: u64| (least..=most).contains(&value);
        let rungs = &plan.rungs;
        let falls = rungs.is_sorted_by(|a, b| a.candidates >= b.candidates && a.seeds <= b.seeds);
        let problem = if !within(plan.epochs, 1, 1_000_000) {
            "`epochs`: 1 to 1000000 are allowed"
        } else if !within(plan.horizon, 2, 100_000) {
            "`horizon`: 2 to 100000 are allowed"
        } else if !within(plan.cycles, 1, 1_000_000) {
            "`cycles`: 1 to 1000000 are allowed"
        } else if !within(plan.warm_up_epochs, 0, 1_000_000) {
            "`warm_up_epochs`: 0 to 1000000 are allowed"
        } else if rungs.is_empty()
            || !falls
            || rungs.iter().any(|rung| rung.candidates < 2 || rung.seeds == 0)
        {
            "`rungs`: at least one, of 2 candidates and 1 seed at least; candidates must not rise, nor seeds fall"
        } else if !within(plan.proof_seeds, 1, 1000) {
            "`proof_seeds`: 1 to 1000 are allowed"
        } else {
            return Ok(plan);
        };
        Err(Error::NotARun { path: path.to_owned(), reason: format!("is not a plan: at {problem}") })
    }

    /// The settings of a stage.
    pub fn settings(&self, settings: &Settings, setups: &Setups, stage: Stage) -> Settings {
        let stride = (UNHURRIED as f64 / self.cycles as f64).max(1.0);
        match stage {
            Stage::Search => Settings {
                depth_rate: stride * settings.depth_rate,
                type_rate: stride * settings.type_rate,
                magnitude_rate: stride * settings.magnitude_rate,
                horizon: self.horizon,
                frozen: with_depth(&settings.frozen),
                epochs: self.warm_up_epochs
                    + (self.cycles * self.horizon).div_ceil(setups.of(stage).steps_per_epoch),
                warm_up: true,
                magnitude_start: self.warm_up_epochs,
                type_start: self.warm_up_epochs,
                depth_start: self.warm_up_epochs,
                proof_epochs: 0,
                evaluate_every: 0,
                ..settings.clone()
            },
            Stage::Opening | Stage::Selection | Stage::Proof => {
                Settings { epochs: self.epochs, evaluate_every: 0, ..settings.clone() }
            }
        }
    }
}

/// The groups that stay as they are in the search, and the depth with them. Within any horizon that is shorter than a training
/// it pays to leave images alone, as it does at the end of one, so a search that learns the depth makes it shallow; how many
/// transformations images want is decided by whole trainings.
fn with_depth(frozen: &[String]) -> Vec<String> {
    let depth = "depth".to_owned();
    if frozen.contains(&depth) { frozen.to_vec() } else { [frozen, &[depth]].concat() }
}

/// Rounds of selection, the longest first. The better ones have more classifiers: what separates good policies is smaller
/// than what separates seeds. The best default goes on with them whatever its place. Where classifiers are cheap every
/// candidate has two from the beginning; with little time, what needs no search and the learned policy compete alone.
fn schedules(learned: usize) -> [Vec<Rung>; 4] {
    let unlearned = DEFAULTS.len() + RELATIVES.len() + Start::TRIED;
    let candidates = unlearned + learned;
    let rungs = |rounds: &[(usize, u64)]| {
        rounds.iter().map(|&(candidates, seeds)| Rung { candidates, seeds }).collect::<Vec<_>>()
    };
    [
        rungs(&[(candidates, 2), (5, 4), (3, 8)]),
        rungs(&[(candidates, 1), (4, 2), (2, 4)]),
        rungs(&[(candidates, 1), (3, 2)]),
        rungs(&[(unlearned + 1, 1), (2, 2)]),
    ]
}

/// The one that has to fit into the budget when it is settled how long classifiers are trained.
const USUAL: usize = 1;

/// How many classifiers rounds train at most: each of them once, those that a combined policy has missed, and those of a
/// default that is not among the best.
fn cells(rungs: &[Rung]) -> u64 {
    let before = std::iter::once(0).chain(rungs.iter().map(|rung| rung.seeds));
    let cells = rungs.iter().zip(before).map(|(rung, before)| rung.candidates as u64 * (rung.seeds - before));
    let [_, .., last] = rungs else { return cells.sum() };
    cells.sum::<u64>() + last.seeds
}

/// Seconds of a training step under the initial policy, and after how many epochs a classifier without any knows its
/// images by heart.
fn probe(
    settings: &Settings,
    setup: &Setup,
    progress: &mut dyn FnMut(f64),
) -> Result<(f64, Option<u64>), Error> {
    let each = setup.steps_per_epoch;
    // So many epochs that the learning rate hardly falls.
    let long = Settings { epochs: (8 * PROBE.0).div_ceil(each), evaluate_every: 0, ..settings.clone() };
    let initial = Candidate::policy("initial", &settings.policy_config()?.init()?, settings)?;
    let mut training = Training::new(&long, setup, &Arc::new(initial), settings.seed)?;
    training.step()?;
    let began = Instant::now();
    let timed = 12;
    for _ in 0..timed {
        training.step()?;
    }
    let step = began.elapsed().as_secs_f64() / f64::from(timed);
    if settings.epochs > 0 {
        return Ok((step, None));
    }
    let longest = PROBE.1 * parse_budget(&settings.budget)?;
    let mut training = Training::new(&long, setup, &Arc::new(Candidate::standard()), settings.seed)?;
    let began = Instant::now();
    let most = PROBE.0.div_ceil(each);
    for epoch in 1..=most {
        let mut right = 0.0;
        for _ in 0..each {
            right += training.step()?.accuracy;
        }
        if right / each as f64 >= BY_HEART {
            return Ok((step, Some(epoch)));
        }
        let share = began.elapsed().as_secs_f64() / longest;
        progress(share.max(epoch as f64 / most as f64).min(1.0));
        if share > 1.0 {
            break;
        }
    }
    Ok((step, None))
}

/// A length of time as people write it: `90m`, `1h`, `1h30m`, `45s`.
pub(crate) fn parse_budget(text: &str) -> Result<f64, Error> {
    let wrong = || refuse("budget", format!("`{text}` is no length of time: write `45m`, `1h` or `1h30m`"));
    let (mut total, mut number) = (0.0, String::new());
    for letter in text.chars() {
        let seconds = match letter {
            '0'..='9' | '.' => {
                number.push(letter);
                continue;
            }
            'h' => 3600.0,
            'm' => 60.0,
            's' => 1.0,
            _ => return Err(wrong()),
        };
        total += seconds * number.parse::<f64>().map_err(|_| wrong())?;
        number.clear();
    }
    if number.is_empty() && total > 0.0 { Ok(total) } else { Err(wrong()) }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new("<<>");
        let [search, selection, proof] = self.seconds.map(duration);
        let known = match self.measured.by_heart {
            Some(epochs) => format!(" (without a policy the images are known by heart after {epochs})"),
            None => String::new(),
        };
        table.row(["training", &format!("{} epochs for every classifier{known}", self.epochs), ""]);
        let looks = format!("{} cycles that look {} steps ahead", self.cycles, self.horizon);
        table.row(["search", &looks, &search]);
        let rounds = self.rungs.iter().map(|rung| format!("{} policies × {}", rung.candidates, rung.seeds));
        let rounds: Vec<String> = rounds.collect();
        let rounds = format!("{} classifiers, judged by validation images", rounds.join(", then "));
        table.row(["selection", &rounds, &selection]);
        let judged = format!(
            "the best one and {}, {} classifiers each, judged by test images",
            DEFAULTS.join(", "),
            self.proof_seeds
        );
        table.row(["proof", &judged, &proof]);
        let total: f64 = self.seconds.iter().sum();
        write!(f, "{table}\n\nall of it will take about {}", duration(total))?;
        if total > 1.15 * self.budget {
            write!(
                f,
                ", more than the {} asked for: with less, nothing could be told",
                duration(self.budget)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_as_people_write_them() {
        for (text, seconds) in
            [("1h", 3600.0), ("90m", 5400.0), ("1h30m", 5400.0), ("45s", 45.0), ("0.5h", 1800.0)]
        {
            assert_eq!(parse_budget(text).unwrap(), seconds);
        }
        for text in ["", "1", "h", "0m", "1d", "-1h", "1h30"] {
            let message = parse_budget(text).unwrap_err().to_string();
            assert!(message.contains("`budget`") && message.contains("1h30m"), "{message}");
        }
    }

    #[test]
    fn rounds_train_every_classifier_once_and_what_a_combined_policy_and_a_default_have_missed() {
        let expected = [42 + 10 + 12 + 2 + 6, 21 + 4 + 4 + 1 + 3, 21 + 3 + 1 + 1, 14 + 2 + 1 + 1];
        assert_eq!(schedules(8).map(|rungs| cells(&rungs)), expected);
    }
}
