//! `freeaugment resume`

use freeaugment_search::{Error, Run, RunWriter, Task};

use super::{compare, find, search, use_threads};
use crate::arguments::{Manner, ResumeArguments};
use crate::exit::{Ending, Failure};
use crate::interrupt;
use crate::together;

pub(crate) fn run(arguments: &ResumeArguments) -> Result<Ending, Failure> {
    let manner = together::manner(arguments.manner);
    let (run, writer) = together::settle(open(arguments, manner))?;
    match (run.task(), &writer) {
        (Task::Search, _) => search::resume(&run, writer.as_ref(), manner),
        (Task::Comparison, _) => compare::resume(&run, writer.as_ref(), manner),
        (Task::Find, Some(writer)) => find::resume(writer, manner),
        (Task::Find, None) => Ok(Ending::Done),
    }
}

/// The run, and the right to write into it where this process is the one that does.
fn open(arguments: &ResumeArguments, manner: Manner) -> Result<(Run, Option<RunWriter>), Failure> {
    use_threads(manner.threads)?;
    interrupt::listen(manner.quiet)?;
    let ranks = together::ranks();
    let writer = ranks.is_first().then(|| RunWriter::open(&arguments.run)).transpose()?;
    let run = Run::open(&arguments.run)?;
    if run.task() == Task::Find && !ranks.is_alone() {
        return Err(Failure::Work(Error::NotARun {
            path: run.folder().to_owned(),
            reason: "is a find, which works in one process: start it without mpirun".to_owned(),
        }));
    }
    if run.task() == Task::Search {
        check_network(&run)?;
    }
    Ok((run, writer))
}

/// A search around a model of one's own goes on only where that model is.
fn check_network(run: &Run) -> Result<(), Error> {
    let settings = run.settings()?;
    let Some(network) = settings.own_network() else { return Ok(()) };
    let reason = format!(
        "was begun around a model of one's own, {network}: it goes on where that model is, in Python with freeaugment.torch.Search"
    );
    Err(Error::NotARun { path: run.folder().to_owned(), reason })
}
