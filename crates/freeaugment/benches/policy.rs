//! How many images per second: the whole policy as a search uses it (sample, apply, pull back) and as evaluation uses it
//! (sample, apply), and each transformation on its own.
//!
//! `cargo bench -p freeaugment --bench policy`; with `FREEAUGMENT_PORTABLE` set, the kernels every processor can run. The script
//! `scripts/compare-speed` runs the PyTorch peers beside it.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use freeaugment::{
    Estimator, Groups, Images, ImagesMut, ImagesRef, Policy, PolicyConfig, Shape, Transformation,
};
use freeaugment_base::random::{Purpose, Stream};
use freeaugment_base::simd;

/// The sizes and batches of the peers' benchmark.
const CASES: [(usize, usize); 2] = [(32, 128), (224, 16)];

/// Smooth random images: a coarse grid of random colours, blown up.
fn images(size: usize, count: usize) -> Images {
    let coarse = size.div_ceil(4);
    let mut grid = vec![0.0; count * 3 * coarse * coarse];
    Stream::new(0, Purpose::named("bench/images"), 0, 0).uniform(&mut grid);
    let mut data = Vec::with_capacity(count * 3 * size * size);
    for plane in grid.chunks_exact(coarse * coarse) {
        for (y, x) in (0..size * size).map(|at| (at / size, at % size)) {
            let (cy, cx) = (y / 4, x / 4);
            let next = plane[cy * coarse + (cx + 1).min(coarse - 1)];
            let fraction = (x % 4) as f32 / 4.0;
            data.push((1.0 - fraction) * plane[cy * coarse + cx] + fraction * next);
        }
    }
    Images::new(data, Shape { count, channels: 3, height: size, width: size }).expect("a valid batch")
}

fn cotangent(images: &Images) -> Vec<f32> {
    let mut cotangent = vec![0.0; images.as_slice().len()];
    Stream::new(0, Purpose::named("bench/cotangent"), 0, 0).normal(&mut cotangent);
    cotangent
}

fn search_policy(estimator: Estimator) -> Policy {
    PolicyConfig { estimator, ..PolicyConfig::default() }.init().expect("a valid policy")
}

fn bench_policy(criterion: &mut Criterion) {
    for (size, count) in CASES {
        let images = images(size, count);
        let cotangent = cotangent(&images);
        let indices: Vec<u32> = (0..count as u32).collect();
        let mut group = criterion.benchmark_group(format!("policy-{size}"));
        group.throughput(Throughput::Elements(count as u64));
        for (name, estimator) in
            [("straight-through", Estimator::StraightThrough), ("soft-backward", Estimator::SoftBackward)]
        {
            let policy = search_policy(estimator);
            let mut out = images.clone();
            let mut epoch = 0;
            group.bench_function(BenchmarkId::new("search", name), |bencher| {
                bencher.iter(|| {
                    epoch += 1;
                    let sample = policy.sample(policy.draw(0, epoch, &indices), 1.0).expect("a valid sample");
                    policy.apply_into(&images, &sample, &mut out).expect("a valid batch");
                    policy.pullback(&images, &sample, &cotangent, Groups::ALL).expect("a valid cotangent")
                });
            });
        }
        let policy = search_policy(Estimator::StraightThrough);
        let mut out = images.clone();
        let mut epoch = 0;
        group.bench_function("evaluation", |bencher| {
            bencher.iter(|| {
                epoch += 1;
                let sample = policy.sample(policy.draw(0, epoch, &indices), 0.1).expect("a valid sample");
                policy.apply_into(&images, &sample, &mut out).expect("a valid batch");
            });
        });
        bench_views(&mut group, &policy, &images, &indices);
        group.bench_function("sampling", |bencher| {
            bencher.iter(|| {
                epoch += 1;
                policy.sample(policy.draw(0, epoch, &indices), 0.1).expect("a valid sample")
            });
        });
        group.finish();
    }
}

/// Evaluation from a caller's array to a caller's array: `evaluation` without the `Images`.
fn bench_views(group: &mut BenchmarkGroup<'_, WallTime>, policy: &Policy, images: &Images, indices: &[u32]) {
    let shape = images.shape();
    let draw = |epoch| policy.sample(policy.draw(0, epoch, indices), 0.1).expect("a valid sample");
    let (values, mut floats) = (images.as_slice(), images.as_slice().to_vec());
    let (pixels, mut bytes) = (images.to_u8(), images.to_u8());
    let mut epoch = 0;
    group.bench_function(BenchmarkId::new("view", "planar f32"), |bencher| {
        bencher.iter(|| {
            epoch += 1;
            let view = ImagesRef::planar(values, shape).expect("a valid batch");
            let out = ImagesMut::planar(&mut floats, shape).expect("a valid batch");
            policy.apply_into(view, &draw(epoch), out).expect("a valid sample");
        });
    });
    epoch = 0;
    group.bench_function(BenchmarkId::new("view", "interleaved u8"), |bencher| {
        bencher.iter(|| {
            epoch += 1;
            let view = ImagesRef::interleaved(&pixels, shape).expect("a valid batch");
            let out = ImagesMut::interleaved(&mut bytes, shape).expect("a valid batch");
            policy.apply_into(view, &draw(epoch), out).expect("a valid sample");
        });
    });
    epoch = 0;
    group.bench_function(BenchmarkId::new("copy", "interleaved u8"), |bencher| {
        bencher.iter(|| {
            epoch += 1;
            let images = Images::from_u8(&pixels, shape).expect("a valid batch");
            policy.apply(&images, &draw(epoch)).expect("a valid sample").to_u8()
        });
    });
}

fn bench_transformations(criterion: &mut Criterion) {
    for (size, count) in CASES {
        let images = images(size, count);
        let cotangent = cotangent(&images);
        let mut group = criterion.benchmark_group(format!("transformation-{size}"));
        group.throughput(Throughput::Elements(images.as_slice().len() as u64));
        for &transformation in Transformation::all() {
            let magnitudes: Vec<f32> = transformation.magnitude().map_or(Vec::new(), |magnitude| {
                let (low, high) = magnitude.range;
                (0..count).map(|b| low + (b as f32 + 0.5) / count as f32 * (high - low)).collect()
            });
            group.bench_function(BenchmarkId::new("apply", transformation.name()), |bencher| {
                bencher.iter(|| transformation.apply(&images, &magnitudes).expect("a valid batch"));
            });
            group.bench_function(BenchmarkId::new("pullback", transformation.name()), |bencher| {
                bencher.iter(|| {
                    transformation.pullback(&images, &magnitudes, &cotangent).expect("a valid batch")
                });
            });
        }
        group.finish();
    }
}

fn main() {
    // Criterion reads the other arguments itself and would refuse this one.
    if std::env::var_os("FREEAUGMENT_PORTABLE").is_some() {
        simd::force_portable();
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20)
        .configure_from_args();
    bench_policy(&mut criterion);
    bench_transformations(&mut criterion);
    criterion.final_summary();
}
