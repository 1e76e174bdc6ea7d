//! One image of bytes, borrowed, in one of two orders.

/// An image without gaps: `planes` of rows of pixels, a pixel of `depth` bytes. Three channels are one plane of three
/// bytes (as PIL has them), or three planes of one (as tensors have them).
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) planes: usize,
    pub(super) depth: usize,
}

impl<'a> Frame<'a> {
    /// The channels (1 or 3) of a pixel side by side. None where there are not as many bytes.
    pub fn interleaved(bytes: &'a [u8], height: usize, width: usize, channels: usize) -> Option<Self> {
        Self { bytes, height, width, planes: 1, depth: channels }.checked()
    }

    /// Channel after channel, 1 or 3 of them. None where there are not as many bytes.
    pub fn planar(bytes: &'a [u8], height: usize, width: usize, channels: usize) -> Option<Self> {
        Self { bytes, height, width, planes: channels, depth: 1 }.checked()
    }

    fn checked(self) -> Option<Self> {
        let channels = self.planes * self.depth;
        let len = self.height.checked_mul(self.width)?.checked_mul(channels)?;
        (matches!(channels, 1 | 3) && len == self.bytes.len()).then_some(self)
    }

    /// An image of the same size and order.
    pub(super) fn with(self, bytes: &[u8]) -> Frame<'_> {
        Frame { bytes, ..self }
    }

    pub(super) fn is_grey(self) -> bool {
        self.planes * self.depth == 1
    }

    /// Bytes in a row.
    pub(super) fn row(self) -> usize {
        self.width * self.depth
    }

    /// Bytes in a plane.
    pub(super) fn plane(self) -> usize {
        self.height * self.row()
    }

    /// Each plane, and its place in the result.
    pub(super) fn planes<'b>(self, out: &'b mut [u8]) -> impl Iterator<Item = (&'a [u8], &'b mut [u8])> {
        self.bytes.chunks_exact(self.plane()).zip(out.chunks_exact_mut(self.plane()))
    }

    /// The red, the green and the blue plane of a frame that has them.
    #[inline(always)]
    pub(super) fn colours(self) -> [&'a [u8]; 3] {
        let (red, rest) = self.bytes.split_at(self.plane());
        let (green, blue) = rest.split_at(self.plane());
        [red, green, blue]
    }

    /// Every pixel of three channels becomes what a function makes of it.
    #[inline(always)]
    pub(super) fn map_pixels(self, out: &mut [u8], change: impl Fn([u8; 3]) -> [u8; 3]) {
        if self.depth == 3 {
            for (out, &pixel) in out.as_chunks_mut::<3>().0.iter_mut().zip(self.bytes.as_chunks::<3>().0) {
                *out = change(pixel);
            }
            return;
        }
        let [red, green, blue] = self.colours();
        let (out_red, rest) = out.split_at_mut(self.plane());
        let (out_green, out_blue) = rest.split_at_mut(self.plane());
        let out = out_red.iter_mut().zip(out_green).zip(out_blue);
        for (((&r, &g), &b), ((out_r, out_g), out_b)) in red.iter().zip(green).zip(blue).zip(out) {
            [*out_r, *out_g, *out_b] = change([r, g, b]);
        }
    }
}
