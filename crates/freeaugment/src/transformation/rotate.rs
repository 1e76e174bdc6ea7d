//! Rotate: by m degrees, counter-clockwise as seen, about the centre of the image.
//!
//! The image is first copied to pixels with their channels side by side and two rings of zeros around them. Each of the
//! four neighbours that a blend reads is then one short vector, and none needs a check whether it lies inside.

use super::pointwise::clamp01;
use super::{Definition, Kernel, Magnitude};
use crate::image::Image;
use crate::work::{Scratch, grown};

pub(super) struct Rotate;
pub(super) static KERNEL: Rotate = Rotate;
static DEFINITION: Definition = Definition {
    name: "Rotate",
    magnitude: Some(Magnitude {
        range: (-30.0, 30.0),
        limits: (-180.0, 180.0),
        identity: 0.0,
        unit: "degrees",
    }),
};

/// Rings of zeros: a position far outside is clamped to where all four neighbours are zero.
const RING: usize = 2;
/// Pixels whose positions are computed at once.
const BLOCK: usize = 32;

impl Kernel for Rotate {
    fn definition(&self) -> &Definition {
        &DEFINITION
    }

    fn apply(&self, image: Image<'_>, m: f32, out: &mut [f32], scratch: &mut Scratch) {
        if image.channels() == 1 {
            apply_grey(image, m, out, &mut scratch.pixels);
        } else {
            apply_color(image, m, out, &mut scratch.pixels);
        }
    }

    fn inner(&self, image: Image<'_>, m: f32, cotangent: &[f32], scratch: &mut Scratch) -> f32 {
        if image.channels() == 1 {
            inner_grey(image, m, cotangent, &mut scratch.pixels)
        } else {
            inner_color(image, m, cotangent, &mut scratch.pixels)
        }
    }

    fn pullback(
        &self,
        image: Image<'_>,
        m: f32,
        cotangent: &[f32],
        weight: f32,
        grad: &mut [f32],
        scratch: &mut Scratch,
    ) -> f32 {
        let (pixels, gradients) = (&mut scratch.pixels, &mut scratch.gradients);
        if image.channels() == 1 {
            pullback_grey(image, m, cotangent, weight, grad, pixels, gradients)
        } else {
            pullback_color(image, m, cotangent, weight, grad, pixels, gradients)
        }
    }
}

crate::simd::versions! {
    fn apply_grey(image: Image<'_>, m: f32, out: &mut [f32], pixels: &mut Vec<f32>) {
        apply::<1>(image, m, out, pixels);
    }

    fn apply_color(image: Image<'_>, m: f32, out: &mut [f32], pixels: &mut Vec<f32>) {
        apply::<4>(image, m, out, pixels);
    }

    fn inner_grey(image: Image<'_>, m: f32, cotangent: &[f32], pixels: &mut Vec<f32>) -> f32 {
        inner::<1>(image, m, cotangent, pixels)
    }

    fn inner_color(image: Image<'_>, m: f32, cotangent: &[f32], pixels: &mut Vec<f32>) -> f32 {
        inner::<4>(image, m, cotangent, pixels)
    }

    fn pullback_grey(
        image: Image<'_>,
        m: f32,
        cotangent: &[f32],
        weight: f32,
        grad: &mut [f32],
        pixels: &mut Vec<f32>,
        gradients: &mut Vec<f32>,
    ) -> f32 {
        pullback::<1>(image, m, cotangent, weight, grad, pixels, gradients)
    }

    fn pullback_color(
        image: Image<'_>,
        m: f32,
        cotangent: &[f32],
        weight: f32,
        grad: &mut [f32],
        pixels: &mut Vec<f32>,
        gradients: &mut Vec<f32>,
    ) -> f32 {
        pullback::<4>(image, m, cotangent, weight, grad, pixels, gradients)
    }
}

#[inline(always)]
fn apply<const L: usize>(image: Image<'_>, m: f32, out: &mut [f32], pixels: &mut Vec<f32>) {
    let turn = Turn::new(image, m);
    let pixels = interleave::<L>(image, pixels);
    let plane = image.plane();
    turn.visit(|at, p| {
        let value = p.blend::<L>(p.neighbours(pixels));
        for (channel, value) in value.iter().enumerate().take(image.channels()) {
            out[channel * plane + at] = clamp01(*value); // rounding alone can leave [0, 1]
        }
    });
}

#[inline(always)]
fn inner<const L: usize>(image: Image<'_>, m: f32, cotangent: &[f32], pixels: &mut Vec<f32>) -> f32 {
    let turn = Turn::new(image, m);
    let pixels = interleave::<L>(image, pixels);
    let mut total = 0.0;
    turn.visit_rows(|y| {
        let mut sums = [0.0; L];
        turn.visit_row(y, |at, p| {
            let value = p.blend::<L>(p.neighbours(pixels));
            let g = pixel_of::<L>(image, cotangent, at);
            for l in 0..L {
                sums[l] += g[l] * value[l];
            }
        });
        total += sums.iter().map(|&s| f64::from(s)).sum::<f64>();
    });
    total as f32
}

#[inline(always)]
fn pullback<const L: usize>(
    image: Image<'_>,
    m: f32,
    cotangent: &[f32],
    weight: f32,
    grad: &mut [f32],
    pixels: &mut Vec<f32>,
    gradients: &mut Vec<f32>,
) -> f32 {
    let turn = Turn::new(image, m);
    let pixels = interleave::<L>(image, pixels);
    let gradients = grown(gradients, L * turn.stride * (image.height + 2 * RING));
    gradients.fill(0.0);
    let gradients = gradients.as_chunks_mut::<L>().0;
    let mut total = 0.0;
    turn.visit_rows(|y| {
        let dy = y as f32 - turn.center_y;
        let mut sum = 0.0;
        turn.visit_row(y, |at, p| {
            let g = pixel_of::<L>(image, cotangent, at);
            let [top, bottom] = p.neighbours(pixels);
            let (mut along_x, mut along_y) = (0.0, 0.0);
            for l in 0..L {
                along_x += g[l] * ((1.0 - p.fy) * (top[1][l] - top[0][l]) + p.fy * (bottom[1][l] - bottom[0][l]));
                along_y += g[l] * ((1.0 - p.fx) * (bottom[0][l] - top[0][l]) + p.fx * (bottom[1][l] - top[1][l]));
            }
            let dx = p.dx;
            sum += along_x * (-turn.sine * dx - turn.cosine * dy) + along_y * (turn.cosine * dx - turn.sine * dy);
            let (low, high) = ((1.0 - p.fy) * weight, p.fy * weight);
            for (start, share) in [(p.start, low), (p.start + p.stride, high)] {
                let pair = &mut gradients[start..start + 2];
                for l in 0..L {
                    pair[0][l] += share * (1.0 - p.fx) * g[l];
                    pair[1][l] += share * p.fx * g[l];
                }
            }
        });
        total += f64::from(sum);
    });
    let plane = image.plane();
    for (y, row) in gradients.chunks_exact(turn.stride).skip(RING).take(image.height).enumerate() {
        for channel in 0..image.channels() {
            let grad = &mut grad[channel * plane + y * image.width..][..image.width];
            for (grad, pixel) in grad.iter_mut().zip(&row[RING..]) {
                *grad += pixel[channel];
            }
        }
    }
    (total * core::f64::consts::PI / 180.0) as f32
}

/// The rotation of one image: where each output pixel reads.
struct Turn {
    cosine: f32,
    sine: f32,
    center_x: f32,
    center_y: f32,
    width: usize,
    height: usize,
    stride: usize,
}

/// Where one output pixel reads: the first of its four neighbours and its distances from it.
#[derive(Clone, Copy)]
struct Position {
    start: usize,
    stride: usize,
    fx: f32,
    fy: f32,
    /// Distance of the output pixel from the centre.
    dx: f32,
}

impl Turn {
    #[inline(always)]
    fn new(image: Image<'_>, degrees: f32) -> Self {
        let (sine, cosine) = libm::sincos(f64::from(degrees).to_radians());
        Self {
            cosine: cosine as f32,
            sine: sine as f32,
            center_x: (image.width - 1) as f32 / 2.0,
            center_y: (image.height - 1) as f32 / 2.0,
            width: image.width,
            height: image.height,
            stride: image.width + 2 * RING,
        }
    }

    #[inline(always)]
    fn visit_rows(&self, mut row: impl FnMut(usize)) {
        for y in 0..self.height {
            row(y);
        }
    }

    #[inline(always)]
    fn visit(&self, mut pixel: impl FnMut(usize, Position)) {
        self.visit_rows(|y| self.visit_row(y, &mut pixel));
    }

    /// Calls `pixel(index in the plane, position)` for every pixel of row y.
    #[inline(always)]
    fn visit_row(&self, y: usize, mut pixel: impl FnMut(usize, Position)) {
        let dy = y as f32 - self.center_y;
        let (left, top) = (RING as f32 + self.center_x, RING as f32 + self.center_y);
        let (base_x, base_y) = (left - self.sine * dy, top + self.cosine * dy);
        // The last position at which both neighbours of an axis exist in the padded image.
        let (end_x, end_y) = ((self.width + RING) as f32, (self.height + RING) as f32);
        let (mut starts, mut fxs, mut fys) = ([0_i32; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for first in (0..self.width).step_by(BLOCK) {
            for b in 0..BLOCK {
                let dx = (first + b) as i32 as f32 - self.center_x;
                let sx = (base_x + self.cosine * dx).clamp(0.0, end_x);
                let sy = (base_y + self.sine * dx).clamp(0.0, end_y);
                let (column, row) = (sx as i32, sy as i32);
                fxs[b] = sx - column as f32;
                fys[b] = sy - row as f32;
                starts[b] = row * self.stride as i32 + column;
            }
            for b in 0..BLOCK.min(self.width - first) {
                let position = Position {
                    start: starts[b] as usize,
                    stride: self.stride,
                    fx: fxs[b],
                    fy: fys[b],
                    dx: (first + b) as f32 - self.center_x,
                };
                pixel(y * self.width + first + b, position);
            }
        }
    }
}

impl Position {
    /// The neighbours above (left, right) and below (left, right).
    #[inline(always)]
    fn neighbours<const L: usize>(self, pixels: &[[f32; L]]) -> [[[f32; L]; 2]; 2] {
        let pair = |start: usize| {
            let pair = &pixels[start..start + 2];
            [pair[0], pair[1]]
        };
        [pair(self.start), pair(self.start + self.stride)]
    }

    #[inline(always)]
    fn blend<const L: usize>(self, [top, bottom]: [[[f32; L]; 2]; 2]) -> [f32; L] {
        let mut value = [0.0; L];
        for l in 0..L {
            let top = (1.0 - self.fx) * top[0][l] + self.fx * top[1][l];
            let bottom = (1.0 - self.fx) * bottom[0][l] + self.fx * bottom[1][l];
            value[l] = (1.0 - self.fy) * top + self.fy * bottom;
        }
        value
    }
}

/// The channels of one pixel, side by side.
#[inline(always)]
fn pixel_of<const L: usize>(image: Image<'_>, planes: &[f32], at: usize) -> [f32; L] {
    let plane = image.plane();
    let mut pixel = [0.0; L];
    for (channel, value) in pixel.iter_mut().enumerate().take(image.channels()) {
        *value = planes[channel * plane + at];
    }
    pixel
}

/// The image with the channels of each pixel side by side (and zeros up to L), inside its rings of zeros.
#[inline(always)]
fn interleave<'a, const L: usize>(image: Image<'_>, pixels: &'a mut Vec<f32>) -> &'a [[f32; L]] {
    let stride = image.width + 2 * RING;
    let pixels = grown(pixels, L * stride * (image.height + 2 * RING));
    pixels.fill(0.0);
    let pixels = pixels.as_chunks_mut::<L>().0;
    let plane = image.plane();
    for (y, row) in pixels.chunks_exact_mut(stride).skip(RING).take(image.height).enumerate() {
        for channel in 0..image.channels() {
            let from = &image.data[channel * plane + y * image.width..][..image.width];
            for (pixel, &value) in row[RING..].iter_mut().zip(from) {
                pixel[channel] = value;
            }
        }
    }
    pixels
}
