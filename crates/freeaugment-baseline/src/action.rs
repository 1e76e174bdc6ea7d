//! What happens to one image, and who decides it.

use freeaugment_base::random::Stream;

use crate::operation::Operation;

/// One operation with its strength, in the operation's own unit (see [`Operation`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// What is done.
    pub operation: Operation,
    /// How strongly.
    pub value: f64,
    /// Where, for operations that have a place: row and column as shares of the image.
    pub centre: [f64; 2],
}

impl Action {
    /// An action in the middle of the image.
    pub const fn new(operation: Operation, value: f64) -> Self {
        Self { operation, value, centre: [0.5; 2] }
    }
}

/// The image an augmentation decides about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// The share of the training that is over, in [0, 1): schedules need it.
    pub progress: f64,
}

/// Decides what an image undergoes.
pub trait Augmentation: Send + Sync {
    /// The actions, in order. All randomness comes from `stream`.
    fn actions(&self, stream: &mut Stream, moment: Moment) -> Vec<Action>;
}
