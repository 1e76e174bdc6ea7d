//! Moving masks: the chain's steps that move pixels, by the nearest pixel.

use std::ops::Range;

use super::{Affine, Chain};
use crate::error::{Error, check_length};
use crate::image::Shape;
use crate::view::Strides;

impl Chain {
    /// Moves a mask (or any other array whose values must not be mixed: labels, instances, depths) as the chain moves the
    /// image it belongs to. Steps that move nothing leave it as it is.
    ///
    /// Each pixel of the result follows the steps back to one position and takes the value of the nearest pixel there;
    /// it becomes `fill` where that way leaves the image, at whatever step, because there the image is black.
    ///
    /// `mask` is read by its strides, as [`ImagesRef::strided`](crate::ImagesRef::strided) reads images; `out` is
    /// `[batch, channel, height, width]` without gaps. A stack of masks is a batch of one channel.
    ///
    /// ```
    /// use freeaugment::{Chain, Shape, Step, Strides, Transformation};
    ///
    /// let transformation = Transformation::named("TranslateX")?;
    /// let chain = Chain::new(vec![Step { transformation, magnitude: Some(0.25) }])?;
    /// let shape = Shape { count: 1, channels: 1, height: 1, width: 4 };
    /// let mut moved = [0_i64; 4];
    /// chain.move_mask(&[5, 6, 7, 8], shape, Strides::planar(shape), -1, &mut moved)?;
    /// assert_eq!(moved, [-1, 5, 6, 7]);
    /// # Ok::<(), freeaugment::Error>(())
    /// ```
    pub fn move_mask<T: Copy>(
        &self,
        mask: &[T],
        shape: Shape,
        strides: Strides,
        fill: T,
        out: &mut [T],
    ) -> Result<(), Error> {
        strides.check_reach(shape, mask.len())?;
        check_length("the moved mask", out.len(), shape.checked_len()?)?;
        let ways = self.ways(shape.height, shape.width);
        for (plane, out) in out.chunks_exact_mut(shape.plane()).enumerate() {
            let (image, channel) = (plane / shape.channels, plane % shape.channels);
            let mask = &mask[image * strides.image + channel * strides.channel..];
            for (y, out) in out.chunks_exact_mut(shape.width).enumerate() {
                move_row(mask, shape, strides, &ways, y, fill, out);
            }
        }
        Ok(())
    }

    /// Where a pixel of the result was before its last move, before its last but one… and at first.
    fn ways(&self, height: usize, width: usize) -> Vec<Affine> {
        let sources = self.steps.iter().rev().filter_map(|step| step.source(height, width));
        sources
            .scan(Affine::IDENTITY, |way, source| {
                *way = way.then(source);
                Some(*way)
            })
            .collect()
    }
}

fn move_row<T: Copy>(
    mask: &[T],
    shape: Shape,
    strides: Strides,
    ways: &[Affine],
    y: usize,
    fill: T,
    out: &mut [T],
) {
    let Some(way) = ways.last() else {
        for (x, out) in out.iter_mut().enumerate() {
            *out = mask[y * strides.row + x * strides.column];
        }
        return;
    };
    let inside = ways.iter().fold(0..shape.width, |inside, way| narrowed(inside, *way, y, shape));
    out[..inside.start].fill(fill);
    out[inside.end..].fill(fill);
    let [mut from_x, mut from_y] =
        way.rows.map(|[a, b, c]| fixed(a * inside.start as f64 + b * y as f64 + c + 0.5));
    let [step_x, step_y] = way.rows.map(|[a, _, _]| fixed(a));
    let nearest = |position: i64, side: usize| ((position >> BITS).max(0) as usize).min(side - 1);
    for out in &mut out[inside] {
        // Rounding alone can lead out of the image here.
        let (x, y) = (nearest(from_x, shape.width), nearest(from_y, shape.height));
        *out = mask[y * strides.row + x * strides.column];
        from_x += step_x;
        from_y += step_y;
    }
}

/// Bits of the fraction of a position: over a row of many thousand pixels, steps are exact to far less than a pixel.
const BITS: u32 = 32;

fn fixed(value: f64) -> i64 {
    (value * (1_i64 << BITS) as f64) as i64
}

/// Those of the pixels of row y that are inside the image where this way leads. The way is straight, so that they are
/// neighbours.
fn narrowed(inside: Range<usize>, way: Affine, y: usize, shape: Shape) -> Range<usize> {
    let (mut low, mut high) = (inside.start as f64, inside.end as f64);
    for ([a, b, c], side) in way.rows.into_iter().zip([shape.width, shape.height]) {
        // 0 <= start + a·x < side
        let (start, side) = (b * y as f64 + c + 0.5, side as f64);
        if a == 0.0 {
            if !(0.0..side).contains(&start) {
                return 0..0;
            }
            continue;
        }
        let (from, to) = (-start / a, (side - start) / a);
        if a > 0.0 {
            (low, high) = (low.max(from.ceil()), high.min(to.ceil()));
        } else {
            (low, high) = (low.max(to.floor() + 1.0), high.min(from.floor() + 1.0));
        }
    }
    if low < high { low as usize..high as usize } else { 0..0 }
}
