//! `freeaugment search`

use std::path::Path;

use freeaugment_base::percent;
use freeaugment_search::{
    Halt, Learned, Overview, Planted, Proof, Run, RunWriter, Search, SearchEstimate, Session as _, Settings,
    Setup, Task, drive, follow_proof, prove,
};
use serde::Serialize;

use super::{check_device, configuration, folder, use_threads};
use crate::arguments::{Manner, SearchArguments};
use crate::exit::{Ending, Failure};
use crate::follow::Follow;
use crate::interrupt;
use crate::output::{self, command, print, print_json};
use crate::progress::{Proving, Reading, Steps};
use crate::together;

pub(crate) fn run(arguments: &SearchArguments) -> Result<Ending, Failure> {
    let (ranks, manner) = (together::ranks(), together::manner(arguments.manner));
    let folder = folder(arguments.source.out.as_ref(), "search");
    let Some(search) = together::settle(begin(arguments, manner, &folder))? else { return Ok(Ending::Done) };
    together::settle(agree(&search, ""))?;
    if !ranks.is_first() {
        return follow(search);
    }
    // What is wrong with settings or data is known by now, so that no folder is left behind for nothing.
    let data = &search.setup().identity;
    let run = RunWriter::create(&folder, Task::Search, search.settings(), data, output::typed())?;
    if !manner.quiet {
        let overview = Overview::new(search.settings(), search.setup())?;
        output::say(&format!("{overview}\n  run       {}\n", folder.display()));
    }
    carry_out(search, &run, manner)
}

/// A search at its beginning; none where only a plan was asked for, which is printed.
fn begin(arguments: &SearchArguments, manner: Manner, folder: &Path) -> Result<Option<Search>, Failure> {
    let ranks = together::ranks();
    let settings = configuration::settings(Task::Search, &arguments.source, &arguments.settings.0)?;
    use_threads(manner.threads)?;
    check_device(&settings)?;
    if arguments.source.dry_run {
        if ranks.is_first() {
            plan(&settings, manner)?;
        }
        return Ok(None);
    }
    if ranks.is_first() {
        // Asked before the data is read, which may take long, and once more when the folder is made.
        RunWriter::check_free(folder)?;
    }
    interrupt::listen(manner.quiet)?;
    let setup = Setup::for_search(&settings, &Reading::new(manner.quiet))?.with_ranks(&ranks)?;
    Ok(Some(Search::new(settings, setup)?))
}

/// What would be done, and how long it would take.
fn plan(settings: &Settings, manner: Manner) -> Result<(), Failure> {
    let setup = Setup::for_search(settings, &Reading::new(manner.quiet))?;
    let overview = Overview::new(settings, &setup)?;
    let estimate = SearchEstimate::measure(settings, &setup)?;
    if manner.json {
        print_json(&serde_json::json!({ "plan": overview, "estimate": estimate }))?;
    } else {
        print(&format!("{overview}\n\n{estimate}"))?;
    }
    Ok(())
}

fn agree(search: &Search, work: &str) -> Result<(), Failure> {
    let (settings, identity) = (search.settings(), &search.setup().identity);
    Ok(freeaugment_search::agree(&*together::ranks(), Task::Search, settings, identity, work)?)
}

/// Goes on with a search. The process that writes has the run to itself.
pub(crate) fn resume(run: &Run, writer: Option<&RunWriter>, manner: Manner) -> Result<Ending, Failure> {
    let mut search = together::settle(begin_again(run, manner))?;
    together::settle(agree(&search, "resumed"))?;
    let Some(writer) = writer else {
        RunWriter::restore_from_first(&mut search)?;
        return follow(search);
    };
    writer.restore(&mut search)?;
    let progress = search.progress();
    if !manner.quiet && !progress.is_finished() {
        let (done, total) = (progress.done, progress.total);
        output::say(&format!("{}: going on after step {done} of {total}", run.folder().display()));
    }
    carry_out(search, writer, manner)
}

fn begin_again(run: &Run, manner: Manner) -> Result<Search, Failure> {
    let settings = run.settings()?;
    check_device(&settings)?;
    let setup = Setup::for_search(&settings, &Reading::new(manner.quiet))?.with_ranks(&together::ranks())?;
    run.require_data(&setup.identity)?;
    Ok(Search::new(settings, setup)?)
}

/// What the other processes do that share [`carry_out`] with the first one.
fn follow(mut search: Search) -> Result<Ending, Failure> {
    interrupt::be_careful();
    if drive(&mut search, None, &mut (), interrupt::stop())? == Halt::Stopped
        || follow_proof(&search, interrupt::stop())? == Halt::Stopped
    {
        return Ok(Ending::Interrupted);
    }
    Ok(Ending::Done)
}

/// The last object that `--json` prints.
#[derive(Debug, Serialize)]
struct Ended<'a> {
    outcome: &'static str,
    run: &'a Path,
    policy: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
    learned: Option<&'a Learned>,
    planted: Option<&'a Planted>,
    proof: Option<&'a Proof>,
}

/// Takes the steps that are left, shows what was learned and proves it.
fn carry_out(mut search: Search, run: &RunWriter, manner: Manner) -> Result<Ending, Failure> {
    interrupt::be_careful();
    let follow = Follow::new(run.folder(), manner.record);
    if search.progress().is_finished() {
        if !manner.quiet {
            let steps = search.progress().total;
            output::say(&format!("{}: finished already, {steps} steps", run.folder().display()));
        }
    } else {
        let mut steps = Steps::new(&search, manner, follow.clone());
        let halt = run.search(&mut search, &mut steps, interrupt::stop());
        steps.end()?;
        follow.end(halt.is_err());
        if halt? == Halt::Stopped {
            let progress = search.progress();
            let done = format!("saved after step {} of {}", progress.done, progress.total);
            return interrupted(run, manner, &done);
        }
    }

    let policy = run.policy_path();
    let learned = Learned::load(&policy)?;
    let planted = Planted::new(search.settings(), &learned)?;
    let shows = !manner.quiet && !manner.json;
    if shows {
        print(&format!("\nlearned: {}\n\n{learned}", policy.display()))?;
        let when_it_began = run.epochs()?.iter().find_map(|epoch| epoch.validation_accuracy);
        let notes = [learned.collapse(), nothing_learned(&search), nothing_to_learn(when_it_began)];
        for note in notes.into_iter().flatten() {
            print(&format!("\nnote: {note}"))?;
        }
        if let Some(planted) = &planted {
            print(&format!("\n{planted}"))?;
        }
    }
    let mut proving = Proving::new(manner.quiet);
    let (halt, proof) = prove(&search, run, &mut proving, interrupt::stop())?;
    proving.end();
    follow.end(false);
    if halt == Halt::Stopped {
        return interrupted(run, manner, "the search is finished, its proof is not");
    }
    if let Some(proof) = proof.as_ref().filter(|_| shows) {
        print(&format!("\n{proof}"))?;
    }
    if manner.json {
        print_json(&Ended {
            outcome: "finished",
            run: run.folder(),
            policy: &policy,
            resume: None,
            learned: Some(&learned),
            planted: planted.as_ref(),
            proof: proof.as_ref(),
        })?;
    }
    if shows {
        output::say(&format!("\nnext: {}", command("show", &policy)));
        let data = output::data_flag(search.settings());
        let (program, policy) = (output::program(), output::quoted(run.folder()));
        output::say(&format!("      {program} compare{data} --policies standard,trivial-wide,{policy}"));
        follow.tell(run.folder());
    }
    Ok(Ending::Done)
}

/// What a search has to say that followed nothing but noise.
fn nothing_learned(search: &Search) -> Option<String> {
    let text = "the search learned nothing: none of its slopes is beyond noise, so the policy is close to the initial one";
    search.learned_nothing().then(|| text.to_owned())
}

/// What a search has to say that came too late: from this accuracy on, hardly an image is left that a policy could help
/// with.
fn nothing_to_learn(when_it_began: Option<f64>) -> Option<String> {
    const ALL_RIGHT: f64 = 0.995;
    let right = percent(when_it_began.filter(|right| *right >= ALL_RIGHT)?);
    Some(format!(
        "there was hardly anything to learn: when the policy began to, {right} of the validation images were right already"
    ))
}

/// Says how to go on; that is worth a line even to those who want quiet.
fn interrupted(run: &RunWriter, manner: Manner, done: &str) -> Result<Ending, Failure> {
    let resume = command("resume", run.folder());
    output::say(&format!("interrupted: {done}\nto go on: {resume}"));
    if manner.json {
        print_json(&Ended {
            outcome: "interrupted",
            run: run.folder(),
            policy: &run.policy_path(),
            resume: Some(resume),
            learned: None,
            planted: None,
            proof: None,
        })?;
    }
    Ok(Ending::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_came_too_late_says_so_and_others_do_not() {
        let said = nothing_to_learn(Some(0.999)).unwrap();
        assert!(said.contains("99.9 % of the validation images were right already"), "{said}");
        assert_eq!(nothing_to_learn(Some(0.98)), None);
        assert_eq!(nothing_to_learn(None), None);
    }
}
