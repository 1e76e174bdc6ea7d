//! Applying a sample: X_k is the k-th chosen transformation of X_{k-1}; the result is X_d, d the sampled depth.

use super::Policy;
use super::config::DepthKind;
use super::sample::{ImageSample, Sample};
use crate::error::Error;
use crate::image::{Image, Images};
use crate::view::{ImagesMut, ImagesRef};
use crate::work::{Scratch, Work, grown};

impl Policy {
    /// Augments a batch: each image by its own sample, or all by the one there is.
    pub fn apply<'a>(&self, images: impl Into<ImagesRef<'a>>, sample: &Sample) -> Result<Images, Error> {
        let images = images.into();
        let mut out = Images::black(images.shape())?;
        self.apply_into(images, sample, &mut out)?;
        Ok(out)
    }

    /// The same into a batch that is already there, of the same shape; how either lies in memory does not matter.
    pub fn apply_into<'a, 'b>(
        &self,
        images: impl Into<ImagesRef<'a>>,
        sample: &Sample,
        out: impl Into<ImagesMut<'b>>,
    ) -> Result<(), Error> {
        let (images, out) = (images.into(), out.into());
        let shape = images.shape();
        self.check_sample(sample, shape.count)?;
        if out.shape() != shape {
            return Err(Error::OtherShape { expected: shape, found: out.shape() });
        }
        out.fill(|b, out, Work { scratch, gathered, layers, .. }| {
            self.apply_image(images.image(b, gathered), sample.image(b), out, layers, scratch);
        });
        Ok(())
    }

    /// Layers take turns between `out` and one buffer, so that the last one ends in `out`.
    fn apply_image(
        &self,
        image: Image<'_>,
        sample: ImageSample<'_>,
        out: &mut [f32],
        buffer: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        let depth = (0..sample.depth).filter(|&layer| self.is_applied(sample, layer)).count();
        if depth == 0 {
            out.copy_from_slice(image.data);
            return;
        }
        let buffer = grown(buffer, image.data.len());
        let (mut from, mut to): (&mut [f32], &mut [f32]) =
            if depth % 2 == 1 { (buffer, out) } else { (out, buffer) };
        let mut first = true;
        for layer in (0..sample.depth).filter(|&layer| self.is_applied(sample, layer)) {
            let source = if first { image } else { image.with(from) };
            self.transform(source, sample, layer, usize::from(sample.chosen[layer]), to, scratch);
            std::mem::swap(&mut from, &mut to);
            first = false;
        }
    }

    /// Whether the transformation chosen in a layer is applied, or passes its input on.
    pub(super) fn is_applied(&self, sample: ImageSample<'_>, layer: usize) -> bool {
        self.is_transformation_applied(sample, layer, usize::from(sample.chosen[layer]))
    }

    pub(super) fn is_transformation_applied(
        &self,
        sample: ImageSample<'_>,
        layer: usize,
        transformation: usize,
    ) -> bool {
        match self.config.depth {
            DepthKind::Application => sample.soft.depth[transformation * self.config.layers + layer] > 0.5,
            DepthKind::Learned | DepthKind::Fixed { .. } => true,
        }
    }

    /// The magnitude, in own units, of a transformation in a layer.
    pub(super) fn magnitude(&self, sample: ImageSample<'_>, layer: usize, transformation: usize) -> f32 {
        let u = sample.soft.magnitudes[transformation * self.config.layers + layer];
        self.config.transformations[transformation].to_units(u)
    }

    /// One transformation with the magnitude it has in a layer.
    pub(super) fn transform(
        &self,
        image: Image<'_>,
        sample: ImageSample<'_>,
        layer: usize,
        transformation: usize,
        out: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let m = self.magnitude(sample, layer, transformation);
        self.config.transformations[transformation].transformation.kernel().apply(image, m, out, scratch);
    }
}
