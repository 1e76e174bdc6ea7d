//! The readers of CIFAR-10 and CIFAR-100, binary and python, on arbitrary bytes.
#![no_main]

use freeaugment_data::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzzing::cifar(bytes));
