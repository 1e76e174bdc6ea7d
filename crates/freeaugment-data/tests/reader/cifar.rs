//! CIFAR-10 and CIFAR-100.

use std::path::Path;

use freeaugment_data::DataKind;

use crate::common::{folder, message, opened, write};

const PIXELS: usize = 3072;

/// Label bytes and an image whose planes have one value each.
fn record(labels: &[u8], planes: [u8; 3]) -> Vec<u8> {
    let mut record = labels.to_vec();
    record.extend(planes.iter().flat_map(|&value| [value; PIXELS / 3]));
    record
}

/// A batch as Python 2 pickled it: strings that are bytes, and an array of NumPy restored from them.
fn pickled(key: &str, labels: &[u8], pixels: &[u8]) -> Vec<u8> {
    let string = |text: &str| [&[b'U', text.len() as u8], text.as_bytes()].concat();
    let mut bytes = b"\x80\x02}q\x01(".to_vec();
    bytes.extend(string("data"));
    bytes.extend(b"q\x02cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\nq\x04K\x00\x85U\x01b\x87Rq\x05(K\x01K");
    bytes.push(labels.len() as u8);
    bytes.extend(b"M\x00\x0c\x86cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87Rq\x07(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T");
    bytes.extend((pixels.len() as u32).to_le_bytes());
    bytes.extend(pixels);
    bytes.extend(b"tb");
    bytes.extend(string(key));
    bytes.extend(b"q\x08]q\x09(");
    bytes.extend(labels.iter().flat_map(|&label| [b'K', label]));
    bytes.push(b'e');
    bytes.extend(string("batch_label"));
    bytes.extend(string("training batch 1 of 5"));
    bytes.extend(b"u.");
    bytes
}

fn pickled_names(key: &str, names: &[&str]) -> Vec<u8> {
    let string = |text: &str| [&[b'U', text.len() as u8], text.as_bytes()].concat();
    let names: Vec<u8> = names.iter().flat_map(|name| string(name)).collect();
    [b"\x80\x02}(".to_vec(), string(key), b"](".to_vec(), names, b"eu.".to_vec()].concat()
}

fn write_binary(folder: &Path) {
    write(folder.join("data_batch_1.bin"), [record(&[0], [1, 2, 3]), record(&[2], [4, 5, 6])].concat());
    write(folder.join("data_batch_10.bin"), record(&[1], [10, 11, 12]));
    write(folder.join("data_batch_2.bin"), record(&[1], [7, 8, 9]));
    write(folder.join("batches.meta.txt"), "cat\ndog\nfrog\n\n");
}

#[test]
fn the_binary_form_is_read_in_the_order_of_its_batches() {
    let root = folder();
    write_binary(root.path());
    write(root.path().join("test_batch.bin"), record(&[2], [250, 251, 252]));
    let dataset = opened(root.path());
    assert_eq!((dataset.kind, dataset.title.as_str()), (DataKind::Cifar, "CIFAR-10 (binary)"));
    assert_eq!((dataset.channels, dataset.size), (3, Some((32, 32))));
    assert_eq!(dataset.classes, ["cat", "dog", "frog"]);
    assert_eq!(dataset.labels, [0, 2, 1, 1, 2]);
    assert_eq!(dataset.splits.train, [0, 1, 2, 3]);
    assert_eq!((&dataset.splits.validation, &dataset.splits.test), (&None, &Some(vec![4])));
    let picture = dataset.read(4).expect("the image is sound");
    assert_eq!((picture.height, picture.width, picture.channels), (32, 32, 3));
    assert!(picture.pixels.chunks(3).all(|pixel| pixel == [250, 251, 252]));
    assert!(dataset.source.name(1).ends_with("data_batch_1.bin, image 1"));
    assert!(dataset.source.name(2).ends_with("data_batch_2.bin, image 0"));
    assert_eq!(
        dataset.read(5).expect_err("there are five").to_string().split(": ").last(),
        Some("there are 5 images")
    );
}

#[test]
fn the_folder_of_the_archive_is_found_in_its_parent() {
    let root = folder();
    write_binary(&root.path().join("cifar-10-batches-bin"));
    // The other form of the same data is not read twice.
    write(root.path().join("cifar-10-batches-py/data_batch_1"), "not looked at");
    let dataset = opened(root.path());
    assert_eq!((dataset.labels.len(), dataset.splits.test), (4, None));
}

#[test]
fn two_data_sets_in_one_folder_are_named() {
    let root = folder();
    write_binary(&root.path().join("cifar-10-batches-bin"));
    write(root.path().join("cifar-100-python/train"), "");
    assert_eq!(
        message(root.path(), root.path()),
        "ROOT: holds both `cifar-10-batches-bin` and `cifar-100-python`: give one of them"
    );
}

#[test]
fn fine_labels_come_after_coarse_ones() {
    let root = folder();
    let folder = root.path().join("cifar-100-binary");
    write(folder.join("train.bin"), [record(&[11, 98], [1, 2, 3]), record(&[4, 0], [1, 2, 3])].concat());
    write(folder.join("test.bin"), record(&[19, 99], [1, 2, 3]));
    let dataset = opened(root.path());
    assert_eq!(dataset.title, "CIFAR-100 (binary)");
    assert_eq!(dataset.labels, [98, 0, 99]);
    // Without a file of names, the published ones are used.
    assert_eq!([&dataset.classes[0], &dataset.classes[98], &dataset.classes[99]], ["apple", "woman", "worm"]);
    assert_eq!(dataset.splits.test, Some(vec![2]));
}

#[test]
fn the_python_forms_hold_the_same() {
    let root = folder();
    let pixels = [[1; 1024], [2; 1024], [3; 1024], [4; 1024], [5; 1024], [6; 1024]].concat();
    write(root.path().join("data_batch_1"), pickled("labels", &[1, 0], &pixels));
    write(root.path().join("test_batch"), pickled("labels", &[1], &pixels[3072..]));
    write(root.path().join("batches.meta"), pickled_names("label_names", &["cat", "dog"]));
    let dataset = opened(root.path());
    assert_eq!((dataset.kind, dataset.title.as_str()), (DataKind::Cifar, "CIFAR-10 (python)"));
    assert_eq!(dataset.classes, ["cat", "dog"]);
    assert_eq!(dataset.labels, [1, 0, 1]);
    assert_eq!(dataset.splits.test, Some(vec![2]));
    assert!(dataset.read(2).expect("the image is sound").pixels.chunks(3).all(|pixel| pixel == [4, 5, 6]));

    let root = folder();
    let folder = root.path().join("cifar-100-python");
    write(folder.join("train"), pickled("fine_labels", &[1, 0], &pixels));
    write(folder.join("meta"), pickled_names("fine_label_names", &["apple", "pear"]));
    let dataset = opened(root.path());
    assert_eq!((dataset.title.as_str(), dataset.labels), ("CIFAR-100 (python)", vec![1, 0]));
    assert_eq!(dataset.classes, ["apple", "pear"]);
}

#[test]
fn a_label_without_a_class_is_named() {
    let root = folder();
    write_binary(root.path());
    write(root.path().join("test_batch.bin"), [record(&[0], [1; 3]), record(&[3], [1; 3])].concat());
    assert_eq!(
        message(root.path(), root.path()),
        "test_batch.bin: record 1 has the label 3; with 3 classes, 0 to 2 are allowed"
    );
    let root = folder();
    write(root.path().join("data_batch_1"), pickled("labels", &[10], &[0; PIXELS]));
    assert_eq!(
        message(root.path(), root.path()),
        "data_batch_1: record 0 has the label 10; with 10 classes, 0 to 9 are allowed"
    );
}

#[test]
fn files_that_are_cut_short_are_named() {
    let root = folder();
    write(root.path().join("data_batch_1.bin"), &record(&[0], [1; 3])[..3000]);
    assert_eq!(
        message(root.path(), root.path()),
        "data_batch_1.bin: has 3000 bytes, not a multiple of the 3073 of a record: it is cut short or no CIFAR file"
    );
    let root = folder();
    write(root.path().join("data_batch_1"), &pickled("labels", &[0], &[0; PIXELS])[..1000]);
    let message = message(root.path(), root.path());
    assert!(message.contains("the pickle is cut short at byte"), "{message}");
}

#[test]
fn pickles_of_something_else_are_named() {
    let root = folder();
    let expect = |bytes: &[u8], expected: &str| {
        write(root.path().join("data_batch_1"), bytes);
        assert_eq!(message(root.path(), root.path()), format!("data_batch_1: {expected}"));
    };
    expect(b"\x80\x02}.", "the pickle has no entry `data`");
    expect(b"hello", "pickle opcode `h` at byte 0: nothing was stored as 101");
    expect(b"\x80\x04\x97.", "pickle opcode 0x97 at byte 2: it is not supported, or this is no pickle");
    expect(
        &pickled("labels", &[1, 0], &[0; PIXELS]),
        "`data`: an array of shape [2, 3072] with 1 bytes an element has 3072 bytes",
    );
    expect(&pickled("coarse", &[1], &[0; PIXELS]), "the pickle has no entry `labels`");
}

#[test]
fn all_images_of_one_class_are_refused() {
    let root = folder();
    write(root.path().join("data_batch_1.bin"), record(&[3], [1; 3]));
    assert_eq!(
        message(root.path(), root.path()),
        "ROOT: there is only one class, `cat`: a classifier needs at least two"
    );
}
