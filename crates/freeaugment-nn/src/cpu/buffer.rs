//! Arrays that go back to a pool when they are dropped: a step of the search allocates gigabytes, and fresh pages cost
//! more than what is written to them.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Arrays that wait to be used again, by length.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Mutex<BTreeMap<usize, Vec<Vec<f32>>>>,
}

impl Pool {
    /// An array of `len` numbers of unspecified content (NaN in debug builds, so that tests notice who relies on it).
    pub(crate) fn take(self: &Arc<Self>, len: usize) -> Buffer {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // A batch of another size may use an array up to twice as long; anything longer would be a waste.
        let found = free.range_mut(len..=2 * len).find_map(|(_, arrays)| arrays.pop());
        drop(free);
        let mut values = found.unwrap_or_default();
        values.resize(len, 0.0);
        if cfg!(debug_assertions) {
            values.fill(f32::NAN);
        }
        Buffer { values, pool: Arc::clone(self) }
    }
}

/// An array from a [`Pool`].
#[derive(Debug)]
pub(crate) struct Buffer {
    values: Vec<f32>,
    pool: Arc<Pool>,
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        &self.values
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let values = std::mem::take(&mut self.values);
        let mut free = self.pool.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.entry(values.capacity()).or_default().push(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_array_is_used_again() {
        let pool = Arc::new(Pool::default());
        let first = pool.take(100);
        let address = first.as_ptr();
        drop(first);
        let smaller = pool.take(60);
        assert_eq!((smaller.as_ptr(), smaller.len()), (address, 60));
        drop(smaller);
        assert_ne!(pool.take(40).as_ptr(), address, "an array twice too long is left for others");
    }
}
