//! Equalize: maps the levels of each channel so that their histogram becomes flat. The gradient to the image is
//! straight-through: the identity.

use freeaugment_base::level::{Counter, Histogram, Table};

use super::pointwise::{add_scaled, dot, level};
use super::{Definition, Kernel};
use crate::eight_bit::Levels;
use crate::image::Image;
use crate::math::truncate;
use crate::view::nearest_level;
use crate::work::{Scratch, grown};

pub(super) struct Equalize;
pub(super) static KERNEL: Equalize = Equalize;
static DEFINITION: Definition = Definition { name: "Equalize", magnitude: None };

impl Kernel for Equalize {
    fn definition(&self) -> &Definition {
        &DEFINITION
    }

    fn apply(&self, image: Image<'_>, _: f32, out: &mut [f32], scratch: &mut Scratch) {
        let levels = grown(&mut scratch.levels, 2 * image.plane());
        for (x, out) in image.planes().zip(out.chunks_exact_mut(image.plane())) {
            match equalizer(x, levels) {
                Some((table, levels)) => {
                    for (out, &level) in out.iter_mut().zip(levels) {
                        *out = table[usize::from(level)];
                    }
                }
                None => out.copy_from_slice(x),
            }
        }
    }

    fn inner(&self, image: Image<'_>, _: f32, cotangent: &[f32], scratch: &mut Scratch) -> f32 {
        let levels = grown(&mut scratch.levels, 2 * image.plane());
        let planes = image.planes().zip(cotangent.chunks_exact(image.plane()));
        let inner = planes.map(|(x, g)| match equalizer(x, levels) {
            Some((table, levels)) => mapped_inner(&table, levels, g),
            None => f64::from(dot(x, g)),
        });
        inner.sum::<f64>() as f32
    }

    fn pullback(
        &self,
        _: Image<'_>,
        _: f32,
        cotangent: &[f32],
        weight: f32,
        grad: &mut [f32],
        _: &mut Scratch,
    ) -> f32 {
        add_scaled(cotangent, weight, grad);
        0.0
    }

    fn levels(&self) -> Levels {
        Levels::PerChannel(table)
    }
}

/// The value of each level after equalisation, and the level of each pixel. None where the channel stays as it is.
fn equalizer<'a>(x: &[f32], buffer: &'a mut [u8]) -> Option<([f32; 256], &'a [u8])> {
    let (bins, levels) = buffer.split_at_mut(x.len());
    quantise(x, bins, levels);
    flattened(&histogram(bins), x.len()).map(|table| (table, &*levels))
}

/// What becomes of each level of a channel of bytes. Of a byte, the bin is the level.
fn table(histogram: &Histogram) -> Table {
    let total: u32 = histogram.iter().sum();
    match flattened(histogram, total as usize) {
        Some(table) => table.map(nearest_level),
        None => std::array::from_fn(|level| level as u8),
    }
}

/// The value of each level after equalisation, from a histogram of so many pixels. None where they stay as they are.
fn flattened(histogram: &Histogram, total: usize) -> Option<[f32; 256]> {
    let last = histogram.iter().rev().find(|&&count| count > 0).copied().unwrap_or_default();
    let step = (total as u32 - last) / 255;
    if step == 0 {
        return None;
    }
    let mut below = [0; 256];
    for level in 1..256 {
        below[level] = below[level - 1] + histogram[level - 1];
    }
    let mut table = [0.0; 256];
    flatten(&below, step, &mut table);
    Some(table)
}

/// How often each bin occurs.
fn histogram(bins: &[u8]) -> Histogram {
    let mut counter = Counter::<1>::default();
    counter.add(bins);
    let [counts] = counter.total();
    counts
}

/// The inner product of the mapped levels with a cotangent.
fn mapped_inner(table: &[f32; 256], levels: &[u8], g: &[f32]) -> f64 {
    let mut total = 0.0;
    for (levels, g) in levels.chunks(1024).zip(g.chunks(1024)) {
        let mut lanes = [0.0_f32; 4];
        let (level_quads, level_rest) = levels.as_chunks::<4>();
        let (g_quads, g_rest) = g.as_chunks::<4>();
        for (level, g) in level_quads.iter().zip(g_quads) {
            for l in 0..4 {
                lanes[l] += table[usize::from(level[l])] * g[l];
            }
        }
        for (&level, &g) in level_rest.iter().zip(g_rest) {
            lanes[0] += table[usize::from(level)] * g;
        }
        total += lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>();
    }
    total
}

freeaugment_base::versions! {
    /// The value of each level: (pixels below it + step div 2) div step, of 255.
    fn flatten(below: &[u32; 256], step: u32, table: &mut [f32; 256]) {
        // A division of doubles is exact enough for whole numbers of 32 bits, and there are vectors of them.
        let (half, step) = (step / 2, f64::from(step));
        for (value, &below) in table.iter_mut().zip(below) {
            let level = f64::from(below as i32 + half as i32) / step;
            let level = if level < 255.0 { level as i32 } else { 255 };
            *value = level as f32 / 255.0;
        }
    }

    /// The bin of the histogram and the level of every pixel; they differ, because 256 bins cover [0, 255].
    fn quantise(x: &[f32], bins: &mut [u8], levels: &mut [u8]) {
        for ((&x, bin), out) in x.iter().zip(bins).zip(levels) {
            let v = level(x);
            *bin = truncate(v * 256.0 / 255.0, 255.0) as u8;
            *out = truncate(v, 255.0) as u8;
        }
    }
}
