//! Chains on 8-bit images, without a detour through floats.
//!
//! Every step ends with whole levels, so a chain is its steps one after another. Steps that change each value by its level
//! alone are tables ([`table`]); as many of them as follow one another are one table per channel. Steps that mix pixels
//! work on rows, in whole numbers or, where a level times a magnitude is needed, in floats that never leave a register.
//! What a transformation has no bytes for goes through its floats ([`through_floats`]).

mod blend;
pub(crate) mod color;
mod histogram;
mod picture;
pub(crate) mod rotate;
pub(crate) mod sharpness;
pub(crate) mod shift;
mod table;

pub(crate) use histogram::Histogram;
pub(crate) use picture::Picture;
pub(crate) use shift::Run;
pub(crate) use table::Table;

use crate::chain::Step;
use crate::image::Image;
use crate::math::truncate;
use crate::transformation::Kernel;
use crate::view::{gather, scatter};
use crate::work::{Scratch, grown};

/// What the new level of a value depends on.
#[derive(Clone, Copy)]
pub(crate) enum Levels {
    /// Its level alone.
    Same,
    /// Its level and how often each occurs in its channel.
    PerChannel(fn(&Histogram) -> Table),
    /// Other values too.
    Neighbours,
}

/// Applies steps to an image, without gaps and in the same order into `out`. `buffer` is for what lies between steps.
pub(crate) fn apply(
    steps: &[Step],
    picture: Picture<'_>,
    out: &mut [u8],
    buffer: &mut Vec<u8>,
    scratch: &mut Scratch,
) {
    let is_table = |step: &Step| !matches!(step.transformation.kernel().levels(), Levels::Neighbours);
    let passes = || steps.chunk_by(|step, next| is_table(step) && is_table(next));
    let count = passes().count();
    if count == 0 {
        return picture.copy_to(out);
    }
    // Passes take turns between `out` and the buffer, so that the last one ends in `out`.
    let buffer = if count == 1 { &mut [] } else { grown(buffer, out.len()) };
    let (mut from, mut to) = if count % 2 == 1 { (buffer, out) } else { (out, buffer) };
    let mut first = true;
    for pass in passes() {
        let source = if first { picture } else { picture.with(from) };
        match pass {
            [step] if !is_table(step) => {
                step.transformation.kernel().apply_bytes(source, step.units(), to, scratch);
            }
            steps => table::apply(steps, source, to, scratch),
        }
        std::mem::swap(&mut from, &mut to);
        first = false;
    }
}

/// A transformation of bytes by way of its floats.
pub(crate) fn through_floats(
    kernel: &(impl Kernel + ?Sized),
    picture: Picture<'_>,
    m: f32,
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    let (shape, strides) = (picture.shape(), picture.strides());
    let mut floats = std::mem::take(&mut scratch.floats);
    let (before, after) = grown(&mut floats, 2 * out.len()).split_at_mut(out.len());
    picture.copy_to(out);
    gather(out, shape, strides, before);
    kernel.apply(Image::new(before, shape), m, after, scratch);
    scatter(after, shape, strides, out);
    scratch.floats = floats;
}

/// The nearest level, clamped.
#[inline(always)]
fn whole_level(value: f32) -> u8 {
    truncate(value + 0.5, 255.0) as u8
}
