//! Every smooth pullback against central differences of the function it belongs to.

mod common;

use common::{dot, normal, random_parameters, smooth_images, uniform};
use freeaugment::sampling::{
    Bounds, Gaussian, Matrices, MatricesMut, Sinkhorn, Tape, log_softmax, log_softmax_pullback,
    sample_application, sample_application_pullback, soften,
};
use freeaugment::{
    DepthKind, Groups, Images, MagnitudeKind, Policy, PolicyConfig, RangedTransformation, Shape,
    Transformation, TypesKind,
};

const SHAPE: Shape = Shape { count: 3, channels: 3, height: 21, width: 26 };

/// Those whose value is a differentiable function of the image…
const SMOOTH_IN_IMAGE: [&str; 11] = [
    "ShearX",
    "ShearY",
    "TranslateX",
    "TranslateY",
    "Rotate",
    "Contrast",
    "Color",
    "Brightness",
    "Sharpness",
    "AutoContrast",
    "Invert",
];
/// …and of the magnitude; with magnitudes at which few pixels of the test images are clamped, and at which translations
/// are not by whole pixels, where the blend has a kink.
const SMOOTH_IN_MAGNITUDE: [(&str, [f32; 3]); 9] = [
    ("ShearX", [-0.31, 0.127, 0.43]),
    ("ShearY", [-0.41, 0.073, 0.29]),
    ("TranslateX", [-0.21, 0.05, 0.37]),
    ("TranslateY", [-0.31, 0.061, 0.17]),
    ("Rotate", [-21.3, 3.7, 17.9]),
    ("Contrast", [0.51, 0.83, 1.07]),
    ("Color", [0.13, 0.47, 0.91]),
    ("Brightness", [0.013, 0.047, 0.11]),
    ("Sharpness", [0.0, 1.0, 1.3]),
];

fn magnitudes(name: &str) -> Vec<f32> {
    SMOOTH_IN_MAGNITUDE.iter().find(|(other, _)| *other == name).map_or(Vec::new(), |(_, m)| m.to_vec())
}

/// The central difference of f along one number.
fn central(step: f32, f: impl Fn(f32) -> f64) -> f64 {
    (f(step) - f(-step)) / (2.0 * f64::from(step))
}

fn assert_close(what: &str, found: f64, expected: f64, scale: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * scale.max(1e-3),
        "{what}: pullback {found}, central difference {expected}"
    );
}

#[test]
fn image_gradients_agree_with_central_differences() {
    // Away from the ends of [0, 1], and with one darkest and one brightest pixel in every channel, so that a small step
    // changes neither what is clamped nor where the extremes are.
    let mut pixels: Vec<f32> =
        uniform(1, SHAPE.count * SHAPE.image()).iter().map(|x| 0.1 + 0.7 * x).collect();
    for plane in pixels.chunks_exact_mut(SHAPE.plane()) {
        (plane[50], plane[200]) = (0.03, 0.88);
    }
    let images = Images::new(pixels, SHAPE).unwrap();
    let cotangent = normal(2, images.as_slice().len());
    for name in SMOOTH_IN_IMAGE {
        let t = Transformation::named(name).unwrap();
        let m = magnitudes(name);
        let (gradient, _) = t.pullback(&images, &m, &cotangent).unwrap();
        // A few random directions, small enough that no pixel leaves [0, 1].
        for seed in 10..14 {
            let direction: Vec<f32> = normal(seed, cotangent.len());
            let value = |step: f32| {
                let moved =
                    images.as_slice().iter().zip(&direction).map(|(x, d)| (x + step * d).clamp(0.0, 1.0));
                let moved = Images::new(moved.collect(), SHAPE).unwrap();
                dot(t.apply(&moved, &m).unwrap().as_slice(), &cotangent)
            };
            let found = dot(&gradient, &direction);
            let scale = dot(&gradient, &gradient).sqrt();
            assert_close(name, found, central(1e-3, value), scale, 0.02);
        }
    }
}

#[test]
fn magnitude_gradients_agree_with_central_differences() {
    let images = smooth_images(3, SHAPE);
    // A smooth cotangent: positive and negative regions as large as those of the image.
    let cotangent: Vec<f32> = smooth_images(4, SHAPE).as_slice().iter().map(|value| value - 0.4).collect();
    for (name, m) in SMOOTH_IN_MAGNITUDE {
        let t = Transformation::named(name).unwrap();
        let (_, gradient) = t.pullback(&images, &m, &cotangent).unwrap();
        let (low, high) = t.magnitude().unwrap().range;
        let step = 1e-3 * (high - low);
        for b in 0..SHAPE.count {
            let value = |change: f32| {
                let mut moved = m;
                moved[b] = m[b] + change;
                let out = t.apply(&images, &moved).unwrap();
                let size = SHAPE.image();
                dot(&out.as_slice()[b * size..][..size], &cotangent[b * size..][..size])
            };
            // Sharpness at 0 has no room below.
            let expected = if m[b] == t.magnitude().unwrap().limits.0 {
                (value(step) - value(0.0)) / f64::from(step)
            } else {
                central(step, value)
            };
            assert_close(&format!("{name} at {}", m[b]), gradient[b].into(), expected, expected.abs(), 0.03);
        }
    }
}

#[test]
fn solarize_passes_the_image_gradient_with_its_sign() {
    let images = smooth_images(5, SHAPE);
    let t = Transformation::named("Solarize").unwrap();
    let cotangent = normal(6, images.as_slice().len());
    let m = [0.6, 0.7, 0.8];
    let (gradient, to_magnitude) = t.pullback(&images, &m, &cotangent).unwrap();
    for (at, ((&g, &x), &c)) in gradient.iter().zip(images.as_slice()).zip(&cotangent).enumerate() {
        assert_eq!(g, if x < m[at / SHAPE.image()] { c } else { -c });
    }
    for (b, &found) in to_magnitude.iter().enumerate() {
        let sum: f64 = cotangent[b * SHAPE.image()..][..SHAPE.image()].iter().map(|&c| f64::from(c)).sum();
        assert!((f64::from(found) - sum).abs() < 1e-3);
    }
}

/// Compares the gradient of <cotangent, f(parameters)> with central differences in every parameter.
fn check_sampler(what: &str, parameters: &[f32], gradient: &[f32], value: impl Fn(&[f32]) -> f64) {
    let scale = gradient.iter().fold(0.0_f64, |scale, &g| scale.max(f64::from(g).abs()));
    for i in 0..parameters.len() {
        let along = |step: f32| {
            let mut moved = parameters.to_vec();
            moved[i] += step;
            value(&moved)
        };
        assert_close(&format!("{what} [{i}]"), gradient[i].into(), central(5e-3, along), scale, 0.01);
    }
}

fn gumbel(seed: u64, count: usize) -> Vec<f32> {
    let mut noise: Vec<f32> = uniform(seed, count).iter().map(|r| r.clamp(1e-6, 1.0 - 1e-6)).collect();
    freeaugment_base::random::gumbel_from_uniform(&mut noise);
    noise
}

#[test]
fn sampler_gradients_agree_with_central_differences() {
    let (n, k) = (6, 4);
    let size = n * k;
    let (logits, cotangent) = (normal(20, size), normal(21, size));
    for (iterations, temperature) in [(1, 1.0), (5, 0.7), (20, 0.5)] {
        let sampler = Sinkhorn { transformations: n, layers: k, iterations, pad: -10.0, temperature };
        let noise = gumbel(22, n * n);
        let sample = |logits: &[f32]| {
            let (mut soft, mut tape) = (vec![0.0; size], Tape::default());
            let target = &mut MatricesMut { data: &mut soft, stride: size };
            sampler.sample(1, logits, Matrices { data: &noise, stride: n * n }, target, &mut tape, true);
            soften(&mut soft);
            (soft, tape)
        };
        let (soft, mut tape) = sample(&logits);
        let mut gradient = vec![0.0; size];
        let matrices = |data| Matrices { data, stride: size };
        let target = &mut MatricesMut { data: &mut gradient, stride: size };
        sampler.pullback(1, matrices(&soft), matrices(&cotangent), &mut tape, target);
        check_sampler("sinkhorn", &logits, &gradient, |logits| dot(&sample(logits).0, &cotangent));
    }
    let noise = gumbel(23, size);
    let sample = |logits: &[f32]| {
        let mut soft = vec![0.0; size];
        log_softmax(logits, &noise, k, 0.8, &mut soft);
        soften(&mut soft);
        soft
    };
    let mut gradient = vec![0.0; size];
    log_softmax_pullback(&sample(&logits), &cotangent, k, 0.8, &mut gradient);
    check_sampler("softmax", &logits, &gradient, |logits| dot(&sample(logits), &cotangent));

    let noise: Vec<f32> = uniform(24, size).iter().map(|r| r.clamp(1e-3, 0.999)).collect();
    let sample = |logits: &[f32]| {
        let mut soft = vec![0.0; size];
        sample_application(logits, &noise, 0.6, &mut soft);
        soft
    };
    let mut gradient = vec![0.0; size];
    sample_application_pullback(&sample(&logits), &cotangent, 0.6, &mut gradient);
    check_sampler("application", &logits, &gradient, |logits| dot(&sample(logits), &cotangent));
}

#[test]
fn magnitude_sampler_gradients_agree_with_central_differences() {
    let size = 24;
    let (first, second, cotangent) = (normal(30, size), normal(31, size), normal(32, size));
    let noise = uniform(33, size);
    let value = |lower: &[f32], upper: &[f32]| {
        let mut u = vec![0.0; size];
        Bounds::new(lower, upper).sample(&noise, &mut u);
        dot(&u, &cotangent)
    };
    let (mut lower, mut upper) = (vec![0.0; size], vec![0.0; size]);
    Bounds::new(&first, &second).pullback(&noise, &cotangent, &mut lower, &mut upper);
    check_sampler("lower", &first, &lower, |lower| value(lower, &second));
    check_sampler("upper", &second, &upper, |upper| value(&first, upper));

    // Well inside [0, 1], where the clamp is smooth.
    let noise: Vec<f32> = normal(34, size).iter().map(|z| z.clamp(-1.5, 1.5)).collect();
    let (centre, spread) = (vec![0.5; size], vec![0.1875; size]);
    let value = |centre: &[f32], spread: &[f32]| {
        let mut u = vec![0.0; size];
        Gaussian { centre, spread }.sample(&noise, &mut u);
        dot(&u, &cotangent)
    };
    let (mut to_centre, mut to_spread) = (vec![0.0; size], vec![0.0; size]);
    Gaussian { centre: &centre, spread: &spread }.pullback(
        &noise,
        &cotangent,
        &mut to_centre,
        &mut to_spread,
    );
    check_sampler("centre", &centre, &to_centre, |centre| value(centre, &spread));
    check_sampler("spread", &spread, &to_spread, |spread| value(&centre, spread));
}

/// With the choices held fixed, a policy of smooth transformations is a differentiable function of its magnitudes.
#[test]
fn a_policys_magnitude_gradients_agree_with_central_differences() {
    let names = ["ShearX", "TranslateY", "Rotate", "Contrast", "Color", "Sharpness"];
    for kind in [MagnitudeKind::Uniform, MagnitudeKind::Gaussian] {
        let config = PolicyConfig {
            // Ranges that keep the images inside [0, 1], where clamps are smooth.
            transformations: names
                .map(|name| {
                    let mut ranged = RangedTransformation::from(Transformation::named(name).unwrap());
                    if name == "Contrast" {
                        ranged.range = (0.6, 1.05);
                    }
                    ranged
                })
                .to_vec(),
            layers: 3,
            depth: DepthKind::Fixed { depth: 3 },
            types: TypesKind::Softmax,
            magnitudes: kind,
            ..PolicyConfig::default()
        };
        let parameters = random_parameters(40, &config);
        let policy = Policy::new(config.clone(), parameters.clone()).unwrap();
        let images = smooth_images(41, SHAPE);
        let cotangent: Vec<f32> =
            smooth_images(42, SHAPE).as_slice().iter().map(|value| value - 0.4).collect();
        let indices = [0, 1, 2];
        let sample = policy.sample(policy.draw(5, 0, &indices), 1.0).unwrap();
        let gradient = policy.pullback(&images, &sample, &cotangent, Groups::ALL).unwrap().parameters;
        for which in 0..2 {
            let scale =
                gradient.magnitudes()[which].iter().fold(0.0_f64, |scale, &g| scale.max(f64::from(g).abs()));
            for at in 0..parameters.types().len() {
                let value = |step: f32| {
                    let mut moved = policy.clone();
                    moved.parameters_mut().magnitudes_mut()[which][at] += step;
                    let sample = moved.sample(moved.draw(5, 0, &indices), 1.0).unwrap();
                    dot(moved.apply(&images, &sample).unwrap().as_slice(), &cotangent)
                };
                let found = f64::from(gradient.magnitudes()[which][at]);
                assert_close(&format!("{kind:?} [{which}][{at}]"), found, central(1e-3, value), scale, 0.03);
            }
        }
    }
}
