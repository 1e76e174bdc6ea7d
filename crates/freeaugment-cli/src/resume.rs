//! `freeaugment resume`

use freeaugment_search::{Run, Search, Task};

use crate::arguments::ResumeArguments;
use crate::compare;
use crate::exit::{Ending, Failure};
use crate::interrupt;
use crate::output;
use crate::work;

pub(crate) fn run(arguments: &ResumeArguments) -> Result<Ending, Failure> {
    let manner = arguments.manner;
    work::use_threads(manner.threads)?;
    interrupt::listen(manner.quiet)?;
    if Run::task(&arguments.run) == Task::Training {
        return compare::resume(&arguments.run, manner);
    }
    let (run, settings) = Run::open(&arguments.run, Task::Search)?;
    let plan = work::plan(&settings, manner.quiet)?;
    let mut search = Search::new(settings, plan)?;
    run.restore(&mut search)?;
    if !manner.quiet && search.steps_done() < search.steps_total() {
        let (done, total) = (search.steps_done(), search.steps_total());
        output::say(&format!("{}: going on after step {done} of {total}", run.folder().display()));
    }
    work::carry_out(search, &run, manner)
}
