//! The estimator that credits what was chosen with what came of it.

mod common;

use common::{noise_images, normal, random_parameters};
use freeaugment::{
    DepthKind, Estimator, Gradients, Groups, Images, Policy, PolicyConfig, Sample, Shape, Transformation,
    TypesKind,
};

const SHAPE: Shape = Shape { count: 9, channels: 3, height: 6, width: 5 };

fn config(depth: DepthKind, types: TypesKind) -> PolicyConfig {
    PolicyConfig { layers: 3, depth, types, estimator: Estimator::Gain, ..PolicyConfig::default() }
}

fn configs() -> Vec<PolicyConfig> {
    let depths = [DepthKind::Learned, DepthKind::Fixed { depth: 2 }, DepthKind::Application];
    let types = [PolicyConfig::default().types, TypesKind::Softmax];
    depths.iter().flat_map(|&depth| types.map(|types| config(depth, types))).collect()
}

fn draw(policy: &Policy) -> Sample {
    let indices: Vec<u32> = (0..SHAPE.count as u32).collect();
    policy.sample(policy.draw(4, 5, &indices), 0.8).unwrap()
}

fn pull(policy: &Policy, losses: &[f32]) -> Gradients {
    let images = noise_images(2, SHAPE);
    let cotangent = normal(3, images.as_slice().len());
    policy.pullback_with_losses(&images, &draw(policy), &cotangent, losses, Groups::ALL).unwrap()
}

/// What is differentiated: every image's loss, less the mean, times the relaxed shares of what it chose.
fn surrogate(policy: &Policy, at: &Policy, losses: &[f32]) -> f64 {
    let (moved, chosen) = (draw(policy), draw(at));
    let mean = losses.iter().sum::<f32>() / losses.len() as f32;
    let layers = policy.config().layers;
    let by_application = policy.config().depth == DepthKind::Application;
    let share = |b: usize| -> f64 {
        let mut share = 0.0;
        for layer in 0..chosen.depth(b) {
            let place = usize::from(chosen.types(b)[layer]) * layers + layer;
            let is_applied = !by_application || chosen.depth_soft(b)[place] > 0.5;
            if by_application {
                share += if is_applied { 1.0 } else { -1.0 } * f64::from(moved.depth_soft(b)[place]);
            }
            if is_applied {
                share += f64::from(moved.types_soft(b)[place]);
            }
        }
        if policy.config().depth == DepthKind::Learned {
            share += f64::from(moved.depth_soft(b)[chosen.depth(b)]);
        }
        share
    };
    losses.iter().enumerate().map(|(b, &loss)| f64::from(loss - mean) * share(b)).sum()
}

#[test]
fn types_and_depth_have_the_slope_of_the_losses_of_what_was_chosen() {
    for config in configs() {
        let policy = Policy::new(config.clone(), random_parameters(1, &config)).unwrap();
        let losses = normal(8, SHAPE.count);
        let found = pull(&policy, &losses).parameters;
        let slope = |change: &dyn Fn(&mut Policy, f32)| {
            let at = |step: f32| {
                let mut moved = policy.clone();
                change(&mut moved, step);
                surrogate(&moved, &policy, &losses)
            };
            (at(1e-2) - at(-1e-2)) / 2e-2
        };
        for i in 0..found.types().len() {
            let wanted = slope(&|policy, step| policy.parameters_mut().types_mut()[i] += step);
            let found = f64::from(found.types()[i]);
            assert!((found - wanted).abs() < 2e-3, "type {i}: {found} in place of {wanted}, {config:?}");
        }
        for i in 0..found.depth().len() {
            let wanted = slope(&|policy, step| policy.parameters_mut().depth_mut()[i] += step);
            let found = f64::from(found.depth()[i]);
            assert!((found - wanted).abs() < 2e-3, "depth {i}: {found} in place of {wanted}, {config:?}");
        }
        assert!(found.types().iter().any(|value| value.abs() > 0.05), "types learn, {config:?}");
    }
}

#[test]
fn images_and_magnitudes_are_those_of_straight_through() {
    for config in configs() {
        let policy = Policy::new(config.clone(), random_parameters(1, &config)).unwrap();
        let gain = pull(&policy, &normal(8, SHAPE.count));
        let config = PolicyConfig { estimator: Estimator::StraightThrough, ..config };
        let straight = pull(&Policy::new(config.clone(), random_parameters(1, &config)).unwrap(), &[]);
        assert_eq!(gain.images, straight.images);
        assert_eq!(gain.parameters.magnitudes(), straight.parameters.magnitudes());
    }
}

#[test]
fn what_is_common_to_all_images_does_not_matter() {
    let config = config(DepthKind::Learned, PolicyConfig::default().types);
    let policy = Policy::new(config.clone(), random_parameters(1, &config)).unwrap();
    let same = pull(&policy, &[0.75; SHAPE.count]).parameters;
    assert!(same.types().iter().chain(same.depth()).all(|&value| value == 0.0));
}

#[test]
fn descent_finds_the_transformation_and_the_depth_that_lower_the_loss() {
    let config = config(DepthKind::Learned, PolicyConfig::default().types);
    let mut policy = config.init().unwrap();
    let wanted = Transformation::all().iter().position(|t| t.name() == "Rotate").unwrap();
    let images =
        Images::new(vec![0.5; 64 * 3], Shape { count: 64, channels: 3, height: 1, width: 1 }).unwrap();
    for step in 0..200 {
        let indices: Vec<u32> = (0..64).map(|image| 64 * step + image).collect();
        let sample = policy.sample(policy.draw(1, 0, &indices), 0.8).unwrap();
        let loss = |b| {
            let chosen = &sample.types(b)[..sample.depth(b)];
            if chosen.iter().any(|&t| usize::from(t) == wanted) { -1.0 } else { 0.0 }
        };
        let losses: Vec<f32> = (0..64).map(loss).collect();
        let gradient =
            policy.pullback_with_losses(&images, &sample, images.as_slice(), &losses, Groups::ALL).unwrap();
        let parameters = policy.parameters_mut();
        for (value, slope) in parameters.types_mut().iter_mut().zip(gradient.parameters.types()) {
            *value -= 0.1 * slope;
        }
        for (value, slope) in parameters.depth_mut().iter_mut().zip(gradient.parameters.depth()) {
            *value -= 0.1 * slope;
        }
    }
    let description = policy.describe().unwrap();
    let best = (0..14).max_by(|&a, &b| description.usage[a].total_cmp(&description.usage[b])).unwrap();
    assert_eq!(best, wanted, "{:?}", description.usage);
    assert!(description.depth[0] < 0.1, "{:?}", description.depth);
}

#[test]
fn the_losses_must_be_one_for_each_image() {
    let config = config(DepthKind::Learned, PolicyConfig::default().types);
    let policy = config.init().unwrap();
    let images = noise_images(2, SHAPE);
    let cotangent = normal(3, images.as_slice().len());
    let error = policy.pullback(&images, &draw(&policy), &cotangent, Groups::ALL).unwrap_err();
    assert!(error.to_string().contains("losses"), "{error}");
}
