//! Sharpness: blur + m·(x - blur), clamped. The blur is a 3×3 sum with weight 5 in the middle, divided by 13; on the
//! border of one pixel it is x itself.

use super::pointwise::{LANES, add_scaled, clamp01, clamp01_pullback, dot, fold};
use super::{Definition, Kernel, Magnitude};
use crate::eight_bit::{Picture, sharpness};
use crate::image::Image;
use crate::work::{Scratch, grown};

pub(super) struct Sharpness;
pub(super) static KERNEL: Sharpness = Sharpness;
static DEFINITION: Definition = Definition {
    name: "Sharpness",
    magnitude: Some(Magnitude { range: (0.0, 2.0), limits: (0.0, 10.0), identity: 1.0, unit: "times" }),
};

impl Kernel for Sharpness {
    fn definition(&self) -> &Definition {
        &DEFINITION
    }

    fn apply(&self, image: Image<'_>, m: f32, out: &mut [f32], scratch: &mut Scratch) {
        out.copy_from_slice(image.data);
        if has_inside(image) {
            let rows = grown(&mut scratch.rows, 2 * image.width);
            for (x, out) in image.planes().zip(out.chunks_exact_mut(image.plane())) {
                apply_inside(x, image.width, m, rows, out);
            }
        }
    }

    fn inner(&self, image: Image<'_>, m: f32, cotangent: &[f32], scratch: &mut Scratch) -> f32 {
        // On the border the image is unchanged; inside, only the difference is left to add.
        let unchanged = dot(image.data, cotangent);
        if !has_inside(image) {
            return unchanged;
        }
        let rows = grown(&mut scratch.rows, 2 * image.width);
        let planes = image.planes().zip(cotangent.chunks_exact(image.plane()));
        let changed: f64 = planes.map(|(x, g)| change_inner(x, image.width, m, rows, g)).sum();
        (f64::from(unchanged) + changed) as f32
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
        if !has_inside(image) {
            add_scaled(cotangent, weight, grad);
            return 0.0;
        }
        let size = image.plane();
        let rows = grown(&mut scratch.rows, 2 * image.width);
        let to_blur = grown(&mut scratch.gradients, size);
        let mut to_magnitude = 0.0;
        for ((x, g), grad) in image.planes().zip(cotangent.chunks_exact(size)).zip(grad.chunks_exact_mut(size)) {
            to_magnitude += pull_inside(x, image.width, m, rows, g, weight, to_blur, grad);
            blur_transposed_add(to_blur, image.width, rows, grad);
        }
        to_magnitude as f32
    }

    fn apply_bytes(&self, image: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
        sharpness::apply(image, m, out, scratch);
    }
}

/// Whether there are pixels that are not on the border.
fn has_inside(image: Image<'_>) -> bool {
    image.height > 2 && image.width > 2
}

freeaugment_base::versions! {
    fn apply_inside(x: &[f32], width: usize, m: f32, rows: &mut [f32], out: &mut [f32]) {
        visit_inside(x, width, rows, |range, x, blur| {
            for ((out, &x), &blur) in out[range].iter_mut().zip(x).zip(blur) {
                *out = clamp01(blur + m * (x - blur));
            }
        });
    }

    /// The inner product of a cotangent with what the transformation changes inside.
    fn change_inner(x: &[f32], width: usize, m: f32, rows: &mut [f32], g: &[f32]) -> f64 {
        let mut lanes = [0.0; LANES];
        visit_inside(x, width, rows, |range, x, blur| {
            let (x, x_rest) = x.as_chunks::<LANES>();
            let (blur, blur_rest) = blur.as_chunks::<LANES>();
            let (g, g_rest) = g[range].as_chunks::<LANES>();
            let change = |x: f32, blur: f32, g: f32| g * (clamp01(blur + m * (x - blur)) - x);
            for ((x, blur), g) in x.iter().zip(blur).zip(g) {
                for l in 0..LANES {
                    lanes[l] += change(x[l], blur[l], g[l]);
                }
            }
            for (l, ((&x, &blur), &g)) in x_rest.iter().zip(blur_rest).zip(g_rest).enumerate() {
                lanes[l] += change(x, blur, g);
            }
        });
        f64::from(fold(lanes))
    }

    /// Adds `weight` times the gradient that does not pass through the blur to `grad`; leaves `weight` times the one to
    /// the sum in the blur, zero on the border, in `to_blur`; returns the gradient to m.
    fn pull_inside(
        x: &[f32],
        width: usize,
        m: f32,
        rows: &mut [f32],
        g: &[f32],
        weight: f32,
        to_blur: &mut [f32],
        grad: &mut [f32],
    ) -> f64 {
        let height = x.len() / width;
        to_blur.fill(0.0);
        let mut total = 0.0;
        let scale = weight * (1.0 - m) / 13.0;
        visit_inside(x, width, rows, |range, x, blur| {
            let (g, grad) = (&g[range.clone()], &mut grad[range.clone()]);
            let to_blur = &mut to_blur[range];
            // What passes the clamp, first; the rest follows from it, in loops that the compiler can vectorise.
            for (((passed, &x), &blur), &g) in to_blur.iter_mut().zip(x).zip(blur).zip(g) {
                *passed = clamp01_pullback(blur + m * (x - blur), g);
            }
            let mut lanes = [0.0; LANES];
            for ((passed, x), blur) in to_blur.chunks(LANES).zip(x.chunks(LANES)).zip(blur.chunks(LANES)) {
                for (lane, ((&g, &x), &blur)) in lanes.iter_mut().zip(passed.iter().zip(x).zip(blur)) {
                    *lane += g * (x - blur);
                }
            }
            total += f64::from(fold(lanes));
            for (grad, &passed) in grad.iter_mut().zip(to_blur.iter()) {
                *grad += weight * m * passed;
            }
            // On the border the image passes as it is.
            for border in [0, width - 1] {
                grad[border] += weight * (1.0 - m) * to_blur[border];
                to_blur[border] = 0.0;
            }
            for passed in to_blur {
                *passed *= scale;
            }
        });
        for border in [0..width, (height - 1) * width..height * width] {
            for (grad, &g) in grad[border.clone()].iter_mut().zip(&g[border]) {
                *grad += weight * g;
            }
        }
        total
    }

    /// grad += the 3×3 sum of `to_blur`: the kernel is symmetric, and beyond the border there is nothing.
    fn blur_transposed_add(to_blur: &[f32], width: usize, rows: &mut [f32], grad: &mut [f32]) {
        let height = to_blur.len() / width;
        let column_sums = &mut rows[..width];
        for y in 0..height {
            let row = |y: usize| &to_blur[y * width..][..width];
            column_sums.copy_from_slice(row(y));
            for neighbour in [y.wrapping_sub(1), y + 1] {
                if neighbour < height {
                    for (sum, &value) in column_sums.iter_mut().zip(row(neighbour)) {
                        *sum += value;
                    }
                }
            }
            let grad = &mut grad[y * width..][..width];
            for ((grad, &sum), &middle) in grad.iter_mut().zip(column_sums.iter()).zip(row(y)) {
                *grad += sum + 4.0 * middle;
            }
            for (grad, &sum) in grad[1..].iter_mut().zip(column_sums.iter()) {
                *grad += sum;
            }
            for (grad, &sum) in grad.iter_mut().zip(&column_sums[1..]) {
                *grad += sum;
            }
        }
    }
}

/// Calls `visit(range of the plane, x, blur)` for every inner row, whole: its first and last pixel are on the border,
/// where the blur is x itself and nothing changes.
#[inline(always)]
fn visit_inside(
    x: &[f32],
    width: usize,
    rows: &mut [f32],
    mut visit: impl FnMut(std::ops::Range<usize>, &[f32], &[f32]),
) {
    let (column_sums, blur) = rows.split_at_mut(width);
    let blur = &mut blur[..width];
    for y in 1..x.len() / width - 1 {
        let row = |y: usize| &x[y * width..][..width];
        for (((sum, &above), &here), &below) in
            column_sums.iter_mut().zip(row(y - 1)).zip(row(y)).zip(row(y + 1))
        {
            *sum = above + here + below;
        }
        (blur[0], blur[width - 1]) = (row(y)[0], row(y)[width - 1]);
        let sums = column_sums.iter().zip(&column_sums[1..]).zip(&column_sums[2..]);
        for ((blur, &x), ((&left, &here), &right)) in blur[1..].iter_mut().zip(&row(y)[1..]).zip(sums) {
            // Sum first, divide once: a region of ones blurs to exactly one.
            *blur = (left + here + right + 4.0 * x) / 13.0;
        }
        visit(y * width..(y + 1) * width, row(y), blur);
    }
}
