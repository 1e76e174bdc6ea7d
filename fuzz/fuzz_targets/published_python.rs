//! The readers of Python source and logs (DADA, Fast AutoAugment, Differentiable RandAugment, PBA) on arbitrary text. The
//! first byte says whose file it is, and whether a name is asked for.
#![no_main]

use freeaugment_baseline::{Kind, import_bytes};
use freeaugment_fuzz::use_published;
use libfuzzer_sys::fuzz_target;

const KINDS: [Kind; 4] = [Kind::Dada, Kind::FastAutoAugment, Kind::Dra, Kind::Pba];

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, text)) = bytes.split_first() else { return };
    let kind = KINDS[usize::from(which) % KINDS.len()];
    let name = if which & 4 == 0 { None } else { Some("A") };
    if let Ok(published) = import_bytes(kind, "policy.py", text, name) {
        use_published(&published);
    }
});
