//! What a path holds is told from its contents, and what is not known is said so.

use std::fs;

use freeaugment_data::{DataKind, Error, Scan, open};

use crate::common::{folder, message, opened, paint, write};

#[test]
fn a_path_that_is_not_there_is_named() {
    let root = folder();
    // The rest of the message is the system's.
    assert!(message(root.path(), root.path().join("nowhere")).starts_with("nowhere: "));
}

#[test]
fn a_file_is_no_folder() {
    let root = folder();
    paint(root.path().join("cat.png"), [1, 2, 3]);
    assert_eq!(
        message(root.path(), root.path().join("cat.png")),
        "cat.png: is a file: give the folder that holds the data set"
    );
}

#[test]
fn what_is_not_known_is_described_beside_what_is() {
    let root = folder();
    let begin = || message(root.path(), root.path()).split(';').next().unwrap_or_default().to_owned();
    assert_eq!(begin(), "ROOT: no data set was recognised here (it is empty)");
    fs::create_dir_all(root.path().join("one")).expect("folders can be made");
    fs::create_dir_all(root.path().join("two")).expect("folders can be made");
    assert_eq!(begin(), "ROOT: no data set was recognised here (it holds 2 folders, the first is `one`)");
    write(root.path().join("notes.txt"), "");
    assert_eq!(
        begin(),
        "ROOT: no data set was recognised here (it holds 2 folders and 1 file, the first are `one` and `notes.txt`)"
    );
    assert!(matches!(open(root.path()), Err(Error::Unrecognised { .. })));
}

#[test]
fn folders_around_the_data_are_looked_through() {
    let root = folder();
    paint(root.path().join("archive/images/a/1.png"), [1, 2, 3]);
    paint(root.path().join("archive/images/b/1.png"), [1, 2, 3]);
    let dataset = opened(root.path());
    assert_eq!((dataset.kind, dataset.classes), (DataKind::Folder, vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn a_scan_keeps_decoded_files_but_not_what_is_in_memory_already() {
    let scan = Scan { cache_bytes: 1 << 20, max_unreadable: 0 };
    let root = folder();
    paint(root.path().join("a/1.png"), [1, 2, 3]);
    paint(root.path().join("b/1.png"), [1, 2, 3]);
    let dataset = opened(root.path());
    let scanned = dataset.scan(&[0, 1], scan, &|| {}).expect("sound");
    assert!(scanned.is_cached());
    let dataset = dataset.with_cache(&scanned);
    fs::remove_dir_all(root.path().join("a")).expect("it was written");
    assert!(dataset.read(0).is_ok());

    let root = folder();
    write(root.path().join("data_batch_1.bin"), [[0_u8; 3073], [1; 3073]].concat());
    let dataset = opened(root.path());
    assert!(dataset.source.in_memory());
    assert!(dataset.scan(&[0, 1], scan, &|| {}).expect("sound").is_cached());
}

#[cfg(unix)]
#[test]
fn folders_that_lead_back_to_themselves_are_not_followed_for_ever() {
    let root = folder();
    for name in ["raw", "MNIST", "KMNIST", "EMNIST", "train", "val", "a", "b"] {
        std::os::unix::fs::symlink(root.path(), root.path().join(name)).expect("links can be made");
    }
    assert!(open(root.path()).is_err());
}
