//! Ranks that are threads of one process: for tests of what is shared, without anything to install.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use super::Ranks;

/// One of several threads.
#[derive(Debug)]
struct Thread {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Mutex<Vec<Receiver<Vec<u8>>>>,
    sent: AtomicU64,
}

impl Thread {
    /// Hands every rank its message and returns what each of them has for this one.
    fn swap<'a>(&self, messages: impl Iterator<Item = &'a [u8]>, lens: &[usize]) -> Vec<u8> {
        for (rank, (to, message)) in self.to.iter().zip(messages).enumerate() {
            if rank != self.rank {
                self.sent.fetch_add(message.len() as u64, Ordering::Relaxed);
            }
            // Whoever does not listen has ended, which is noticed below.
            let _ = to.send(message.to_vec());
        }
        let from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::with_capacity(lens.iter().sum());
        for (rank, (from, len)) in from.iter().zip(lens).enumerate() {
            let message = from.recv().unwrap_or_else(|_| panic!("rank {rank} has ended"));
            assert_eq!(message.len(), *len, "what rank {rank} says has the length that was expected");
            all.extend(message);
        }
        all
    }
}

impl Ranks for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn gather(&self, own: &[u8], lens: &[usize]) -> Vec<u8> {
        self.swap((0..self.size()).map(|_| own), lens)
    }

    fn exchange(&self, own: &[u8], to: &[usize], from: &[usize]) -> Vec<u8> {
        let mut rest = own;
        let parts = to.iter().map(move |len| rest.split_off(..*len).expect("one part for every rank"));
        self.swap(parts, from)
    }

    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

/// Does the same work on so many ranks, each of them a thread with a pool of one thread, and returns what each of them
/// gave. A rank that ends early, by a panic or because it has nothing more to say, makes those panic that wait for it.
pub fn in_threads<R: Send>(size: usize, work: impl Fn(Arc<dyn Ranks>) -> R + Sync) -> Vec<R> {
    let mut receivers: Vec<Vec<Receiver<Vec<u8>>>> = (0..size).map(|_| Vec::new()).collect();
    let senders: Vec<Vec<Sender<Vec<u8>>>> = (0..size)
        .map(|_| {
            let channels = receivers.iter_mut().map(|receivers| {
                let (sender, receiver) = channel();
                receivers.push(receiver);
                sender
            });
            channels.collect()
        })
        .collect();
    let ranks = senders.into_iter().zip(receivers).enumerate();
    let ranks = ranks.map(|(rank, (to, from))| Thread { rank, to, from: Mutex::new(from), sent: 0.into() });
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = ranks
            .map(|ranks| {
                scope.spawn(move || {
                    // A rank that waits holds its thread: with a pool in common the others could not go on.
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                    pool.expect("a thread can be started").install(|| work(Arc::new(ranks)))
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
