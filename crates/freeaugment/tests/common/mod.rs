//! Random inputs for the tests.
#![allow(dead_code)] // every test target uses its own part

use freeaugment::{Images, Parameters, PolicyConfig, Shape};
use freeaugment_base::random::{Purpose, Stream};

/// Numbers uniform in [0, 1).
pub(crate) fn uniform(seed: u64, count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    Stream::new(seed, Purpose::named("test/uniform"), 0, 0).uniform(&mut values);
    values
}

/// Standard normal numbers.
pub(crate) fn normal(seed: u64, count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    Stream::new(seed, Purpose::named("test/normal"), 0, 0).normal(&mut values);
    values
}

/// Noise images: no two neighbours alike.
pub(crate) fn noise_images(seed: u64, shape: Shape) -> Images {
    Images::new(uniform(seed, shape.count * shape.image()), shape).unwrap()
}

/// Images that change slowly, with values between 0.15 and 0.85, and black towards the border, so that nothing jumps
/// when they are moved.
pub(crate) fn smooth_images(seed: u64, shape: Shape) -> Images {
    let phases = uniform(seed, 3 * shape.count * shape.channels);
    let mut data = Vec::new();
    for phase in phases.chunks_exact(3) {
        for at in 0..shape.plane() {
            let (y, x) = ((at / shape.width) as f32, (at % shape.width) as f32);
            let wave = (0.25 * x + 6.0 * phase[0]).sin() * (0.2 * y + 6.0 * phase[1]).cos();
            let near = |p: f32, size: usize| (p + 1.0).min(size as f32 - p) / size as f32;
            let window = (8.0 * near(x, shape.width) * near(y, shape.height)).min(1.0);
            data.push((0.5 + (0.2 + 0.1 * phase[2]) * wave) * window);
        }
    }
    Images::new(data, shape).unwrap()
}

/// Parameters away from where learning starts.
pub(crate) fn random_parameters(seed: u64, config: &PolicyConfig) -> Parameters {
    let mut policy = config.clone().init().unwrap();
    let parameters = policy.parameters_mut();
    let mut next = seed;
    let mut shake = |values: &mut [f32], size: f32| {
        next += 1;
        let noise = normal(next, values.len());
        for (value, z) in values.iter_mut().zip(noise) {
            *value += size * z;
        }
    };
    shake(parameters.depth_mut(), 0.7);
    shake(parameters.types_mut(), 0.7);
    let [first, second] = parameters.magnitudes_mut();
    shake(first, 0.1);
    shake(second, 0.1);
    parameters.clone()
}

pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}
