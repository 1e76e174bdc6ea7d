//! Batches prepared ahead of time, on threads of their own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use freeaugment::Images;
use freeaugment_base::random::{Purpose, Stream};

use crate::batch::Batch;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::pipeline::{Pipeline, View};
use crate::split::shuffle;

/// Which images make up which batch, and what is drawn for them.
#[derive(Clone, Debug)]
pub struct Order {
    /// The images.
    pub indices: Vec<u32>,
    /// Images in a batch.
    pub batch: usize,
    /// Orders of different purposes are unrelated.
    pub purpose: Purpose,
    /// The seed of order and views.
    pub seed: u64,
    /// Whether to shuffle every epoch, leave out an incomplete last batch and draw views: training. Otherwise the
    /// images come in their order, all of them, as evaluation sees them.
    pub training: bool,
    /// Whether training views are drawn; without them images are prepared as for evaluation.
    pub views: bool,
}

impl Order {
    /// Batches in an epoch.
    pub fn batches(&self) -> usize {
        if self.training { self.indices.len() / self.batch } else { self.indices.len().div_ceil(self.batch) }
    }

    /// The images of batch `number`, counted from the beginning of the run, and its epoch.
    fn members(&self, number: u64) -> (u32, Vec<u32>) {
        let per_epoch = self.batches().max(1) as u64;
        let (epoch, within) = ((number / per_epoch) as u32, (number % per_epoch) as usize);
        let mut indices = self.indices.clone();
        if self.training {
            shuffle(&mut indices, Stream::new(self.seed, self.purpose, epoch, 0));
        }
        let end = ((within + 1) * self.batch).min(indices.len());
        (epoch, indices[within * self.batch..end].to_vec())
    }

    /// Batch `number`, at the place where the policy stands: a pure function of its arguments.
    pub fn prepare(&self, dataset: &Dataset, pipeline: &Pipeline, number: u64) -> Result<Batch, Error> {
        let (epoch, indices) = self.members(number);
        let shape = pipeline.shape(indices.len());
        let mut data = Vec::with_capacity(shape.count * shape.image());
        let mut views = Vec::with_capacity(indices.len());
        for &index in &indices {
            let picture = dataset.read(index)?;
            let view = if self.views {
                let view = pipeline.draw(self.seed, epoch, index, &picture);
                data.extend(pipeline.before(&picture, &view));
                view
            } else {
                data.extend(pipeline.evaluate(&picture));
                View::default()
            };
            views.push(view);
        }
        let images = Images::new(data, shape)
            .map_err(|error| Error::BadImage { name: "a batch".to_owned(), reason: error.to_string() })?;
        let labels = indices.iter().map(|&index| dataset.label(index)).collect();
        Ok(Batch { images, labels, indices, views, epoch })
    }
}

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
        self.receivers[worker].recv().unwrap_or_else(|_| {
            Err(Error::Setting { key: "workers", reason: "the loader has no batches left".to_owned() }.into())
        })
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

fn send<T, E>(
    prepare: &dyn Fn(u64) -> Result<T, E>,
    numbers: impl Iterator<Item = u64>,
    sender: &SyncSender<Result<T, E>>,
) {
    for number in numbers {
        let batch = prepare(number);
        let failed = batch.is_err();
        if sender.send(batch).is_err() || failed {
            return;
        }
    }
}
