//! The same arguments give the same bits: for any number of threads, in any order, on any instruction set.

mod common;

use common::{noise_images, normal, random_parameters};
use freeaugment::{
    Chain, Estimator, Gradients, Groups, Images, ImagesMut, ImagesRef, Policy, PolicyConfig, Shape, Step,
    Transformation,
};
use freeaugment_base::simd;

const SHAPE: Shape = Shape { count: 13, channels: 3, height: 33, width: 29 };

const ESTIMATORS: [Estimator; 3] = [Estimator::StraightThrough, Estimator::SoftBackward, Estimator::Gain];

/// Everything that is computed from a seed.
fn run(estimator: Estimator) -> (Images, Gradients) {
    let config = PolicyConfig { estimator, ..PolicyConfig::default() };
    let policy = Policy::new(config.clone(), random_parameters(1, &config)).unwrap();
    let images = noise_images(2, SHAPE);
    let cotangent = normal(3, images.as_slice().len());
    let indices: Vec<u32> = (0..SHAPE.count as u32).collect();
    let sample = policy.sample(policy.draw(4, 5, &indices), 0.8).unwrap();
    let out = policy.apply(&images, &sample).unwrap();
    let losses = normal(8, SHAPE.count);
    let gradients = policy.pullback_with_losses(&images, &sample, &cotangent, &losses, Groups::ALL).unwrap();
    (out, gradients)
}

fn run_transformations() -> Vec<f32> {
    let images = noise_images(6, SHAPE);
    let cotangent = normal(7, images.as_slice().len());
    let mut all = Vec::new();
    for &t in Transformation::all() {
        let m: Vec<f32> = t.magnitude().map_or(Vec::new(), |magnitude| {
            let (low, high) = magnitude.range;
            (0..SHAPE.count).map(|b| low + (high - low) * b as f32 / SHAPE.count as f32).collect()
        });
        all.extend(t.apply(&images, &m).unwrap().into_vec());
        let (to_image, to_magnitude) = t.pullback(&images, &m, &cotangent).unwrap();
        all.extend(to_image);
        all.extend(to_magnitude);
    }
    all
}

/// What is drawn for single images, and what becomes of bytes, in either order of channels.
fn run_chains() -> (Vec<Chain>, Vec<u8>) {
    let shape = Shape { count: 1, ..SHAPE };
    let bytes = noise_images(9, shape).to_u8();
    let mut all = Vec::new();
    for &transformation in Transformation::all() {
        for u in [0.1, 0.77] {
            let magnitude = transformation.magnitude().map(|magnitude| {
                let (low, high) = magnitude.range;
                low + u * (high - low)
            });
            let chain = Chain::new(vec![Step { transformation, magnitude }]).unwrap();
            let mut out = vec![0; bytes.len()];
            let view = ImagesRef::interleaved(&bytes, shape).unwrap();
            chain.apply_into(view, ImagesMut::interleaved(&mut out, shape).unwrap()).unwrap();
            all.extend_from_slice(&out);
            let view = ImagesRef::planar(&bytes, shape).unwrap();
            chain.apply_into(view, ImagesMut::planar(&mut out, shape).unwrap()).unwrap();
            all.extend(out);
        }
    }
    let policy = PolicyConfig::default().init().unwrap();
    ((0..300).map(|index| policy.chain(1, 2, index)).collect(), all)
}

fn with_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

/// One test, because the instruction set is chosen for the whole process.
#[test]
fn threads_and_instruction_sets_do_not_change_a_bit() {
    let native = simd::instruction_set();
    for estimator in ESTIMATORS {
        let expected = with_threads(1, || run(estimator));
        for threads in [2, 3, 7] {
            assert!(with_threads(threads, || run(estimator)) == expected, "{threads} threads, {estimator:?}");
        }
    }
    let by_estimator = ESTIMATORS.map(run);
    let (transformations, chains) = (run_transformations(), run_chains());
    simd::force_portable();
    assert_eq!(simd::instruction_set(), simd::InstructionSet::Portable);
    let portable = ESTIMATORS.map(run);
    assert!(portable == by_estimator, "{native:?} and portable policies differ");
    assert!(run_transformations() == transformations, "{native:?} and portable transformations differ");
    assert!(run_chains() == chains, "{native:?} and portable chains differ");
}

#[test]
fn an_images_augmentation_depends_on_its_index_alone() {
    let policy = PolicyConfig::default().init().unwrap();
    let forward = policy.sample(policy.draw(1, 2, &[10, 11, 12, 13]), 0.5).unwrap();
    let backward = policy.sample(policy.draw(1, 2, &[13, 12, 11, 10]), 0.5).unwrap();
    for b in 0..4 {
        assert_eq!(forward.types_soft(b), backward.types_soft(3 - b));
        assert_eq!(forward.magnitudes(b), backward.magnitudes(3 - b));
        assert_eq!(forward.depth_soft(b), backward.depth_soft(3 - b));
    }
    for other in [policy.draw(2, 2, &[10]), policy.draw(1, 3, &[10]), policy.draw(1, 2, &[11])] {
        let other = policy.sample(other, 0.5).unwrap();
        assert_ne!(other.types_soft(0), forward.types_soft(0));
        assert_ne!(other.magnitudes(0), forward.magnitudes(0));
        assert_ne!(other.depth_soft(0), forward.depth_soft(0));
    }
}
