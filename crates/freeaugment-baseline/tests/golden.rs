//! Every operation, byte for byte as Pillow and torchvision do it. `golden/make.py` makes the files.

use std::collections::BTreeMap;

use freeaugment_baseline::{Action, Operation};
use freeaugment_data::Picture;
use serde::Deserialize;

const STORED: &[u8] = include_bytes!("golden/pictures.bin");

/// Pictures that every case was applied to; the small ones after them have their results stored.
const EVERY: usize = 3;

#[derive(Deserialize)]
struct Golden {
    pictures: Vec<Shape>,
    kept: Vec<Kept>,
    large: Vec<Large>,
    sweeps: Vec<Sweep>,
    torchvision: Vec<Sweep>,
}

#[derive(Deserialize)]
struct Shape {
    name: String,
    height: usize,
    width: usize,
    channels: usize,
    #[serde(default)]
    formula: bool,
}

#[derive(Deserialize)]
struct Kept {
    operation: String,
    value: f64,
    centre: [f64; 2],
    hashes: Vec<String>,
}

#[derive(Deserialize)]
struct Large {
    operation: String,
    value: f64,
    picture: String,
    hash: String,
}

#[derive(Deserialize)]
struct Sweep {
    operation: String,
    pairs: Vec<(f64, String)>,
}

impl Golden {
    fn read() -> Self {
        serde_json::from_str(include_str!("golden/cases.json")).expect("cases.json is what make.py wrote")
    }

    /// The pictures that are stored, and what is stored after them.
    fn stored(&self) -> (Vec<Picture>, &'static [u8]) {
        let mut rest = STORED;
        let stored = self.pictures.iter().filter(|shape| !shape.formula);
        (stored.map(|shape| shape.picture(take(&mut rest, shape.len()))).collect(), rest)
    }

    fn made(&self, name: &str) -> Picture {
        let shape = self.pictures.iter().find(|shape| shape.name == name).expect("a picture that is listed");
        let formula = |index: usize| ((index as u32).wrapping_mul(2_654_435_761) >> 24) as u8;
        shape.picture(&(0..shape.len()).map(formula).collect::<Vec<_>>())
    }
}

impl Shape {
    fn len(&self) -> usize {
        self.height * self.width * self.channels
    }

    fn picture(&self, pixels: &[u8]) -> Picture {
        Picture { height: self.height, width: self.width, channels: self.channels, pixels: pixels.to_vec() }
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(count);
    *rest = left;
    taken
}

fn operation(name: &str) -> Operation {
    *Operation::ALL.iter().find(|operation| operation.name() == name).expect("an operation that is listed")
}

fn applied(action: Action, picture: &Picture) -> Picture {
    let mut picture = picture.clone();
    action.apply(&mut picture);
    picture
}

/// FNV-1a over 64-bit words, the last filled with zeros, then the length.
fn fnv(bytes: &[u8]) -> String {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3);
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let hash = bytes.chunks(8).map(word).fold(0xcbf2_9ce4_8422_2325, step);
    format!("{:016x}", step(hash, bytes.len() as u64))
}

#[test]
fn every_byte_of_the_small_pictures_is_pillows() {
    let golden = Golden::read();
    let (pictures, mut expected) = golden.stored();
    let shapes: Vec<&Shape> = golden.pictures.iter().filter(|shape| !shape.formula).collect();
    for case in &golden.kept {
        let action = Action { operation: operation(&case.operation), value: case.value, centre: case.centre };
        for (picture, shape) in pictures.iter().zip(&shapes).skip(EVERY) {
            let expected = take(&mut expected, shape.len());
            assert_eq!(applied(action, picture).pixels, expected, "{action:?} of {}", shape.name);
        }
    }
    assert!(expected.is_empty());
}

#[test]
fn the_other_pictures_have_pillows_hashes() {
    let golden = Golden::read();
    let (mut pictures, _) = golden.stored();
    pictures.truncate(EVERY);
    pictures.push(golden.made("colours"));
    for case in &golden.kept {
        let action = Action { operation: operation(&case.operation), value: case.value, centre: case.centre };
        assert_eq!(case.hashes.len(), pictures.len());
        for (picture, hash) in pictures.iter().zip(&case.hashes) {
            let size = (picture.height, picture.width);
            assert_eq!(&fnv(&applied(action, picture).pixels), hash, "{action:?} of {size:?}");
        }
    }
}

#[test]
fn every_value_of_every_space_gives_pillows_bytes() {
    let golden = Golden::read();
    let (pictures, _) = golden.stored();
    let mut wrong = BTreeMap::<&str, Vec<f64>>::new();
    for sweep in &golden.sweeps {
        for (value, hash) in &sweep.pairs {
            let action = Action::new(operation(&sweep.operation), *value);
            let results: Vec<u8> =
                pictures[..EVERY].iter().flat_map(|picture| applied(action, picture).pixels).collect();
            if &fnv(&results) != hash {
                wrong.entry(&sweep.operation).or_default().push(*value);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn torchvision_gives_the_same_bytes_for_its_spaces() {
    let golden = Golden::read();
    let (pictures, _) = golden.stored();
    let mut wrong = BTreeMap::<&str, Vec<f64>>::new();
    for sweep in &golden.torchvision {
        for (value, hash) in &sweep.pairs {
            let action = Action::new(operation(&sweep.operation), *value);
            if &fnv(&applied(action, &pictures[0]).pixels) != hash {
                wrong.entry(&sweep.operation).or_default().push(*value);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn pictures_too_large_for_16_bits_and_of_12_megapixels_are_pillows_too() {
    let golden = Golden::read();
    let pictures = ["long", "large"].map(|name| (name, golden.made(name)));
    for case in &golden.large {
        let (_, picture) = pictures.iter().find(|(name, _)| *name == case.picture).expect("one of the two");
        let action = Action::new(operation(&case.operation), case.value);
        assert_eq!(fnv(&applied(action, picture).pixels), case.hash, "{action:?} of {}", case.picture);
    }
}

#[test]
fn every_operation_is_among_the_cases() {
    let golden = Golden::read();
    for operation in Operation::ALL {
        let cases = golden.kept.iter().filter(|case| case.operation == operation.name()).count();
        assert!(cases > 0, "{operation:?}");
    }
}
