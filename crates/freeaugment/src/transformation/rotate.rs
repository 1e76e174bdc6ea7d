//! Rotate: by m degrees, counter-clockwise as seen, about the centre of the image.
//!
//! The image is first copied to pixels with their channels side by side and two rings of zeros around them. Each of the
//! four neighbours that a blend reads is then one short vector, and none needs a check whether it lies inside.

use super::pointwise::clamp01;
use super::{Definition, Kernel, Magnitude};
use crate::chain::Affine;
use crate::eight_bit::{Picture, rotate};
use crate::image::Image;
use crate::math::{clamp, truncate};
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
pub(crate) const RING: usize = 2;
/// Pixels whose positions are computed at once.
pub(crate) const BLOCK: usize = 32;

impl Kernel for Rotate {
    fn definition(&self) -> &Definition {
        &DEFINITION
    }

    fn apply(&self, image: Image<'_>, m: f32, out: &mut [f32], scratch: &mut Scratch) {
        if image.channels() == 1 {
            apply::<1>(image, m, out, &mut scratch.pixels);
        } else {
            apply::<4>(image, m, out, &mut scratch.pixels);
        }
    }

    fn inner(&self, image: Image<'_>, m: f32, cotangent: &[f32], scratch: &mut Scratch) -> f32 {
        if image.channels() == 1 {
            inner::<1>(image, m, cotangent, &mut scratch.pixels)
        } else {
            inner::<4>(image, m, cotangent, &mut scratch.pixels)
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
            pullback::<1>(image, m, cotangent, weight, grad, pixels, gradients)
        } else {
            pullback::<4>(image, m, cotangent, weight, grad, pixels, gradients)
        }
    }

    fn apply_bytes(&self, image: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
        rotate::apply(image, m, out, scratch);
    }

    fn source(&self, height: usize, width: usize, m: f32) -> Option<Affine> {
        let (sine, cosine) = libm::sincos(f64::from(m).to_radians());
        let [x, y] = [width, height].map(|side| (side.max(1) - 1) as f64 / 2.0);
        let rows = [[cosine, -sine, x - cosine * x + sine * y], [sine, cosine, y - sine * x - cosine * y]];
        Some(Affine { rows })
    }
}

freeaugment_base::versions! {
    fn apply<const L: usize>(image: Image<'_>, m: f32, out: &mut [f32], pixels: &mut Vec<f32>) {
        let turn = Turn::new(image, m);
        let pixels = interleave::<L>(image, pixels);
        let plane = image.plane();
        let mut positions = Positions::default();
        for y in 0..image.height {
            for first in (0..image.width).step_by(BLOCK) {
                positions.find(&turn, y, first);
                for b in 0..BLOCK.min(image.width - first) {
                    let value = positions.blend(b, positions.neighbours::<L>(b, &turn, pixels));
                    let at = y * image.width + first + b;
                    for channel in 0..channels::<L>() {
                        out[channel * plane + at] = clamp01(value[channel]); // rounding alone can leave [0, 1]
                    }
                }
            }
        }
    }

    fn inner<const L: usize>(image: Image<'_>, m: f32, cotangent: &[f32], pixels: &mut Vec<f32>) -> f32 {
        let turn = Turn::new(image, m);
        let pixels = interleave::<L>(image, pixels);
        let mut positions = Positions::default();
        let mut total = 0.0;
        for y in 0..image.height {
            let mut sums = [0.0; L];
            let rows = rows_of::<L>(image, cotangent, y);
            for first in (0..image.width).step_by(BLOCK) {
                positions.find(&turn, y, first);
                for b in 0..BLOCK.min(image.width - first) {
                    let value = positions.blend(b, positions.neighbours::<L>(b, &turn, pixels));
                    for l in 0..L {
                        sums[l] += rows[l][first + b] * value[l];
                    }
                }
            }
            for sum in sums {
                total += f64::from(sum);
            }
        }
        total as f32
    }

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
        let mut positions = Positions::default();
        let mut total = 0.0;
        for y in 0..image.height {
            let dy = y as f32 - turn.center_y;
            let (mut sums_x, mut sums_y) = ([0.0; L], [0.0; L]);
            let rows = rows_of::<L>(image, cotangent, y);
            for first in (0..image.width).step_by(BLOCK) {
                positions.find(&turn, y, first);
                for b in 0..BLOCK.min(image.width - first) {
                    let mut g = [0.0; L];
                    for l in 0..L {
                        g[l] = rows[l][first + b];
                    }
                    let [top, bottom] = positions.neighbours::<L>(b, &turn, pixels);
                    let (fx, fy) = (positions.fx[b], positions.fy[b]);
                    let dx = (first + b) as f32 - turn.center_x;
                    // How the position of this pixel moves with the angle.
                    let to_x = -turn.sine * dx - turn.cosine * dy;
                    let to_y = turn.cosine * dx - turn.sine * dy;
                    let start = positions.start[b] as usize;
                    let mut shares = [[[0.0; L]; 2]; 2];
                    for l in 0..L {
                        let along_x = (1.0 - fy) * (top[1][l] - top[0][l]) + fy * (bottom[1][l] - bottom[0][l]);
                        let along_y = (1.0 - fx) * (bottom[0][l] - top[0][l]) + fx * (bottom[1][l] - top[1][l]);
                        sums_x[l] += g[l] * along_x * to_x;
                        sums_y[l] += g[l] * along_y * to_y;
                        let (above, below) = (weight * (1.0 - fy) * g[l], weight * fy * g[l]);
                        shares[0][0][l] = (1.0 - fx) * above;
                        shares[0][1][l] = fx * above;
                        shares[1][0][l] = (1.0 - fx) * below;
                        shares[1][1][l] = fx * below;
                    }
                    for (row, shares) in shares.iter().enumerate() {
                        let pair = &mut gradients[start + row * turn.stride..][..2];
                        for l in 0..L {
                            pair[0][l] += shares[0][l];
                            pair[1][l] += shares[1][l];
                        }
                    }
                }
            }
            for l in 0..L {
                total += f64::from(sums_x[l] + sums_y[l]);
            }
        }
        let plane = image.plane();
        for (y, row) in gradients.chunks_exact(turn.stride).skip(RING).take(image.height).enumerate() {
            for channel in 0..channels::<L>() {
                let grad = &mut grad[channel * plane + y * image.width..][..image.width];
                for (grad, pixel) in grad.iter_mut().zip(&row[RING..]) {
                    *grad += pixel[channel];
                }
            }
        }
        (total * core::f64::consts::PI / 180.0) as f32
    }
}

/// The rotation of one image.
pub(crate) struct Turn {
    cosine: f32,
    sine: f32,
    center_x: f32,
    center_y: f32,
    /// The last position at which both neighbours of an axis exist in the padded image.
    end_x: f32,
    end_y: f32,
    /// Pixels in a row of the padded image.
    pub(crate) stride: usize,
}

impl Turn {
    #[inline(always)]
    pub(crate) fn new(image: Image<'_>, degrees: f32) -> Self {
        let (sine, cosine) = libm::sincos(f64::from(degrees).to_radians());
        Self {
            cosine: cosine as f32,
            sine: sine as f32,
            center_x: (image.width - 1) as f32 / 2.0,
            center_y: (image.height - 1) as f32 / 2.0,
            end_x: (image.width + RING) as f32,
            end_y: (image.height + RING) as f32,
            stride: image.width + 2 * RING,
        }
    }
}

/// Where a few neighbouring output pixels read: the first of four neighbours each, and the distances from it.
#[derive(Default)]
pub(crate) struct Positions {
    pub(crate) start: [i32; BLOCK],
    pub(crate) fx: [f32; BLOCK],
    pub(crate) fy: [f32; BLOCK],
}

impl Positions {
    /// The positions of the pixels of row y from `first` on (those beyond the row mean nothing).
    #[inline(always)]
    pub(crate) fn find(&mut self, turn: &Turn, y: usize, first: usize) {
        let dy = y as f32 - turn.center_y;
        let base_x = RING as f32 + turn.center_x - turn.sine * dy;
        let base_y = RING as f32 + turn.center_y + turn.cosine * dy;
        for b in 0..BLOCK {
            let dx = (first + b) as i32 as f32 - turn.center_x;
            let sx = base_x + turn.cosine * dx;
            let sy = base_y + turn.sine * dx;
            let (column, fx) = split(sx, turn.end_x);
            let (row, fy) = split(sy, turn.end_y);
            self.fx[b] = fx;
            self.fy[b] = fy;
            self.start[b] = row * turn.stride as i32 + column;
        }
    }

    /// The neighbours above (left, right) and below (left, right) of the b-th pixel.
    #[inline(always)]
    fn neighbours<const L: usize>(&self, b: usize, turn: &Turn, pixels: &[[f32; L]]) -> [[[f32; L]; 2]; 2] {
        let start = self.start[b] as usize;
        let (top, bottom) = (&pixels[start..][..2], &pixels[start + turn.stride..][..2]);
        [[top[0], top[1]], [bottom[0], bottom[1]]]
    }

    #[inline(always)]
    fn blend<const L: usize>(&self, b: usize, [top, bottom]: [[[f32; L]; 2]; 2]) -> [f32; L] {
        let (fx, fy) = (self.fx[b], self.fy[b]);
        let mut value = [0.0; L];
        for l in 0..L {
            let top = (1.0 - fx) * top[0][l] + fx * top[1][l];
            let bottom = (1.0 - fx) * bottom[0][l] + fx * bottom[1][l];
            value[l] = (1.0 - fy) * top + fy * bottom;
        }
        value
    }
}

/// A position, clamped to 0..=end, as a whole number and a fraction.
#[inline(always)]
fn split(position: f32, end: f32) -> (i32, f32) {
    let clamped = clamp(position, 0.0, end);
    let whole = truncate(clamped, end);
    (whole, clamped - whole as f32)
}

/// Images of three channels use four lanes.
const fn channels<const L: usize>() -> usize {
    if L == 1 { 1 } else { 3 }
}

/// Row y of each channel. The fourth lane repeats a channel: it meets only zeros, and what is added to it is not read.
#[inline(always)]
fn rows_of<'a, const L: usize>(image: Image<'_>, planes: &'a [f32], y: usize) -> [&'a [f32]; L] {
    let mut rows: [&[f32]; L] = [&[]; L];
    for (l, row) in rows.iter_mut().enumerate() {
        *row = &planes[l.min(channels::<L>() - 1) * image.plane() + y * image.width..][..image.width];
    }
    rows
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
        for channel in 0..channels::<L>() {
            let from = &image.data[channel * plane + y * image.width..][..image.width];
            for (pixel, &value) in row[RING..].iter_mut().zip(from) {
                pixel[channel] = value;
            }
        }
    }
    pixels
}
