//! The same seed gives the same bytes, whatever the machine does meanwhile.

use std::path::Path;

use tempfile::tempdir;

use crate::command::{SMALL, succeed};

fn policy(folder: &Path, more: &str) -> String {
    succeed(folder, &format!("search {SMALL} --quiet --out run {more}"));
    let text = std::fs::read_to_string(folder.join("run/policy.json")).unwrap();
    std::fs::remove_dir_all(folder.join("run")).unwrap();
    text
}

#[test]
fn threads_workers_and_cache_change_nothing_and_the_seed_does() {
    let folder = tempdir().unwrap();
    let reference = policy(folder.path(), "--threads 1");
    for more in ["--threads 2", "--cache-mib 0", "--workers 3 --threads 3"] {
        assert_eq!(policy(folder.path(), more), reference, "{more}");
    }
    assert_ne!(policy(folder.path(), "--seed 1"), reference);
}
