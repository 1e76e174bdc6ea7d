//! The Python module `freeaugment._native`: a thin face on the crates. What an image is made of in Python, and where
//! randomness comes from, is decided in the Python files beside it; what is done to pixels, in the crates.
//!
//! [`augmenter`] is a policy of any kind, [`drawn`] what it drew for one image, [`array`] the arrays of Python and
//! [`layout`] the order of their values, [`spread`] the threads of a batch; [`policy`] and [`motion`] are the classes that Python sees.
//! [`search`] is a search around a model of Python, which the crates see as a [`guest`].

mod array;
mod augmenter;
mod drawn;
mod guest;
mod layout;
mod motion;
mod policy;
mod search;
mod spread;

use std::ffi::OsString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    freeaugment,
    PolicyError,
    PyValueError,
    "A policy that cannot be read, or that there is not."
);

/// Does what was typed, the name of the program first, and returns the number to end with. It is run once a process.
#[pyfunction]
fn run(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| freeaugment_cli::run(words))
}

#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("PolicyError", module.py().get_type::<PolicyError>())?;
    module.add("KORNIA_OPERATIONS", freeaugment_cli::KORNIA_OPERATIONS)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<policy::NativePolicy>()?;
    module.add_class::<motion::NativeMotion>()?;
    module.add_class::<search::NativeSettings>()?;
    module.add_function(wrap_pyfunction!(search::free_run, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(spread::panic_in_a_thread, module)?)
}
