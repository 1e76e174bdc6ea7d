//! The augmentations that a learned policy is compared with: those without a search, and those that other searches
//! found.
//!
//! They act on 8-bit images and follow PIL, as their authors' code does, which differs from the transformations of a
//! FreeAugment policy (nearest sampling, other enhancers). An [`Augmentation`] says which [`Action`]s an image
//! undergoes; [`Action::apply`] does it, and [`Action::apply_all`] does several to a [`Frame`] in either order of channels. A [`Baseline`] is an augmentation by name, with the [`Recipe`] it belongs to;
//! a [`BaselineFile`] holds one, or a [`Published`] policy.
//!
//! ```
//! use freeaugment_base::random::{Purpose, Stream};
//! use freeaugment_baseline::{Baseline, Moment};
//! use freeaugment_data::Picture;
//!
//! let baseline: Baseline = "rand:2:9".parse()?;
//! let augmentation = baseline.augmentation().expect("RandAugment has operations");
//!
//! let original = Picture { height: 32, width: 32, channels: 3, pixels: (0..=255).cycle().take(32 * 32 * 3).collect() };
//! let mut picture = original.clone();
//! let moment = Moment { height: 32, width: 32, progress: 0.0 };
//! // All randomness comes from a stream that is keyed by seed, purpose, epoch and index.
//! let actions = augmentation.actions(&mut Stream::new(7, Purpose::named("example"), 0, 42), moment);
//! assert_eq!(actions.len(), 2);
//! for action in actions {
//!     action.apply(&mut picture);
//! }
//! assert_eq!(picture.shape(), original.shape());
//! # Ok::<(), freeaugment_baseline::BaselineError>(())
//! ```

mod action;
mod auto_augment;
mod baseline;
mod domain_bed;
mod error;
mod file;
mod motion;
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
pub use file::{BaselineFile, NamedBaseline};
pub use motion::OUTSIDE;
pub use operation::Operation;
pub use pixel::Frame;
pub use published::{
    Error as PublishedError, Kind, Problem as PublishedProblem, Published, Source, UnknownKind, import,
    import_bytes,
};
pub use rand_augment::RandAugment;
pub use recipe::{Crop, Order, Recipe};
pub use trivial_augment::TrivialAugment;
pub use uniform_augment::UniformAugment;
