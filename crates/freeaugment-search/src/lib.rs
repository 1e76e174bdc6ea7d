//! The bilevel search of augmentation policies.
//!
//! [`Settings`] say what to do ([`resolve`]: flag over file over preset). A [`Plan`] is what they mean for the data at
//! hand. A [`Search`] takes steps: augment a batch, train the classifier on it, ask a validation batch how that went,
//! pull the answer back to the policy. A [`Run`] is the folder where all of it is written down, so that an interrupted
//! search continues bit for bit.
//!
//! Whether a policy helps is told by a [`Training`] of a fresh classifier under it and under others: every one of them is
//! a [`Candidate`], every classifier a [`Trial`], all of them together a [`Comparison`].

mod candidate;
mod checkpoint;
mod comparison;
mod drive;
mod error;
mod evaluate;
mod files;
mod metric;
mod plan;
pub mod preset;
mod resolve;
mod run;
mod search;
mod settings;
mod state;
mod statistics;
mod training;
mod trial;

pub use candidate::Candidate;
pub use comparison::{Comparison, Row, Summary};
pub use drive::{Observer, Outcome, drive};
pub use error::Error;
pub use evaluate::{Score, evaluate};
pub use metric::{Epoch, GradientNorms, LayerRanges, Phases, Share, Tally};
pub use plan::{Plan, ReadProgress, open_data};
pub use resolve::{Patch, resolve};
pub use run::Run;
pub use search::{Search, Step};
pub use settings::{
    AssignmentChoice, CropChoice, DepthChoice, FIELDS, Field, HypergradientChoice, Kind, MagnitudeChoice,
    Settings, Task, TypesChoice,
};
pub use statistics::{Mean, mean, paired_test};
pub use training::{Training, TrainingEpoch};
pub use trial::{Outcome as TrialOutcome, Trial};
