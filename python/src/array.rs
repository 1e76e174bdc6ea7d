//! The arrays of Python: seen through the buffer protocol, as images with strides.

use freeaugment::{Shape, Strides};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A batch of images in the memory of a Python object, which it keeps alive and in its place.
pub(crate) struct Array<T: Element> {
    buffer: PyBuffer<T>,
    pub(crate) count: usize,
    /// As the array has them: a fourth is opacity.
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// In values: from an image, a channel, a row, a pixel to the next.
    strides: [isize; 4],
}

/// Where an image begins. It may be handed to threads: who holds an [`Array`] answers for what it points to.
#[derive(Clone, Copy)]
pub(crate) struct Place<T>(*mut T);

#[allow(unsafe_code)]
// SAFETY: a place is a number until `image` or `image_mut` is called, and those say what must hold.
unsafe impl<T: Sync> Sync for Place<T> {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl<T: Send> Send for Place<T> {}

impl<T: Element> Array<T> {
    /// An array whose axes are named by letters: `n` image, `c` channel, `h` row, `w` column; any of `n` and `c` may be
    /// missing.
    pub(crate) fn new(object: &Bound<'_, PyAny>, axes: &str) -> PyResult<Self> {
        let buffer = PyBuffer::<T>::get(object)?;
        let shape = buffer.shape().to_vec();
        if shape.len() != axes.len() {
            return Err(PyValueError::new_err(format!("an array of shape {shape:?} is not [{axes}]")));
        }
        let size = size_of::<T>() as isize;
        let axis = |letter| {
            let at = axes.find(letter);
            at.map_or((1, 0), |at| (shape[at], buffer.strides()[at]))
        };
        let [(count, n), (channels, c), (height, h), (width, w)] = ['n', 'c', 'h', 'w'].map(axis);
        let strides = [n, c, h, w];
        if !matches!(channels, 1 | 3 | 4) || height == 0 || width == 0 {
            return Err(PyValueError::new_err(format!(
                "an image has 1, 3 or 4 channels and at least one pixel, but this array [{axes}] is {shape:?}"
            )));
        }
        if strides.iter().any(|stride| stride % size != 0) {
            return Err(PyValueError::new_err(format!(
                "the strides {:?} of the array are not whole numbers of values",
                buffer.strides()
            )));
        }
        Ok(Self { count, channels, height, width, strides: strides.map(|stride| stride / size), buffer })
    }

    /// One image, as the crates see it: without opacity.
    pub(crate) fn shape(&self) -> Shape {
        let channels = if self.channels == 4 { 3 } else { self.channels };
        Shape { count: 1, channels, height: self.height, width: self.width }
    }

    /// Whether results may be written here: image after image, each without gaps.
    pub(crate) fn is_writable(&self) -> bool {
        !self.buffer.readonly() && self.buffer.is_c_contiguous()
    }

    /// Whether both have the same sizes.
    pub(crate) fn has_sizes_of(&self, other: &Self) -> bool {
        let sizes = |array: &Self| [array.count, array.channels, array.height, array.width];
        sizes(self) == sizes(other)
    }

    /// The value at a place of an image, in values from the beginning of the array.
    fn offset(&self, image: usize, channel: usize, y: usize, x: usize) -> isize {
        let at = [image, channel, y, x];
        at.into_iter().zip(self.strides).map(|(at, stride)| at as isize * stride).sum()
    }

    pub(crate) fn place(&self) -> Place<T> {
        Place(self.buffer.buf_ptr().cast())
    }
}

#[allow(unsafe_code)]
impl<T: Element + Sync> Place<T> {
    /// Lends an image to read. Rows or columns that run backwards, which the crates do not know, are copied first.
    pub(crate) fn image<R>(self, array: &Array<T>, image: usize, read: impl FnOnce(&[T], Strides) -> R) -> R {
        let Shape { channels, height, width, .. } = array.shape();
        let steps =
            [(channels, 1), (height, 2), (width, 3)].map(|(count, axis)| (count, array.strides[axis]));
        if steps.iter().any(|&(count, stride)| count > 1 && stride < 0) {
            let mut copy = Vec::with_capacity(channels * height * width);
            for (channel, y, x) in places(channels, height, width) {
                // SAFETY: within the array, whose memory the buffer keeps.
                copy.push(unsafe { *self.0.offset(array.offset(image, channel, y, x)) });
            }
            return read(&copy, Strides::planar(array.shape()));
        }
        let stride = |axis: usize| array.strides[axis].unsigned_abs();
        let strides = Strides { image: 0, channel: stride(1), row: stride(2), column: stride(3) };
        let reach =
            1 + steps.iter().map(|&(count, stride)| (count - 1) * stride.unsigned_abs()).sum::<usize>();
        // SAFETY: from the first value of the image to its last one, all within the array, whose memory the buffer keeps.
        // That nobody writes there meanwhile is up to the caller in Python, as for every library that works without
        // the GIL.
        read(
            unsafe { std::slice::from_raw_parts(self.0.offset(array.offset(image, 0, 0, 0)), reach) },
            strides,
        )
    }

    /// Lends an image of an array that [`Array::is_writable`], to write. No two threads may have the same image.
    pub(crate) fn image_mut<R>(
        self,
        array: &Array<T>,
        image: usize,
        write: impl FnOnce(&mut [T], Strides) -> R,
    ) -> R {
        debug_assert!(array.is_writable());
        let size = array.channels * array.height * array.width;
        let stride = |axis: usize| array.strides[axis].unsigned_abs();
        let strides = Strides { image: 0, channel: stride(1), row: stride(2), column: stride(3) };
        // SAFETY: the array has no gaps, so this is the image and nothing else; it was made for this call and nobody else
        // knows it.
        write(unsafe { std::slice::from_raw_parts_mut(self.0.add(image * size), size) }, strides)
    }

    /// Copies the opacity of an image, where there is one.
    pub(crate) fn copy_opacity(self, source: &Array<T>, target: &Array<T>, to: Self, image: usize) {
        if source.channels != 4 {
            return;
        }
        for (_, y, x) in places(1, source.height, source.width) {
            // SAFETY: within two arrays of the same sizes.
            unsafe {
                *to.0.offset(target.offset(image, 3, y, x)) = *self.0.offset(source.offset(image, 3, y, x));
            }
        }
    }
}

fn places(channels: usize, height: usize, width: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..channels)
        .flat_map(move |channel| (0..height).flat_map(move |y| (0..width).map(move |x| (channel, y, x))))
}
