//! Working memory of a thread: it grows to what the largest image needs and is then used again and again, so that
//! nothing is allocated per image.

use std::cell::RefCell;

use crate::eight_bit::Run;
use crate::sampling::{Assigner, Tape};

/// Buffers that a transformation may use while it works on one image. Their contents mean nothing between calls.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) pixels: Vec<f32>,
    pub(crate) gradients: Vec<f32>,
    pub(crate) rows: Vec<f32>,
    pub(crate) fractions: Vec<f32>,
    pub(crate) slopes: Vec<f32>,
    pub(crate) offsets: Vec<i32>,
    pub(crate) levels: Vec<u8>,
    // Of images of bytes:
    pub(crate) bytes: Vec<u8>,
    pub(crate) sums: Vec<u16>,
    pub(crate) fixed: Vec<i16>,
    pub(crate) shades: Vec<[i16; 4]>,
    pub(crate) runs: Vec<Run>,
    pub(crate) floats: Vec<f32>,
}

/// The first `len` values of a buffer, which grows if it must. What they hold is left from earlier use.
pub(crate) fn grown<T: Copy + Default>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
    &mut buffer[..len]
}

/// Everything a thread needs to work on one image of a policy.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) scratch: Scratch,
    /// An image that does not lie in memory as kernels read it, gathered.
    pub(crate) gathered: Vec<f32>,
    /// A result before it is scattered to where the caller wants it.
    pub(crate) result: Vec<f32>,
    /// The same, of bytes.
    pub(crate) gathered_bytes: Vec<u8>,
    pub(crate) result_bytes: Vec<u8>,
    /// The image after each layer.
    pub(crate) layers: Vec<f32>,
    pub(crate) layer_bytes: Vec<u8>,
    /// The cotangent of the layer being worked on, and of the one below it.
    pub(crate) cotangents: [Vec<f32>; 2],
    /// Noise and relaxed types of one image.
    pub(crate) noise: Vec<f32>,
    pub(crate) soft: Vec<f32>,
    pub(crate) chosen: Vec<u8>,
    pub(crate) sinkhorn: Tape,
    pub(crate) assigner: Assigner,
}

thread_local! {
    static WORK: RefCell<Work> = RefCell::default();
}

/// Lends this thread's working memory. Calls do not nest.
pub(crate) fn with_work<R>(run: impl FnOnce(&mut Work) -> R) -> R {
    WORK.with_borrow_mut(run)
}
