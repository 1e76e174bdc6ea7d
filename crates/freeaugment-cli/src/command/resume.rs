//! `freeaugment resume`

use freeaugment_search::{Error, RunWriter, Task};

use super::{compare, find, search, use_threads};
use crate::arguments::ResumeArguments;
use crate::exit::{Ending, Failure};
use crate::interrupt;

pub(crate) fn run(arguments: &ResumeArguments) -> Result<Ending, Failure> {
    let manner = arguments.manner;
    use_threads(manner.threads)?;
    interrupt::listen(manner.quiet)?;
    let run = RunWriter::open(&arguments.run)?;
    match run.task() {
        Task::Search => {
            check_network(&run)?;
            search::resume(&run, manner)
        }
        Task::Find => find::resume(&run, manner),
        Task::Comparison => compare::resume(&run, manner),
    }
}

/// A search around a model of one's own goes on only where that model is.
fn check_network(run: &RunWriter) -> Result<(), Error> {
    let settings = run.settings()?;
    let Some(network) = settings.own_network() else { return Ok(()) };
    let reason = format!(
        "was begun around a model of one's own, {network}: it goes on where that model is, in Python with freeaugment.torch.Search"
    );
    Err(Error::NotARun { path: run.folder().to_owned(), reason })
}
