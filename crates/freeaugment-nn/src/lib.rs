//! Classifiers for the search of augmentation policies.
//!
//! The search needs from a classifier only a loss, its gradients, and one array more: `q`, the gradient with respect
//! to the images of ⟨∇loss, v⟩. A [`Network`] says what to compute, once, over the small trait [`pass::Pass`], and may be
//! [your own](Network::record); [`Weights`] and [`Statistics`] are its state as flat arrays with names; a [`Classifier`] puts them together on a
//! [`Device`]: [`Classifier::train`], [`Classifier::gradient`] and [`Classifier::logits`] are the three ways to run a
//! network, and [`Record::hypergradient`] gives `q` for a training step that was kept. [`optimizer`] moves the weights.
//!
//! ```
//! use freeaugment_nn::{Batch, Classifier, Device, Network, optimizer::Sgd};
//!
//! # fn main() -> Result<(), freeaugment_nn::Error> {
//! let network = Network::new("WRN-10-1".parse()?, 10, 3)?;
//! let mut classifier = Classifier::new(network, &Device::cpu(), 1);
//! let mut sgd = Sgd::new(0.9, true, 5e-4)?;
//! let batch = Batch { images: &[0.1; 2 * 3 * 8 * 8], labels: &[3, 7], height: 8, width: 8 };
//!
//! let (step, record) = classifier.train_and_keep(batch)?;
//! sgd.step(classifier.weights_mut(), &step.gradient, 0.1)?;
//! let v = classifier.gradient(batch)?.gradient; // of a validation batch, in a real search
//! let found = record.hypergradient(&v)?;
//! assert_eq!(found.q.len(), batch.images.len());
//! # Ok(())
//! # }
//! ```

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "burn")]
mod burn;
mod classifier;
mod cpu;
mod device;
mod error;
mod loss;
mod mirror;
pub mod network;
pub mod optimizer;
mod parameter;
pub mod pass;
pub mod ranks;
mod storage;

pub use classifier::{Batch, Classifier, Evaluation, Hypergradient, Record};
pub use device::Device;
pub use error::Error;
pub use loss::CrossEntropy;
pub use network::{Architecture, Network};
pub use parameter::{Entry, Layout, Norm, Statistics, Weights};
