//! The reader of our own files of baselines and published policies on arbitrary bytes.
#![no_main]

use freeaugment_baseline::BaselineFile;
use freeaugment_fuzz::{use_named, use_published};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = BaselineFile::from_json(bytes) else { return };
    assert!(BaselineFile::recognises(bytes));
    let _ = (file.name(), file.explanation(), file.provenance());
    match &file {
        BaselineFile::Named(named) => use_named(named),
        BaselineFile::Published(published) => use_published(published),
    }
});
