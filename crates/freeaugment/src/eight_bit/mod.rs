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

pub(crate) use picture::Picture;
pub(crate) use shift::Run;

use freeaugment_base::level::{Histogram, Table};

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
    /// Its level and which are the first and the last in that histogram, however often they occur.
    PerRange(fn(&Histogram) -> Table),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Shape;
    use crate::transformation::{Definition, Transformation};
    use crate::view::{Strides, nearest_level};

    /// A transformation that says nothing about bytes, as one that comes later may.
    struct Plain(&'static dyn Kernel);

    impl Kernel for Plain {
        fn definition(&self) -> &Definition {
            self.0.definition()
        }

        fn apply(&self, image: Image<'_>, m: f32, out: &mut [f32], scratch: &mut Scratch) {
            self.0.apply(image, m, out, scratch);
        }

        fn inner(&self, image: Image<'_>, m: f32, cotangent: &[f32], scratch: &mut Scratch) -> f32 {
            self.0.inner(image, m, cotangent, scratch)
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
            self.0.pullback(image, m, cotangent, weight, grad, scratch)
        }
    }

    #[test]
    fn a_transformation_without_bytes_of_its_own_goes_through_its_floats() {
        let shape = Shape { count: 1, channels: 3, height: 5, width: 6 };
        let bytes: Vec<u8> = (0..100).map(|at| (at * 37 % 256) as u8).collect();
        let mut scratch = Scratch::default();
        let kernel = Plain(Transformation::named("Rotate").unwrap().kernel());
        for strides in [Strides::planar(shape), Strides { row: 20, ..Strides::interleaved(shape) }] {
            let picture = Picture::new(&bytes, shape, strides).unwrap();
            let mut out = vec![0; shape.image()];
            kernel.apply_bytes(picture, 20.0, &mut out, &mut scratch);
            let (mut before, mut after) = (vec![0.0; shape.image()], vec![0.0; shape.image()]);
            gather(&bytes, shape, strides, &mut before);
            kernel.apply(Image::new(&before, shape), 20.0, &mut after, &mut scratch);
            let mut levels = vec![0.0; shape.image()];
            gather(&out, shape, picture.strides(), &mut levels);
            for (level, value) in levels.into_iter().zip(after) {
                assert_eq!(nearest_level(level), nearest_level(value));
            }
        }
    }
}
