//! Wrong arguments get an error that says what is wrong, never a panic.

mod common;

use common::noise_images;
use freeaugment::{
    DepthKind, Error, Groups, Images, PolicyConfig, RangedTransformation, Shape, Transformation, TypesKind,
};

const SHAPE: Shape = Shape { count: 4, channels: 3, height: 8, width: 8 };

#[test]
fn batches_samples_and_cotangents_that_do_not_fit_are_refused() {
    let policy = PolicyConfig::default().init().unwrap();
    let images = noise_images(1, SHAPE);
    let sample = policy.sample(policy.draw(0, 0, &[0, 1, 2]), 1.0).unwrap();
    assert!(matches!(policy.apply(&images, &sample), Err(Error::Length { expected: 4, found: 3, .. })));
    let sample = policy.sample(policy.draw(0, 0, &[0, 1, 2, 3]), 1.0).unwrap();
    let mut turned = Images::black(Shape { height: 4, width: 16, ..SHAPE }).unwrap();
    let error = policy.apply_into(&images, &sample, &mut turned).unwrap_err();
    assert_eq!(error.to_string(), "the batch of results is [4, 3, 4, 16], but the images are [4, 3, 8, 8]");
    let short = vec![0.0; 5];
    assert!(matches!(policy.pullback(&images, &sample, &short, Groups::ALL), Err(Error::Length { .. })));
    for temperature in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(policy.sample(policy.draw(0, 0, &[0]), temperature), Err(Error::Value { .. })));
    }
    // A sample or noise of another policy, even one whose numbers have the same count.
    let first = PolicyConfig { types: TypesKind::Softmax, layers: 3, ..PolicyConfig::default() };
    let few = Transformation::all()[..6].iter().map(|&t| RangedTransformation::from(t)).collect();
    let second = PolicyConfig {
        transformations: few,
        layers: 6,
        depth: DepthKind::Fixed { depth: 1 },
        ..first.clone()
    };
    let (first, second) = (first.init().unwrap(), second.init().unwrap());
    let foreign = second.sample(second.draw(0, 0, &[0, 1, 2, 3]), 1.0).unwrap();
    assert!(first.apply(&images, &foreign).is_err());
    assert!(first.sample(second.draw(0, 0, &[0]), 1.0).is_err());
}

#[test]
fn an_empty_batch_is_an_empty_result() {
    let policy = PolicyConfig::default().init().unwrap();
    let images = Images::black(Shape { count: 0, ..SHAPE }).unwrap();
    let sample = policy.sample(policy.draw(0, 0, &[]), 1.0).unwrap();
    assert_eq!(policy.apply(&images, &sample).unwrap().shape().count, 0);
    let gradients = policy.pullback(&images, &sample, &[], Groups::ALL).unwrap();
    assert!(gradients.parameters.types().iter().all(|&value| value == 0.0));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let default = PolicyConfig::default();
    let rotate = RangedTransformation::from(Transformation::named("Rotate").unwrap());
    let wrong = [
        PolicyConfig { layers: 15, ..default.clone() },
        PolicyConfig { layers: 0, ..default.clone() },
        PolicyConfig { transformations: Vec::new(), ..default.clone() },
        PolicyConfig { transformations: vec![rotate, rotate], layers: 1, ..default.clone() },
        PolicyConfig { depth: DepthKind::Fixed { depth: 8 }, ..default.clone() },
        PolicyConfig { types: TypesKind::Sinkhorn { iterations: 0, pad: -10.0 }, ..default.clone() },
        PolicyConfig {
            transformations: vec![RangedTransformation { range: (-30.0, f32::NAN), ..rotate }],
            layers: 1,
            ..default
        },
    ];
    for config in wrong {
        assert!(config.clone().init().is_err(), "{config:?}");
    }
    let error = Transformation::named("rotat").unwrap_err().to_string();
    assert!(error.contains("did you mean `Rotate`?"), "{error}");
    let images = noise_images(2, SHAPE);
    let rotate = rotate.transformation;
    assert!(matches!(rotate.apply(&images, &[0.0]), Err(Error::Length { .. })));
    assert!(matches!(rotate.apply(&images, &[0.0, 0.0, f32::NAN, 0.0]), Err(Error::Value { .. })));
    let invert = Transformation::named("Invert").unwrap();
    assert!(matches!(invert.apply(&images, &[0.0; 4]), Err(Error::Length { expected: 0, .. })));
}
