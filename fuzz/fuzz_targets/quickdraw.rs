//! The reader of drawings, raw and packed, on arbitrary bytes.
#![no_main]

use freeaugment_data::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzzing::quickdraw(bytes));
