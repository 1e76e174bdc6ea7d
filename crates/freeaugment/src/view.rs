//! Batches of images that belong to somebody else: borrowed, of floats or of bytes, with their dimensions in any order.
//!
//! Kernels read and write planar floats. A batch that lies in memory like that is used where it lies; of any other, a
//! thread gathers the image it works on into its working memory. The batch as a whole is never copied.

use std::fmt;

use rayon::prelude::*;

use crate::eight_bit::Picture;
use crate::error::{Error, check_length};
use crate::image::{Image, Images, Shape, first_outside};
use crate::work::{Work, grown, with_work};
use pixel::{Mutable, Shared, Value};

/// How far neighbours lie apart in an array, in values (not in bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// From an image to the next.
    pub image: usize,
    /// From a channel of an image to the next.
    pub channel: usize,
    /// From a row to the next.
    pub row: usize,
    /// From a pixel to the next one in its row.
    pub column: usize,
}

impl Strides {
    /// Those of `[batch, channel, height, width]` without gaps.
    pub fn planar(shape: Shape) -> Self {
        let channel = shape.height.saturating_mul(shape.width);
        Self { image: channel.saturating_mul(shape.channels), channel, row: shape.width, column: 1 }
    }

    /// Those of `[batch, height, width, channel]` without gaps.
    pub fn interleaved(shape: Shape) -> Self {
        let row = shape.width.saturating_mul(shape.channels);
        Self { image: row.saturating_mul(shape.height), channel: 1, row, column: shape.channels }
    }

    /// Whether the values of an image lie in the order in which kernels want them.
    fn is_planar(self, shape: Shape) -> bool {
        self.is_like(Self::planar(shape), shape)
    }

    /// Whether the values of an image lie where these other strides have them.
    pub fn is_like(self, other: Self, shape: Shape) -> bool {
        (shape.channels == 1 || self.channel == other.channel)
            && (shape.height == 1 || self.row == other.row)
            && (shape.width == 1 || self.column == other.column)
    }

    /// Over how many values one image reaches, from its first to its last.
    fn image_reach(self, shape: Shape) -> usize {
        let steps = [(shape.channels, self.channel), (shape.height, self.row), (shape.width, self.column)];
        steps
            .into_iter()
            .fold(1, |reach: usize, (count, stride)| reach.saturating_add((count - 1).saturating_mul(stride)))
    }

    /// Every value of the batch must be one of the array.
    pub(crate) fn check_reach(self, shape: Shape, found: usize) -> Result<(), Error> {
        shape.checked_len()?;
        let Some(others) = shape.count.checked_sub(1) else { return Ok(()) };
        let needed = self.image_reach(shape).saturating_add(others.saturating_mul(self.image));
        if needed <= found { Ok(()) } else { Err(Error::Reach { strides: self, needed, found }) }
    }

    /// No value may be written twice, and no image may lie between the values of another: threads write them at once.
    fn check_apart(self, shape: Shape) -> Result<(), Error> {
        let mut steps =
            [(self.channel, shape.channels), (self.row, shape.height), (self.column, shape.width)];
        steps.sort_unstable();
        let mut reach: usize = 1;
        for (stride, count) in steps.into_iter().chain([(self.image, shape.count)]) {
            if count > 1 && stride < reach {
                return Err(Error::Overlap { shape, strides: self });
            }
            reach = reach.saturating_add(count.saturating_sub(1).saturating_mul(stride));
        }
        Ok(())
    }
}

impl fmt::Display for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { image, channel, row, column } = self;
        write!(f, "[{image}, {channel}, {row}, {column}]")
    }
}

/// What the values of borrowed images are: `f32` in [0, 1], or `u8`, where level k stands for k/255.
pub trait Pixel: Value {}

impl Pixel for f32 {}
impl Pixel for u8 {}

/// A borrowed batch of images, to read.
///
/// ```
/// use freeaugment::{ImagesMut, ImagesRef, PolicyConfig, Shape};
///
/// // A batch as Pillow and NumPy have it: bytes, [batch, height, width, channel].
/// let shape = Shape { count: 2, channels: 3, height: 8, width: 8 };
/// let pixels = vec![128_u8; 2 * 8 * 8 * 3];
/// let mut augmented = vec![0_u8; pixels.len()];
///
/// let policy = PolicyConfig::default().init()?;
/// let sample = policy.sample(policy.draw(/* seed */ 0, /* epoch */ 0, &[0, 1]), /* temperature */ 0.1)?;
/// let images = ImagesRef::interleaved(&pixels, shape)?;
/// policy.apply_into(images, &sample, ImagesMut::interleaved(&mut augmented, shape)?)?;
/// # Ok::<(), freeaugment::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ImagesRef<'a> {
    shape: Shape,
    strides: Strides,
    pixels: Shared<'a>,
}

impl<'a> ImagesRef<'a> {
    /// Images in the order `[batch, channel, height, width]`, without gaps.
    pub fn planar<P: Pixel>(pixels: &'a [P], shape: Shape) -> Result<Self, Error> {
        check_length("the batch of images", pixels.len(), shape.checked_len()?)?;
        Self::strided(pixels, shape, Strides::planar(shape))
    }

    /// Images in the order `[batch, height, width, channel]`, without gaps.
    pub fn interleaved<P: Pixel>(pixels: &'a [P], shape: Shape) -> Result<Self, Error> {
        check_length("the batch of images", pixels.len(), shape.checked_len()?)?;
        Self::strided(pixels, shape, Strides::interleaved(shape))
    }

    /// Images in any order, with gaps or values that they share: the first value of the first image is the first of
    /// `pixels`, and the strides lead to all others.
    pub fn strided<P: Pixel>(pixels: &'a [P], shape: Shape, strides: Strides) -> Result<Self, Error> {
        strides.check_reach(shape, pixels.len())?;
        let images = Self { shape, strides, pixels: P::shared(pixels) };
        images.check_values()?;
        Ok(images)
    }

    /// The shape of the batch.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// How far neighbours lie apart.
    pub fn strides(self) -> Strides {
        self.strides
    }

    /// A copy of the batch.
    pub fn to_images(self) -> Images {
        let mut images = Images::black(self.shape).expect("the shape was checked");
        let size = self.shape.image();
        for (b, to) in images.as_mut_slice().chunks_exact_mut(size).enumerate() {
            self.gather(b, to);
        }
        images
    }

    /// An image as kernels read it: where it lies if it lies like that, or else gathered into the buffer.
    pub(crate) fn image<'b>(&'b self, b: usize, buffer: &'b mut Vec<f32>) -> Image<'b> {
        let size = self.shape.image();
        let data = match self.pixels {
            Shared::Floats(data) if self.strides.is_planar(self.shape) => {
                &data[b * self.strides.image..][..size]
            }
            _ => {
                let buffer = grown(buffer, size);
                self.gather(b, buffer);
                buffer
            }
        };
        Image::new(data, self.shape)
    }

    /// Whether its values are bytes.
    pub(crate) fn is_bytes(self) -> bool {
        matches!(self.pixels, Shared::Bytes(_))
    }

    /// An image of bytes as kernels of bytes read it: where it lies if they can, or else gathered into the buffer. None
    /// if its values are floats.
    pub(crate) fn picture<'b>(&'b self, b: usize, buffer: &'b mut Vec<u8>) -> Option<Picture<'b>> {
        let Self { shape, strides, pixels: Shared::Bytes(data) } = *self else { return None };
        let data = &data[b * strides.image..];
        if let Some(picture) = Picture::new(data, shape, strides) {
            return Some(picture);
        }
        let planar = Strides::planar(shape);
        let buffer = grown(buffer, shape.image());
        rearrange(data, strides, shape, planar, buffer);
        Picture::new(buffer, shape, planar)
    }

    fn gather(self, b: usize, to: &mut [f32]) {
        let Self { shape, strides, pixels } = self;
        let first = b * strides.image;
        match pixels {
            Shared::Floats(data) => gather(&data[first..], shape, strides, to),
            Shared::Bytes(data) => gather(&data[first..], shape, strides, to),
        }
    }

    /// Floats must lie in [0, 1]; bytes always do.
    fn check_values(self) -> Result<(), Error> {
        if matches!(self.pixels, Shared::Bytes(_)) {
            return Ok(());
        }
        let check = |image: usize| {
            with_work(|Work { gathered, .. }| {
                let values = self.image(image, gathered).data;
                let index = first_outside(values)?;
                Some(Error::Pixel { image, index, value: values[index] })
            })
        };
        let count = self.shape.count;
        // One image needs no other thread.
        let wrong = if count == 1 { check(0) } else { (0..count).into_par_iter().find_map_first(check) };
        wrong.map_or(Ok(()), Err)
    }
}

impl<'a> From<&'a Images> for ImagesRef<'a> {
    fn from(images: &'a Images) -> Self {
        let shape = images.shape();
        Self { shape, strides: Strides::planar(shape), pixels: Shared::Floats(images.as_slice()) }
    }
}

/// A borrowed batch of images, to write into. Bytes receive the nearest level, as from [`Images::to_u8`].
#[derive(Debug)]
pub struct ImagesMut<'a> {
    shape: Shape,
    strides: Strides,
    pixels: Mutable<'a>,
}

impl<'a> ImagesMut<'a> {
    /// Images in the order `[batch, channel, height, width]`, without gaps.
    pub fn planar<P: Pixel>(pixels: &'a mut [P], shape: Shape) -> Result<Self, Error> {
        check_length("the batch of results", pixels.len(), shape.checked_len()?)?;
        Self::strided(pixels, shape, Strides::planar(shape))
    }

    /// Images in the order `[batch, height, width, channel]`, without gaps.
    pub fn interleaved<P: Pixel>(pixels: &'a mut [P], shape: Shape) -> Result<Self, Error> {
        check_length("the batch of results", pixels.len(), shape.checked_len()?)?;
        Self::strided(pixels, shape, Strides::interleaved(shape))
    }

    /// Images in any order that keeps them apart, image after image. What lies in gaps stays as it is.
    pub fn strided<P: Pixel>(pixels: &'a mut [P], shape: Shape, strides: Strides) -> Result<Self, Error> {
        strides.check_reach(shape, pixels.len())?;
        strides.check_apart(shape)?;
        Ok(Self { shape, strides, pixels: P::mutable(pixels) })
    }

    /// The shape of the batch.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Hands out the place of every image, numbered, to be filled with planar values in [0, 1]; many at once.
    pub(crate) fn fill(self, fill: impl Fn(usize, &mut [f32], &mut Work) + Sync) {
        let Self { shape, strides, pixels } = self;
        match pixels {
            Mutable::Floats(data) => fill_each(data, shape, strides, fill),
            Mutable::Bytes(data) => fill_each(data, shape, strides, fill),
        }
    }

    /// Whether its values are bytes.
    pub(crate) fn is_bytes(&self) -> bool {
        matches!(self.pixels, Mutable::Bytes(_))
    }

    /// Fills every image with that of the same number in `images` after `apply(number, image, out, work)`, which writes
    /// without gaps and in the order of the image; many at once. Nothing happens unless both are bytes.
    pub(crate) fn fill_bytes(
        self,
        images: ImagesRef<'_>,
        apply: impl Fn(usize, Picture<'_>, &mut [u8], &mut Work) + Sync,
    ) {
        let Self { shape, strides, pixels: Mutable::Bytes(data) } = self else { return };
        visit_places(data, shape, strides, |b, place, work| {
            let mut gathered = std::mem::take(&mut work.gathered_bytes);
            if let Some(picture) = images.picture(b, &mut gathered) {
                let size = shape.image();
                if strides.is_like(picture.strides(), shape) {
                    apply(b, picture, &mut place[..size], work);
                } else {
                    let mut result = std::mem::take(&mut work.result_bytes);
                    apply(b, picture, grown(&mut result, size), work);
                    rearrange(&result[..size], picture.strides(), shape, strides, place);
                    work.result_bytes = result;
                }
            }
            work.gathered_bytes = gathered;
        });
    }
}

impl<'a> From<&'a mut Images> for ImagesMut<'a> {
    fn from(images: &'a mut Images) -> Self {
        let shape = images.shape();
        let pixels = Mutable::Floats(images.as_mut_slice());
        Self { shape, strides: Strides::planar(shape), pixels }
    }
}

fn fill_each<P: Pixel>(
    data: &mut [P],
    shape: Shape,
    strides: Strides,
    fill: impl Fn(usize, &mut [f32], &mut Work) + Sync,
) {
    let size = shape.image();
    let is_planar = strides.is_planar(shape);
    visit_places(data, shape, strides, |b, place, work| {
        if is_planar && let Some(place) = P::floats(place) {
            return fill(b, &mut place[..size], work);
        }
        let mut result = std::mem::take(&mut work.result);
        fill(b, grown(&mut result, size), work);
        scatter(&result[..size], shape, strides, place);
        work.result = result;
    });
}

/// Hands out the stretch of every image, many at once. A single one needs no other thread, and must not: in a process that
/// was forked there are none.
fn visit_places<P: Pixel>(
    data: &mut [P],
    shape: Shape,
    strides: Strides,
    visit: impl Fn(usize, &mut [P], &mut Work) + Sync,
) {
    if shape.count == 1 {
        return with_work(|work| visit(0, data, work));
    }
    // The stride of a single image may be anything.
    let stretch = strides.image.max(strides.image_reach(shape));
    data.par_chunks_mut(stretch).take(shape.count).enumerate().for_each(|(b, place)| {
        with_work(|work| visit(b, place, work));
    });
}

/// Copies one image from an array to another in which its values lie otherwise.
fn rearrange(from: &[u8], from_strides: Strides, shape: Shape, to_strides: Strides, to: &mut [u8]) {
    for (channel, y) in (0..shape.channels * shape.height).map(|at| (at / shape.height, at % shape.height)) {
        let start = |strides: Strides| channel * strides.channel + y * strides.row;
        let (from, to) = (&from[start(from_strides)..], &mut to[start(to_strides)..]);
        for x in 0..shape.width {
            to[x * to_strides.column] = from[x * from_strides.column];
        }
    }
}

/// The level nearest to a value in [0, 1].
#[inline(always)]
pub(crate) fn nearest_level(value: f32) -> u8 {
    (value * 255.0 + 0.5) as u8
}

/// Reads one image, whose first value is the first of `from`, into planar floats.
pub(crate) fn gather<P: Pixel>(from: &[P], shape: Shape, strides: Strides, to: &mut [f32]) {
    for (at, row) in to.chunks_exact_mut(shape.width).enumerate() {
        let (channel, y) = (at / shape.height, at % shape.height);
        let from = &from[channel * strides.channel + y * strides.row..];
        match strides.column {
            0 => row.fill(from[0].to_f32()),
            1 => row.iter_mut().zip(from).for_each(|(value, pixel)| *value = pixel.to_f32()),
            step => row
                .iter_mut()
                .zip(from.iter().step_by(step))
                .for_each(|(value, pixel)| *value = pixel.to_f32()),
        }
    }
}

/// Writes one planar image, whose first value becomes the first of `to`.
pub(crate) fn scatter<P: Pixel>(from: &[f32], shape: Shape, strides: Strides, to: &mut [P]) {
    for (at, row) in from.chunks_exact(shape.width).enumerate() {
        let (channel, y) = (at / shape.height, at % shape.height);
        let to = &mut to[channel * strides.channel + y * strides.row..];
        if strides.column == 1 {
            to.iter_mut().zip(row).for_each(|(pixel, &value)| *pixel = P::from_f32(value));
        } else {
            // A single column may have any stride, and zero is none that can be stepped by.
            let to = to.iter_mut().step_by(strides.column.max(1));
            to.zip(row).for_each(|(pixel, &value)| *pixel = P::from_f32(value));
        }
    }
}

/// What can be done with a value, closed to other types.
mod pixel {
    #[derive(Clone, Copy, Debug)]
    pub enum Shared<'a> {
        Floats(&'a [f32]),
        Bytes(&'a [u8]),
    }

    #[derive(Debug)]
    pub enum Mutable<'a> {
        Floats(&'a mut [f32]),
        Bytes(&'a mut [u8]),
    }

    pub trait Value: Copy + Send + Sync + Sized {
        fn to_f32(self) -> f32;
        fn from_f32(value: f32) -> Self;
        fn shared(values: &[Self]) -> Shared<'_>;
        fn mutable(values: &mut [Self]) -> Mutable<'_>;
        /// The values themselves where they are floats.
        fn floats(values: &mut [Self]) -> Option<&mut [f32]>;
    }

    impl Value for f32 {
        fn to_f32(self) -> f32 {
            self
        }

        fn from_f32(value: f32) -> Self {
            value
        }

        fn shared(values: &[Self]) -> Shared<'_> {
            Shared::Floats(values)
        }

        fn mutable(values: &mut [Self]) -> Mutable<'_> {
            Mutable::Floats(values)
        }

        fn floats(values: &mut [Self]) -> Option<&mut [f32]> {
            Some(values)
        }
    }

    impl Value for u8 {
        fn to_f32(self) -> f32 {
            f32::from(self) / 255.0
        }

        fn from_f32(value: f32) -> Self {
            super::nearest_level(value)
        }

        fn shared(values: &[Self]) -> Shared<'_> {
            Shared::Bytes(values)
        }

        fn mutable(values: &mut [Self]) -> Mutable<'_> {
            Mutable::Bytes(values)
        }

        fn floats(_: &mut [Self]) -> Option<&mut [f32]> {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planar_floats_are_read_and_written_where_they_lie() {
        let shape = Shape { count: 3, channels: 3, height: 4, width: 5 };
        // A gap between images changes nothing.
        let strides = Strides { image: shape.image() + 2, ..Strides::planar(shape) };
        let mut values = vec![0.5_f32; 3 * strides.image];
        let addresses = values.as_ptr().addr()..values.as_ptr_range().end.addr();
        let mut buffer = Vec::new();
        let view = ImagesRef::strided(&values, shape, strides).unwrap();
        for b in 0..shape.count {
            assert!(addresses.contains(&view.image(b, &mut buffer).data.as_ptr().addr()));
        }
        assert!(buffer.is_empty());
        let out = ImagesMut::strided(&mut values, shape, strides).unwrap();
        out.fill(|_, place, _| assert!(addresses.contains(&place.as_ptr().addr())));
    }
}
