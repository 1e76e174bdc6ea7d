//! The default policy stays what it is, and so do its draws, whatever transformations are added. The crate's own tests
//! include this file: there, fifteen transformations exist.

use freeaugment::{PolicyConfig, Transformation};

/// The paper's table: names and ranges, in its order.
const PAPER: [(&str, Option<(f32, f32)>); 14] = [
    ("ShearX", Some((-0.6, 0.6))),
    ("ShearY", Some((-0.6, 0.6))),
    ("TranslateX", Some((-0.5, 0.5))),
    ("TranslateY", Some((-0.5, 0.5))),
    ("Rotate", Some((-30.0, 30.0))),
    ("Solarize", Some((0.6, 1.0))),
    ("Posterize", Some((2.0, 8.0))),
    ("Contrast", Some((0.4, 2.0))),
    ("Color", Some((0.0, 1.0))),
    ("Brightness", Some((-0.4, 0.4))),
    ("Sharpness", Some((0.0, 2.0))),
    ("AutoContrast", None),
    ("Invert", None),
    ("Equalize", None),
];

#[test]
fn the_default_policy_chooses_from_the_papers_transformations() {
    let default = PolicyConfig::default();
    let found: Vec<_> = default
        .transformations
        .iter()
        .map(|ranged| (ranged.transformation.name(), ranged.transformation.magnitude().map(|_| ranged.range)))
        .collect();
    assert_eq!(found, PAPER);
    assert_eq!(default.layers, 7);
    assert_eq!(Transformation::PAPER.map(Transformation::name), PAPER.map(|(name, _)| name));
    assert!(Transformation::all().starts_with(&Transformation::PAPER));
    // In the crate's own tests this module has a parent, and there is a fifteenth transformation.
    if module_path!().contains("::") {
        assert!(Transformation::all().len() > PAPER.len());
    }
}

#[test]
fn a_seed_gives_what_it_always_gave_however_many_transformations_there_are() {
    let policy = PolicyConfig::default().init().unwrap();
    let sample = policy.sample(policy.draw(17, 3, &[0, 1, 60_000]), 0.5).unwrap();
    let found: Vec<(usize, [u8; 7])> =
        (0..3).map(|image| (sample.depth(image), sample.types(image).try_into().unwrap())).collect();
    assert_eq!(
        found,
        [(5, [0, 11, 8, 4, 6, 0, 10]), (3, [3, 12, 9, 0, 10, 1, 8]), (1, [2, 13, 7, 4, 1, 12, 0])]
    );
    let last: Vec<u32> = (0..3).map(|image| sample.magnitudes(image)[14 * 7 - 1].to_bits()).collect();
    assert_eq!(last, [1_054_426_824, 1_040_516_360, 1_049_226_394]);
}
