//! Chains on bytes: each transformation against its floats, and every order of bytes against every other.

mod common;

use common::uniform;
use freeaugment::{Chain, Error, Images, ImagesMut, ImagesRef, Shape, Step, Strides, Transformation};
use proptest::prelude::*;

fn chain(steps: &[Step]) -> Chain {
    Chain::new(steps.to_vec()).unwrap()
}

/// Any transformation, with u of the way through the magnitudes that a user may choose, or through the paper's.
fn some_step(at: usize, u: f32, is_wide: bool) -> Step {
    let transformation = Transformation::PAPER[at];
    let magnitude = transformation.magnitude().map(|magnitude| {
        let (low, high) = if is_wide { magnitude.limits } else { magnitude.range };
        (low + u * (high - low)).clamp(low, high)
    });
    Step { transformation, magnitude }
}

fn steps() -> impl Strategy<Value = Step> {
    (0_usize..14, 0.0_f32..=1.0, any::<bool>()).prop_map(|(at, u, is_wide)| some_step(at, u, is_wide))
}

fn shapes() -> impl Strategy<Value = Shape> {
    let sides = || prop_oneof![1_usize..6, 1_usize..80];
    (prop_oneof![Just(1_usize), Just(3)], sides(), sides()).prop_map(|(channels, height, width)| Shape {
        count: 1,
        channels,
        height,
        width,
    })
}

/// Noise whose levels lie in a part of all levels; that part may be a single level.
fn pixels(seed: u64, shape: Shape) -> Vec<u8> {
    let part = uniform(seed, 2);
    let (low, high) =
        if seed.is_multiple_of(3) { (0.0, 255.0) } else { (part[0] * 120.0, 120.0 + part[1] * 135.0) };
    let high = if seed % 7 == 1 { low } else { high };
    let noise = uniform(seed.wrapping_add(1), shape.image());
    noise.into_iter().map(|value| (low + value * (high - low) + 0.5) as u8).collect()
}

fn applied(chain: &Chain, pixels: &[u8], shape: Shape) -> Vec<u8> {
    let mut out = vec![77; pixels.len()];
    let images = ImagesRef::interleaved(pixels, shape).unwrap();
    chain.apply_into(images, ImagesMut::interleaved(&mut out, shape).unwrap()).unwrap();
    out
}

/// The nearest levels to what floats give.
fn by_floats(step: Step, pixels: &[u8], shape: Shape) -> Vec<u8> {
    let images = Images::from_u8(pixels, shape).unwrap();
    step.transformation.apply(&images, step.magnitude.as_slice()).unwrap().to_u8()
}

/// The places of an image's values, `[height, width, channel]`.
fn places(shape: Shape, strides: Strides) -> impl Iterator<Item = usize> {
    (0..shape.image()).map(move |at| {
        let (at, channel) = (at / shape.channels, at % shape.channels);
        channel * strides.channel + at / shape.width * strides.row + at % shape.width * strides.column
    })
}

/// The dimensions in any order, with gaps.
fn strided_shapes() -> impl Strategy<Value = (Shape, Strides)> {
    (shapes(), Just(vec![0, 1, 2]).prop_shuffle(), prop::array::uniform3(0_usize..3)).prop_map(
        |(shape, order, gaps)| {
            let sizes = [shape.channels, shape.height, shape.width];
            let (mut strides, mut reach) = ([0; 3], 1);
            for (&dimension, gap) in order.iter().zip(gaps) {
                strides[dimension] = reach + gap;
                reach += (sizes[dimension] - 1) * strides[dimension];
            }
            let [channel, row, column] = strides;
            (shape, Strides { image: reach, channel, row, column })
        },
    )
}

const BY_LEVEL: [&str; 7] =
    ["Solarize", "Posterize", "Contrast", "Brightness", "Invert", "AutoContrast", "Equalize"];

fn assert_near(step: Step, pixels: &[u8], shape: Shape) {
    let (found, expected) = (applied(&chain(&[step]), pixels, shape), by_floats(step, pixels, shape));
    let most = u8::from(!BY_LEVEL.contains(&step.transformation.name()));
    for (at, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
        assert!(found.abs_diff(expected) <= most, "{step} of {shape} at {at}: {found}, not {expected}");
    }
}

#[test]
fn every_transformation_is_that_of_floats_on_images_as_they_are_used() {
    for (channels, height, width) in [(3, 224, 224), (3, 97, 131), (1, 64, 33), (3, 1, 1), (1, 1, 1)] {
        let shape = Shape { count: 1, channels, height, width };
        for at in 0..14 {
            for u in [0.0, 0.31, 0.5, 0.9, 1.0] {
                for seed in [0, 1, 2] {
                    assert_near(some_step(at, u, false), &pixels(seed, shape), shape);
                }
            }
        }
    }
}

#[test]
fn hardly_a_level_differs_from_that_of_floats() {
    let shape = Shape { count: 1, channels: 3, height: 128, width: 128 };
    let pixels = pixels(0, shape);
    for at in 0..14 {
        let step = some_step(at, 0.37, false);
        let (found, expected) = (applied(&chain(&[step]), &pixels, shape), by_floats(step, &pixels, shape));
        let different = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
        // The fractions of a rotation are rounded to 11 bits: a blend of noise is off by up to 0.06 levels.
        assert!(different * 20 < pixels.len(), "{step}: {different} of {} levels", pixels.len());
    }
}

#[test]
fn magnitudes_that_change_nothing_leave_every_byte_as_it_is() {
    let shape = Shape { count: 1, channels: 3, height: 37, width: 53 };
    let pixels = pixels(0, shape);
    for transformation in Transformation::PAPER {
        let Some(magnitude) = transformation.magnitude() else { continue };
        let step = Step { transformation, magnitude: Some(magnitude.identity) };
        let expected: Vec<u8> = match transformation.name() {
            // Its threshold is the first level that is inverted, and white reaches every threshold.
            "Solarize" => pixels.iter().map(|&level| if level == 255 { 0 } else { level }).collect(),
            _ => pixels.clone(),
        };
        assert_eq!(applied(&chain(&[step]), &pixels, shape), expected, "{step}");
    }
    assert_eq!(applied(&Chain::default(), &pixels, shape), pixels);
}

#[test]
fn a_batch_has_one_chain_for_each_image_or_one_for_all() {
    let shape = Shape { count: 3, channels: 3, height: 9, width: 7 };
    let one = Shape { count: 1, ..shape };
    let bytes: Vec<u8> = (0..3).flat_map(|seed| pixels(3 * seed, one)).collect();
    let chains: Vec<Chain> =
        [4, 10, 13].map(|at| chain(&[some_step(at, 0.3, false), some_step(2, 0.8, false)])).to_vec();
    let mut out = vec![0; bytes.len()];
    let images = ImagesRef::interleaved(&bytes, shape).unwrap();
    Chain::apply_each(&chains, images, ImagesMut::interleaved(&mut out, shape).unwrap()).unwrap();
    for ((chain, bytes), out) in chains.iter().zip(bytes.chunks(one.image())).zip(out.chunks(one.image())) {
        assert_eq!(applied(chain, bytes, one), out);
    }
    chains[0].apply_into(images, ImagesMut::interleaved(&mut out, shape).unwrap()).unwrap();
    for (bytes, out) in bytes.chunks(one.image()).zip(out.chunks(one.image())) {
        assert_eq!(applied(&chains[0], bytes, one), out);
    }
    let error = Chain::apply_each(&chains[1..], images, ImagesMut::interleaved(&mut out, shape).unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "the list of chains (one per image) has 2 values, but 3 are needed"
    );
}

#[test]
fn images_that_cannot_be_are_refused() {
    let shape = Shape { count: 1, channels: 3, height: 4, width: 4 };
    let (bytes, mut out) = (vec![0_u8; 48], vec![0_u8; 48]);
    for wrong in [Shape { channels: 4, ..shape }, Shape { height: 0, ..shape }, Shape { width: 0, ..shape }] {
        assert!(matches!(ImagesRef::interleaved(&bytes, wrong), Err(Error::Shape { .. })));
        assert!(matches!(ImagesMut::planar(&mut out, wrong), Err(Error::Shape { .. })));
    }
    assert!(matches!(ImagesMut::planar(&mut out[1..], shape), Err(Error::Length { .. })));
    let images = ImagesRef::interleaved(&bytes, shape).unwrap();
    let other = Shape { height: 2, width: 8, ..shape };
    let out = ImagesMut::interleaved(&mut out, other).unwrap();
    assert!(matches!(Chain::default().apply_into(images, out), Err(Error::OtherShape { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_transformation_is_within_a_level_of_floats(shape in shapes(), step in steps(), seed in any::<u64>()) {
        assert_near(step, &pixels(seed, shape), shape);
    }

    #[test]
    fn a_chain_is_its_steps_one_after_another(shape in shapes(), steps in prop::collection::vec(steps(), 0..8), seed in any::<u64>()) {
        let mut expected = pixels(seed, shape);
        let found = applied(&chain(&steps), &expected, shape);
        for &step in &steps {
            expected = applied(&chain(&[step]), &expected, shape);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn every_order_of_bytes_gives_the_same((shape, strides) in strided_shapes(), steps in prop::collection::vec(steps(), 0..4), seed in any::<u64>()) {
        let bytes = pixels(seed, shape);
        let chain = chain(&steps);
        let expected = applied(&chain, &bytes, shape);
        let mut spread = vec![99; strides.image];
        for (place, &byte) in places(shape, strides).zip(&bytes) {
            spread[place] = byte;
        }
        let image = ImagesRef::strided(&spread, shape, strides).unwrap();
        // Into interleaved bytes, into planar bytes, and into bytes that lie as they do.
        let mut out = vec![0; bytes.len()];
        chain.apply_into(image, ImagesMut::interleaved(&mut out, shape).unwrap()).unwrap();
        prop_assert_eq!(&out, &expected);
        chain.apply_into(image, ImagesMut::planar(&mut out, shape).unwrap()).unwrap();
        let planar: Vec<u8> = places(shape, Strides::planar(shape)).map(|place| out[place]).collect();
        prop_assert_eq!(&planar, &expected);
        let mut out = vec![99; strides.image];
        chain.apply_into(image, ImagesMut::strided(&mut out, shape, strides).unwrap()).unwrap();
        let mut like = vec![99; strides.image];
        for (place, &byte) in places(shape, strides).zip(&expected) {
            like[place] = byte;
        }
        prop_assert_eq!(out, like);
    }
}
