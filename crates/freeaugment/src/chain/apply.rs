//! Applying chains to images.

use super::Chain;
use crate::error::{Error, check_length};
use crate::view::{ImagesMut, ImagesRef};
use crate::work::Work;

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
        out.fill(|b, out, Work { scratch, gathered, layers, .. }| {
            let chain = if chains.len() == 1 { &chains[0] } else { &chains[b] };
            let image = images.image(b, gathered);
            out.copy_from_slice(image.data);
            for step in &chain.steps {
                layers.clear();
                layers.extend_from_slice(out);
                step.transformation.kernel().apply(image.with(layers), step.units(), out, scratch);
                for value in out.iter_mut() {
                    *value = (*value * 255.0 + 0.5).floor() / 255.0;
                }
            }
        });
        Ok(())
    }
}
