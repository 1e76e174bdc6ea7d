//! The reader of policy files on arbitrary bytes: it answers and never panics, and what it accepts it can write and read
//! again.
#![no_main]

use freeaugment::Policy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(policy) = Policy::from_json(bytes) {
        let text = policy.to_json().expect("what was read can be written");
        assert_eq!(Policy::from_json(text.as_bytes()).expect("what was written can be read"), policy);
    }
});
