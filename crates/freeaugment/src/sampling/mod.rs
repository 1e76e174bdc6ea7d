//! The distributions a policy is drawn from, with the noise as an argument; for one image at a time, or, where that is
//! much faster, for a few.
//!
//! Every sampler is a function of parameters and noise, and its pullback stands beside it: a cotangent of the sample in,
//! the gradient to the parameters out, the noise held fixed. Pullbacks *add* to the gradient they are given. Matrices
//! over transformations and layers are `[N, K]`, row after row.

mod application;
mod assignment;
mod choice;
mod magnitude;
mod sinkhorn;
mod softmax;
mod square;

pub use application::{sample_application, sample_application_pullback};
pub use assignment::{Assigner, assign_column_maximum};
pub use magnitude::{Bounds, Gaussian};
pub use sinkhorn::{Matrices, MatricesMut, PAD, Sinkhorn, Tape};
pub use softmax::{log_softmax, log_softmax_pullback};

use crate::math::exp;

freeaugment_base::versions! {
    /// Turns log soft into soft, in place.
    pub fn soften(values: &mut [f32]) {
        for value in values {
            *value = exp(*value);
        }
    }
}

/// The index of the largest value, the first of several.
pub(crate) fn largest(values: impl IntoIterator<Item = f32>) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (index, value) in values.into_iter().enumerate() {
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}
