//! The readers on bytes that may be anything, for the fuzzers in `fuzz/`. Each panics where a reader contradicts itself.
//!
//! What reads Python's files is public anyway: [`crate::python`].

use super::{cifar, decode, domainnet, idx, quickdraw};

/// Files of CIFAR-10 and CIFAR-100 in all forms.
pub fn cifar(bytes: &[u8]) {
    cifar::fuzz(bytes);
}

/// Lists of DomainNet.
pub fn domainnet(bytes: &[u8]) {
    domainnet::fuzz(bytes);
}

/// IDX files of images and labels.
pub fn idx(bytes: &[u8]) {
    idx::fuzz(bytes);
}

/// Image files.
pub fn image(bytes: &[u8]) {
    decode::fuzz(bytes);
}

/// Drawings of Quick-Draw.
pub fn quickdraw(bytes: &[u8]) {
    quickdraw::fuzz(bytes);
}
