//! The readers of SLACK's checkpoints (PyTorch) and of Deep AutoAugment's arrays (NumPy). Archives have checksums, which
//! random changes break, so what does not begin as an archive becomes the contents of one.
#![no_main]

use freeaugment_baseline::{Kind, import_bytes};
use freeaugment_fuzz::{NPY, deepaa, torch, use_published};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let archive = match bytes {
        _ if bytes.starts_with(b"PK") => bytes.to_vec(),
        _ if bytes.starts_with(NPY) => deepaa(bytes),
        _ => torch(bytes),
    };
    for kind in [Kind::Slack, Kind::DeepAa] {
        if let Ok(published) = import_bytes(kind, "file.zip", &archive, None) {
            use_published(&published);
        }
    }
});
