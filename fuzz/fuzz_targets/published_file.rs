//! The reader of our own files of published policies on arbitrary bytes.
#![no_main]

use freeaugment_baseline::Published;
use freeaugment_fuzz::use_published;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(published) = Published::from_json(bytes) {
        assert!(Published::recognises(bytes));
        use_published(&published);
    }
});
