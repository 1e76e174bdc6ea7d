//! What a search needs of whatever is trained: a network, its data and its optimiser, wherever they live.

use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use freeaugment::Images;
use freeaugment_nn::Hypergradient;
use freeaugment_nn::ranks::{Alone, Ranks};

use super::pace::Pace;
use super::{DataIdentity, Score};
use crate::error::Error;
use crate::run::{StateReader, StateWriter};

/// What policies are learned with. The policy reaches it only through the augmented images, and a search asks it only for
/// gradients with respect to them.
///
/// A search that looks one step ahead calls, step after step, [`Self::next_batch`], [`Self::train`],
/// [`Self::next_validation_batch`], [`Self::validate`] and [`Self::slope`]. One with a horizon calls [`Self::begin_cycle`],
/// trains, then [`Self::judge`], and goes back with [`Self::batch_again`], [`Self::back`] and [`Self::parts`].
pub trait Model: Sized {
    /// A batch of images.
    type Batch;
    /// Augmented images as the network takes them.
    type Input;
    /// What a state holds of it.
    type Moment: Debug;

    /// How far it is.
    fn pace(&self) -> &Pace;

    /// The same, to go on.
    fn pace_mut(&mut self) -> &mut Pace;

    /// The data it works with.
    fn data(&self) -> &DataIdentity;

    /// The processes that share it, each with a part of every batch.
    fn ranks(&self) -> Arc<dyn Ranks> {
        Arc::new(Alone)
    }

    /// Numbers of all images of a batch, as many for each, where every process has those of its part.
    fn gather(&self, own: Vec<f32>) -> Vec<f32> {
        own
    }

    /// What people call the network.
    fn network(&self) -> String;

    /// The size of its images, for people.
    fn image_size(&self) -> String;

    /// The next training batch.
    fn next_batch(&mut self) -> Result<Self::Batch, Error>;

    /// What the policy sees of a batch.
    fn shown<'a>(&self, batch: &'a Self::Batch) -> Shown<'a>;

    /// From augmented images to what the network takes.
    fn input(&self, batch: &Self::Batch, augmented: Images) -> Result<Self::Input, Error>;

    /// One training step, at the learning rate of the pace. What [`Self::slope`] needs is kept where that is wanted.
    fn train(&mut self, batch: &Self::Batch, input: &Self::Input, keep: bool) -> Result<Trained, Error>;

    /// The next validation batch.
    fn next_validation_batch(&mut self) -> Result<Self::Batch, Error>;

    /// The gradient of the validation loss, for [`Self::slope`]; loss and accuracy are returned.
    fn validate(&mut self, batch: Self::Batch) -> Result<(f64, f64), Error>;

    /// The derivative of the validation loss one step ahead, with respect to the augmented images of the last training step;
    /// parts are every image's share of how the step changes it.
    fn slope(&mut self, batch: &Self::Batch, input: &Self::Input) -> Result<Hypergradient, Error>;

    /// A cycle begins: the weights before each of its steps will be asked for.
    fn begin_cycle(&mut self, steps: &Range<u64>);

    /// The gradient of the validation loss at the end of a cycle, over many batches; loss and accuracy are returned.
    fn judge(&mut self, steps: &Range<u64>, cycles_done: u64) -> Result<(f64, f64), Error>;

    /// The training batch of a step of the cycle once more; steps come from last to first.
    fn batch_again(&mut self, step: u64) -> Result<Self::Batch, Error>;

    /// Goes back through one step: what its images have to do with the validation loss at the end of the cycle, and the norm
    /// of the direction in which its gradient counts. `augment` makes the input of a batch, where steps are taken again.
    fn back(
        &mut self,
        step: u64,
        batch: &Self::Batch,
        input: &Self::Input,
        augment: &Augment<'_, Self>,
    ) -> Result<(Hypergradient, f64), Error>;

    /// The parts of other augmented images, had the step been taken with them that [`Self::back`] went through last.
    fn parts(&mut self, batch: &Self::Batch, input: &Self::Input) -> Result<Vec<f32>, Error>;

    /// Loss and accuracy on all validation images.
    fn evaluate(&mut self) -> Result<Score, Error>;

    /// What a state holds of it as it is now.
    fn moment(&self) -> Result<Self::Moment, Error>;

    /// Writes that.
    fn save(&self, moment: &Self::Moment, state: &mut StateWriter) -> Result<(), Error>;

    /// Puts it where the state was.
    fn restore(&mut self, state: &StateReader) -> Result<(), Error>;

    /// Leaves the weights that a search ends with in this file, where others may want them.
    fn leave(&self, path: &Path) -> Result<(), Error>;
}

/// Makes the input of a batch as it was when it was trained on.
pub type Augment<'a, M> = dyn Fn(&M, &<M as Model>::Batch) -> Result<<M as Model>::Input, Error> + 'a;

/// What the policy sees of a batch.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// The images.
    pub images: &'a Images,
    /// Their numbers: with the epoch, what is drawn for them depends on nothing else.
    pub indices: &'a [u32],
    /// The numbers of all images of the batch, of which these may be a part.
    pub members: &'a [u32],
    /// Which of them these are.
    pub part: Range<usize>,
    /// The epoch, from 0.
    pub epoch: u32,
}

/// What a training step saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trained {
    /// The loss.
    pub loss: f64,
    /// The share of images that were classified rightly.
    pub accuracy: f64,
    /// The norm of the gradient to the weights.
    pub gradient_norm: f64,
}
