//! The readers of Python source and logs (DADA, Fast AutoAugment, Differentiable RandAugment, PBA) on arbitrary text.
#![no_main]

use freeaugment_baseline::{Kind, import_bytes};
use freeaugment_fuzz::use_published;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for kind in [Kind::Dada, Kind::FastAutoAugment, Kind::Dra, Kind::Pba] {
        for name in [None, Some("A")] {
            if let Ok(published) = import_bytes(kind, "policy.py", bytes, name) {
                use_published(&published);
            }
        }
    }
});
