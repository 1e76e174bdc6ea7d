//! The augmentations that a learned policy is compared with: those without a search, and those that other searches
//! found.
//!
//! They act on 8-bit images and follow PIL, as their authors' code does, which differs from the transformations of a
//! FreeAugment policy (nearest sampling, other enhancers). An [`Augmentation`] says which [`Action`]s an image undergoes;
//! [`Action::apply`] does it.

mod action;
mod operation;
mod published;

pub use action::{Action, Augmentation, Moment};
pub use operation::Operation;
pub use published::{
    Error as PublishedError, Kind, Problem as PublishedProblem, Published, Source, UnknownKind, import,
};
