//! A batch of images at the place where the policy stands.

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
    /// What was drawn for each; neutral ones for evaluation.
    pub views: Vec<View>,
    /// The epoch it belongs to, from 0.
    pub epoch: u32,
}
