//! Golden numbers from an independent double-precision reference: every transformation, every sampler, whole policies.
//!
//! `FREEAUGMENT_FIXTURES` names another folder of the same layout; groups, shapes and sizes come from its index files.

mod fixture;
mod operation;
mod policy;
mod sampler;
