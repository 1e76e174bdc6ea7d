//! Which images make up which batch.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use freeaugment::Images;
use freeaugment_base::random::{Purpose, Stream};

use crate::batch::PictureBatch;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::pipeline::{Pipeline, View};
use crate::split::shuffle;

/// Which images make up which batch, and what is drawn for them.
#[derive(Debug)]
pub struct Order {
    indices: Vec<u32>,
    batch: usize,
    sequence: Sequence,
    /// Whether training views are drawn; without them images are prepared as for evaluation.
    views: bool,
    shuffled: Recent,
}

/// In which order images come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// As they are given, all of them: the last batch may be smaller.
    AsGiven,
    /// Shuffled anew every epoch, in whole batches: what is left over is left out.
    Shuffled {
        /// Orders of different purposes are unrelated.
        purpose: Purpose,
        /// The seed of order and views.
        seed: u64,
    },
}

/// The shuffled images of the epochs that were asked for last. An epoch is shuffled once, not once for every batch; two
/// are kept because the threads that prepare batches do not cross from one to the next at the same moment.
#[derive(Debug, Default)]
struct Recent(Mutex<Vec<(u32, Arc<Vec<u32>>)>>);

impl Recent {
    fn get(&self, epoch: u32, make: impl FnOnce() -> Vec<u32>) -> Arc<Vec<u32>> {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, indices)) = recent.iter().find(|(known, _)| *known == epoch) {
            return Arc::clone(indices);
        }
        if recent.len() == 2 {
            recent.remove(0);
        }
        let indices = Arc::new(make());
        recent.push((epoch, Arc::clone(&indices)));
        indices
    }
}

impl Order {
    /// Images in batches of so many. `views` says whether training views are drawn: crop, flip and cutout.
    pub fn new(indices: Vec<u32>, batch: usize, sequence: Sequence, views: bool) -> Self {
        Self { indices, batch: batch.max(1), sequence, views, shuffled: Recent::default() }
    }

    /// The images, in the order they were given.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Images in a batch.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Batches in an epoch.
    pub fn batches(&self) -> usize {
        match self.sequence {
            Sequence::Shuffled { .. } => self.indices.len() / self.batch,
            Sequence::AsGiven => self.indices.len().div_ceil(self.batch),
        }
    }

    /// The images of batch `number`, counted from the beginning of the run, and its epoch.
    fn members(&self, number: u64) -> (u32, Vec<u32>) {
        let per_epoch = self.batches().max(1) as u64;
        let (epoch, within) = ((number / per_epoch) as u32, (number % per_epoch) as usize);
        let of = |indices: &[u32]| {
            let end = ((within + 1) * self.batch).min(indices.len());
            indices[within * self.batch..end].to_vec()
        };
        let Sequence::Shuffled { purpose, seed } = self.sequence else { return (epoch, of(&self.indices)) };
        let shuffled = self.shuffled.get(epoch, || {
            let mut indices = self.indices.clone();
            shuffle(&mut indices, Stream::new(seed, purpose, epoch, 0));
            indices
        });
        (epoch, of(&shuffled))
    }

    /// Batch `number`, at the place where the policy stands: a pure function of its arguments.
    pub fn prepare(
        &self,
        dataset: &Dataset,
        pipeline: &Pipeline,
        number: u64,
    ) -> Result<PictureBatch, Error> {
        self.prepare_part(dataset, pipeline, number, 0..self.batch)
    }

    /// As [`Self::prepare`], but only the images at these places of the batch: no others are read.
    pub fn prepare_part(
        &self,
        dataset: &Dataset,
        pipeline: &Pipeline,
        number: u64,
        part: Range<usize>,
    ) -> Result<PictureBatch, Error> {
        let (epoch, members) = self.members(number);
        let end = part.end.min(members.len());
        let part = part.start.min(end)..end;
        let indices = members[part.clone()].to_vec();
        let shape = pipeline.shape(indices.len());
        let mut data = Vec::with_capacity(shape.count * shape.image());
        let mut views = Vec::with_capacity(indices.len());
        let seed = match self.sequence {
            Sequence::Shuffled { seed, .. } => seed,
            Sequence::AsGiven => 0,
        };
        for &index in &indices {
            let picture = dataset.read(index)?;
            let view = if self.views {
                let view = pipeline.draw(seed, epoch, index, &picture);
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
        Ok(PictureBatch { images, labels, indices, members, part, views, epoch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSE: Purpose = Purpose::named("a test");

    fn order(count: u32, sequence: Sequence) -> Order {
        Order::new((0..count).collect(), 4, sequence, false)
    }

    #[test]
    fn an_epoch_is_one_shuffle_of_all_images_cut_into_whole_batches() {
        let order = order(18, Sequence::Shuffled { purpose: PURPOSE, seed: 3 });
        assert_eq!(order.batches(), 4);
        for epoch in [0_u32, 1, 2, 0, 5] {
            let mut wanted: Vec<u32> = (0..18).collect();
            shuffle(&mut wanted, Stream::new(3, PURPOSE, epoch, 0));
            for batch in 0..4 {
                let (found_epoch, members) = order.members(u64::from(epoch) * 4 + batch as u64);
                assert_eq!((found_epoch, &members[..]), (epoch, &wanted[4 * batch..][..4]));
            }
        }
    }

    #[test]
    fn a_part_of_a_batch_is_that_part_of_it() {
        let synthetic = crate::Synthetic { train: 16, validation: 0, plants: Vec::new(), seed: 1 };
        let dataset = synthetic.dataset();
        let pipeline = Pipeline {
            size: 32,
            crop: crate::Crop::Pad { pad: 4 },
            flip: 0.5,
            cutout: 8,
            mean: vec![0.5; 3],
            deviation: vec![0.2; 3],
            policy_first: false,
        };
        let order = Order::new((0..16).collect(), 8, Sequence::Shuffled { purpose: PURPOSE, seed: 3 }, true);
        let whole = order.prepare(&dataset, &pipeline, 3).unwrap();
        let part = order.prepare_part(&dataset, &pipeline, 3, 5..8).unwrap();
        assert_eq!((whole.part.clone(), &whole.members), (0..8, &whole.indices));
        assert_eq!((part.part.clone(), &part.members), (5..8, &whole.members));
        let image = whole.images.as_slice().len() / 8;
        assert_eq!(part.images.as_slice(), &whole.images.as_slice()[5 * image..]);
        assert_eq!((&part.labels[..], &part.indices[..]), (&whole.labels[5..], &whole.indices[5..]));
        assert_eq!((&part.views[..], part.epoch), (&whole.views[5..], whole.epoch));
    }

    #[test]
    fn an_epoch_is_shuffled_once_however_many_batches_it_has() {
        let recent = Recent::default();
        let shuffles = std::cell::Cell::new(0);
        // Two threads that cross from one epoch to the next at different batches.
        for epoch in [0, 0, 0, 1, 0, 1, 1, 2, 1, 2, 2] {
            let found = recent.get(epoch, || {
                shuffles.set(shuffles.get() + 1);
                vec![epoch]
            });
            assert_eq!(*found, [epoch]);
        }
        assert_eq!(shuffles.get(), 3);
    }

    #[test]
    fn images_that_come_as_given_come_all() {
        let order = order(10, Sequence::AsGiven);
        assert_eq!(order.batches(), 3);
        assert_eq!(order.members(2), (0, vec![8, 9]));
    }
}
