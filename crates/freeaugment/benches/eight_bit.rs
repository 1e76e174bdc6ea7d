//! One 8-bit image on one thread: each transformation, and what the policy draws, on bytes and through floats.
//!
//! `cargo bench -p freeaugment --bench eight_bit`; with `FREEAUGMENT_PORTABLE` set, the kernels every processor can run.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use freeaugment::{
    Chain, DepthKind, ImagesMut, ImagesRef, Policy, PolicyConfig, Sample, Shape, Step, Strides,
    Transformation,
};
use freeaugment_base::random::{Purpose, Stream};
use freeaugment_base::simd;

const SIZES: [usize; 2] = [224, 512];

/// A random image, `[height, width, channel]`: a coarse grid of random colours, blown up, and a little noise.
fn pixels(size: usize) -> Vec<u8> {
    let coarse = size.div_ceil(8);
    let (mut grid, mut noise) = (vec![0.0; 3 * coarse * coarse], vec![0.0; 3 * size * size]);
    Stream::new(0, Purpose::named("bench/grid"), 0, 0).uniform(&mut grid);
    Stream::new(0, Purpose::named("bench/noise"), 0, 0).uniform(&mut noise);
    let level = |(at, noise): (usize, f32)| {
        let (y, x, channel) = (at / 3 / size, at / 3 % size, at % 3);
        (grid[(y / 8 * coarse + x / 8) * 3 + channel] * 240.0 + noise * 15.0) as u8
    };
    noise.into_iter().enumerate().map(level).collect()
}

/// A step 0.8 of the way through the paper's range.
fn step(transformation: Transformation) -> Step {
    let magnitude = transformation.magnitude().map(|magnitude| {
        let (low, high) = magnitude.range;
        low + 0.8 * (high - low)
    });
    Step { transformation, magnitude }
}

/// The policy that always does this one thing, and its sample: bytes through floats to bytes.
fn through_floats(transformation: Transformation) -> (Policy, Sample) {
    let policy = PolicyConfig {
        transformations: vec![transformation.into()],
        layers: 1,
        depth: DepthKind::Fixed { depth: 1 },
        ..PolicyConfig::default()
    };
    let mut policy = policy.init().expect("a valid policy");
    for bounds in policy.parameters_mut().magnitudes_mut() {
        bounds.fill((0.8_f32 / 0.2).ln());
    }
    let sample = policy.sample(policy.draw(0, 0, &[0]), 0.1).expect("a valid sample");
    (policy, sample)
}

fn bench_transformations(criterion: &mut Criterion) {
    for size in SIZES {
        let shape = Shape { count: 1, channels: 3, height: size, width: size };
        let bytes = pixels(size);
        let planar: Vec<u8> = (0..3).flat_map(|c| bytes.iter().skip(c).step_by(3).copied()).collect();
        let mut out = vec![0; bytes.len()];
        let mut group = criterion.benchmark_group(format!("eight-bit-{size}"));
        for &transformation in Transformation::all() {
            let chain = Chain::new(vec![step(transformation)]).expect("a valid step");
            let images = ImagesRef::interleaved(&bytes, shape).expect("a valid image");
            group.bench_function(BenchmarkId::new("interleaved", transformation.name()), |bencher| {
                bencher.iter(|| {
                    let out = ImagesMut::interleaved(&mut out, shape).expect("a valid image");
                    chain.apply_into(images, out).expect("images of one shape");
                });
            });
            let (policy, sample) = through_floats(transformation);
            group.bench_function(BenchmarkId::new("interleaved floats", transformation.name()), |bencher| {
                bencher.iter(|| {
                    let out = ImagesMut::interleaved(&mut out, shape).expect("a valid image");
                    policy.apply_into(images, &sample, out).expect("images of one shape");
                });
            });
            let images = ImagesRef::planar(&planar, shape).expect("a valid image");
            group.bench_function(BenchmarkId::new("planar", transformation.name()), |bencher| {
                bencher.iter(|| {
                    let out = ImagesMut::planar(&mut out, shape).expect("a valid image");
                    chain.apply_into(images, out).expect("images of one shape");
                });
            });
        }
        group.finish();
    }
}

/// What the untrained policy does, image after image.
fn bench_policy(criterion: &mut Criterion) {
    let policy = PolicyConfig::default().init().expect("a valid policy");
    let mut index = 0;
    criterion.bench_function("draw/chain", |bencher| {
        bencher.iter(|| {
            index += 1;
            policy.chain(0, 0, index)
        });
    });
    criterion.bench_function("draw/sample", |bencher| {
        bencher.iter(|| {
            index += 1;
            policy.sample(policy.draw(0, 0, &[index]), 0.1).expect("a valid sample")
        });
    });
    for size in SIZES {
        let shape = Shape { count: 1, channels: 3, height: size, width: size };
        let bytes = pixels(size);
        let mut out = vec![0; bytes.len()];
        let images = ImagesRef::interleaved(&bytes, shape).expect("a valid image");
        // The same few images in every run, drawn beforehand: an iteration applies all of them.
        let chains: Vec<Chain> = (0..50).map(|index| policy.chain(0, 0, index)).collect();
        let indices: Vec<u32> = (0..50).collect();
        let samples: Vec<Sample> = indices
            .iter()
            .map(|&index| policy.sample(policy.draw(0, 0, &[index]), 0.1).expect("a valid sample"))
            .collect();
        let mut group = criterion.benchmark_group(format!("chains-of-50-{size}"));
        group.bench_function("bytes", |bencher| {
            bencher.iter(|| {
                for chain in &chains {
                    let out = ImagesMut::interleaved(&mut out, shape).expect("a valid image");
                    chain.apply_into(images, out).expect("images of one shape");
                }
            });
        });
        group.bench_function("floats", |bencher| {
            bencher.iter(|| {
                for sample in &samples {
                    let out = ImagesMut::interleaved(&mut out, shape).expect("a valid image");
                    policy.apply_into(images, sample, out).expect("images of one shape");
                }
            });
        });
        let one = Shape { channels: 1, ..shape };
        let mut moved = vec![0; one.image()];
        group.bench_function("masks", |bencher| {
            bencher.iter(|| {
                for chain in &chains {
                    let mask = &bytes[..one.image()];
                    chain.move_mask(mask, one, Strides::planar(one), 255, &mut moved).expect("a valid mask");
                }
            });
        });
        group.finish();
    }
}

fn main() {
    // Criterion reads the other arguments itself and would refuse this one.
    if std::env::var_os("FREEAUGMENT_PORTABLE").is_some() {
        simd::force_portable();
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(10)
        .configure_from_args();
    bench_policy(&mut criterion);
    bench_transformations(&mut criterion);
    criterion.final_summary();
}
