//! The threads of a batch. They live as long as the call: a pool that outlives it would be missing in a forked process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use freeaugment::Error;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Does the work of `count` images on up to `threads` threads, the calling one among them. One image starts none.
pub(crate) fn spread(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).try_for_each(work);
    }
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let take = || {
        loop {
            let image = next.fetch_add(1, Ordering::Relaxed);
            if image >= count {
                return;
            }
            if let Err(error) = work(image) {
                next.store(count, Ordering::Relaxed);
                failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(take);
        }
        take();
    });
    failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Works without the GIL; what is refused, and even a bug, becomes an exception.
pub(crate) fn guarded<T: Send>(
    py: Python<'_>,
    work: impl Send + FnOnce() -> Result<T, Error>,
) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(result) => result.map_err(|error| PyValueError::new_err(error.to_string())),
        Err(panic) => Err(PyRuntimeError::new_err(format!("a bug in freeaugment: {}", message(&*panic)))),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// For the tests: that a panic becomes an exception.
#[pyfunction]
pub(crate) fn panic_in_a_thread(py: Python<'_>, threads: usize) -> PyResult<()> {
    guarded(py, || spread(2, threads, |image| if image == 0 { panic!("on purpose") } else { Ok(()) }))
}
