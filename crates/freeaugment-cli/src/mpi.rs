//! Processes that share a run, over MPI.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ferrompi::{Communicator, Mpi, ThreadLevel};
use freeaugment_nn::ranks::Ranks;

use crate::exit::{self, Failure};
use crate::output;

/// MPI, from its beginning to its end.
pub(crate) struct Joined(Mpi);

impl Joined {
    pub(crate) fn new() -> Result<Self, Failure> {
        let failed = |reason: String| Failure::Unforeseen(format!("MPI cannot be used: {reason}"));
        // One thread at a time talks to others, but not always the same.
        let mpi = Mpi::init_thread(ThreadLevel::Serialized).map_err(|error| failed(error.to_string()))?;
        if mpi.thread_level() < ThreadLevel::Serialized {
            return Err(failed("it serves one thread only".to_owned()));
        }
        Ok(Self(mpi))
    }

    pub(crate) fn ranks(&self) -> Arc<dyn Ranks> {
        Arc::new(World { world: self.0.world(), sent: AtomicU64::new(0) })
    }

    /// Ends all processes.
    pub(crate) fn abort(&self, number: u8) -> ! {
        self.0.world().abort(number.into())
    }
}

/// All processes that were started together.
struct World {
    world: Communicator,
    sent: AtomicU64,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} of {}", self.world.rank(), self.world.size())
    }
}

impl World {
    /// What cannot be told to others ends all of them.
    fn done(&self, result: Result<(), String>) {
        if let Err(error) = result {
            let rank = self.world.rank();
            output::say(&exit::line(&format!("process {rank}: another process cannot be reached: {error}")));
            self.world.abort(exit::UNFORESEEN.into());
        }
    }

    fn count(&self, sent: usize) {
        self.sent.fetch_add(sent as u64, Ordering::Relaxed);
    }
}

/// Lengths and places as MPI counts them.
fn layout(lens: &[usize]) -> Result<(Vec<i32>, Vec<i32>), String> {
    let (mut end, mut places) = (0, Vec::with_capacity(lens.len()));
    for len in lens {
        places.push(end as i32);
        end += len;
    }
    match i32::try_from(end) {
        Ok(_) => Ok((lens.iter().map(|len| *len as i32).collect(), places)),
        Err(_) => Err(format!("{end} bytes at once are more than MPI can count")),
    }
}

impl Ranks for World {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn gather(&self, own: &[u8], lens: &[usize]) -> Vec<u8> {
        let mut all = vec![0; lens.iter().sum()];
        self.done(layout(lens).and_then(|(counts, places)| {
            self.world.allgatherv(own, &mut all, &counts, &places).map_err(|error| error.to_string())
        }));
        self.count(own.len() * (self.size() - 1));
        all
    }

    fn exchange(&self, own: &[u8], to: &[usize], from: &[usize]) -> Vec<u8> {
        let mut all = vec![0; from.iter().sum()];
        self.done(layout(to).and_then(|(to, places)| {
            let (from, targets) = layout(from)?;
            self.world
                .alltoallv(own, &to, &places, &mut all, &from, &targets)
                .map_err(|error| error.to_string())
        }));
        self.count(own.len() - to[self.rank()]);
        all
    }

    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}
