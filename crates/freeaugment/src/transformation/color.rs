//! Color: clamp(m·x + (1-m)·grey), grey the mean over the channels. On one channel it is the identity.

use super::pointwise::{add_scaled, clamp01, clamp01_pullback, dot};
use super::{Definition, Kernel, Magnitude};
use crate::eight_bit::{Picture, color};
use crate::image::Image;
use crate::work::Scratch;

pub(super) struct Color;
pub(super) static KERNEL: Color = Color;
static DEFINITION: Definition = Definition {
    name: "Color",
    magnitude: Some(Magnitude { range: (0.0, 1.0), limits: (0.0, 10.0), identity: 1.0, unit: "saturation" }),
};

impl Kernel for Color {
    fn definition(&self) -> &Definition {
        &DEFINITION
    }

    fn apply(&self, image: Image<'_>, m: f32, out: &mut [f32], _: &mut Scratch) {
        if image.channels() == 1 {
            out.copy_from_slice(image.data);
        } else {
            apply(image.data, m, out);
        }
    }

    fn inner(&self, image: Image<'_>, m: f32, cotangent: &[f32], _: &mut Scratch) -> f32 {
        if image.channels() == 1 { dot(image.data, cotangent) } else { inner(image.data, m, cotangent) }
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
        if image.channels() == 1 {
            add_scaled(cotangent, weight, grad);
            return 0.0;
        }
        pullback(image.data, m, cotangent, weight, grad)
    }

    fn apply_bytes(&self, image: Picture<'_>, m: f32, out: &mut [u8], _: &mut Scratch) {
        color::apply(image, m, out);
    }
}

/// The three channels of an image.
#[inline(always)]
fn planes(x: &[f32]) -> [&[f32]; 3] {
    let (red, rest) = x.split_at(x.len() / 3);
    let (green, blue) = rest.split_at(red.len());
    [red, green, blue]
}

/// The same, to write into.
#[inline(always)]
fn planes_mut(x: &mut [f32]) -> [&mut [f32]; 3] {
    let plane = x.len() / 3;
    let (red, rest) = x.split_at_mut(plane);
    let (green, blue) = rest.split_at_mut(plane);
    [red, green, blue]
}

#[inline(always)]
fn grey(pixel: [f32; 3]) -> f32 {
    (pixel[0] + pixel[1] + pixel[2]) / 3.0
}

/// Pixels handled together, so that sums run in independent lanes.
const LANES: usize = 8;

freeaugment_base::versions! {
    fn apply(x: &[f32], m: f32, out: &mut [f32]) {
        let ([r, g, b], [out_r, out_g, out_b]) = (planes(x), planes_mut(out));
        let pixels = r.iter().zip(g).zip(b).zip(out_r.iter_mut().zip(out_g).zip(out_b));
        for (((&r, &g), &b), ((out_r, out_g), out_b)) in pixels {
            let base = (1.0 - m) * grey([r, g, b]);
            *out_r = clamp01(m * r + base);
            *out_g = clamp01(m * g + base);
            *out_b = clamp01(m * b + base);
        }
    }

    fn inner(x: &[f32], m: f32, cotangent: &[f32]) -> f32 {
        let (x, g) = (planes(x), planes(cotangent));
        sum_pixels(x, g, |x, g| {
            let base = (1.0 - m) * grey(x);
            let value = |c: usize| g[c] * clamp01(m * x[c] + base);
            value(0) + value(1) + value(2)
        })
    }

    fn pullback(x: &[f32], m: f32, cotangent: &[f32], weight: f32, grad: &mut [f32]) -> f32 {
        let (x, g) = (planes(x), planes(cotangent));
        let [grad_r, grad_g, grad_b] = planes_mut(grad);
        // Where the clamp does not pass the cotangent, it counts as zero.
        let passed = |x: [f32; 3], g: [f32; 3]| {
            let base = (1.0 - m) * grey(x);
            [0, 1, 2].map(|c| clamp01_pullback(m * x[c] + base, g[c]))
        };
        let pixels = x[0].iter().zip(x[1]).zip(x[2]).zip(g[0].iter().zip(g[1]).zip(g[2]));
        let grads = grad_r.iter_mut().zip(grad_g).zip(grad_b);
        for ((((&r, &gr), &b), ((&g_r, &g_g), &g_b)), ((to_r, to_g), to_b)) in pixels.zip(grads) {
            let g = passed([r, gr, b], [g_r, g_g, g_b]);
            let shared = (1.0 - m) * grey(g);
            *to_r += weight * (m * g[0] + shared);
            *to_g += weight * (m * g[1] + shared);
            *to_b += weight * (m * g[2] + shared);
        }
        sum_pixels(x, g, |x, g| {
            let (base, g) = (grey(x), passed(x, g));
            g[0] * (x[0] - base) + g[1] * (x[1] - base) + g[2] * (x[2] - base)
        })
    }
}

/// The sum over pixels of f(channels of the image, channels of the cotangent).
#[inline(always)]
fn sum_pixels(x: [&[f32]; 3], g: [&[f32]; 3], f: impl Fn([f32; 3], [f32; 3]) -> f32) -> f32 {
    /// Chunks summed in single precision before a double takes over.
    const BLOCK: usize = 512;
    let xs = x.map(|plane| plane.as_chunks::<LANES>());
    let gs = g.map(|plane| plane.as_chunks::<LANES>());
    let count = xs[0].0.len();
    let mut total = 0.0;
    for start in (0..count).step_by(BLOCK) {
        let range = start..count.min(start + BLOCK);
        let mut lanes = [0.0_f32; LANES];
        let x = xs.map(|plane| &plane.0[range.clone()]);
        let g = gs.map(|plane| &plane.0[range.clone()]);
        for ((x0, x1), (x2, ((g0, g1), g2))) in
            x[0].iter().zip(x[1]).zip(x[2].iter().zip(g[0].iter().zip(g[1]).zip(g[2])))
        {
            for l in 0..LANES {
                lanes[l] += f([x0[l], x1[l], x2[l]], [g0[l], g1[l], g2[l]]);
            }
        }
        total += lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>();
    }
    for at in 0..xs[0].1.len() {
        total += f64::from(f(xs.map(|plane| plane.1[at]), gs.map(|plane| plane.1[at])));
    }
    total as f32
}
