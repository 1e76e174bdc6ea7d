//! No bytes, however wrong, make a reader panic, hang or take much memory.

use std::fs;
use std::path::Path;

use freeaugment_data::open;
use proptest::prelude::*;

use crate::common::{fixture, folder, gzip, paint, write};

/// Opens whatever is there and reads the first images.
fn survive(path: &Path) {
    if let Ok(dataset) = open(path) {
        for index in 0..dataset.labels.len().min(4) as u32 {
            let _ = dataset.read(index).map_err(|error| error.to_string());
            let _ = dataset.source.name(index);
        }
    }
}

/// A sound file with some bytes changed, and the end cut off.
fn damaged(sound: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let length = sound.len();
    let changes = proptest::collection::vec((0..length, any::<u8>()), 0..6);
    (changes, prop_oneof![Just(length), 0..length]).prop_map(move |(changes, end)| {
        let mut bytes = sound.clone();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(end);
        bytes
    })
}

fn damaged_fixture(names: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    proptest::sample::select(names).prop_flat_map(|name| damaged(fs::read(fixture(name)).expect("a fixture")))
}

const PICKLES: &[&str] = &[
    "numpy_0.pickle",
    "numpy_1.pickle",
    "numpy_2.pickle",
    "numpy_3.pickle",
    "numpy_4.pickle",
    "numpy_5.pickle",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn noise_in_any_file_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for name in ["data_batch_1", "data_batch_1.bin", "train-images-idx3-ubyte", "train-images-idx3-ubyte.gz",
                     "a.ndjson", "a.ndjson.gz", "a_train.txt", "a_train.npz", "a/1.png", "a/1.jpg"] {
            let root = folder();
            write(root.path().join(name), &bytes);
            write(root.path().join("train-labels-idx1-ubyte"), &bytes);
            paint(root.path().join("b/1.png"), [1, 2, 3]);
            survive(root.path());
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn damaged_pickles_are_survived(bytes in damaged_fixture(PICKLES)) {
        let root = folder();
        // The entries are called otherwise, but the pickle is read to its end before that is noticed.
        write(root.path().join("data_batch_1"), &bytes);
        survive(root.path());
    }

    #[test]
    fn pickle_opcodes_in_any_order_are_survived(
        program in proptest::collection::vec(proptest::sample::select(
            &b"(.012FIJKLMNPQRSTUVXabcdeghijlopqrstuB C]})G\x80\x81\x85\x86\x87\x88\x8a\x8c\x8f\x90\x91\x92\x93\x94\x96\n\x00\x01\x02"[..]
        ), 0..200)
    ) {
        let root = folder();
        write(root.path().join("data_batch_1"), &program);
        survive(root.path());
    }

    #[test]
    fn damaged_archives_are_survived(bytes in damaged_fixture(&["text.npz", "object.npz"])) {
        let root = folder();
        for file in ["fish/a.png", "fish/bb.png", "bird/c.png"] {
            write(root.path().join("clipart").join(file), "no image");
        }
        write(root.path().join("clipart_train.npz"), &bytes);
        survive(root.path());
    }

    #[test]
    fn damaged_images_are_survived(bytes in damaged_fixture(&["cmyk.jpg", "palette.png", "turned.jpg"])) {
        let root = folder();
        write(root.path().join("a/1.png"), &bytes);
        paint(root.path().join("b/1.png"), [1, 2, 3]);
        survive(root.path());
    }

    #[test]
    fn damaged_idx_files_are_survived(
        images in damaged([&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2][..], &[1, 2, 3, 4]].concat()),
        labels in damaged(vec![0, 0, 8, 1, 0, 0, 0, 2, 0, 1]),
        pack in any::<bool>(),
    ) {
        let root = folder();
        let (end, images) = if pack { (".gz", gzip(&images)) } else { ("", images) };
        write(root.path().join(format!("train-images-idx3-ubyte{end}")), images);
        write(root.path().join("train-labels-idx1-ubyte"), labels);
        survive(root.path());
    }

    #[test]
    fn damaged_drawings_are_survived(
        line in damaged(br#"{"drawing":[[[0,255,1e300,-5],[7,8,9,1e-300]],[[128],[128]]]}"#.to_vec()),
        pack in any::<bool>(),
    ) {
        let root = folder();
        let file = [&br#"{"drawing":[[[1],[2]]]}"#[..], &line].join(&b'\n');
        let (end, file) = if pack { (".gz", gzip(&file)) } else { ("", file) };
        write(root.path().join(format!("a.ndjson{end}")), file);
        write(root.path().join("b.ndjson"), r#"{"drawing":[[[1],[2]]]}"#);
        survive(root.path());
    }
}

#[test]
fn a_pickle_that_refers_to_itself_without_end_is_refused() {
    let root = folder();
    let message = || open(root.path()).expect_err("hostile").to_string();
    // A list in itself.
    write(root.path().join("data_batch_1"), b"]q\x00h\x00a.");
    assert!(message().ends_with("the pickle is nested too deeply or in a circle"), "{}", message());
    // Pairs of pairs of pairs…: 2⁶⁰ values in 300 bytes.
    let mut bytes = b"]q\x00".to_vec();
    for level in 0..60 {
        bytes.extend([b'h', level, b'h', level, 0x86, b'q', level + 1]);
    }
    bytes.push(b'.');
    write(root.path().join("data_batch_1"), bytes);
    assert!(message().ends_with("the pickle has more than 10000000 values"), "{}", message());
    // Lists in lists in lists…, in the file itself.
    write(root.path().join("data_batch_1"), [vec![b'('; 100_000], vec![b'l'; 100_000], vec![b'.']].concat());
    assert!(message().ends_with("the pickle is nested too deeply or in a circle"), "{}", message());
}

#[test]
fn json_in_json_without_end_is_refused() {
    let root = folder();
    write(root.path().join("a.ndjson"), format!(r#"{{"drawing":{}"#, "[".repeat(100_000)));
    let message = open(root.path()).expect_err("hostile").to_string();
    assert!(message.contains("a.ndjson: the first line is no drawing: "), "{message}");
}
