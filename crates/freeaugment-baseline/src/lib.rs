//! The augmentations that a learned policy is compared with: those without a search, and those that other searches
//! found.
//!
//! They act on 8-bit images and follow PIL, as their authors' code does, which differs from the transformations of a
//! FreeAugment policy (nearest sampling, other enhancers). An [`Augmentation`] says which [`Action`]s an image
//! undergoes; [`Action::apply`] does it. A [`Baseline`] is an augmentation by name, with the [`Recipe`] it belongs to.
//!
//! ```
//! use freeaugment_base::random::{Purpose, Stream};
//! use freeaugment_baseline::{Augmentation, Moment, TrivialAugment};
//! use freeaugment_data::Picture;
//!
//! let mut picture = Picture { height: 32, width: 32, channels: 3, pixels: vec![100; 32 * 32 * 3] };
//! let moment = Moment { height: picture.height, width: picture.width, progress: 0.0 };
//! let mut stream = Stream::new(7, Purpose::named("example"), 0, 42);
//! for action in TrivialAugment::wide().actions(&mut stream, moment) {
//!     action.apply(&mut picture);
//! }
//! ```

mod action;
mod auto_augment;
mod baseline;
mod domain_bed;
mod error;
mod operation;
mod pixel;
mod published;
mod rand_augment;
mod recipe;
mod space;
mod table;
mod trivial_augment;
mod uniform_augment;

pub use action::{Action, Augmentation, Moment};
pub use auto_augment::{AutoAugment, AutoAugmentTable};
pub use baseline::Baseline;
pub use domain_bed::DomainBed;
pub use error::BaselineError;
pub use operation::Operation;
pub use published::{
    Error as PublishedError, Kind, Problem as PublishedProblem, Published, Source, UnknownKind, import,
};
pub use rand_augment::RandAugment;
pub use recipe::{Crop, Order, Recipe};
pub use trivial_augment::TrivialAugment;
pub use uniform_augment::UniformAugment;
