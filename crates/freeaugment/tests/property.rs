//! What holds for every image, every magnitude and every policy.

mod common;

use common::{noise_images, random_parameters, uniform};
use freeaugment::sampling::{Assigner, Matrices, MatricesMut, Sinkhorn, Tape, soften};
use freeaugment::{
    Assignment, DepthKind, Estimator, Groups, Images, MagnitudeKind, Policy, PolicyConfig,
    RangedTransformation, Shape, Sharing, Transformation, TypesKind,
};
use proptest::prelude::*;

fn shapes() -> impl Strategy<Value = Shape> {
    (1_usize..4, prop_oneof![Just(1_usize), Just(3)], 1_usize..20, 1_usize..20)
        .prop_map(|(count, channels, height, width)| Shape { count, channels, height, width })
}

fn transformations() -> impl Strategy<Value = Transformation> {
    (0..Transformation::all().len()).prop_map(|i| Transformation::all()[i])
}

/// Every variant there is, with any subset of transformations.
fn configs() -> impl Strategy<Value = PolicyConfig> {
    let subset =
        proptest::sample::subsequence(Transformation::all().to_vec(), 1..=Transformation::all().len());
    let kinds = (0..3_usize, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (subset, kinds, any::<prop::sample::Index>(), 1_usize..25).prop_map(
        |(subset, (depth, softmax, exact, gaussian, soft, shared), size, iterations)| {
            let layers = 1 + size.index(subset.len());
            PolicyConfig {
                transformations: subset.into_iter().map(RangedTransformation::from).collect(),
                layers,
                depth: match depth {
                    0 => DepthKind::Learned,
                    1 => DepthKind::Fixed { depth: size.index(layers + 1) },
                    _ => DepthKind::Application,
                },
                types: if softmax {
                    TypesKind::Softmax
                } else {
                    TypesKind::Sinkhorn { iterations, pad: -10.0 }
                },
                assignment: if exact { Assignment::Exact } else { Assignment::ColumnMaximum },
                magnitudes: if gaussian { MagnitudeKind::Gaussian } else { MagnitudeKind::Uniform },
                estimator: if soft { Estimator::SoftBackward } else { Estimator::StraightThrough },
                sharing: if shared { Sharing::PerBatch } else { Sharing::PerImage },
                ..PolicyConfig::default()
            }
        },
    )
}

/// Magnitudes between the two ends of the widest range allowed.
fn magnitudes(transformation: Transformation, count: usize, seed: u64) -> Vec<f32> {
    let Some(magnitude) = transformation.magnitude() else { return Vec::new() };
    let (low, high) = magnitude.limits;
    uniform(seed, count).into_iter().map(|u| (low + u * (high - low)).clamp(low, high)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_transformation_keeps_images_in_range(t in transformations(), shape in shapes(), seed in any::<u64>()) {
        let images = noise_images(seed, shape);
        let out = t.apply(&images, &magnitudes(t, shape.count, seed)).unwrap();
        prop_assert_eq!(out.shape(), shape);
        prop_assert!(out.as_slice().iter().all(|value| (0.0..=1.0).contains(value)));
    }

    #[test]
    fn the_identity_magnitude_changes_nothing(t in transformations(), shape in shapes(), seed in any::<u64>()) {
        let Some(magnitude) = t.magnitude() else { return Ok(()) };
        // Images of 8-bit levels below one: at the very top, Solarize at threshold 1 still inverts.
        let levels: Vec<u8> =
            uniform(seed, shape.count * shape.image()).iter().map(|value| (value * 255.0) as u8).collect();
        let images = Images::from_u8(&levels, shape).unwrap();
        let out = t.apply(&images, &vec![magnitude.identity; shape.count]).unwrap();
        for (found, expected) in out.as_slice().iter().zip(images.as_slice()) {
            prop_assert!((found - expected).abs() < 1e-6, "{t:?}: {found} instead of {expected}");
        }
    }

    #[test]
    fn pullbacks_have_the_shape_of_what_they_pull_back(
        t in transformations(),
        shape in shapes(),
        seed in any::<u64>(),
    ) {
        let images = noise_images(seed, shape);
        let m = magnitudes(t, shape.count, seed);
        let cotangent = uniform(seed + 1, images.as_slice().len());
        let (to_image, to_magnitude) = t.pullback(&images, &m, &cotangent).unwrap();
        prop_assert_eq!((to_image.len(), to_magnitude.len()), (cotangent.len(), m.len()));
        prop_assert!(to_image.iter().chain(&to_magnitude).all(|value| value.is_finite()));
    }

    #[test]
    fn an_image_is_transformed_the_same_alone_and_in_a_batch(
        t in transformations(),
        shape in shapes(),
        seed in any::<u64>(),
    ) {
        let images = noise_images(seed, shape);
        let m = magnitudes(t, shape.count, seed);
        let batch = t.apply(&images, &m).unwrap();
        let one = Shape { count: 1, ..shape };
        for (b, expected) in batch.as_slice().chunks_exact(shape.image()).enumerate() {
            let image = images.as_slice()[b * shape.image()..][..shape.image()].to_vec();
            let alone = t.apply(&Images::new(image, one).unwrap(), m.get(b..=b).unwrap_or(&[])).unwrap();
            prop_assert_eq!(alone.as_slice(), expected);
        }
    }

    #[test]
    fn sinkhorn_columns_sum_to_one_and_exact_assignments_never_repeat(
        n in 1_usize..20,
        layers in any::<prop::sample::Index>(),
        iterations in 1_usize..30,
        temperature in prop_oneof![Just(1.0_f32), Just(0.5), Just(0.1), Just(0.01)],
        seed in any::<u64>(),
    ) {
        let layers = 1 + layers.index(n);
        let sampler = Sinkhorn { transformations: n, layers, iterations, pad: -10.0, temperature };
        let logits = common::normal(seed, n * layers);
        let mut noise: Vec<f32> = uniform(seed + 1, n * n).iter().map(|r| r.clamp(1e-7, 1.0 - 1e-7)).collect();
        freeaugment_base::random::gumbel_from_uniform(&mut noise);
        let mut soft = vec![0.0; n * layers];
        let noise = Matrices { data: &noise, stride: n * n };
        let target = &mut MatricesMut { data: &mut soft, stride: n * layers };
        sampler.sample(1, &logits, noise, target, &mut Tape::default(), false);
        let mut chosen = vec![0; layers];
        Assigner::default().assign(&soft, &mut chosen);
        soften(&mut soft);
        for layer in 0..layers {
            let sum: f32 = soft.iter().skip(layer).step_by(layers).sum();
            prop_assert!((sum - 1.0).abs() < 1e-4, "column {layer} sums to {sum}");
        }
        chosen.sort_unstable();
        chosen.dedup();
        prop_assert_eq!(chosen.len(), layers);
    }

    #[test]
    fn every_policy_samples_applies_and_pulls_back(config in configs(), shape in shapes(), seed in any::<u64>()) {
        let parameters = random_parameters(seed % 1000, &config);
        let policy = Policy::new(config, parameters).unwrap();
        let images = noise_images(seed, shape);
        let indices: Vec<u32> = (0..shape.count as u32).collect();
        let sample = policy.sample(policy.draw(seed, 3, &indices), 0.7).unwrap();
        let config = policy.config();
        if config.assignment == Assignment::Exact {
            let mut chosen = sample.types(0).to_vec();
            chosen.sort_unstable();
            chosen.dedup();
            prop_assert_eq!(chosen.len(), config.layers);
        }
        let out = policy.apply(&images, &sample).unwrap();
        prop_assert!(out.as_slice().iter().all(|value| (0.0..=1.0).contains(value)));
        let cotangent = uniform(seed + 1, out.as_slice().len());
        let gradients = policy.pullback(&images, &sample, &cotangent, Groups::ALL).unwrap();
        let parameters = &gradients.parameters;
        prop_assert_eq!(parameters.types().len(), policy.parameters().types().len());
        let all = parameters.depth().iter().chain(parameters.types()).chain(parameters.magnitudes()[0]);
        prop_assert!(all.chain(parameters.magnitudes()[1]).chain(&gradients.images).all(|value| value.is_finite()));
        // A softmax does not change when all its logits move together, so their gradients cancel.
        if config.depth == DepthKind::Learned {
            let sum: f32 = parameters.depth().iter().sum();
            let size = parameters.depth().iter().fold(1.0_f32, |size, value| size.max(value.abs()));
            prop_assert!(sum.abs() < 1e-3 * size, "{sum} of {size}");
        }
    }

    #[test]
    fn groups_that_do_not_learn_get_no_gradient_and_do_not_change_the_others(
        config in configs(),
        seed in any::<u64>(),
    ) {
        let shape = Shape { count: 2, channels: 3, height: 9, width: 7 };
        let policy = Policy::new(config.clone(), random_parameters(seed % 1000, &config)).unwrap();
        let images = noise_images(seed, shape);
        let sample = policy.sample(policy.draw(seed, 0, &[0, 1]), 1.0).unwrap();
        let cotangent = uniform(seed + 1, images.as_slice().len());
        let gradient = |learn| policy.pullback(&images, &sample, &cotangent, learn).unwrap().parameters;
        let all = gradient(Groups::ALL);
        let zero = |values: &[f32]| values.iter().all(|&value| value == 0.0);
        for learn in [
            Groups { depth: true, ..Groups::NONE },
            Groups { types: true, ..Groups::NONE },
            Groups { magnitudes: true, ..Groups::NONE },
            Groups::NONE,
        ] {
            let some = gradient(learn);
            let is_right = |learns: bool, some: &[f32], all: &[f32]| if learns { some == all } else { zero(some) };
            prop_assert!(is_right(learn.depth, some.depth(), all.depth()));
            prop_assert!(is_right(learn.types, some.types(), all.types()));
            for (some, all) in some.magnitudes().into_iter().zip(all.magnitudes()) {
                prop_assert!(is_right(learn.magnitudes, some, all));
            }
            // Freezing a group in the configuration is the same as not asking for it.
            let frozen = PolicyConfig { frozen: Groups::ALL.without(learn), ..config.clone() };
            let frozen = Policy::new(frozen, policy.parameters().clone()).unwrap();
            prop_assert_eq!(
                frozen.pullback(&images, &sample, &cotangent, Groups::ALL).unwrap().parameters,
                some
            );
        }
    }

    #[test]
    fn a_shared_sample_is_that_of_its_first_index(config in configs(), seed in any::<u64>()) {
        let shape = Shape { count: 3, channels: 1, height: 5, width: 6 };
        let images = noise_images(seed, shape);
        let policy = |sharing| {
            let config = PolicyConfig { sharing, ..config.clone() };
            Policy::new(config.clone(), random_parameters(seed % 1000, &config)).unwrap()
        };
        let (shared, own) = (policy(Sharing::PerBatch), policy(Sharing::PerImage));
        let cotangent = uniform(seed + 1, images.as_slice().len());
        let run = |policy: &Policy, indices: &[u32]| {
            let sample = policy.sample(policy.draw(seed, 0, indices), 1.0).unwrap();
            let out = policy.apply(&images, &sample).unwrap();
            (out, policy.pullback(&images, &sample, &cotangent, Groups::ALL).unwrap().parameters)
        };
        prop_assert_eq!(run(&shared, &[7, 8, 9]), run(&own, &[7, 7, 7]));
    }
}
