//! DomainNet, by its lists.

use std::fs;
use std::path::Path;

use freeaugment_data::{DataKind, Dataset};

use crate::common::{fixture, folder, message, opened, paint, write};

fn write_domain(root: &Path, domain: &str, files: &[&str]) {
    for file in files {
        paint(root.join(domain).join(file), [1, 2, 3]);
    }
}

/// Two domains, with the labels of the lists not in the order of the names.
fn write_all(root: &Path) {
    write_domain(root, "clipart", &["fish/1.png", "bird/2 b.png", "bird/3.png"]);
    write_domain(root, "sketch", &["fish/4.png", "bird/5.png"]);
    write(root.join("clipart_train.txt"), "clipart/fish/1.png 0\r\nclipart/bird/2 b.png 3\n\n");
    write(root.join("clipart_test.txt"), "clipart/bird/3.png 3\n");
    write(root.join("sketch_train.txt"), "sketch/bird/5.png 3\nsketch/fish/4.png 0");
}

fn ends(dataset: &Dataset) -> Vec<String> {
    (0..dataset.labels.len() as u32)
        .map(|index| dataset.source.name(index).rsplit('/').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn all_domains_of_a_folder_are_read_together() {
    let root = folder();
    write_all(root.path());
    let dataset = opened(root.path());
    assert_eq!((dataset.kind, dataset.title.as_str()), (DataKind::DomainNet, "DomainNet (clipart, sketch)"));
    assert_eq!(dataset.classes, ["fish", "bird"]);
    assert_eq!(ends(&dataset), ["1.png", "2 b.png", "5.png", "4.png", "3.png"]);
    assert_eq!(dataset.labels, [0, 1, 1, 0, 1]);
    assert_eq!(dataset.splits.train, [0, 1, 2, 3]);
    assert_eq!(dataset.splits.test, Some(vec![4]));
    assert_eq!((dataset.channels, dataset.size), (3, Some((3, 4))));
    assert!((0..5).all(|index| dataset.read(index).is_ok()));
}

#[test]
fn a_list_file_stands_for_its_domain() {
    let root = folder();
    write_all(root.path());
    let dataset = opened(root.path().join("clipart_train.txt"));
    assert_eq!(dataset.title, "DomainNet (clipart)");
    assert_eq!(ends(&dataset), ["1.png", "2 b.png", "3.png"]);
    assert_eq!((dataset.splits.train, dataset.splits.test), (vec![0, 1], Some(vec![2])));
    assert_eq!(opened(root.path().join("sketch_train.txt")).splits.test, None);
}

#[test]
fn lists_may_lie_in_a_folder_beside_the_domains() {
    let root = folder();
    write_all(root.path());
    let lists = root.path().join("lists");
    write(lists.join("clipart_train.txt"), "clipart/fish/1.png 0\nclipart/bird/3.png 3\n");
    let dataset = opened(lists.join("clipart_train.txt"));
    assert!((0..2).all(|index| dataset.read(index).is_ok()));
}

#[test]
fn names_per_class_in_archives_are_read() {
    for archive in ["text.npz", "object.npz"] {
        let root = folder();
        write_domain(root.path(), "clipart", &["fish/a.png", "fish/bb.png", "bird/c.png"]);
        let bytes = fs::read(fixture(archive)).expect("the fixture is there");
        write(root.path().join("clipart_train.npz"), &bytes);
        write(root.path().join("clipart_test.npz"), &bytes);
        for path in [root.path().to_owned(), root.path().join("clipart_train.npz")] {
            let dataset = opened(path);
            assert_eq!(dataset.classes, ["bird", "fish"]);
            assert_eq!(dataset.labels, [0, 1, 1, 0, 1, 1]);
            assert_eq!(ends(&dataset)[..3], ["c.png", "a.png", "bb.png"]);
            assert_eq!((dataset.splits.train, dataset.splits.test), (vec![0, 1, 2], Some(vec![3, 4, 5])));
            assert!((0..6).all(|index| dataset.source.read(index).is_ok()));
        }
    }
}

#[test]
fn lists_that_are_wrong_are_named_with_their_line() {
    let root = folder();
    write_all(root.path());
    let expect = |list: &str, contents: &str, expected: &str| {
        let before = fs::read(root.path().join(list)).expect("the list is there");
        write(root.path().join(list), contents);
        assert_eq!(message(root.path(), root.path()), expected);
        write(root.path().join(list), before);
    };
    let first = "clipart/fish/1.png 0\n";
    expect(
        "clipart_train.txt",
        &format!("{first}clipart/bird/3.png bird\n"),
        "clipart_train.txt: line 2: a path and the number of a class are expected, not `clipart/bird/3.png bird`",
    );
    expect(
        "clipart_train.txt",
        &format!("{first}3.png 3\n"),
        "clipart_train.txt: line 2: `3.png` is not in the folder of a class",
    );
    expect(
        "clipart_train.txt",
        "clipart/fish/9.png 0\n",
        "clipart_train.txt: line 1, `clipart/fish/9.png`: the image is not there, looked for it in ROOT",
    );
    expect(
        "sketch_train.txt",
        "sketch/fish/4.png 0\nsketch/bird/5.png 0\n",
        "sketch_train.txt: line 2, `sketch/bird/5.png`: 0 is the class `bird` here and `fish` before",
    );
    expect(
        "sketch_train.txt",
        "sketch/bird/5.png 7\n",
        "sketch_train.txt: line 1, `sketch/bird/5.png`: the class `bird` is 7 here and 3 before",
    );
    expect(
        "clipart_test.txt",
        "clipart/bird/3.png 4\n",
        "clipart_test.txt: line 1, `clipart/bird/3.png`: the class `bird` with the number 4 is in no list of training images",
    );
    expect("clipart_test.txt", "\n\n", "clipart_test.txt: lists no images");
}

#[test]
fn lists_without_training_are_refused() {
    let root = folder();
    write_domain(root.path(), "clipart", &["fish/1.png"]);
    write(root.path().join("clipart_test.txt"), "clipart/fish/1.png 0\n");
    assert_eq!(
        message(root.path(), root.path()),
        "ROOT: there is no list of training images (`DOMAIN_train.txt` or `DOMAIN_train.npz`)"
    );
}

#[test]
fn archives_that_are_not_sound_are_named() {
    let root = folder();
    write_domain(root.path(), "clipart", &["fish/a.png"]);
    let path = root.path().join("clipart_train.npz");
    write(&path, "no archive");
    assert!(
        message(root.path(), root.path()).starts_with("clipart_train.npz: is cut short or no .npz archive: ")
    );
    let bytes = fs::read(fixture("text.npz")).expect("the fixture is there");
    write(&path, &bytes[..bytes.len() / 2]);
    assert!(
        message(root.path(), root.path()).starts_with("clipart_train.npz: is cut short or no .npz archive: ")
    );
}

#[test]
fn notes_beside_class_folders_are_no_lists() {
    let root = folder();
    paint(root.path().join("a/1.png"), [1, 2, 3]);
    paint(root.path().join("b/1.png"), [1, 2, 3]);
    write(root.path().join("notes_train.txt"), "how it was trained\n");
    assert_eq!(opened(root.path()).kind, DataKind::Folder);
}
