//! Folders of image files.

use std::fs;

use freeaugment_data::{DataKind, Error, open};

use crate::common::{folder, message, opened, paint, write};

#[test]
fn folders_of_classes_are_all_for_training_in_the_order_of_names() {
    let root = folder();
    for file in ["b/2.png", "b/1.PNG", "a/deep/er/3.bmp", "a/x.jpeg", "c/z.webp"] {
        paint(root.path().join(file), [10, 200, 30]);
    }
    for ignored in ["a/notes.txt", "a/.hidden.png", ".git/1.png", "readme.md", "__MACOSX/a/1.png"] {
        write(root.path().join(ignored), "text");
    }
    let dataset = opened(root.path());
    assert_eq!((dataset.kind, dataset.channels, dataset.size), (DataKind::Folder, 3, Some((3, 4))));
    assert_eq!(dataset.classes, ["a", "b", "c"]);
    assert_eq!(dataset.labels, [0, 0, 1, 1, 2]);
    assert_eq!(dataset.splits.train, [0, 1, 2, 3, 4]);
    assert_eq!((dataset.splits.validation, dataset.splits.test), (None, None));
    let names: Vec<_> = (0..5).map(|index| dataset.source.name(index)).collect();
    let expected = ["a/deep/er/3.bmp", "a/x.jpeg", "b/1.PNG", "b/2.png", "c/z.webp"];
    assert!(names.iter().zip(expected).all(|(name, end)| name.ends_with(end)), "{names:?}");
}

#[test]
fn folders_of_splits_keep_their_splits_whatever_their_case() {
    let root = folder();
    for file in ["Train/a/1.png", "Train/b/2.png", "Validation/b/3.png", "TEST/a/4.png", "TEST/b/5.png"] {
        paint(root.path().join(file), [1, 2, 3]);
    }
    let dataset = opened(root.path());
    assert_eq!(dataset.classes, ["a", "b"]);
    assert_eq!(dataset.labels, [0, 1, 1, 0, 1]);
    assert_eq!(dataset.splits.train, [0, 1]);
    assert_eq!(dataset.splits.validation, Some(vec![2]));
    assert_eq!(dataset.splits.test, Some(vec![3, 4]));
}

#[test]
fn a_class_of_trains_is_no_split() {
    let root = folder();
    for file in ["train/1.png", "bus/2.png"] {
        paint(root.path().join(file), [1, 2, 3]);
    }
    assert_eq!(opened(root.path()).classes, ["bus", "train"]);
}

#[test]
fn images_of_different_sizes_have_no_common_size() {
    let root = folder();
    paint(root.path().join("a/1.png"), [1, 2, 3]);
    paint(root.path().join("b/1.png"), [1, 2, 3]);
    image::RgbImage::new(9, 9).save(root.path().join("b/2.png")).expect("an image can be written");
    assert_eq!(opened(root.path()).size, None);
}

#[test]
fn a_class_that_is_not_in_training_is_named() {
    let root = folder();
    for file in ["train/a/1.png", "train/b/2.png", "val/cat/3.png"] {
        paint(root.path().join(file), [1, 2, 3]);
    }
    assert_eq!(message(root.path(), root.path()), "val: the class `cat` is not in train");
}

#[test]
fn a_class_without_images_is_named() {
    let root = folder();
    paint(root.path().join("a/1.png"), [1, 2, 3]);
    write(root.path().join("b/notes.txt"), "nothing to see");
    assert_eq!(
        message(root.path(), root.path()),
        "b: holds no images (JPEG, PNG, WebP or BMP), and a class needs some"
    );
}

#[test]
fn a_split_without_images_is_named() {
    let root = folder();
    for file in ["train/a/1.png", "train/b/2.png", "test/unlabelled.png"] {
        paint(root.path().join(file), [1, 2, 3]);
    }
    assert_eq!(message(root.path(), root.path()), "test: holds no images in folders of classes");
}

#[test]
fn two_folders_for_one_split_are_named() {
    let root = folder();
    for file in ["train/a/1.png", "train/b/2.png", "val/a/1.png", "valid/a/1.png"] {
        paint(root.path().join(file), [1, 2, 3]);
    }
    assert_eq!(
        message(root.path(), root.path()),
        "ROOT: holds both `val` and `valid`: a split has one folder"
    );
}

#[test]
fn splits_without_training_are_refused() {
    let root = folder();
    for file in ["val/a/1.png", "test/a/1.png"] {
        paint(root.path().join(file), [1, 2, 3]);
    }
    assert_eq!(message(root.path(), root.path()), "ROOT: holds `val`, but no `train` beside it");
}

#[test]
fn one_class_is_refused() {
    let root = folder();
    paint(root.path().join("cat/1.png"), [1, 2, 3]);
    paint(root.path().join("cat/2.png"), [1, 2, 3]);
    let error = open(root.path()).expect_err("one class");
    assert!(matches!(&error, Error::OneClass { class, .. } if class == "cat"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_circles_end() {
    use std::os::unix::fs::symlink;
    let (root, elsewhere) = (folder(), folder());
    paint(elsewhere.path().join("1.png"), [1, 2, 3]);
    paint(root.path().join("b/1.png"), [1, 2, 3]);
    symlink(elsewhere.path(), root.path().join("a")).expect("links can be made");
    symlink(root.path().join("b"), root.path().join("b/again")).expect("links can be made");
    symlink(root.path().join("b/2.png"), root.path().join("b/2.png")).expect("links can be made");
    let dataset = opened(root.path());
    assert_eq!(dataset.classes, ["a", "b"]);
    // The link to itself is listed, and unreadable where it is read.
    assert_eq!(dataset.labels, [0, 1, 1]);
    assert!(dataset.read(1).is_ok());
    assert!(matches!(dataset.read(2), Err(Error::BadImage { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_read_all_the_same() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let root = folder();
    let name = OsStr::from_bytes(b"caf\xe9");
    fs::create_dir(root.path().join(name)).expect("folders can be made");
    paint(root.path().join("b/1.png"), [1, 2, 3]);
    fs::copy(root.path().join("b/1.png"), root.path().join(name).join(OsStr::from_bytes(b"\xff.png")))
        .expect("files can be copied");
    let dataset = opened(root.path());
    assert_eq!(dataset.classes, ["b", "caf\u{fffd}"]);
    assert!(dataset.read(1).is_ok());
    assert!(dataset.source.name(1).ends_with("\u{fffd}.png"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let root = folder();
    paint(root.path().join("a/1.png"), [1, 2, 3]);
    paint(root.path().join("b/1.png"), [1, 2, 3]);
    let locked = root.path().join("b");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("permissions can be set");
    // Some users may read everything.
    if fs::read_dir(&locked).is_err() {
        assert!(message(root.path(), root.path()).starts_with("b: Permission denied"));
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
}
