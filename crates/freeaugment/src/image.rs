//! Batches of images: f32, planar, in [0, 1].

use std::fmt;

use freeaugment_base::versions;

use crate::error::{Error, check_length};
use crate::view::{ImagesRef, Strides, scatter};

/// The shape of a batch: `[batch, channel, height, width]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Images in the batch; may be zero.
    pub count: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
    /// Rows, at least one.
    pub height: usize,
    /// Columns, at least one.
    pub width: usize,
}

impl Shape {
    /// Values in one channel of one image.
    pub fn plane(self) -> usize {
        self.height * self.width
    }

    /// Values in one image.
    pub fn image(self) -> usize {
        self.channels * self.plane()
    }

    /// Values in the whole batch, if there can be such a batch.
    pub(crate) fn checked_len(self) -> Result<usize, Error> {
        let Self { count, channels, height, width } = self;
        let len = (height > 0 && width > 0 && matches!(channels, 1 | 3))
            .then(|| count.checked_mul(channels)?.checked_mul(height)?.checked_mul(width))
            .flatten()
            .filter(|&len| len <= isize::MAX as usize / size_of::<f32>());
        len.ok_or(Error::Shape { count, channels, height, width })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, channels, height, width } = self;
        write!(f, "[{count}, {channels}, {height}, {width}]")
    }
}

/// A batch of images of one size, `[batch, channel, height, width]`, every value in [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub struct Images {
    shape: Shape,
    data: Vec<f32>,
}

impl Images {
    /// A batch from its values, image after image, channel after channel, row after row.
    pub fn new(data: Vec<f32>, shape: Shape) -> Result<Self, Error> {
        check_length("the batch of images", data.len(), shape.checked_len()?)?;
        if let Some(at) = first_outside(&data) {
            let (image, index) = (at / shape.image(), at % shape.image());
            return Err(Error::Pixel { image, index, value: data[at] });
        }
        Ok(Self { shape, data })
    }

    /// A batch from 8-bit pixels as image files hold them, `[batch, height, width, channel]`: level k becomes k/255.
    pub fn from_u8(pixels: &[u8], shape: Shape) -> Result<Self, Error> {
        check_length("the batch of 8-bit pixels", pixels.len(), shape.checked_len()?)?;
        Ok(ImagesRef::interleaved(pixels, shape)?.to_images())
    }

    /// The nearest 8-bit pixels, `[batch, height, width, channel]`. Undoes [`Images::from_u8`] exactly.
    pub fn to_u8(&self) -> Vec<u8> {
        let (size, strides) = (self.shape.image(), Strides::interleaved(self.shape));
        let mut pixels = vec![0; self.data.len()];
        for (from, to) in self.data.chunks_exact(size).zip(pixels.chunks_exact_mut(size)) {
            scatter(from, self.shape, strides, to);
        }
        pixels
    }

    /// A batch of black images, to be filled by [`crate::Policy::apply_into`] again and again.
    pub fn black(shape: Shape) -> Result<Self, Error> {
        Ok(Self { shape, data: vec![0.0; shape.checked_len()?] })
    }

    /// The shape of the batch.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// All values, in the order of [`Images::new`].
    pub fn as_slice(&self) -> &[f32] {
        &self.data
    }

    /// All values, in the order of [`Images::new`], without a copy.
    pub fn into_vec(self) -> Vec<f32> {
        self.data
    }

    /// For this crate's transformations, which keep values in [0, 1].
    pub(crate) fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.data
    }
}

fn is_inside(value: f32) -> bool {
    // Not-a-number is in no range.
    (0.0..=1.0).contains(&value)
}

versions! {
    fn count_outside(values: &[f32]) -> u32 {
        values.iter().map(|&value| u32::from(!is_inside(value))).sum()
    }
}

/// Where the first value stands that is not in [0, 1]. Counts them in vectors first, and seldom has to look for one.
pub(crate) fn first_outside(values: &[f32]) -> Option<usize> {
    const MANY: usize = 4096;
    values.chunks(MANY).enumerate().find_map(|(at, values)| {
        let found = (count_outside(values) > 0).then(|| values.iter().position(|&value| !is_inside(value)));
        found.flatten().map(|place| at * MANY + place)
    })
}

/// One image, borrowed: `[channel, height, width]`.
#[derive(Clone, Copy)]
pub(crate) struct Image<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) height: usize,
    pub(crate) width: usize,
}

impl<'a> Image<'a> {
    pub(crate) fn new(data: &'a [f32], shape: Shape) -> Self {
        debug_assert_eq!(data.len(), shape.image());
        Self { data, height: shape.height, width: shape.width }
    }

    /// The same values under another set of values of the same shape (a cotangent, say).
    pub(crate) fn with(self, data: &'a [f32]) -> Self {
        Self { data, ..self }
    }

    pub(crate) fn plane(self) -> usize {
        self.height * self.width
    }

    pub(crate) fn channels(self) -> usize {
        self.data.len() / self.plane()
    }

    pub(crate) fn planes(self) -> std::slice::ChunksExact<'a, f32> {
        self.data.chunks_exact(self.plane())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { count: 2, channels: 3, height: 3, width: 5 };

    #[test]
    fn eight_bit_pixels_survive_the_way_there_and_back() {
        let pixels: Vec<u8> = (0..90).map(|i| (i * 37 % 256) as u8).collect();
        let images = Images::from_u8(&pixels, SHAPE).unwrap();
        assert_eq!(images.to_u8(), pixels);
        // Interleaved in, planar out: the second value of the first plane is the second pixel's red.
        assert_eq!(images.as_slice()[1], f32::from(pixels[3]) / 255.0);
        let levels: Vec<u8> = (0..=255).collect();
        let all = Shape { count: 1, channels: 1, height: 16, width: 16 };
        assert_eq!(Images::from_u8(&levels, all).unwrap().to_u8(), levels);
    }

    #[test]
    fn impossible_shapes_lengths_and_values_are_refused() {
        let bad = |channels, height, width| Shape { count: 1, channels, height, width };
        for shape in [bad(2, 4, 4), bad(0, 4, 4), bad(3, 0, 4), bad(3, 4, 0), bad(3, usize::MAX, 4)] {
            assert!(matches!(Images::new(vec![], shape), Err(Error::Shape { .. })), "{shape:?}");
        }
        assert!(matches!(
            Images::new(vec![0.0; 89], SHAPE),
            Err(Error::Length { expected: 90, found: 89, .. })
        ));
        for value in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
            let mut data = vec![0.5; 90];
            data[46] = value;
            assert!(matches!(Images::new(data, SHAPE), Err(Error::Pixel { image: 1, index: 1, .. })));
        }
        assert_eq!(Images::new(vec![], Shape { count: 0, ..SHAPE }).unwrap().shape().count, 0);
    }
}
