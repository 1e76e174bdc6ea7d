//! `freeaugment search`

use std::path::Path;

use freeaugment_search::{Run, Search, Task};

use crate::arguments::SearchArguments;
use crate::configuration;
use crate::estimate::Estimate;
use crate::exit::{Ending, Failure};
use crate::interrupt;
use crate::output::{self, print, print_json};
use crate::overview::Overview;
use crate::work;

/// Where runs go that nobody named.
pub(crate) const RUNS: &str = "runs";

pub(crate) fn run(arguments: &SearchArguments) -> Result<Ending, Failure> {
    let manner = arguments.manner;
    let settings = configuration::settings(Task::Search, &arguments.source, &arguments.settings.0)?;
    work::use_threads(manner.threads)?;
    let folder = arguments.source.out.clone().unwrap_or_else(|| Run::free_name(Path::new(RUNS), "search"));
    if arguments.source.dry_run {
        let plan = work::plan(&settings, manner.quiet)?;
        let overview = Overview::new(&settings, &plan)?;
        let estimate = Estimate::measure(&settings, &plan)?;
        if manner.json {
            print_json(&serde_json::json!({ "plan": overview, "estimate": estimate }))?;
        } else {
            print(&format!("{overview}\n\n{estimate}"))?;
        }
        return Ok(Ending::Done);
    }

    // Asked before the data is read, which may take long, and once more when the folder is made.
    Run::check_free(&folder)?;
    interrupt::listen(manner.quiet)?;
    let plan = work::plan(&settings, manner.quiet)?;
    let overview = Overview::new(&settings, &plan)?;
    let search = Search::new(settings, plan)?;
    // What is wrong with settings or data is known by now, so that no folder is left behind for nothing.
    let run = Run::create(&folder, Task::Search, search.settings(), &output::typed())?;
    if !manner.quiet {
        output::say(&format!("{overview}\n  run       {}\n", folder.display()));
    }
    work::carry_out(search, &run, manner)
}
