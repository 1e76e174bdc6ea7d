//! The readers of SLACK's checkpoints (PyTorch) and of Deep AutoAugment's arrays (NumPy). Archives have checksums, which
//! random changes break, so what does not begin as an archive becomes the contents of one.
#![no_main]

use freeaugment_baseline::{Kind, import_bytes};
use freeaugment_fuzz::{NPY, deepaa, torch, use_published};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (archive, kinds) = match bytes {
        _ if bytes.starts_with(b"PK") => (bytes.to_vec(), &[Kind::Slack, Kind::DeepAa][..]),
        _ if bytes.starts_with(NPY) => (deepaa(bytes), &[Kind::DeepAa][..]),
        _ => (torch(bytes), &[Kind::Slack][..]),
    };
    for &kind in kinds {
        if let Ok(published) = import_bytes(kind, "file.zip", &archive, None) {
            use_published(&published);
        }
    }
});
