//! From a search that stands anywhere to its result; what `search` and `resume` have in common.

use std::path::Path;

use freeaugment_nn::Device;
use freeaugment_search::{Error, Outcome, Plan, Run, Search, Settings, drive};
use serde::Serialize;

use crate::arguments::Manner;
use crate::exit::{Ending, Failure};
use crate::interrupt;
use crate::learned::Learned;
use crate::output::{self, command, print, print_json};
use crate::planted::Comparison;
use crate::progress::{Reading, Steps};
use crate::proof::{self, Proof};

/// The last object that `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'a> {
    outcome: &'static str,
    run: &'a Path,
    policy: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
    learned: Option<&'a Learned>,
    planted: Option<&'a Comparison>,
    proof: Option<&'a Proof>,
}

/// Threads that compute.
pub(crate) fn use_threads(threads: Option<u16>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.into())
        .build_global()
        .map_err(|error| Failure::Unforeseen(format!("{threads} threads cannot be started: {error}")))
}

/// Reads the data. What can be known to be wrong without it is looked at first.
pub(crate) fn plan(settings: &Settings, quiet: bool) -> Result<Plan, Error> {
    Device::open(&settings.device)?;
    Plan::new(settings, &Reading::new(quiet))
}

/// Takes the steps that are left, shows what was learned and proves it.
pub(crate) fn carry_out(mut search: Search, run: &Run, manner: Manner) -> Result<Ending, Failure> {
    interrupt::be_careful();
    if search.steps_done() < search.steps_total() {
        let mut steps = Steps::new(&search, manner);
        let outcome = drive(&mut search, run, &mut steps, interrupt::stop());
        steps.end()?;
        if outcome? == Outcome::Stopped {
            let done = format!("saved after step {} of {}", search.steps_done(), search.steps_total());
            return interrupted(run, manner, &done);
        }
    } else if !manner.quiet {
        output::say(&format!("{}: finished already, {} steps", run.folder().display(), search.steps_total()));
    }

    let policy = run.policy_path();
    let learned = Learned::load(&policy)?;
    let comparison = Comparison::new(search.settings(), &learned)?;
    let shows = !manner.quiet && !manner.json;
    if shows {
        print(&format!("\nlearned: {}\n\n{learned}", policy.display()))?;
        if let Some(comparison) = &comparison {
            print(&format!("\n{comparison}"))?;
        }
    }
    let mut proof = None;
    if proof::is_wanted(&search) {
        proof = proof::prove(&search, run, manner.quiet)?;
        let Some(proof) = &proof else {
            return interrupted(run, manner, "the search is finished, its proof is not");
        };
        if shows {
            print(&format!("\n{proof}"))?;
        }
    }
    if manner.json {
        print_json(&Report {
            outcome: "finished",
            run: run.folder(),
            policy: &policy,
            resume: None,
            learned: Some(&learned),
            planted: comparison.as_ref(),
            proof: proof.as_ref(),
        })?;
    }
    if shows {
        output::say(&format!("\nnext: {}", command("show", &policy)));
        let data = match &*search.settings().data {
            "" => String::new(),
            data => format!(" --data {}", output::quoted(Path::new(data))),
        };
        let (program, run) = (output::program(), output::quoted(run.folder()));
        output::say(&format!("      {program} compare{data} --policies standard,trivial-wide,{run}"));
    }
    Ok(Ending::Done)
}

/// Says how to go on; that is worth a line even to those who want quiet.
fn interrupted(run: &Run, manner: Manner, done: &str) -> Result<Ending, Failure> {
    let resume = command("resume", run.folder());
    output::say(&format!("interrupted: {done}\nto go on: {resume}"));
    if manner.json {
        print_json(&Report {
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
