//! Chains: drawn as samples are, applied as policies are, and what they do to points and masks.

mod common;

use common::{noise_images, random_parameters};
use freeaugment::{
    Affine, Assignment, Chain, DepthKind, Error, Images, ImagesMut, ImagesRef, MagnitudeKind, Policy,
    PolicyConfig, Shape, Sharing, Step, Strides, Transformation, TypesKind,
};
use proptest::prelude::*;

fn step(name: &str, magnitude: impl Into<Option<f32>>) -> Step {
    Step { transformation: Transformation::named(name).unwrap(), magnitude: magnitude.into() }
}

fn policy(config: PolicyConfig, seed: u64) -> Policy {
    let parameters = random_parameters(seed, &config);
    Policy::new(config, parameters).unwrap()
}

/// Every way of sampling there is.
fn configs() -> Vec<PolicyConfig> {
    let paper = PolicyConfig::default;
    let some = [1_usize, 4, 12, 6, 9].map(|at| Transformation::PAPER[at].into()).to_vec();
    vec![
        paper(),
        PolicyConfig { assignment: Assignment::Exact, ..paper() },
        PolicyConfig { types: TypesKind::Softmax, ..paper() },
        PolicyConfig { magnitudes: MagnitudeKind::Gaussian, ..paper() },
        PolicyConfig { depth: DepthKind::Application, ..paper() },
        PolicyConfig { depth: DepthKind::Fixed { depth: 3 }, ..paper() },
        PolicyConfig { sharing: Sharing::PerBatch, ..paper() },
        PolicyConfig { evaluation_temperature: 1.0, ..paper() },
        PolicyConfig { evaluation_temperature: 0.001, ..paper() },
        PolicyConfig { types: TypesKind::Sinkhorn { iterations: 3, pad: -2.0 }, ..paper() },
        PolicyConfig { transformations: some, layers: 5, ..paper() },
        PolicyConfig { layers: 14, ..paper() },
    ]
}

#[test]
fn a_chain_is_drawn_as_the_sample_is() {
    for (at, config) in configs().into_iter().enumerate() {
        for policy in [policy(config.clone(), at as u64), config.init().unwrap()] {
            let t = policy.config().evaluation_temperature;
            for (seed, epoch) in [(0, 0), (7, 3)] {
                let indices: Vec<u32> = (0..500).map(|index| index * 977).collect();
                let shared = policy.config().sharing == Sharing::PerBatch;
                let together = policy.sample(policy.draw(seed, epoch, &indices), t).unwrap();
                for (b, &index) in indices.iter().enumerate() {
                    let alone;
                    let sample = if shared {
                        alone = policy.sample(policy.draw(seed, epoch, &[index]), t).unwrap();
                        &alone
                    } else {
                        &together
                    };
                    let chain = policy.chain(seed, epoch, index);
                    assert_eq!(chain, policy.chain_of(sample, b).unwrap(), "policy {at}, image {index}");
                }
            }
        }
    }
}

#[test]
fn a_chain_of_floats_does_what_the_policy_does() {
    for config in configs() {
        let policy = policy(config, 3);
        let shape = Shape { count: 12, channels: 3, height: 11, width: 9 };
        let images = noise_images(5, shape);
        let indices: Vec<u32> = (0..12).collect();
        let sample = policy.sample(policy.draw(1, 2, &indices), 0.3).unwrap();
        let chains: Vec<Chain> = (0..12).map(|b| policy.chain_of(&sample, b).unwrap()).collect();
        let mut found = Images::black(shape).unwrap();
        Chain::apply_each(&chains, &images, &mut found).unwrap();
        assert_eq!(found, policy.apply(&images, &sample).unwrap());
    }
}

#[test]
fn the_chain_of_an_image_that_is_not_there_is_refused() {
    let policy = PolicyConfig::default().init().unwrap();
    let sample = policy.sample(policy.draw(0, 0, &[1, 2]), 0.1).unwrap();
    assert_eq!(
        policy.chain_of(&sample, 2).unwrap_err().to_string(),
        "the number of the image is 2, but must lie in 0..=1"
    );
    let none = policy.sample(policy.draw(0, 0, &[]), 0.1).unwrap();
    assert!(policy.chain_of(&none, 0).is_err());
    let other = PolicyConfig { layers: 3, ..PolicyConfig::default() }.init().unwrap();
    assert!(matches!(other.chain_of(&sample, 0), Err(Error::Length { .. })));
}

#[test]
fn steps_that_cannot_be_are_refused_and_chains_can_be_read() {
    let refused = |step: Step| Chain::new(vec![step]).unwrap_err().to_string();
    assert_eq!(refused(step("Rotate", None)), "Rotate needs a magnitude");
    assert_eq!(refused(step("Invert", 1.0)), "Invert takes no magnitude");
    let wrong = "the magnitude of Rotate is 181, but must lie in -180..=180";
    assert_eq!(refused(step("Rotate", 181.0)), wrong);
    assert!(refused(step("Color", f32::NAN)).starts_with("the magnitude of Color is NaN"));
    let chain = Chain::new(vec![step("Rotate", 12.5), step("Invert", None)]).unwrap();
    assert_eq!(chain.to_string(), "Rotate(12.5), Invert");
    assert_eq!(Chain::default().to_string(), "nothing");
}

/// The transformations that move pixels, u of the way through their ranges.
fn moving(at: usize, u: f32) -> Step {
    let transformation = Transformation::PAPER[at];
    let (low, high) = transformation.magnitude().unwrap().range;
    Step { transformation, magnitude: Some(low + u * (high - low)) }
}

/// The centre of all that is bright.
fn centre(image: &Images) -> (f64, f64) {
    let width = image.shape().width;
    let mut sums = [0.0; 3];
    for (at, &value) in image.as_slice().iter().enumerate() {
        for (sum, factor) in sums.iter_mut().zip([1.0, (at % width) as f64, (at / width) as f64]) {
            *sum += factor * f64::from(value);
        }
    }
    (sums[1] / sums[0], sums[2] / sums[0])
}

#[test]
fn points_go_where_the_pixels_go() {
    let shape = Shape { count: 1, channels: 1, height: 61, width: 81 };
    let mut spot = vec![0.0; shape.image()];
    for (at, value) in spot.iter_mut().enumerate() {
        let (x, y) = ((at % 81) as f32 - 44.0, (at / 81) as f32 - 27.0);
        *value = (-(x * x + y * y) / 8.0).exp();
    }
    let spot = Images::new(spot, shape).unwrap();
    for at in 0..5 {
        for u in [0.3, 0.5, 0.62] {
            let step = moving(at, u);
            let moved = step.transformation.apply(&spot, step.magnitude.as_slice()).unwrap();
            let (x, y) = step.affine(61, 81).unwrap().map(44.0, 27.0);
            let (found_x, found_y) = centre(&moved);
            assert!(
                (x - found_x).abs() < 0.02 && (y - found_y).abs() < 0.02,
                "{step}: {x} {y}, {found_x} {found_y}"
            );
        }
    }
    for transformation in &Transformation::PAPER[5..] {
        let magnitude = transformation.magnitude().map(|magnitude| magnitude.range.0);
        assert_eq!(Step { transformation: *transformation, magnitude }.affine(61, 81), None);
    }
    let chain = Chain::new(vec![moving(0, 0.6), step("Invert", None), moving(4, 0.3)]).unwrap();
    let expected = moving(0, 0.6).affine(61, 81).unwrap().then(moving(4, 0.3).affine(61, 81).unwrap());
    assert_eq!(chain.affine(61, 81), expected);
    assert_eq!(Chain::default().affine(61, 81), Affine::IDENTITY);
}

fn moved<T: Copy>(chain: &Chain, mask: &[T], shape: Shape, fill: T) -> Vec<T> {
    let mut out = vec![fill; mask.len()];
    chain.move_mask(mask, shape, Strides::planar(shape), fill, &mut out).unwrap();
    out
}

#[test]
fn masks_go_where_the_pixels_go() {
    // Where an image of two flat halves is not blended, the mask of its halves says which of them is seen.
    let shape = Shape { count: 1, channels: 1, height: 40, width: 50 };
    let halves: Vec<u8> =
        (0..shape.image()).map(|at| if at % 50 + at / 50 < 45 { 100 } else { 200 }).collect();
    for at in 0..5 {
        for u in [0.1, 0.45, 0.8] {
            let chain = Chain::new(vec![moving(at, u), moving((at + 2) % 5, 0.6)]).unwrap();
            let mut image = vec![0; halves.len()];
            let view = ImagesRef::planar(&halves, shape).unwrap();
            chain.apply_into(view, ImagesMut::planar(&mut image, shape).unwrap()).unwrap();
            let mask = moved(&chain, &halves, shape, 0);
            let flat = image.iter().zip(&mask).filter(|(pixel, _)| matches!(pixel, 0 | 100 | 200));
            let wrong = flat.clone().filter(|(pixel, mask)| pixel != mask).count();
            // A pixel whose nearest neighbour weighs nothing, because its position is exact, is rare.
            assert!(wrong <= 2 && flat.count() > 1200, "{chain}: {wrong}");
        }
    }
}

#[test]
fn masks_may_be_of_any_type_and_lie_anyhow() {
    let shape = Shape { count: 2, channels: 1, height: 3, width: 4 };
    let chain = Chain::new(vec![step("Equalize", None), step("TranslateY", 1.0 / 3.0)]).unwrap();
    let labels: Vec<i64> = (0..24).collect();
    let expected: Vec<i64> = (0..24).map(|at| if at % 12 < 4 { -1 } else { at - 4 }).collect();
    assert_eq!(moved(&chain, &labels, shape, -1), expected);
    let halves = |values: &[i64]| -> Vec<u16> { values.iter().map(|&value| value as u16).collect() };
    assert_eq!(moved(&chain, &halves(&labels), shape, u16::MAX), halves(&expected));
    // Columns first, from the end of an array of f32.
    let strides = Strides { image: 12, channel: 0, row: 1, column: 3 };
    let columns: Vec<f32> = (0..24).map(|at| (at / 12 * 12 + at % 12 % 3 * 4 + at % 12 / 3) as f32).collect();
    let mut out = vec![0.0; 24];
    chain.move_mask(&columns, shape, strides, -1.0, &mut out).unwrap();
    assert_eq!(out, expected.iter().map(|&value| value as f32).collect::<Vec<_>>());
    let mut short = vec![0; 23];
    let planar = Strides::planar(shape);
    assert!(matches!(chain.move_mask(&labels, shape, planar, 0, &mut short), Err(Error::Length { .. })));
    let error = chain.move_mask(&labels[1..], shape, planar, 0, &mut [0; 24]).unwrap_err();
    assert!(matches!(error, Error::Reach { .. }));
    let impossible = Shape { channels: 2, ..shape };
    assert!(matches!(
        chain.move_mask(&labels, impossible, planar, 0, &mut [0; 24]),
        Err(Error::Shape { .. })
    ));
}

/// The definition, pixel by pixel.
fn followed_back(chain: &Chain, mask: &[u8], shape: Shape, fill: u8) -> Vec<u8> {
    let Shape { height, width, .. } = shape;
    let maps: Vec<Affine> = chain.steps().iter().filter_map(|step| step.affine(height, width)).collect();
    let pixel = |at: usize| {
        let (mut x, mut y) = ((at % width) as f64, (at / width) as f64);
        for map in maps.iter().rev() {
            (x, y) = map.inverse().map(x, y);
            if !(-0.5..width as f64 - 0.5).contains(&x) || !(-0.5..height as f64 - 0.5).contains(&y) {
                return fill;
            }
        }
        mask[(y + 0.5) as usize * width + (x + 0.5) as usize]
    };
    (0..shape.plane()).map(pixel).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masks_are_what_their_definition_says(height in 1_usize..40, width in 1_usize..40, steps in prop::collection::vec((0_usize..5, 0.0_f32..1.0), 0..5)) {
        let shape = Shape { count: 1, channels: 1, height, width };
        let mask: Vec<u8> = (0..shape.image()).map(|at| (at % 251) as u8).collect();
        let chain = Chain::new(steps.into_iter().map(|(at, u)| moving(at, u)).collect()).unwrap();
        let (found, expected) = (moved(&chain, &mask, shape, 255), followed_back(&chain, &mask, shape, 255));
        let different = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
        // Positions halfway between two pixels may be rounded either way.
        prop_assert!(different <= shape.image() / 50, "{} of {}: {}", different, shape.image(), chain);
    }
}
