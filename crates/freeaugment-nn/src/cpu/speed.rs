//! How fast the kernels are, beside what the processor can do. Not a test of correctness, so it runs only when asked:
//!
//!     cargo test --release -p freeaugment-nn --lib -- --ignored --nocapture speed
#![allow(clippy::print_stdout, reason = "a report prints")]

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;

use super::convolution::Layer;
use super::frame::Frame;
use super::normalization::{self, Affine, Moments};
use super::share::Share;
use super::testing::noise;
use crate::pass::{Activation, Convolution, Window};

/// The best of several runs, in seconds.
fn best(mut work: impl FnMut() + Send) -> f64 {
    work();
    let mut shortest = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        rayon::scope(|_| work());
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    shortest
}

/// Fused multiply-adds per second of all threads, in 1e9 operations (two per multiply-add), from registers alone.
fn peak() -> f64 {
    const ROUNDS: usize = 2_000_000;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn spin() -> f32 {
        use std::arch::x86_64::{_mm256_cvtss_f32, _mm256_fmadd_ps, _mm256_set1_ps};
        let (a, b) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(black_box(0.001)));
        let mut sums = [_mm256_set1_ps(black_box(1.0)); 12];
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, a, b);
            }
        }
        sums.iter().map(|sum| _mm256_cvtss_f32(*sum)).sum()
    }
    let threads = rayon::current_num_threads();
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        let seconds = best(|| {
            (0..threads).into_par_iter().for_each(|_| {
                // SAFETY: the processor has just said that it has AVX2 and FMA.
                black_box(unsafe { spin() });
            });
        });
        return (threads * ROUNDS * 12 * 8 * 2) as f64 / seconds / 1e9;
    }
    f64::NAN
}

#[test]
#[ignore = "measures, does not test"]
fn speed_of_the_kernels() {
    println!("{} threads, peak {:.0} GFLOP/s", rayon::current_num_threads(), peak());
    println!("convolution, GFLOP/s counted as plain sums     forward   tangent  to input  to weights");
    for (batch, size, inputs, outputs, kernel, stride) in [
        (128, 32, 16, 16, 3, 1),
        (32, 32, 3, 16, 3, 1),
        (32, 32, 32, 32, 3, 1),
        (32, 16, 64, 64, 3, 1),
        (32, 8, 128, 128, 3, 1),
        (32, 32, 32, 64, 3, 2),
        (32, 32, 32, 64, 1, 2),
        (8, 224, 3, 64, 7, 2),
        (8, 56, 64, 64, 3, 1),
        (8, 28, 128, 128, 3, 1),
        (8, 14, 256, 256, 3, 1),
        (8, 7, 512, 512, 3, 1),
        (8, 56, 64, 256, 1, 1),
    ] {
        let window = Window::centred(kernel, stride);
        let source = Frame { height: size, width: size, channels: inputs };
        let side = window.positions(size);
        let target = Frame { height: side, width: side, channels: outputs };
        let layer = Layer { convolution: Convolution { inputs, outputs, window }, source, target };
        let (mut x, mut y) = (noise(1, batch * source.len()), noise(2, batch * target.len()));
        let mut weight = noise(3, outputs * inputs * kernel * kernel);
        let work = 2.0 * (batch * target.len() * inputs * kernel * kernel) as f64 / 1e9;
        let forward = best(|| layer.forward(&x, &weight, &mut y, None));
        let tangent = best(|| layer.tangent(&[(&x, &weight)], &mut y, None));
        let backward = best(|| layer.backward(&[(&y, &weight)], &mut x, None));
        // Piece after piece, as the engine does.
        let weights = best(|| {
            for piece in Share::alone(batch).pieces() {
                let x = &x[piece.start * source.len()..piece.end * source.len()];
                let y = &y[piece.start * target.len()..piece.end * target.len()];
                layer.weights(x, y, &mut weight);
            }
        });
        println!(
            "  batch {batch:3} {size:3}x{size:<3} {inputs:3} -> {outputs:3} {kernel}x{kernel} stride {stride}  {:10.0} {:9.0} {:9.0} {:9.0}",
            work / forward,
            work / tangent,
            work / backward,
            work / weights
        );
    }
    println!("batch norm and rectifier, numbers per ns      moments   forward  backward   tangent    second");
    for (images, pixels, channels) in [(128, 1024, 16), (32, 1024, 32), (32, 256, 64), (32, 64, 128)] {
        let (share, pixels) = (Share::alone(images), images * pixels);
        let len = pixels * channels;
        let (x, t, g, h) = (noise(1, len), noise(2, len), noise(3, len), noise(4, len));
        let (scale, shift) = (noise(5, channels), noise(6, channels));
        let affine = Affine { scale: &scale, shift: &shift };
        let relu = Some(Activation::Relu);
        let mut out = vec![0.0; len];
        let moments = Moments::of_batch(&x, channels, &share);
        let cotangent = normalization::backward(&share, &x, &moments, affine, relu, &g, &mut out, None);
        let tangent = normalization::tangent(&share, &x, &moments, affine, relu, &t, affine, &mut out);
        let times = [
            best(|| drop(black_box(Moments::of_batch(&x, channels, &share)))),
            best(|| normalization::forward(&x, &moments, affine, relu, &mut out)),
            best(|| drop(normalization::backward(&share, &x, &moments, affine, relu, &g, &mut out, None))),
            best(|| drop(normalization::tangent(&share, &x, &moments, affine, relu, &t, affine, &mut out))),
            best(|| {
                let norms = (&moments, affine, affine);
                let (g, h) = ((&g[..], &cotangent), (&h[..], &tangent));
                normalization::backward_tangent(&share, &x, &t, norms, relu, g, h, &mut out, None);
            }),
        ];
        print!("  {pixels:6} pixels of {channels:3} channels            ");
        for time in times {
            print!("{:10.2}", len as f64 / time / 1e9);
        }
        println!();
    }
}
