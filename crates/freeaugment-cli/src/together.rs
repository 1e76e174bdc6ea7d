//! Several processes that share one run: started by mpirun or srun, of which the first one writes and talks.

use std::sync::{Arc, OnceLock};

use freeaugment_nn::ranks::{Alone, Ranks};
use freeaugment_search::Error;

use crate::arguments::{Command, Manner, Record};
use crate::exit::{self, CONFIGURATION, Ending, Failure};
#[cfg(feature = "mpi")]
use crate::mpi;
use crate::output;

static RANKS: OnceLock<Arc<dyn Ranks>> = OnceLock::new();

/// What a launcher says of the processes that it started.
struct Launched {
    size: usize,
    rank: usize,
    /// The variable that says so.
    variable: &'static str,
}

/// Variables with the number of processes and with that of this one: Open MPI, MPICH and Intel MPI, MVAPICH, and a step of
/// Slurm. `SLURM_NTASKS` is no sign: a script of one process has it too.
const LAUNCHERS: [[&str; 2]; 4] = [
    ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"],
    ["PMI_SIZE", "PMI_RANK"],
    ["MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"],
    ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID"],
];

/// Whether a launcher started several processes; `read` reads a variable.
fn launched(read: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| read(name)?.parse::<usize>().ok();
    let known = |[size, rank]: [&'static str; 2]| {
        Some(Launched { size: number(size)?, rank: number(rank)?, variable: size })
    };
    LAUNCHERS.into_iter().filter_map(known).find(|launched| launched.size > 1)
}

fn here() -> Option<Launched> {
    launched(|name| std::env::var(name).ok())
}

/// Whether another process says what there is to say of what was typed.
pub(crate) fn is_silent() -> bool {
    here().is_some_and(|launched| launched.rank > 0)
}

/// Whether a command can be shared.
fn is_shared(command: &Command) -> bool {
    matches!(command, Command::Search(_) | Command::Train(_) | Command::Compare(_) | Command::Resume(_))
}

/// Whether a command must not be done by several processes that do not know of each other: they would all write.
fn is_alone(command: &Command) -> bool {
    matches!(command, Command::Find(_))
}

/// Joins the processes that were started together, for as long as what is returned lives.
pub(crate) fn join(command: &Command) -> Result<Option<Joined>, Failure> {
    let Some(launched) = here().filter(|_| is_shared(command) || is_alone(command)) else { return Ok(None) };
    let Launched { size, rank, variable } = launched;
    let refuse = |reason: &str| {
        let message = format!("this is one of {size} processes ({variable}), {reason}");
        Err(Failure::common(rank == 0, CONFIGURATION, message))
    };
    if is_alone(command) {
        return refuse("and a find works in one: search, train, compare and resume can be shared");
    }
    let joined = match start() {
        None => {
            return refuse(
                "and this program is built without the cargo feature `mpi`: build it with `--features mpi`, or start it once",
            );
        }
        Some(joined) => joined?,
    };
    let found = joined.ranks().size();
    if found != size {
        return refuse(&format!(
            "but MPI finds {found}: start it with the mpirun of the MPI that it was built with, or with `srun --mpi=pmix`"
        ));
    }
    RANKS.get_or_init(|| joined.ranks());
    Ok(Some(joined))
}

#[cfg(feature = "mpi")]
pub(crate) use mpi::Joined;

#[cfg(feature = "mpi")]
#[allow(clippy::unnecessary_wraps, reason = "without the feature there is none")]
fn start() -> Option<Result<Joined, Failure>> {
    Some(Joined::new())
}

/// What cannot be had without the feature.
#[cfg(not(feature = "mpi"))]
pub(crate) enum Joined {}

#[cfg(not(feature = "mpi"))]
impl Joined {
    fn ranks(&self) -> Arc<dyn Ranks> {
        match *self {}
    }

    fn abort(&self, _number: u8) -> ! {
        match *self {}
    }
}

#[cfg(not(feature = "mpi"))]
fn start() -> Option<Result<Joined, Failure>> {
    None
}

/// The processes that share what is done.
pub(crate) fn ranks() -> Arc<dyn Ranks> {
    Arc::clone(RANKS.get_or_init(|| Arc::new(Alone)))
}

/// How this process does what was asked for: one talks, and the others say nothing.
pub(crate) fn manner(asked: Manner) -> Manner {
    if ranks().is_first() {
        return asked;
    }
    let nothing = Record { no_report: true, tensorboard: false };
    Manner { quiet: true, json: false, record: nothing, ..asked }
}

/// Goes on where all processes can; otherwise the first process says why one of them cannot, and all end.
pub(crate) fn settle<T>(own: Result<T, Failure>) -> Result<T, Failure> {
    let ranks = ranks();
    if ranks.is_alone() {
        return own;
    }
    let message = own.as_ref().err().map(|failure| (failure.number(), failure.text()));
    let bytes = message.map_or_else(Vec::new, |(number, text)| [&[number], text.as_bytes()].concat());
    let all = ranks.tell(&bytes);
    let failed = all.iter().enumerate().find_map(|(rank, said)| Some((rank, said.split_first()?)));
    let Some((rank, (&number, text))) = failed else { return own };
    let text = String::from_utf8_lossy(text);
    let message = if rank == 0 { text.into_owned() } else { format!("process {rank}: {text}") };
    Err(Failure::common(ranks.is_first(), number, message))
}

/// What a process ends with. One that fails in the middle of common work ends the others too: they would wait for it.
pub(crate) fn end(joined: Option<&Joined>, ending: Result<Ending, Failure>) -> Result<Ending, Failure> {
    let Some(joined) = joined else { return ending };
    let ranks = ranks();
    let ending = match ending {
        // All processes have seen the same loss.
        Err(Failure::Work(Error::Diverged { .. })) if !ranks.is_first() => Err(Failure::Told(exit::DIVERGED)),
        Err(Failure::Common { .. } | Failure::Told(_) | Failure::Work(Error::Diverged { .. })) | Ok(_) => {
            ending
        }
        Err(failure) => {
            let message = format!("process {} of {}: {}", ranks.rank(), ranks.size(), failure.text());
            output::say(&exit::line(&message));
            joined.abort(failure.number())
        }
    };
    // A launcher may end all that are left when one has ended: nobody does before all are done.
    ranks.any(false);
    ending
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched_with(variables: &[(&str, &str)]) -> Option<(usize, usize, &'static str)> {
        let read =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        launched(read).map(|Launched { size, rank, variable }| (size, rank, variable))
    }

    #[test]
    fn several_processes_are_told_from_one_that_a_launcher_started() {
        assert_eq!(launched_with(&[]), None);
        let mpirun = [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "2")];
        assert_eq!(launched_with(&mpirun), Some((4, 2, "OMPI_COMM_WORLD_SIZE")));
        assert_eq!(launched_with(&[("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")]), None);
        // A script of sbatch, which is one process however many tasks it may start.
        assert_eq!(launched_with(&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")]), None);
        let step = [("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "3")];
        assert_eq!(launched_with(&step), Some((4, 3, "SLURM_STEP_NUM_TASKS")));
        assert_eq!(launched_with(&[("PMI_SIZE", "many"), ("PMI_RANK", "0")]), None);
    }
}
