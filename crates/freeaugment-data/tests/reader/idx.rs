//! IDX files of the MNIST family.

use std::path::Path;

use freeaugment_data::DataKind;

use crate::common::{folder, gzip, message, opened, write};

fn idx(sizes: &[u32], values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, sizes.len() as u8];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(values);
    bytes
}

fn write_train(folder: &Path) {
    write(folder.join("train-images-idx3-ubyte"), idx(&[3, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
    write(folder.join("train-labels-idx1-ubyte"), idx(&[3], &[0, 4, 1]));
}

#[test]
fn raw_and_packed_files_are_read() {
    let root = folder();
    write_train(root.path());
    write(root.path().join("t10k-images.idx3-ubyte.gz"), gzip(&idx(&[1, 2, 2], &[13, 14, 15, 16])));
    write(root.path().join("t10k-labels.idx1-ubyte.gz"), gzip(&idx(&[1], &[2])));
    let dataset = opened(root.path());
    assert_eq!((dataset.kind, dataset.channels, dataset.size), (DataKind::Idx, 1, Some((2, 2))));
    assert_eq!(dataset.classes, ["0", "1", "2", "3", "4"]);
    assert_eq!(dataset.labels, [0, 4, 1, 2]);
    assert_eq!((&dataset.splits.train, &dataset.splits.test), (&vec![0, 1, 2], &Some(vec![3])));
    assert_eq!(dataset.read(1).expect("sound").pixels, [5, 6, 7, 8]);
    assert_eq!(dataset.read(3).expect("sound").pixels, [13, 14, 15, 16]);
    assert!(dataset.source.name(3).ends_with("t10k-images.idx3-ubyte.gz, image 0"));
}

#[test]
fn the_folders_of_torchvision_are_looked_into() {
    let root = folder();
    write_train(&root.path().join("MNIST/raw"));
    write(root.path().join("notes.txt"), "");
    assert_eq!(opened(root.path()).labels, [0, 4, 1]);
    assert_eq!(opened(root.path()).splits.test, None);
}

#[test]
fn several_data_sets_are_told_apart_by_their_file() {
    let root = folder();
    for name in ["emnist-digits", "emnist-letters"] {
        write(root.path().join(format!("{name}-train-images-idx3-ubyte")), idx(&[2, 1, 1], &[1, 2]));
        write(root.path().join(format!("{name}-train-labels-idx1-ubyte")), idx(&[2], &[1, name.len() as u8]));
    }
    assert_eq!(
        message(root.path(), root.path()),
        "ROOT: holds several data sets, `emnist-digits-…-` and `emnist-letters-…-`: give the file of training images of one"
    );
    assert_eq!(opened(root.path().join("emnist-letters-train-images-idx3-ubyte")).classes.len(), 15);
}

#[test]
fn files_that_do_not_agree_are_named() {
    let root = folder();
    write_train(root.path());
    let path = |name: &str| root.path().join(name);
    let expect = |expected: &str| assert_eq!(message(root.path(), root.path()), expected);

    write(path("train-labels-idx1-ubyte"), idx(&[2], &[0, 1]));
    expect("train-labels-idx1-ubyte: holds 2 labels, but train-images-idx3-ubyte holds 3 images");
    write(path("train-labels-idx1-ubyte"), idx(&[9], &[0, 1]));
    expect("train-labels-idx1-ubyte: is cut short: 2 bytes follow the header, which promises 9");
    write(path("train-labels-idx1-ubyte"), idx(&[1], &[0, 1]));
    expect("train-labels-idx1-ubyte: is too long: more bytes follow the header than the 1 it promises");
    write(path("train-labels-idx1-ubyte"), [0, 0, 8]);
    expect("train-labels-idx1-ubyte: has 3 bytes, fewer than the 8 of its header");
    write(path("train-labels-idx1-ubyte"), idx(&[1, 1], &[0]));
    expect(
        "train-labels-idx1-ubyte: begins with [00, 00, 08, 02], an IDX file of this kind with [00, 00, 08, 01]",
    );
    std::fs::remove_file(path("train-labels-idx1-ubyte")).expect("it was written");
    expect(
        "train-images-idx3-ubyte: there is no `train-labels-idx1-ubyte` or `train-labels-idx1-ubyte.gz` beside it",
    );

    write_train(root.path());
    write(path("t10k-images-idx3-ubyte"), idx(&[1, 1, 1], &[0]));
    expect("t10k-images-idx3-ubyte: has images of 1 × 1, those for training have 2 × 2");
    std::fs::remove_file(path("train-images-idx3-ubyte")).expect("it was written");
    expect("ROOT: there is no `train-images-idx3-ubyte` or `….gz` beside the test images");
}

#[test]
fn headers_are_not_believed() {
    let root = folder();
    write_train(root.path());
    let path = root.path().join("train-images-idx3-ubyte");
    write(&path, idx(&[u32::MAX, u32::MAX, u32::MAX], &[0]));
    assert_eq!(
        message(root.path(), root.path()),
        "train-images-idx3-ubyte: its header claims [4294967295, 4294967295, 4294967295] values, more than the 4294967296 allowed"
    );
    write(&path, idx(&[1 << 30, 1, 1], &[0]));
    assert_eq!(
        message(root.path(), root.path()),
        "train-images-idx3-ubyte: is cut short: 1 bytes follow the header, which promises 1073741824"
    );
    write(&path, idx(&[3, 0, 5], &[]));
    assert_eq!(
        message(root.path(), root.path()),
        "train-images-idx3-ubyte: holds no images: its header says 3 of 0 × 5"
    );
}

#[test]
fn packed_files_that_are_not_sound_are_named() {
    let root = folder();
    let packed = gzip(&idx(&[3, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
    write(root.path().join("train-labels-idx1-ubyte"), idx(&[3], &[0, 4, 1]));
    let path = root.path().join("train-images-idx3-ubyte.gz");
    let mut wrong_checksum = packed.clone();
    let at = packed.len() - 8;
    wrong_checksum[at] ^= 1;
    for bytes in
        [&b"not gzip at all"[..], &packed[..packed.len() - 10], &packed[..packed.len() - 3], &wrong_checksum]
    {
        write(&path, bytes);
        let message = message(root.path(), root.path());
        let expected = "train-images-idx3-ubyte.gz: cannot be unpacked, it is cut short or not gzip: ";
        assert!(message.starts_with(expected), "{message}");
    }
    // More than the header promises is not unpacked.
    write(&path, gzip(&idx(&[3, 1, 1], &vec![0; 1 << 20])));
    assert_eq!(
        message(root.path(), root.path()),
        "train-images-idx3-ubyte.gz: is too long: more bytes follow the header than the 3 it promises"
    );
}
