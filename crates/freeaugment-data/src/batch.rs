//! A batch of images at the place where the policy stands.

use std::ops::Range;

use freeaugment::Images;

use crate::pipeline::View;

/// Images as the policy takes them, with what is needed to go on to the network.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureBatch {
    /// `[batch, channel, size, size]` in [0, 1].
    pub images: Images,
    /// One label per image.
    pub labels: Vec<u32>,
    /// Which images of the data set these are.
    pub indices: Vec<u32>,
    /// The images of the whole batch.
    pub members: Vec<u32>,
    /// Which of them these are.
    pub part: Range<usize>,
    /// What was drawn for each; neutral ones for evaluation.
    pub views: Vec<View>,
    /// The epoch it belongs to, from 0.
    pub epoch: u32,
}
