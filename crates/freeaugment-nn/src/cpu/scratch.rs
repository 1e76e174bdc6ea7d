//! Working memory of one thread, kept between calls so that a kernel never waits for the allocator.

use std::cell::RefCell;

thread_local! {
    static FREE: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` with `len` numbers of unspecified content.
pub(crate) fn with<R>(len: usize, work: impl FnOnce(&mut [f32]) -> R) -> R {
    let mut buffer = FREE.with_borrow_mut(|free| take(free, len));
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    let result = work(&mut buffer[..len]);
    FREE.with_borrow_mut(|free| free.push(buffer));
    result
}

/// The smallest array that is long enough, or else the longest one.
fn take(free: &mut Vec<Vec<f32>>, len: usize) -> Vec<f32> {
    let rank = |buffer: &Vec<f32>| {
        if buffer.len() < len { (true, usize::MAX - buffer.len()) } else { (false, buffer.len()) }
    };
    match (0..free.len()).min_by_key(|&index| rank(&free[index])) {
        Some(index) => free.swap_remove(index),
        None => Vec::new(),
    }
}
