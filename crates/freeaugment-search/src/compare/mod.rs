//! Whether a policy helps: fresh classifiers trained under it and under others, with the same budget and the same seeds.

mod candidate;
mod comparison;
mod example;
mod listing;
mod proof;
mod report;
pub mod statistics;
mod summary;
mod trial;

pub use candidate::Candidate;
pub use comparison::{Comparison, ComparisonObserver};
pub use example::Example;
pub use proof::{Judged, Proof, Under, follow_proof, prove};
pub use report::{Budget, Report};
pub use summary::{Row, Summary};
pub use trial::{Trial, TrialResult};

pub(crate) use candidate::Augmented;
pub(crate) use comparison::open_or_create;
pub(crate) use listing::folder_name;
