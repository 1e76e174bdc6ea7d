//! Where masks, boxes and key points go.

use freeaugment::Motion;
use freeaugment_search::Drawn;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::spread::guarded;

/// What drawn transformations do to places in an image of one size.
#[pyclass(frozen, name = "Motion", module = "freeaugment._native")]
pub(crate) struct NativeMotion {
    pub(crate) drawn: Drawn,
    pub(crate) motion: Motion,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

#[pymethods]
impl NativeMotion {
    /// Whether nothing moves.
    #[getter]
    fn is_still(&self) -> bool {
        self.motion.is_still()
    }

    /// For each pixel of the result, the number of the pixel it shows, -1 for what lies outside; 64-bit integers.
    fn pixels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        let moved = guarded(py, || self.drawn.moved_pixels(self.height, self.width))?;
        PyByteArray::new_with(py, 8 * moved.len(), |bytes| {
            for (bytes, number) in bytes.chunks_exact_mut(8).zip(moved) {
                let number = if number == u32::MAX { -1 } else { i64::from(number) };
                bytes.copy_from_slice(&number.to_ne_bytes());
            }
            Ok(())
        })
    }

    /// Where points go; pixel centres lie at whole numbers.
    fn points(&self, points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
        points.into_iter().map(|point| self.motion.point(point)).collect()
    }

    /// The upright boxes around what is left of boxes (left, top, right, bottom).
    fn boxes(&self, boxes: Vec<[f64; 4]>) -> Vec<[f64; 4]> {
        boxes.into_iter().map(|edges| self.motion.upright_box(edges)).collect()
    }

    /// Where turned boxes go, given by their corners: x and y four times.
    fn turned_boxes(&self, boxes: Vec<[f64; 8]>) -> Vec<[f64; 8]> {
        let moved = |[a, b, c, d, e, f, g, h]: [f64; 8]| {
            let [[a, b], [c, d], [e, f], [g, h]] = self.motion.turned_box([[a, b], [c, d], [e, f], [g, h]]);
            [a, b, c, d, e, f, g, h]
        };
        boxes.into_iter().map(moved).collect()
    }
}
