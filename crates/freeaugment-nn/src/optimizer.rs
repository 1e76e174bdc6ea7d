//! What moves the weights: stochastic gradient descent, Adam, and schedules of the learning rate.

mod adam;
mod adjoint;
mod schedule;
mod sgd;

pub use adam::Adam;
pub use adjoint::SgdAdjoint;
pub use schedule::{Cosine, Warmup};
pub use sgd::Sgd;

use crate::Error;

/// Refuses a value that is not finite or not inside `[low, high)`.
fn check(name: &'static str, value: f64, low: f64, high: f64, allowed: &'static str) -> Result<(), Error> {
    if value >= low && value < high { Ok(()) } else { Err(Error::BadSetting { name, value, allowed }) }
}
