//! Transformations that move every row along x, or every column along y, by a distance proportional to m: shears and
//! translations. A line is shifted as a whole, so both neighbours of every pixel lie in two contiguous rows and the
//! blend needs no gather.

use super::pointwise::{LANES, clamp01, fold};
use super::{Definition, Kernel};
use crate::chain::Affine;
use crate::eight_bit::{Picture, shift};
use crate::image::Image;
use crate::work::{Scratch, grown};

/// The direction in which lines move.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Axis {
    /// Rows move along x.
    X,
    /// Columns move along y.
    Y,
}

/// A transformation that reads line l at `position - m·distance(l)`.
pub(crate) struct Shifted {
    pub(super) definition: Definition,
    pub(crate) axis: Axis,
    pub(super) distance: fn(Image<'_>, usize) -> usize,
}

/// How far each line moves: by `whole` pixels and a `fraction` of one. `slope` is minus the derivative to m.
struct Lines<'a> {
    whole: &'a mut [i32],
    fraction: &'a mut [f32],
    slope: &'a mut [f32],
    rows: &'a mut [f32],
}

impl Shifted {
    fn lines<'a>(&self, image: Image<'_>, m: f32, scratch: &'a mut Scratch) -> Lines<'a> {
        let count = if self.axis == Axis::X { image.height } else { image.width };
        let lines = Lines {
            whole: grown(&mut scratch.offsets, count),
            fraction: grown(&mut scratch.fractions, count),
            slope: grown(&mut scratch.slopes, count),
            rows: grown(&mut scratch.rows, Walk::buffer_len(image)),
        };
        for l in 0..count {
            (lines.whole[l], lines.fraction[l], lines.slope[l]) = self.line(image, m, l);
        }
        lines
    }

    /// How far one line moves: whole pixels, the fraction of one, and the slope.
    pub(crate) fn line(&self, image: Image<'_>, m: f32, l: usize) -> (i32, f32, f32) {
        let distance = (self.distance)(image, l) as f64;
        let offset = -f64::from(m) * distance;
        let floor = libm::floor(offset);
        (floor as i32, (offset - floor) as f32, distance as f32)
    }
}

impl Lines<'_> {
    /// Turns the shift into its adjoint, which is a shift too: what pixel j gave to j - whole and j - whole - 1 it now
    /// gets from them.
    fn transpose(&mut self) {
        for (whole, fraction) in self.whole.iter_mut().zip(self.fraction.iter_mut()) {
            *whole = -*whole - 1;
            *fraction = 1.0 - *fraction;
        }
    }
}

impl Kernel for Shifted {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn apply(&self, image: Image<'_>, m: f32, out: &mut [f32], scratch: &mut Scratch) {
        let lines = self.lines(image, m, scratch);
        blend(image, self.axis, lines.whole, lines.fraction, lines.rows, out);
    }

    fn inner(&self, image: Image<'_>, m: f32, cotangent: &[f32], scratch: &mut Scratch) -> f32 {
        let lines = self.lines(image, m, scratch);
        blend_inner(image, self.axis, lines.whole, lines.fraction, lines.rows, cotangent)
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
        let mut lines = self.lines(image, m, scratch);
        let slope = slope_inner(image, self.axis, lines.whole, lines.slope, lines.rows, cotangent);
        lines.transpose();
        blend_add(image.with(cotangent), self.axis, lines.whole, lines.fraction, lines.rows, weight, grad);
        -slope
    }

    fn apply_bytes(&self, image: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
        shift::apply(self, image, m, out, scratch);
    }

    fn source(&self, height: usize, width: usize, m: f32) -> Option<Affine> {
        // The distance is at most linear in the line, so that two lines tell it.
        let size = Image { data: &[], height, width };
        let [first, second] = [0, 1].map(|line| -f64::from(m) * (self.distance)(size, line) as f64);
        let (moved, slope) = (first, second - first);
        let rows = match self.axis {
            Axis::X => [[1.0, slope, moved], [0.0, 1.0, 0.0]],
            Axis::Y => [[1.0, 0.0, 0.0], [slope, 1.0, moved]],
        };
        Some(Affine { rows })
    }
}

freeaugment_base::versions! {
    fn blend(image: Image<'_>, axis: Axis, whole: &[i32], fraction: &[f32], rows: &mut [f32], out: &mut [f32]) {
        for (plane, out) in image.planes().zip(out.chunks_exact_mut(image.plane())) {
            let mut walk = Walk::new(plane, image, axis, whole, fraction, rows);
            for (y, out) in out.chunks_exact_mut(image.width).enumerate() {
                let (low, high, f) = walk.row(y);
                for (((out, &low), &high), &f) in out.iter_mut().zip(low).zip(high).zip(f) {
                    *out = clamp01(mix(low, high, f)); // rounding alone can leave [0, 1]
                }
            }
        }
    }

    fn blend_add(
        image: Image<'_>,
        axis: Axis,
        whole: &[i32],
        fraction: &[f32],
        rows: &mut [f32],
        weight: f32,
        grad: &mut [f32],
    ) {
        for (plane, grad) in image.planes().zip(grad.chunks_exact_mut(image.plane())) {
            let mut walk = Walk::new(plane, image, axis, whole, fraction, rows);
            for (y, grad) in grad.chunks_exact_mut(image.width).enumerate() {
                let (low, high, f) = walk.row(y);
                for (((grad, &low), &high), &f) in grad.iter_mut().zip(low).zip(high).zip(f) {
                    *grad += weight * mix(low, high, f);
                }
            }
        }
    }

    fn blend_inner(
        image: Image<'_>,
        axis: Axis,
        whole: &[i32],
        fraction: &[f32],
        rows: &mut [f32],
        cotangent: &[f32],
    ) -> f32 {
        sum_rows(image, axis, whole, fraction, rows, cotangent, mix)
    }

    fn slope_inner(
        image: Image<'_>,
        axis: Axis,
        whole: &[i32],
        slope: &[f32],
        rows: &mut [f32],
        cotangent: &[f32],
    ) -> f32 {
        sum_rows(image, axis, whole, slope, rows, cotangent, |low, high, slope| (high - low) * slope)
    }
}

#[inline(always)]
fn mix(low: f32, high: f32, fraction: f32) -> f32 {
    (1.0 - fraction) * low + fraction * high
}

/// The sum over all pixels of `f(low neighbour, high neighbour, value of the line)` times the cotangent.
#[inline(always)]
fn sum_rows(
    image: Image<'_>,
    axis: Axis,
    whole: &[i32],
    line: &[f32],
    rows: &mut [f32],
    cotangent: &[f32],
    f: impl Fn(f32, f32, f32) -> f32,
) -> f32 {
    let (values, rows) = rows.split_at_mut(image.width);
    let mut total = 0.0;
    for (plane, cotangent) in image.planes().zip(cotangent.chunks_exact(image.plane())) {
        let mut lanes = [0.0; LANES];
        let mut walk = Walk::new(plane, image, axis, whole, line, rows);
        for (y, cotangent) in cotangent.chunks_exact(image.width).enumerate() {
            // In two loops, because both neighbours are often the same memory, one value apart, and the compiler does
            // not see a vector in a sum over those.
            let (low, high, line) = walk.row(y);
            for (((value, &low), &high), &line) in values.iter_mut().zip(low).zip(high).zip(line) {
                *value = f(low, high, line);
            }
            let (values, values_rest) = values.as_chunks::<LANES>();
            let (g, g_rest) = cotangent.as_chunks::<LANES>();
            for (values, g) in values.iter().zip(g) {
                for l in 0..LANES {
                    lanes[l] += values[l] * g[l];
                }
            }
            for (lane, (value, g)) in lanes.iter_mut().zip(values_rest.iter().zip(g_rest)) {
                *lane += value * g;
            }
        }
        total += f64::from(fold(lanes));
    }
    total as f32
}

/// Goes through a plane row by row. (A struct with inlined methods and not a function that takes a closure: the
/// compiler may leave a closure on its own, and then it is not compiled for the instruction set of its kernel.)
struct Walk<'a> {
    plane: &'a [f32],
    width: usize,
    axis: Axis,
    whole: &'a [i32],
    line: &'a [f32],
    rows: &'a mut [f32],
}

/// Columns that are moved at once.
const STRIP: usize = 8;

impl<'a> Walk<'a> {
    /// What either axis needs of memory.
    fn buffer_len(image: Image<'_>) -> usize {
        let along_x = 4 * image.width + 2;
        let along_y = image.plane() + STRIP + (image.height + 1) * (image.width + STRIP);
        image.width + along_x.max(along_y)
    }

    #[inline(always)]
    fn new(
        plane: &'a [f32],
        image: Image<'_>,
        axis: Axis,
        whole: &'a [i32],
        line: &'a [f32],
        rows: &'a mut [f32],
    ) -> Self {
        let width = image.width;
        match axis {
            Axis::X => {
                rows[..3 * width + 2].fill(0.0);
                Self { plane, width, axis, whole, line, rows }
            }
            Axis::Y if whole.first() == whole.last() => {
                // All columns move together, so that their rows can be read where they are.
                rows[..width].fill(0.0);
                Self { plane, width, axis, whole, line, rows }
            }
            Axis::Y => {
                // A copy whose last strip may be read beyond its end.
                let (copy, moved) = rows.split_at_mut(plane.len() + STRIP);
                copy[..plane.len()].copy_from_slice(plane);
                move_columns(copy, width, image.height, whole, moved);
                Self { plane, width, axis, whole, line, rows: moved }
            }
        }
    }

    /// Of row y: both neighbours of its pixels along the axis, zero outside the image, and the entries of `line` that
    /// belong to its pixels.
    #[inline(always)]
    fn row(&mut self, y: usize) -> (&[f32], &[f32], &[f32]) {
        let width = self.width;
        match self.axis {
            Axis::X => {
                // A row between two margins of zeros, wide enough that every shift reads inside.
                let (wide, same) = self.rows.split_at_mut(3 * width + 2);
                wide[width + 1..][..width].copy_from_slice(&self.plane[y * width..][..width]);
                same[..width].fill(self.line[y]);
                let margin = width as i32 + 1;
                let start = (margin + self.whole[y].clamp(-margin, margin - 1)) as usize;
                let wide = &wide[start..][..=width];
                (&wide[..width], &wide[1..], &same[..width])
            }
            Axis::Y if self.whole.first() == self.whole.last() => {
                let zeros = &self.rows[..width];
                let row = |y: i64| match usize::try_from(y).ok().and_then(|y| self.plane.get(y * width..)) {
                    Some(rest) if !rest.is_empty() => &rest[..width],
                    _ => zeros,
                };
                let y = y as i64 + i64::from(self.whole[0]);
                (row(y), row(y + 1), self.line)
            }
            Axis::Y => {
                // What lies below a pixel lies on the pixel of the next row.
                let (low, high) = self.rows[y * (width + STRIP)..].split_at(width + STRIP);
                (&low[..width], &high[..width], self.line)
            }
        }
    }
}

/// moved[y][x] = plane[y + whole[x]][x] for y in 0..=height, zero outside. Neighbouring columns that move together are
/// moved in strips; a strip may be wider than they are, and the columns to its right then overwrite what it spilled.
#[inline(always)]
#[allow(unsafe_code)]
fn move_columns(plane: &[f32], width: usize, height: usize, whole: &[i32], moved: &mut [f32]) {
    let stride = width + STRIP;
    assert!(
        plane.len() >= height * width + STRIP && moved.len() >= (height + 1) * stride && whole.len() == width
    );
    let mut x = 0;
    while x < width {
        let shift = i64::from(whole[x]);
        let together = whole[x..].iter().take(STRIP).take_while(|&&other| i64::from(other) == shift).count();
        // Rows first..last read inside the image; the others are zero.
        let first = (-shift).clamp(0, height as i64 + 1) as usize;
        let last = (height as i64 - shift).clamp(first as i64, height as i64 + 1) as usize;
        for y in (0..first).chain(last..=height) {
            moved[y * stride + x..][..STRIP].fill(0.0);
        }
        for y in first..last {
            let from = (y as i64 + shift) as usize * width + x;
            // SAFETY: first <= y < last means 0 <= y + shift < height, and x < width; so the strip that is read ends at
            // (height - 1)·width + width - 1 + STRIP at the most, which lies inside `plane` by the assertion above. With
            // y <= height the strip that is written ends at height·stride + width - 1 + STRIP, inside `moved`. The two
            // slices are distinct borrows. (Checked slices take most of the time here: the copy itself is one load and
            // one store.)
            unsafe {
                let (from, to) = (plane.as_ptr().add(from), moved.as_mut_ptr().add(y * stride + x));
                std::ptr::copy_nonoverlapping(from, to, STRIP);
            }
        }
        x += together;
    }
}
