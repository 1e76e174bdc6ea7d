//! Checkpoints of SLACK.

use std::io::Write as _;

use freeaugment_baseline::{Kind, Operation, Published};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::{draw, draw_at, lowest_and_highest, near, read, values_of};

pub(crate) const NOTHING: f32 = -60.0;

/// What PyTorch pickles for a matrix.
fn tensor(storage: &str, key: &str, sizes: [u8; 2], strides: [u8; 2]) -> Vec<u8> {
    let text = |text: &str| [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    [
        b"ctorch._utils\n_rebuild_tensor_v2\n((".to_vec(),
        text("storage"),
        format!("ctorch\n{storage}\n").into_bytes(),
        text(key),
        text("cuda:0"),
        b"K\x07tQK\x00".to_vec(),
        [b"K", &sizes[..1], b"K", &sizes[1..], b"\x86K", &strides[..1], b"K", &strides[1..], b"\x86"]
            .concat(),
        b"\x89ccollections\nOrderedDict\n)RtR".to_vec(),
    ]
    .concat()
}

fn pickle(pi: &[u8], mu: &[u8]) -> Vec<u8> {
    [
        b"\x80\x02}(X\x04\0\0\0stepM\xa0\x0fX\x0b\0\0\0outer_modelccollections\nOrderedDict\n)R(X\x02\0\0\0pi",
        pi,
        b"X\x02\0\0\0mu",
        mu,
        b"u}X\x09\0\0\0_metadata}sbu.",
    ]
    .concat()
}

fn archive(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).expect("an entry begins");
        writer.write_all(bytes).expect("an entry is written");
    }
    writer.finish().expect("the archive is complete").into_inner()
}

fn raw(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A checkpoint. Its storages are the other way round than in the authors' files, so that only the pickle tells
/// which is which.
pub(crate) fn checkpoint(logits: &[f32], bounds: &[f32]) -> Vec<u8> {
    let count = bounds.len() as u8;
    let pi = tensor("FloatStorage", "1", [(logits.len() / bounds.len()) as u8, count], [count, 1]);
    let mu = tensor("FloatStorage", "0", [count, 1], [1, 1]);
    archive(&[
        ("archive/data.pkl", pickle(&pi, &mu)),
        ("archive/data/0", raw(bounds)),
        ("archive/data/1", raw(logits)),
        ("archive/version", b"3\n".to_vec()),
    ])
}

/// A policy that chooses one operation of so many, always.
fn only(chosen: usize, count: usize, bound: f32) -> Published {
    let logits: Vec<f32> = (0..count).map(|at| if at == chosen { 0.0 } else { NOTHING }).collect();
    read(Kind::Slack, "a.ckpt", &checkpoint(&logits.repeat(3), &vec![bound; count]), None)
        .expect("the checkpoint is sound")
}

#[test]
fn operations_are_in_the_order_of_each_data_set() {
    use Operation::{
        AutoContrast, Brightness, Color, Contrast, Cutout, Equalize, Grayscale, Hue, Identity, Invert,
        Posterize, Rotate, Sharpness, ShearX, ShearY, Solarize, TranslateX, TranslateY,
    };
    let first = [ShearX, ShearY, TranslateX, TranslateY, Rotate, AutoContrast, Invert, Equalize];
    let then = [Solarize, Posterize, Contrast, Color, Brightness, Sharpness];
    let some = |operations: &[Operation]| operations.iter().copied().map(Some).collect::<Vec<_>>();
    // A crop begins with a translation. A crop that changes the size is nothing.
    let crop = Some(TranslateX);
    let cifar = [some(&first), some(&then), vec![Some(Cutout), crop, Some(Identity)]].concat();
    let imagenet = [some(&first), some(&then), vec![Some(Hue), Some(Cutout), None, Some(Identity)]].concat();
    let domainnet = [
        some(&first),
        vec![Some(Grayscale)],
        some(&then),
        vec![Some(Hue), Some(Cutout), None, crop, Some(Identity)],
    ]
    .concat();
    for expected in [cifar, imagenet, domainnet] {
        for (at, &operation) in expected.iter().enumerate() {
            let drawn = draw(&only(at, expected.len(), 1.0), 30);
            assert_eq!(drawn.first().map(|action| action.operation), operation, "{at} of {}", expected.len());
        }
    }
}

#[test]
fn operations_are_drawn_as_often_as_the_logits_say() {
    let mut logits = vec![NOTHING; 51];
    // A quarter and three quarters; then always one, then the other.
    (logits[4], logits[6]) = (0.0, 3.0_f32.ln());
    (logits[17 + 4], logits[34 + 6]) = (0.0, 0.0);
    let policy = read(Kind::Slack, "a.ckpt", &checkpoint(&logits, &[0.5; 17]), None).expect("it is sound");
    let images = draw_at(&policy, 20_000, 0.0);
    assert!(images.iter().all(|actions| actions.len() == 3));
    let rotated = |layer: usize| images.iter().filter(|a| a[layer].operation == Operation::Rotate).count();
    assert!(near(rotated(0), 20_000, 0.25), "{}", rotated(0));
    assert_eq!((rotated(1), rotated(2)), (20_000, 0));
}

#[test]
fn magnitudes_are_smoothed_uniform_and_mirrored_by_a_coin() {
    let rotations = values_of(&draw(&only(4, 17, 0.5), 10_000), Operation::Rotate);
    // The mean of clamp(u + 0.1·n, 0, 1) with u uniform up to 1/2, by summing over both.
    let (mut mean, mut weight) = (0.0, 0.0);
    for u in (0..100).map(|i| (f64::from(i) + 0.5) / 200.0) {
        for n in (-80..=80).map(|i| f64::from(i) / 20.0) {
            let density = (-n * n / 2.0).exp();
            mean += density * (u + 0.1 * n).clamp(0.0, 1.0);
            weight += density;
        }
    }
    let found = rotations.iter().map(|value| value.abs()).sum::<f64>() / rotations.len() as f64 / 90.0;
    assert!((found - mean / weight).abs() < 0.005, "{found} is not {}", mean / weight);
    // The level of a cutout is its share of the width, squared.
    let squares = values_of(&draw(&only(14, 17, 0.5), 10_000), Operation::Cutout);
    let found = squares.iter().map(|side| (side / 40.0).powi(2)).sum::<f64>() / 30_000.0;
    assert!((found - mean / weight).abs() < 0.005, "{found} is not {}", mean / weight);
    let to_the_left = rotations.iter().filter(|&&value| value > 0.0).count();
    let turned = rotations.iter().filter(|&&value| value != 0.0).count();
    assert!(near(to_the_left, turned as u32, 0.5));
}

#[test]
fn levels_become_values_as_in_the_authors_code() {
    let ends =
        |at: usize, operation| lowest_and_highest(&values_of(&draw(&only(at, 20, 1.0), 3000), operation));
    assert_eq!(ends(0, Operation::ShearX), (-1.0, 1.0));
    assert_eq!(ends(2, Operation::TranslateX), (-30.0, 30.0));
    assert_eq!(ends(3, Operation::TranslateY), (-15.0, 15.0));
    assert_eq!(ends(4, Operation::Rotate), (-90.0, 90.0));
    assert_eq!(ends(9, Operation::Solarize), (0.0, 255.0));
    assert_eq!(ends(10, Operation::Posterize), (2.0, 8.0));
    let (low, high) = ends(13, Operation::Brightness);
    assert!((low - 0.01).abs() < 1e-9 && (high - 1.99).abs() < 1e-9);
    assert_eq!(ends(15, Operation::Hue), (-0.5, 0.5));
    let (low, high) = ends(16, Operation::Cutout);
    assert!(low > 0.0 && high == 40.0, "{low} {high}");
    let crops = draw(&only(18, 20, 1.0), 3000);
    assert!(crops.iter().all(|action| action.value.fract() == 0.0));
    assert_eq!(lowest_and_highest(&values_of(&crops, Operation::TranslateX)), (-20.0, 20.0));
    assert_eq!(lowest_and_highest(&values_of(&crops, Operation::TranslateY)), (-20.0, 20.0));
}

#[test]
fn without_a_pickle_the_first_two_tensors_are_taken() {
    let logits: Vec<f32> = (0..51).map(|at| at as f32 / 10.0).collect();
    let bounds: Vec<f32> = (0..17).map(|at| at as f32 / 17.0).collect();
    let bare = archive(&[("a/data/0", raw(&logits)), ("a/data/1", raw(&bounds))]);
    let bare = read(Kind::Slack, "a.ckpt", &bare, None).expect("two tensors are enough");
    let whole = read(Kind::Slack, "a.ckpt", &checkpoint(&logits, &bounds), None).expect("it is sound");
    assert_eq!(draw(&bare, 50), draw(&whole, 50));
    assert_eq!(whole.name(), "slack a");
    let short = archive(&[("a/data/0", raw(&logits[1..])), ("a/data/1", raw(&bounds))]);
    let error = read(Kind::Slack, "a.ckpt", &short, None).expect_err("a number is missing");
    assert!(error.contains("the first tensors have 50 and 17 numbers"), "{error}");
}

#[test]
fn what_is_no_checkpoint_of_a_policy_is_refused() {
    let refused = |bytes: &[u8]| read(Kind::Slack, "a.ckpt", bytes, None).expect_err("it is not sound");
    assert!(refused(b"PK").contains("a.ckpt: cannot be read as a file of SLACK: it is cut short or no zip"));
    let error = refused(&checkpoint(&[0.0; 48], &[0.5; 16]));
    assert!(
        error.contains("it has 16 operations, it must have 17 (CIFAR), 18 (ImageNet-100) or 20"),
        "{error}"
    );
    let error = refused(&checkpoint(&[f32::NAN; 51], &[0.5; 17]));
    assert!(error.contains("`pi` has the value NaN"), "{error}");
    let error = refused(&checkpoint(&[0.0; 51], &[1.5; 17]));
    assert!(error.contains("`mu` has the value 1.5, it must be between 0 and 1"), "{error}");
    // What a pickle says of its storages is checked.
    let mu = tensor("FloatStorage", "0", [17, 1], [1, 1]);
    let described = |pi: &[u8]| {
        refused(&archive(&[
            ("a/data.pkl", pickle(pi, &mu)),
            ("a/data/0", raw(&[0.5; 17])),
            ("a/data/9", vec![]),
        ]))
    };
    let error = described(&tensor("HalfStorage", "9", [3, 17], [17, 1]));
    assert!(error.contains("`pi`: it is a `HalfStorage`, it must be a `FloatStorage`"), "{error}");
    let error = described(&tensor("FloatStorage", "9", [255, 255], [255, 255]));
    assert!(error.contains("`pi`: its storage has only 0 numbers"), "{error}");
}
