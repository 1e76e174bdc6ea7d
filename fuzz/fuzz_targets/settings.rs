//! The readers of settings, as a whole file and as a patch of a preset, on arbitrary text: what they accept they can write
//! and read again.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use freeaugment_search::{Patch, Settings, Task, resolve};
use libfuzzer_sys::fuzz_target;

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("freeaugment-fuzz-{}.toml", std::process::id())));

const SHORT: usize = 256;

fuzz_target!(|bytes: &[u8]| {
    std::fs::write(&*FILE, bytes).expect("a file can be written");
    let patch = Patch::read(&FILE);
    for task in [Task::Search, Task::Comparison] {
        if let Ok(settings) = Settings::from_toml(task, &String::from_utf8_lossy(bytes)) {
            check(task, &settings);
        }
        // Patches are short; every key of theirs is checked on its own, which takes long for a whole file.
        if let Ok(patch) = &patch
            && bytes.len() < SHORT
            && let Ok(settings) = resolve(task, "quick", std::slice::from_ref(patch))
        {
            check(task, &settings);
        }
    }
});

fn check(task: Task, settings: &Settings) {
    let text = settings.to_toml(task);
    let again = Settings::from_toml(task, &text).expect("what was written can be read");
    assert_eq!(settings.difference(task, &again), None);
    if task == Task::Search {
        settings
            .policy_config()
            .and_then(|config| Ok(config.init()?))
            .expect("settings that were checked have a policy");
    }
}
