//! `freeaugment train` and `freeaugment compare`

use std::path::Path;

use freeaugment_nn::Device;
use freeaugment_search::{Comparison, Plan, Run, Settings, Task, Training, TrialOutcome};

use crate::arguments::{CompareArguments, Manner, TrainArguments, Trials};
use crate::comparison::{Budget, Estimate, Report};
use crate::configuration;
use crate::exit::{Ending, Failure};
use crate::interrupt;
use crate::output::{self, command, print, print_json};
use crate::progress::{self, Reading};
use crate::search::RUNS;
use crate::work;
use freeaugment_base::{duration, percent};

pub(crate) fn train(arguments: &TrainArguments) -> Result<Ending, Failure> {
    begin("train", std::slice::from_ref(&arguments.policy), None, &arguments.trials)
}

pub(crate) fn run(arguments: &CompareArguments) -> Result<Ending, Failure> {
    begin("compare", &arguments.policies, arguments.baseline.as_deref(), &arguments.trials)
}

fn begin(
    kind: &str,
    policies: &[String],
    baseline: Option<&str>,
    trials: &Trials,
) -> Result<Ending, Failure> {
    let manner = trials.manner;
    let settings = configuration::settings(Task::Training, &trials.source, &trials.settings.0)?;
    work::use_threads(manner.threads)?;
    let comparison = Comparison::new(policies, baseline, trials.seeds, &settings)?;
    if trials.source.dry_run {
        let plan = read(&settings, manner)?;
        let estimate = Estimate::measure(&comparison, &settings, &plan)?;
        let budget = Budget::new(&settings, &plan);
        if manner.json {
            print_json(&serde_json::json!({ "budget": budget, "estimate": estimate }))?;
        } else {
            print(&format!("{budget}\n\n{estimate}"))?;
        }
        return Ok(Ending::Done);
    }
    let folder = trials.source.out.clone().unwrap_or_else(|| Run::free_name(Path::new(RUNS), kind));
    interrupt::listen(manner.quiet)?;
    if Run::task(&folder) == Task::Training {
        // What is finished there is not done again.
        let (run, before) = Run::open(&folder, Task::Training)?;
        Comparison::require_same(&folder, &settings, &before)?;
        let comparison = comparison.joined(&folder)?;
        let plan = read(&settings, manner)?;
        run.log("continued")?;
        return carry_out(&comparison, &run, &settings, &plan, manner);
    }
    Run::check_free(&folder)?;
    let plan = read(&settings, manner)?;
    // What is wrong with the settings is known by now, so that no folder is left behind for nothing.
    for candidate in comparison.candidates() {
        Training::new(&settings, &plan, candidate, 1)?;
    }
    let run = Run::create(&folder, Task::Training, &settings, &output::typed())?;
    carry_out(&comparison, &run, &settings, &plan, manner)
}

/// Goes on with the cells that are left.
pub(crate) fn resume(folder: &Path, manner: Manner) -> Result<Ending, Failure> {
    let (run, settings) = Run::open(folder, Task::Training)?;
    let comparison = Comparison::load(folder, &settings)?;
    let plan = read(&settings, manner)?;
    run.log("resumed")?;
    carry_out(&comparison, &run, &settings, &plan, manner)
}

fn read(settings: &Settings, manner: Manner) -> Result<Plan, Failure> {
    Device::open(&settings.device).map_err(freeaugment_search::Error::from)?;
    Ok(Plan::for_training(settings, &Reading::new(manner.quiet))?)
}

fn carry_out(
    comparison: &Comparison,
    run: &Run,
    settings: &Settings,
    plan: &Plan,
    manner: Manner,
) -> Result<Ending, Failure> {
    comparison.save(run)?;
    interrupt::be_careful();
    let budget = Budget::new(settings, plan);
    let cells = comparison.cells(run.folder());
    let mut left = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        if cell.2.outcome()?.is_none() {
            left.push((at, cell));
        }
    }
    if !manner.quiet {
        output::say(&format!("{budget}\n  run       {}", run.folder().display()));
        let done = cells.len() - left.len();
        let before = if done > 0 { format!(", {done} of them done before") } else { String::new() };
        output::say(&format!("  cells     {}{before}\n", cells.len()));
    }
    let each = settings.epochs * plan.steps;
    let bar = progress::bar(left.len() as u64 * each, "steps, {eta} left", manner.quiet);
    for (number, (at, (candidate, seed, trial))) in left.iter().enumerate() {
        let training = Training::new(settings, plan, candidate, *seed)?;
        let about = format!("[{}/{}] {}, seed {seed}", at + 1, cells.len(), candidate.name());
        let mut told = |steps: u64, loss: f64, accuracy: f64| {
            bar.set_position(number as u64 * each + steps);
            let epoch = (steps.max(1) - 1) / plan.steps + 1;
            bar.set_message(format!(
                "{about}  epoch {epoch}/{}  loss {loss:.3}, {}",
                settings.epochs,
                percent(accuracy)
            ));
        };
        let outcome = match trial.carry_out(training, interrupt::stop(), &mut told) {
            Ok(outcome) => outcome,
            Err(error) => {
                // If the log cannot be written either, the first error is the one to report.
                let _ = run.log(&format!("failed: {about}: {error}"));
                return Err(error.into());
            }
        };
        let Some(outcome) = outcome else {
            bar.finish_and_clear();
            run.log("stopped")?;
            return interrupted(run, manner, number, left.len());
        };
        let line = line(&about, &outcome);
        run.log(&line)?;
        // The table so far: whoever looks in the meantime finds it.
        Report::new(comparison, run.folder(), budget.clone())?.write(run)?;
        if !manner.quiet {
            bar.suspend(|| output::say(&line));
        }
    }
    bar.finish_and_clear();
    let report = Report::new(comparison, run.folder(), budget)?;
    report.write(run)?;
    run.log("finished")?;
    if manner.json {
        print_json(&report)?;
    } else if !manner.quiet {
        print(&format!("\n{report}"))?;
        let table = run.folder().join(Report::MARKDOWN);
        output::say(&format!("\nalso in {} and {}", table.display(), Report::JSON));
    }
    Ok(Ending::Done)
}

fn line(about: &str, outcome: &TrialOutcome) -> String {
    format!(
        "{about}: test accuracy {}, training {}; {}",
        percent(outcome.test_accuracy),
        percent(outcome.training_accuracy),
        duration(outcome.seconds)
    )
}

/// Says how to go on; that is worth a line even to those who want quiet.
fn interrupted(run: &Run, manner: Manner, done: usize, left: usize) -> Result<Ending, Failure> {
    let resume = command("resume", run.folder());
    output::say(&format!(
        "interrupted: {done} of {left} cells were finished, the next one is saved\nto go on: {resume}"
    ));
    if manner.json {
        let run = run.folder();
        print_json(&serde_json::json!({ "outcome": "interrupted", "run": run, "resume": resume }))?;
    }
    Ok(Ending::Interrupted)
}
