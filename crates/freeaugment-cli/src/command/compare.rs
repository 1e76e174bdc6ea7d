//! `freeaugment train` and `freeaugment compare`

use freeaugment_search::{
    Budget, Comparison, ComparisonEstimate, Halt, Notes, Run, RunWriter, Settings, Setup, Task,
};

use super::{check_device, configuration, folder, use_threads};
use crate::arguments::{CompareArguments, Manner, TrainArguments, Trials};
use crate::exit::{Ending, Failure};
use crate::follow::Follow;
use crate::interrupt;
use crate::output::{self, command, print, print_json};
use crate::progress::{Cells, Reading};

pub(crate) fn train(arguments: &TrainArguments) -> Result<Ending, Failure> {
    begin("train", std::slice::from_ref(&arguments.policy), None, &arguments.trials)
}

pub(crate) fn run(arguments: &CompareArguments) -> Result<Ending, Failure> {
    if let Some(plan) = &arguments.plan {
        return super::grid::write(
            &arguments.policies,
            arguments.baseline.as_deref(),
            None,
            &arguments.trials,
            plan,
        );
    }
    begin("compare", &arguments.policies, arguments.baseline.as_deref(), &arguments.trials)
}

fn begin(
    kind: &str,
    policies: &[String],
    baseline: Option<&str>,
    trials: &Trials,
) -> Result<Ending, Failure> {
    let manner = trials.manner;
    let settings = configuration::settings(Task::Comparison, &trials.source, &trials.settings.0)?;
    use_threads(manner.threads)?;
    check_device(&settings)?;
    let comparison = Comparison::new(policies, baseline, trials.seeds, &settings)?;
    let read = || Setup::for_training(&settings, &Reading::new(manner.quiet));
    if trials.source.dry_run {
        let setup = read()?;
        let estimate = ComparisonEstimate::measure(&comparison, &settings, &setup)?;
        let budget = Budget::new(&settings, &setup);
        if manner.json {
            print_json(&serde_json::json!({ "budget": budget, "estimate": estimate }))?;
        } else {
            print(&format!("{budget}\n\n{estimate}"))?;
        }
        return Ok(Ending::Done);
    }
    let folder = folder(trials.source.out.as_ref(), kind);
    interrupt::listen(manner.quiet)?;
    if Run::open(&folder).is_ok_and(|run| run.task() == Task::Comparison) {
        // What is finished there is not done again.
        let run = RunWriter::open(&folder)?;
        let setup = read()?;
        let comparison = comparison.join(&run, &settings, &setup)?;
        return carry_out(&comparison, &run, &settings, &setup, manner);
    }
    RunWriter::check_free(&folder)?;
    let setup = read()?;
    let run = comparison.create(&folder, &settings, &setup, output::typed())?;
    carry_out(&comparison, &run, &settings, &setup, manner)
}

/// Goes on with the cells that are left.
pub(crate) fn resume(run: &RunWriter, manner: Manner) -> Result<Ending, Failure> {
    let settings = run.settings()?;
    check_device(&settings)?;
    let comparison = run.comparison()?;
    let setup = Setup::for_training(&settings, &Reading::new(manner.quiet))?;
    run.require_data(&setup.identity)?;
    run.log("resumed")?;
    carry_out(&comparison, run, &settings, &setup, manner)
}

fn carry_out(
    comparison: &Comparison,
    run: &RunWriter,
    settings: &Settings,
    setup: &Setup,
    manner: Manner,
) -> Result<Ending, Failure> {
    interrupt::be_careful();
    if !manner.quiet {
        let budget = Budget::new(settings, setup);
        let notes = Notes(&setup.dataset.notes);
        output::say(&format!("{budget}\n  run       {}{notes}", run.folder().display()));
    }
    let follow = Follow::new(run.folder(), manner.record);
    let mut cells = Cells::new("test", manner.quiet, follow.clone());
    let halt = comparison.run(run, settings, setup, &mut cells, interrupt::stop());
    let (done, left) = cells.end();
    follow.end(halt.is_err());
    if halt? == Halt::Stopped {
        return interrupted(run, manner, done, left);
    }
    let report = comparison.report(run, settings, setup)?;
    if manner.json {
        print_json(&report)?;
    } else if !manner.quiet {
        print(&format!("\n{report}"))?;
        output::say(&format!("\nalso in {} and result.json", run.folder().join("result.md").display()));
        follow.tell(run.folder());
    }
    Ok(Ending::Done)
}

/// Says how to go on; that is worth a line even to those who want quiet.
fn interrupted(run: &RunWriter, manner: Manner, done: usize, left: usize) -> Result<Ending, Failure> {
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
