//! Batches prepared ahead of time, on threads of their own.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::error::Error;

/// Prepares batches ahead, on threads of its own. Dropping it ends its threads.
#[derive(Debug)]
pub struct Loader<T, E> {
    receivers: Vec<Receiver<Result<T, E>>>,
    threads: Vec<JoinHandle<()>>,
    next: u64,
    start: u64,
}

/// Batches that each thread holds ready.
const AHEAD: usize = 2;

impl<T: Send + 'static, E: From<Error> + Send + 'static> Loader<T, E> {
    /// Makes batches `start..end` (counted from the beginning of the run) with `prepare`, a pure function of their
    /// number, on so many threads.
    pub fn new(
        (start, end): (u64, u64),
        threads: usize,
        prepare: impl Fn(u64) -> Result<T, E> + Send + Sync + 'static,
    ) -> Self {
        let threads = threads.max(1) as u64;
        let prepare = Arc::new(prepare);
        let (receivers, threads) = (0..threads)
            .map(|worker| {
                let (sender, receiver) = sync_channel(AHEAD);
                let prepare = Arc::clone(&prepare);
                let numbers = (start + worker..end).step_by(threads as usize);
                (receiver, std::thread::spawn(move || send(&*prepare, numbers, &sender)))
            })
            .unzip();
        Self { receivers, threads, next: start, start }
    }

    /// The next batch.
    pub fn next_batch(&mut self) -> Result<T, E> {
        let worker = (self.next - self.start) as usize % self.receivers.len();
        self.next += 1;
        self.receivers[worker].recv().unwrap_or_else(|_| Err(Error::NoBatchLeft.into()))
    }
}

impl<T, E> Drop for Loader<T, E> {
    fn drop(&mut self) {
        // A thread that finds nobody listening stops.
        self.receivers.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn send<T, E: From<Error>>(
    prepare: &dyn Fn(u64) -> Result<T, E>,
    numbers: impl Iterator<Item = u64>,
    sender: &SyncSender<Result<T, E>>,
) {
    for number in numbers {
        // A thread that dies must not look like one that is done: what it said reaches whoever waits for the batch.
        let batch = catch_unwind(AssertUnwindSafe(|| prepare(number)))
            .unwrap_or_else(|panic| Err(Error::Panicked { message: message(panic.as_ref()) }.into()));
        let failed = batch.is_err();
        if sender.send(batch).is_err() || failed {
            return;
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it gave no reason").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_come_in_order_from_any_number_of_threads_and_then_there_are_none() {
        for threads in 1..=4 {
            let mut loader = Loader::<u64, Error>::new((3, 10), threads, |number| Ok(number * number));
            for number in 3..10 {
                assert_eq!(loader.next_batch().unwrap(), number * number);
            }
            assert!(matches!(loader.next_batch(), Err(Error::NoBatchLeft)));
        }
    }

    #[test]
    fn a_panic_on_a_thread_is_told_with_what_it_said() {
        let mut loader = Loader::<u64, Error>::new((0, 9), 2, |number| {
            assert!(number < 2, "batch {number} cannot be");
            Ok(number)
        });
        assert_eq!((loader.next_batch().unwrap(), loader.next_batch().unwrap()), (0, 1));
        let error = loader.next_batch().unwrap_err();
        assert!(matches!(error, Error::Panicked { .. }));
        assert_eq!(error.to_string(), "preparing a batch failed in a way nobody foresaw: batch 2 cannot be");
    }
}
