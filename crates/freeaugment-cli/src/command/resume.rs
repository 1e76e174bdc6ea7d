//! `freeaugment resume`

use freeaugment_search::{RunWriter, Task};

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
        Task::Search => search::resume(&run, manner),
        Task::Find => find::resume(&run, manner),
        Task::Comparison => compare::resume(&run, manner),
    }
}
