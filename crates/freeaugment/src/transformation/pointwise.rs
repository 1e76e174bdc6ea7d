//! Loops over pixels that transform each on its own. They are inlined into the kernels that call them and vectorise
//! there: sums run in a fixed number of lanes, so their order does not depend on the instruction set.

use crate::math::clamp;

/// Independent partial sums: enough for two 256-bit accumulators to hide the latency of an addition.
pub(crate) const LANES: usize = 16;

/// Values that are summed in single precision before a double takes over; keeps long sums accurate.
const BLOCK: usize = 4096;

/// out = f(x)
#[inline(always)]
pub(crate) fn map(x: &[f32], out: &mut [f32], f: impl Fn(f32) -> f32) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

/// The sum of f(x, g).
#[inline(always)]
pub(crate) fn sum(x: &[f32], g: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut total = 0.0;
    for (x, g) in x.chunks(BLOCK).zip(g.chunks(BLOCK)) {
        let mut lanes = [0.0_f32; LANES];
        let (x, x_rest) = x.as_chunks::<LANES>();
        let (g, g_rest) = g.as_chunks::<LANES>();
        for (x, g) in x.iter().zip(g) {
            for l in 0..LANES {
                lanes[l] += f(x[l], g[l]);
            }
        }
        for (l, (&x, &g)) in x_rest.iter().zip(g_rest).enumerate() {
            lanes[l] += f(x, g);
        }
        total += f64::from(fold(lanes));
    }
    total as f32
}

/// With (a, b) = f(x, g): adds `weight` times a to the gradient and returns the sum of b.
#[inline(always)]
pub(crate) fn pull(
    x: &[f32],
    g: &[f32],
    weight: f32,
    grad: &mut [f32],
    f: impl Fn(f32, f32) -> (f32, f32),
) -> f32 {
    let mut total = 0.0;
    for ((x, g), grad) in x.chunks(BLOCK).zip(g.chunks(BLOCK)).zip(grad.chunks_mut(BLOCK)) {
        let mut lanes = [0.0_f32; LANES];
        let (x, x_rest) = x.as_chunks::<LANES>();
        let (g, g_rest) = g.as_chunks::<LANES>();
        let (grad, grad_rest) = grad.as_chunks_mut::<LANES>();
        for ((x, g), grad) in x.iter().zip(g).zip(grad) {
            for l in 0..LANES {
                let (to_image, to_magnitude) = f(x[l], g[l]);
                grad[l] += weight * to_image;
                lanes[l] += to_magnitude;
            }
        }
        for (l, ((&x, &g), grad)) in x_rest.iter().zip(g_rest).zip(grad_rest).enumerate() {
            let (to_image, to_magnitude) = f(x, g);
            *grad += weight * to_image;
            lanes[l] += to_magnitude;
        }
        total += f64::from(fold(lanes));
    }
    total as f32
}

/// The sum of the lanes, by halves.
#[inline(always)]
pub(crate) fn fold(lanes: [f32; LANES]) -> f32 {
    fold_with(lanes, |a, b| a + b)
}

/// The lanes combined, by halves.
#[inline(always)]
pub(crate) fn fold_with(mut lanes: [f32; LANES], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] = f(lanes[l], lanes[l + half]);
        }
        half /= 2;
    }
    lanes[0]
}

freeaugment_base::versions! {
    /// The inner product of two images.
    pub(crate) fn dot(x: &[f32], g: &[f32]) -> f32 {
        sum(x, g, |x, g| x * g)
    }

    /// Adds a multiple of one image to another.
    pub(crate) fn add_scaled(g: &[f32], weight: f32, grad: &mut [f32]) {
        for (grad, &g) in grad.iter_mut().zip(g) {
            *grad += weight * g;
        }
    }
}

/// Clamps to [0, 1].
#[inline(always)]
pub(crate) fn clamp01(x: f32) -> f32 {
    clamp(x, 0.0, 1.0)
}

/// The gradient of [`clamp01`] at x, applied to g: it passes on the closed interval.
#[inline(always)]
pub(crate) fn clamp01_pullback(x: f32, g: f32) -> f32 {
    if (0.0..=1.0).contains(&x) { g } else { 0.0 }
}

/// 255 x, on which the quantising transformations decide.
#[inline(always)]
pub(crate) fn level(x: f32) -> f32 {
    clamp(255.0 * x, 0.0, 255.0)
}

/// Implements [`Kernel`](super::Kernel) for a transformation of single pixels from three functions: `apply` (x, m),
/// and `pullback` (x, m, g), which returns the gradients to x and to m.
macro_rules! pointwise_kernel {
    ($definition:expr, apply: $apply:expr, pullback: $pullback:expr $(,)?) => {
        use crate::eight_bit::Levels;
        use crate::image::Image;
        use crate::transformation::{Definition, Kernel, pointwise};
        use crate::work::Scratch;

        pub(super) struct Pointwise;
        pub(super) static KERNEL: Pointwise = Pointwise;
        static DEFINITION: Definition = $definition;

        freeaugment_base::versions! {
            fn apply(x: &[f32], m: f32, out: &mut [f32]) {
                let f = $apply(m);
                pointwise::map(x, out, |x| f(x));
            }

            fn inner(x: &[f32], m: f32, g: &[f32]) -> f32 {
                let f = $apply(m);
                pointwise::sum(x, g, |x, g| f(x) * g)
            }

            fn pullback(x: &[f32], m: f32, g: &[f32], weight: f32, grad: &mut [f32]) -> f32 {
                let f = $pullback(m);
                pointwise::pull(x, g, weight, grad, |x, g| f(x, g))
            }
        }

        impl Kernel for Pointwise {
            fn definition(&self) -> &Definition {
                &DEFINITION
            }

            fn apply(&self, image: Image<'_>, m: f32, out: &mut [f32], _: &mut Scratch) {
                apply(image.data, m, out);
            }

            fn inner(&self, image: Image<'_>, m: f32, cotangent: &[f32], _: &mut Scratch) -> f32 {
                inner(image.data, m, cotangent)
            }

            fn pullback(
                &self,
                image: Image<'_>,
                m: f32,
                cotangent: &[f32],
                weight: f32,
                grad: &mut [f32],
                _: &mut Scratch,
            ) -> f32 {
                pullback(image.data, m, cotangent, weight, grad)
            }

            fn levels(&self) -> Levels {
                Levels::Same
            }
        }
    };
}
pub(crate) use pointwise_kernel;
