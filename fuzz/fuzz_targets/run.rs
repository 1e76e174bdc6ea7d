//! The readers of run folders: one file of a sound run is replaced by arbitrary bytes and read. The first byte says which
//! file.
#![no_main]

use std::sync::LazyLock;

use freeaugment_fuzz::{Runs, read_file};
use libfuzzer_sys::fuzz_target;

static RUNS: LazyLock<Runs> = LazyLock::new(Runs::make);

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let (run, file, sound) = &RUNS.files[usize::from(which) % RUNS.files.len()];
    std::fs::write(file, bytes).expect("a file can be written");
    read_file(run, file);
    std::fs::write(file, sound).expect("a file can be written");
});
