//! Moving masks: the chain's steps that move pixels, by the nearest pixel.

use super::Chain;
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
        let Shape { height, width, .. } = shape;
        let sources: Vec<_> = self.steps.iter().rev().filter_map(|step| step.source(height, width)).collect();
        for (at, out) in out.iter_mut().enumerate() {
            let (plane, at) = (at / shape.plane(), at % shape.plane());
            let (image, channel) = (plane / shape.channels, plane % shape.channels);
            let (mut x, mut y) = ((at % width) as f64, (at / width) as f64);
            let mut is_inside = true;
            for source in &sources {
                (x, y) = source.map(x, y);
                is_inside &=
                    (-0.5..width as f64 - 0.5).contains(&x) && (-0.5..height as f64 - 0.5).contains(&y);
            }
            let place = || {
                let (x, y) = ((x + 0.5) as usize, (y + 0.5) as usize);
                image * strides.image + channel * strides.channel + y * strides.row + x * strides.column
            };
            *out = if is_inside { mask[place()] } else { fill };
        }
        Ok(())
    }
}
