//! The size of an image inside the engine.

/// The extents of one image as the engine stores it: `[height, width, channel]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) channels: usize,
}

impl Frame {
    pub(crate) const fn pixels(&self) -> usize {
        self.height * self.width
    }

    pub(crate) const fn len(&self) -> usize {
        self.pixels() * self.channels
    }
}
