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
use crate::together;

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
    let (ranks, manner) = (together::ranks(), together::manner(trials.manner));
    let prepared = together::settle(prepare(policies, baseline, trials, manner))?;
    let Some((comparison, settings, setup)) = prepared else { return Ok(Ending::Done) };
    together::settle(agree(&comparison, &settings, &setup))?;
    if !ranks.is_first() {
        return follow(&comparison, &settings, &setup);
    }
    let folder = folder(trials.source.out.as_ref(), kind);
    if Run::open(&folder).is_ok_and(|run| run.task() == Task::Comparison) {
        // What is finished there is not done again.
        let run = RunWriter::open(&folder)?;
        let comparison = comparison.join(&run, &settings, &setup)?;
        return carry_out(&comparison, &run, &settings, &setup, manner);
    }
    let run = comparison.create(&folder, &settings, &setup, output::typed())?;
    carry_out(&comparison, &run, &settings, &setup, manner)
}

/// What is compared, how, and with which data; none where only a plan was asked for, which is printed.
fn prepare(
    policies: &[String],
    baseline: Option<&str>,
    trials: &Trials,
    manner: Manner,
) -> Result<Option<(Comparison, Settings, Setup)>, Failure> {
    let ranks = together::ranks();
    let settings = configuration::settings(Task::Comparison, &trials.source, &trials.settings.0)?;
    use_threads(manner.threads)?;
    check_device(&settings)?;
    let comparison = Comparison::new(policies, baseline, trials.seeds, &settings)?;
    let read = || Setup::for_training(&settings, &Reading::new(manner.quiet));
    if trials.source.dry_run {
        if ranks.is_first() {
            plan(&comparison, &settings, &read()?, manner)?;
        }
        return Ok(None);
    }
    interrupt::listen(manner.quiet)?;
    if let Some(folder) = trials.source.out.as_ref().filter(|_| ranks.is_first())
        && !Run::open(folder).is_ok_and(|run| run.task() == Task::Comparison)
    {
        RunWriter::check_free(folder)?;
    }
    let setup = read()?.with_ranks(&ranks)?;
    Ok(Some((comparison, settings, setup)))
}

/// What would be done, and how long it would take.
fn plan(comparison: &Comparison, settings: &Settings, setup: &Setup, manner: Manner) -> Result<(), Failure> {
    let estimate = ComparisonEstimate::measure(comparison, settings, setup)?;
    let budget = Budget::new(settings, setup);
    if manner.json {
        print_json(&serde_json::json!({ "budget": budget, "estimate": estimate }))?;
    } else {
        print(&format!("{budget}\n\n{estimate}"))?;
    }
    Ok(())
}

fn agree(comparison: &Comparison, settings: &Settings, setup: &Setup) -> Result<(), Failure> {
    let (ranks, work) = (together::ranks(), comparison.work());
    Ok(freeaugment_search::agree(&*ranks, Task::Comparison, settings, &setup.identity, &work)?)
}

/// Goes on with the cells that are left. The process that writes has the run to itself.
pub(crate) fn resume(run: &Run, writer: Option<&RunWriter>, manner: Manner) -> Result<Ending, Failure> {
    let (comparison, settings, setup) = together::settle(prepare_again(run, manner))?;
    together::settle(agree(&comparison, &settings, &setup))?;
    let Some(writer) = writer else { return follow(&comparison, &settings, &setup) };
    writer.log("resumed")?;
    carry_out(&comparison, writer, &settings, &setup, manner)
}

fn prepare_again(run: &Run, manner: Manner) -> Result<(Comparison, Settings, Setup), Failure> {
    let settings = run.settings()?;
    check_device(&settings)?;
    let comparison = run.comparison()?;
    let setup = Setup::for_training(&settings, &Reading::new(manner.quiet))?.with_ranks(&together::ranks())?;
    run.require_data(&setup.identity)?;
    Ok((comparison, settings, setup))
}

/// What the other processes do that share [`carry_out`] with the first one.
fn follow(comparison: &Comparison, settings: &Settings, setup: &Setup) -> Result<Ending, Failure> {
    interrupt::be_careful();
    Ok(match comparison.follow(settings, setup, interrupt::stop())? {
        Halt::Finished => Ending::Done,
        Halt::Stopped => Ending::Interrupted,
    })
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
