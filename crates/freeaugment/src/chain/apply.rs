//! Applying chains to images.

use super::{Chain, Step};
use crate::eight_bit;
use crate::error::{Error, check_length};
use crate::image::Image;
use crate::view::{ImagesMut, ImagesRef};
use crate::work::{Scratch, Work, grown};

impl Chain {
    /// Applies the chain to every image of a batch (most often to the one there is), into images of the same shape; how
    /// either lies in memory does not matter.
    ///
    /// Where both are bytes, they are worked on as bytes, and **every step ends with whole levels**: a chain gives what
    /// its steps give one after another, each from bytes to bytes. Each step is within one level of the nearest level to
    /// what [`Transformation::apply`](crate::Transformation::apply) gives; those that change each pixel by its level alone
    /// (Solarize, Posterize, Contrast, Brightness, Invert, AutoContrast, Equalize) give exactly that level. Otherwise the
    /// steps are those of floats, and only the result is rounded where it is bytes, as by
    /// [`Policy::apply`](crate::Policy::apply).
    ///
    /// One image is worked on by the calling thread alone, so that it may be one of a process that was forked.
    pub fn apply_into<'a, 'b>(
        &self,
        images: impl Into<ImagesRef<'a>>,
        out: impl Into<ImagesMut<'b>>,
    ) -> Result<(), Error> {
        Self::apply_each(std::slice::from_ref(self), images, out)
    }

    /// Applies to each image of a batch its own chain, or to all the one there is; otherwise as
    /// [`Self::apply_into`]. Several images are spread over threads.
    pub fn apply_each<'a, 'b>(
        chains: &[Self],
        images: impl Into<ImagesRef<'a>>,
        out: impl Into<ImagesMut<'b>>,
    ) -> Result<(), Error> {
        let (images, out) = (images.into(), out.into());
        let shape = images.shape();
        if chains.len() != 1 {
            check_length("the list of chains (one per image)", chains.len(), shape.count)?;
        }
        if out.shape() != shape {
            return Err(Error::OtherShape { expected: shape, found: out.shape() });
        }
        let chain = |b: usize| if chains.len() == 1 { &chains[0].steps } else { &chains[b].steps };
        if images.is_bytes() && out.is_bytes() {
            out.fill_bytes(images, |b, picture, out, work| {
                eight_bit::apply(chain(b), picture, out, &mut work.layer_bytes, &mut work.scratch);
            });
        } else {
            out.fill(|b, out, Work { scratch, gathered, layers, .. }| {
                apply_floats(chain(b), images.image(b, gathered), out, layers, scratch);
            });
        }
        Ok(())
    }
}

/// Steps take turns between `out` and one buffer, so that the last one ends in `out`.
fn apply_floats(
    steps: &[Step],
    image: Image<'_>,
    out: &mut [f32],
    buffer: &mut Vec<f32>,
    scratch: &mut Scratch,
) {
    if steps.is_empty() {
        out.copy_from_slice(image.data);
        return;
    }
    let buffer = grown(buffer, out.len());
    let (mut from, mut to) = if steps.len() % 2 == 1 { (buffer, out) } else { (out, buffer) };
    for (at, step) in steps.iter().enumerate() {
        let source = if at == 0 { image } else { image.with(from) };
        step.transformation.kernel().apply(source, step.units(), to, scratch);
        std::mem::swap(&mut from, &mut to);
    }
}
