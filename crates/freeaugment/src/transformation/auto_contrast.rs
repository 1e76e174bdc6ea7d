//! AutoContrast: stretches each channel to the whole of [0, 1]: (x - min)/(max - min + 1e-6). A constant channel stays
//! as it is.

use freeaugment_base::level::{Histogram, Table};

use super::pointwise::{LANES, add_scaled, dot, fold_with, map, pull, sum};
use super::{Definition, Kernel};
use crate::eight_bit::Levels;
use crate::image::Image;
use crate::view::nearest_level;
use crate::work::Scratch;

pub(super) struct AutoContrast;
pub(super) static KERNEL: AutoContrast = AutoContrast;
static DEFINITION: Definition = Definition { name: "AutoContrast", magnitude: None };

impl Kernel for AutoContrast {
    fn definition(&self) -> &Definition {
        &DEFINITION
    }

    fn apply(&self, image: Image<'_>, _: f32, out: &mut [f32], _: &mut Scratch) {
        for (x, out) in image.planes().zip(out.chunks_exact_mut(image.plane())) {
            match Stretch::of(x) {
                Some(Stretch { low, scale, .. }) => stretch(x, low, scale, out),
                None => out.copy_from_slice(x),
            }
        }
    }

    fn inner(&self, image: Image<'_>, _: f32, cotangent: &[f32], _: &mut Scratch) -> f32 {
        let planes = image.planes().zip(cotangent.chunks_exact(image.plane()));
        let inner = planes.map(|(x, g)| match Stretch::of(x) {
            Some(Stretch { low, scale, .. }) => f64::from(stretch_inner(x, g, low, scale)),
            None => f64::from(dot(x, g)),
        });
        inner.sum::<f64>() as f32
    }

    fn pullback(
        &self,
        image: Image<'_>,
        _: f32,
        cotangent: &[f32],
        weight: f32,
        grad: &mut [f32],
        _: &mut Scratch,
    ) -> f32 {
        let size = image.plane();
        for ((x, g), grad) in image.planes().zip(cotangent.chunks_exact(size)).zip(grad.chunks_exact_mut(size)) {
            let Some(Stretch { low, high, scale }) = Stretch::of(x) else {
                add_scaled(g, weight, grad);
                continue;
            };
            let through_x = f64::from(stretch_pullback(x, g, scale, weight, grad)) * f64::from(scale);
            // y moves with both ends of the range: dy/dmax = -y/(max - min), dy/dmin = -dy/dx - dy/dmax.
            let to_high = -f64::from(stretch_inner(x, g, low, scale)) * f64::from(scale);
            let to_low = -through_x - to_high;
            // Several pixels at an end share its gradient evenly.
            for (end, to_end) in [(low, to_low), (high, to_high)] {
                let share = f64::from(weight) * to_end / f64::from(count_equal(x, end));
                add_where_equal(x, end, share as f32, grad);
            }
        }
        0.0
    }

    fn levels(&self) -> Levels {
        Levels::PerRange(table)
    }
}

/// The range of a channel, and the factor that stretches it.
struct Stretch {
    low: f32,
    high: f32,
    scale: f32,
}

impl Stretch {
    /// None for a constant channel.
    fn of(x: &[f32]) -> Option<Self> {
        let (low, high) = range(x);
        Self::between(low, high)
    }

    fn between(low: f32, high: f32) -> Option<Self> {
        (high > low).then(|| Self { low, high, scale: 1.0 / (high - low + 1e-6) })
    }
}

/// What becomes of each level of a channel of bytes.
fn table(histogram: &Histogram) -> Table {
    let value = |level: usize| level as f32 / 255.0;
    let low = histogram.iter().position(|&count| count > 0).unwrap_or(0);
    let high = histogram.iter().rposition(|&count| count > 0).unwrap_or(0);
    match Stretch::between(value(low), value(high)) {
        // Levels outside the range do not occur.
        Some(Stretch { low, scale, .. }) => std::array::from_fn(|level| nearest_level((value(level) - low) * scale)),
        None => std::array::from_fn(|level| level as u8),
    }
}

freeaugment_base::versions! {
    fn range(x: &[f32]) -> (f32, f32) {
        let smaller = |a: f32, b: f32| if a < b { a } else { b };
        let larger = |a: f32, b: f32| if a > b { a } else { b };
        let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
        let (chunks, rest) = x.as_chunks::<LANES>();
        for x in chunks {
            for l in 0..LANES {
                low[l] = smaller(x[l], low[l]);
                high[l] = larger(x[l], high[l]);
            }
        }
        for (l, &x) in rest.iter().enumerate() {
            low[l] = smaller(x, low[l]);
            high[l] = larger(x, high[l]);
        }
        (fold_with(low, smaller), fold_with(high, larger))
    }

    fn stretch(x: &[f32], low: f32, scale: f32, out: &mut [f32]) {
        map(x, out, |x| (x - low) * scale);
    }

    fn stretch_inner(x: &[f32], g: &[f32], low: f32, scale: f32) -> f32 {
        sum(x, g, |x, g| g * ((x - low) * scale))
    }

    /// The gradient through x alone; returns the sum of the cotangent.
    fn stretch_pullback(x: &[f32], g: &[f32], scale: f32, weight: f32, grad: &mut [f32]) -> f32 {
        pull(x, g, weight, grad, |_, g| (g * scale, g))
    }

    fn count_equal(x: &[f32], end: f32) -> u32 {
        x.iter().map(|&x| u32::from(x == end)).sum()
    }

    fn add_where_equal(x: &[f32], end: f32, share: f32, grad: &mut [f32]) {
        for (grad, &x) in grad.iter_mut().zip(x) {
            *grad += if x == end { share } else { 0.0 };
        }
    }
}
