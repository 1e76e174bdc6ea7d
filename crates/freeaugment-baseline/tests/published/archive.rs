//! Archives of Deep AutoAugment.

use std::io::Write as _;

use freeaugment_baseline::{Kind, Operation};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::{draw, draw_at, lowest_and_highest, near, read, values_of};

fn npy(descr: &str, shape: &str, contents: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), contents].concat()
}

/// Choices are (operation, level of 0 to 12); names are padded to 30 letters.
pub(crate) fn npz(names: &[&str], choices: &[(i32, i32)], probabilities: &[&[f32]], levels: i64) -> Vec<u8> {
    let whole = |numbers: Vec<i32>| -> Vec<u8> { numbers.into_iter().flat_map(i32::to_le_bytes).collect() };
    let letters = |name: &&str| -> Vec<u8> {
        let padded = name.chars().chain(std::iter::repeat('\0')).take(30);
        padded.flat_map(|letter| u32::from(letter).to_le_bytes()).collect()
    };
    let floats: Vec<u8> = probabilities.concat().iter().flat_map(|number| number.to_le_bytes()).collect();
    let count = choices.len();
    let entries = [
        ("policy_probs", npy("<f4", &format!("{}, {count}", probabilities.len()), &floats)),
        ("l_mags", npy("<i8", "", &levels.to_le_bytes())),
        ("ops", npy("<i4", &format!("{count}, 1"), &whole(choices.iter().map(|choice| choice.0).collect()))),
        ("mags", npy("<i4", &format!("{count}, 1"), &whole(choices.iter().map(|choice| choice.1).collect()))),
        (
            "op_names",
            npy("<U30", &format!("{},", names.len()), &names.iter().flat_map(letters).collect::<Vec<_>>()),
        ),
    ];
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(format!("{name}.npy"), SimpleFileOptions::default()).expect("an entry begins");
        writer.write_all(&bytes).expect("an entry is written");
    }
    writer.finish().expect("the archive is complete").into_inner()
}

#[test]
fn each_layer_chooses_operation_and_level_together() {
    let names = ["Rotate:(-30.0,,30.0)", "Contrast:(0.1,,1.9)", "Invert:(0.0,,1.0)"];
    let choices = [(0, 12), (1, 0), (1, 12), (2, 6)];
    let bytes = npz(&names, &choices, &[&[0.0, 0.25, 0.75, 0.0], &[0.5, 0.0, 0.0, 0.5]], 13);
    let policy = read(Kind::DeepAa, "a.npz", &bytes, None).expect("it is sound");
    let images = draw_at(&policy, 10_000, 0.0);
    let weak = images.iter().filter(|actions| (actions[0].value - 0.1).abs() < 1e-9).count();
    let strong = images.iter().filter(|actions| (actions[0].value - 1.9).abs() < 1e-9).count();
    assert_eq!(weak + strong, 10_000);
    assert!(near(weak, 10_000, 0.25));
    let second = |operation| images.iter().filter(|actions| actions[1].operation == operation).count();
    assert!(near(second(Operation::Rotate), 10_000, 0.5));
    assert_eq!(second(Operation::Rotate) + second(Operation::Invert), 10_000);
}

#[test]
fn levels_become_values_as_in_the_authors_code() {
    let values = |name: &str, level: i32, operation| {
        let bytes = npz(&[name], &[(0, level)], &[&[1.0]], 13);
        let policy = read(Kind::DeepAa, "a.npz", &bytes, None).expect("it is sound");
        lowest_and_highest(&values_of(&draw(&policy, 500), operation))
    };
    // A coin turns geometric operations around.
    assert_eq!(values("ShearX:()", 0, Operation::ShearX), (-0.3, 0.3));
    assert_eq!(values("TranslateX", 12, Operation::TranslateX), (-18.0, 18.0));
    assert_eq!(values("TranslateY", 12, Operation::TranslateY), (-9.0, 9.0));
    assert_eq!(values("Rotate", 6, Operation::Rotate), (0.0, 0.0));
    assert_eq!(values("Solarize", 12, Operation::Solarize), (256.0, 256.0));
    assert_eq!(values("Posterize", 0, Operation::Posterize), (4.0, 4.0));
    assert_eq!(values("Posterize", 11, Operation::Posterize), (7.0, 7.0));
    assert_eq!(values("RandCutout", 6, Operation::Cutout), (16.0, 16.0));
    assert_eq!(values("RandCrop", 6, Operation::TranslateY), (-4.0, 4.0));
    let bytes = npz(&["RandFlip"], &[(0, 6)], &[&[1.0]], 13);
    let policy = read(Kind::DeepAa, "a.npz", &bytes, None).expect("it is sound");
    assert!(near(draw(&policy, 10_000).len(), 10_000, 0.5));
}

#[test]
fn what_cannot_be_done_is_said() {
    let names = ["RandResizeCrop_imagenet:(0.0,,1.0)", "Identity"];
    let bytes = npz(&names, &[(0, 6), (1, 6)], &[&[0.25, 0.75], &[0.75, 0.25]], 13);
    let policy = read(Kind::DeepAa, "a.npz", &bytes, None).expect("it is sound");
    let expected = "nothing is done in the place of RandResizeCrop, which is 50.0 % of the choices";
    assert!(policy.notes().iter().any(|note| note == expected), "{:?}", policy.notes());
}

#[test]
fn wrong_archives_are_refused() {
    let refused = |bytes: &[u8]| read(Kind::DeepAa, "a.npz", bytes, None).expect_err("it is not sound");
    let error = refused(&npz(&["Rotate"], &[(1, 0)], &[&[1.0]], 13));
    assert!(error.contains("`ops` has the value 1, there are 1 names"), "{error}");
    let error = refused(&npz(&["Rotate"], &[(0, 0)], &[&[0.5]], 13));
    assert!(error.contains("the probabilities of a layer add up to 0.5"), "{error}");
    let error = refused(&npz(&["Rotate"], &[(0, 13)], &[&[1.0]], 13));
    assert!(error.contains("the level 1.0833333333333333 of Rotate is not between 0 and 1"), "{error}");
    let error = refused(&npz(&["Spin"], &[(0, 0)], &[&[1.0]], 13));
    assert!(error.contains("there is no operation `Spin`"), "{error}");
    let error = refused(&npz(&["Rotate"], &[(0, 0)], &[&[1.0]], 1));
    assert!(error.contains("`l_mags` must be one number from 2 to 1000"), "{error}");
    let error = refused(b"PK\x05\x06 and no more");
    assert!(
        error.starts_with("a.npz: cannot be read as a file of Deep AutoAugment: is cut short"),
        "{error}"
    );
    let sound = npz(&["Rotate"], &[(0, 0)], &[&[1.0]], 13);
    let error = read(Kind::DeepAa, "a.npz", &sound, Some("first")).expect_err("there is nothing to choose");
    assert_eq!(error, "a.npz: holds one policy, so that `first` chooses nothing: leave the name out");
}
