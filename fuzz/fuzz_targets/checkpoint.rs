//! The reader of checkpoints. The bytes are the header of a file whose numbers are those of a sound one, which a fuzzer
//! would not find anything in.
#![no_main]

use std::path::Path;
use std::sync::{LazyLock, Mutex};

use freeaugment_fuzz::{Runs, small_search, split_checkpoint};
use freeaugment_search::{DataIdentity, Search, Session as _, Settings, StateReader, Task};
use libfuzzer_sys::fuzz_target;

static SEARCH: LazyLock<Mutex<Search>> = LazyLock::new(|| Mutex::new(small_search()));
static NUMBERS: LazyLock<Vec<u8>> = LazyLock::new(|| split_checkpoint(Runs::make().checkpoint()).1.to_vec());

fuzz_target!(|bytes: &[u8]| {
    let mut search = SEARCH.lock().expect("a panic ends the process");
    let file = [&(bytes.len() as u64).to_le_bytes(), bytes, &NUMBERS].concat();
    for file in [&file[..], bytes] {
        let Ok(state) = StateReader::new(Path::new("checkpoint"), file) else { continue };
        let _ = state.json::<DataIdentity>("data");
        let _ = state.entry("settings").map(|text| Settings::from_toml(Task::Search, text));
        if search.restore(&state).is_ok() {
            let progress = search.progress();
            assert!(progress.done <= progress.total, "{progress:?}");
            let _ = search.work(progress.done..progress.total);
        }
    }
});
