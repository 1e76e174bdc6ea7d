//! One image of bytes, borrowed, in one of the two orders that kernels read: channel after channel, or the channels of a
//! pixel side by side. Rows may have gaps between them.

use crate::image::Shape;
use crate::view::Strides;

/// One image of bytes. It is made of `planes`, a plane of rows, a row of pixels and a pixel of `depth` bytes: three planes
/// of one byte, one plane of three, or one of one.
#[derive(Clone, Copy)]
pub(crate) struct Picture<'a> {
    bytes: &'a [u8],
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) planes: usize,
    pub(crate) depth: usize,
    row: usize,
    plane: usize,
}

impl<'a> Picture<'a> {
    /// The image whose first value is the first of `bytes`; none if it lies in an order that kernels do not read.
    pub(crate) fn new(bytes: &'a [u8], shape: Shape, strides: Strides) -> Option<Self> {
        let Shape { channels, height, width, .. } = shape;
        let is_column = |stride: usize| width == 1 || strides.column == stride;
        let (planes, depth) = if channels == 3 && strides.channel == 1 && is_column(3) {
            (1, 3)
        } else if is_column(1) {
            (channels, 1)
        } else {
            return None;
        };
        Some(Self { bytes, height, width, planes, depth, row: strides.row, plane: strides.channel })
    }

    /// An image of the same size and order, without gaps.
    pub(crate) fn with(self, bytes: &'a [u8]) -> Self {
        let row = self.width * self.depth;
        Self { bytes, row, plane: self.height * row, ..self }
    }

    /// Those of an image of the same size and order, without gaps.
    pub(crate) fn strides(self) -> Strides {
        if self.depth == 1 { Strides::planar(self.shape()) } else { Strides::interleaved(self.shape()) }
    }

    pub(crate) fn shape(self) -> Shape {
        Shape { count: 1, channels: self.channels(), height: self.height, width: self.width }
    }

    pub(crate) fn channels(self) -> usize {
        self.planes * self.depth
    }

    /// Bytes in a row.
    pub(crate) fn row_len(self) -> usize {
        self.width * self.depth
    }

    /// Bytes in a plane.
    pub(crate) fn plane_len(self) -> usize {
        self.height * self.row_len()
    }

    #[inline(always)]
    pub(crate) fn row(self, plane: usize, y: usize) -> &'a [u8] {
        &self.bytes[plane * self.plane + y * self.row..][..self.width * self.depth]
    }

    /// Some bytes of a row, and what lies after it; none if there are not as many.
    #[inline(always)]
    pub(crate) fn strip<const N: usize>(self, plane: usize, y: usize, start: usize) -> Option<&'a [u8; N]> {
        self.bytes.get(plane * self.plane + y * self.row + start..)?.first_chunk()
    }

    /// All rows of a plane.
    #[inline(always)]
    pub(crate) fn rows(self, plane: usize) -> impl Iterator<Item = &'a [u8]> {
        (0..self.height).map(move |y| self.row(plane, y))
    }

    /// Bytes that can be read at once: a plane, or a row where there are gaps between rows.
    pub(crate) fn piece_len(self) -> usize {
        if self.row == self.row_len() { self.plane_len() } else { self.row_len() }
    }

    /// All bytes of a plane, in pieces of that length.
    pub(crate) fn pieces(self, plane: usize) -> impl Iterator<Item = &'a [u8]> {
        let len = self.piece_len();
        let count = self.plane_len() / len;
        (0..count).map(move |at| &self.bytes[plane * self.plane + at * self.row..][..len])
    }

    /// Writes the same bytes without gaps.
    pub(crate) fn copy_to(self, out: &mut [u8]) {
        for (plane, out) in out.chunks_exact_mut(self.plane_len()).enumerate() {
            for (piece, out) in self.pieces(plane).zip(out.chunks_exact_mut(self.piece_len())) {
                out.copy_from_slice(piece);
            }
        }
    }
}
