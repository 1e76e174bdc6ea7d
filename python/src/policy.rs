//! The policy as Python has it, below the Python files that know what images are made of there.

use std::borrow::Borrow;
use std::path::PathBuf;

use freeaugment_baseline::Moment;
use freeaugment_search::Drawn;
use pyo3::buffer::Element;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::Array;
use crate::augmenter::{Augmenter, Key};
use crate::drawn::{Row, Rows as _, Sample};
use crate::motion::NativeMotion;
use crate::spread::{guarded, spread};

/// A policy of any kind.
#[pyclass(frozen, name = "Policy", module = "freeaugment._native")]
pub(crate) struct NativePolicy(Augmenter);

#[pymethods]
impl NativePolicy {
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Augmenter::load(&path).map(Self)
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Augmenter::parse(text.as_bytes()).map(Self)
    }

    #[staticmethod]
    fn baseline(name: &str) -> PyResult<Self> {
        Augmenter::named(name).map(Self)
    }

    fn to_json(&self) -> &str {
        &self.0.document
    }

    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    #[getter]
    fn kind(&self) -> &str {
        self.0.kind()
    }

    fn describe(&self) -> PyResult<String> {
        self.0.describe()
    }

    /// Draws for one image. Without a size, magnitudes that depend on it are refused.
    #[pyo3(signature = (seed, epoch, index, size, progress))]
    fn draw(
        &self,
        seed: u64,
        epoch: u32,
        index: u32,
        size: Option<(usize, usize)>,
        progress: f64,
    ) -> PyResult<Vec<Row>> {
        let key = Key { seed, epoch, index };
        let at = |height, width| self.0.draw(key, Moment { height, width, progress }).rows();
        if let Some((height, width)) = size {
            return Ok(at(height, width));
        }
        let rows = at(32, 32);
        if self.0.kind() == "baseline" && rows != at(224, 640) {
            return Err(PyValueError::new_err(
                "what this policy draws depends on the size of the image: say size=(height, width)",
            ));
        }
        Ok(rows)
    }

    /// Draws for each image and does it, from one array into another of the same sizes.
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (source, target, axes, floats, seed, epoch, indices, threads, progress))]
    fn augment(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        axes: &str,
        floats: bool,
        seed: u64,
        epoch: u32,
        indices: Vec<u32>,
        threads: usize,
        progress: f64,
    ) -> PyResult<()> {
        let draw = |image: usize, height: usize, width: usize| {
            let index = indices[if self.0.is_shared() { 0 } else { image }];
            self.0.draw(Key { seed, epoch, index }, Moment { height, width, progress })
        };
        let images = Some(indices.len());
        if floats {
            apply::<f32, _>(py, source, target, axes, images, threads, draw)
        } else {
            apply::<u8, _>(py, source, target, axes, images, threads, draw)
        }
    }

    /// Does what was drawn earlier to every image, from one array into another of the same sizes.
    #[allow(clippy::too_many_arguments)]
    fn replay(
        &self,
        py: Python<'_>,
        rows: Vec<Row>,
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        axes: &str,
        floats: bool,
        threads: usize,
    ) -> PyResult<()> {
        let drawn = self.drawn(rows)?;
        let draw = |_: usize, _: usize, _: usize| &drawn;
        if floats {
            apply::<f32, _>(py, source, target, axes, None, threads, draw)
        } else {
            apply::<u8, _>(py, source, target, axes, None, threads, draw)
        }
    }

    /// Where what was drawn moves things in an image of this size.
    fn motion(&self, rows: Vec<Row>, height: usize, width: usize) -> PyResult<NativeMotion> {
        if height == 0 || width == 0 || height.saturating_mul(width) >= u32::MAX as usize {
            return Err(PyValueError::new_err(format!("an image of {height}x{width} pixels cannot be")));
        }
        let drawn = self.drawn(rows)?;
        let motion = drawn.motion(height, width);
        Ok(NativeMotion { drawn, motion, height, width })
    }
}

impl NativePolicy {
    fn drawn(&self, rows: Vec<Row>) -> PyResult<Drawn> {
        Drawn::from_rows(rows, self.0.kind() == "learned")
    }
}

/// Draws for every image and does it. Works without the GIL.
fn apply<T: Element + Sample + Sync, D: Borrow<Drawn>>(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    axes: &str,
    images: Option<usize>,
    threads: usize,
    draw: impl Fn(usize, usize, usize) -> D + Sync + Send,
) -> PyResult<()> {
    let (source, target) = (Array::<T>::new(source, axes)?, Array::<T>::new(target, axes)?);
    if !target.is_writable() || !target.has_sizes_of(&source) {
        return Err(PyValueError::new_err(
            "results need an array of the same sizes, without gaps and not read-only",
        ));
    }
    if images.is_some_and(|images| images != source.count) {
        let (found, count) = (images.unwrap_or_default(), source.count);
        return Err(PyValueError::new_err(format!("there are {found} indices for {count} images")));
    }
    let (from, to) = (source.place(), target.place());
    guarded(py, || {
        spread(source.count, threads, |image| {
            let drawn = draw(image, source.height, source.width);
            from.image(&source, image, |pixels, strides| {
                to.image_mut(&target, image, |out, out_strides| {
                    drawn.borrow().apply_to(source.shape(), (pixels, strides), (out, out_strides))
                })
            })?;
            from.copy_opacity(&source, &target, to, image);
            Ok(())
        })
    })
}
