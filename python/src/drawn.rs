//! What was drawn for one image: as Python reads it, and as it is done to pixels.

use freeaugment::{Chain, Error, ImagesMut, ImagesRef, Pixel, Shape, Step, Strides, Transformation};
use freeaugment_baseline::{Action, Frame, Operation};
use freeaugment_search::Drawn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::layout;

/// A step as Python has it: name, magnitude and its unit, and the centre for operations that have a place.
pub(crate) type Row = (String, Option<f64>, Option<String>, Option<(f64, f64)>);

/// What was drawn, as Python hands it around.
pub(crate) trait Rows: Sized {
    /// The steps as rows.
    fn rows(&self) -> Vec<Row>;
    /// Rows that were read: those of a learned policy name transformations, those of a baseline operations.
    fn from_rows(rows: Vec<Row>, learned: bool) -> PyResult<Self>;
    /// Does it to one image.
    fn apply_to<P: Sample>(
        &self,
        shape: Shape,
        source: (&[P], Strides),
        target: (&mut [P], Strides),
    ) -> Result<(), Error>;
}

impl Rows for Drawn {
    fn rows(&self) -> Vec<Row> {
        match self {
            Self::Chain(chain) => chain.steps().iter().map(row_of_step).collect(),
            Self::Actions(actions) => actions.iter().map(row_of_action).collect(),
        }
    }

    fn from_rows(rows: Vec<Row>, learned: bool) -> PyResult<Self> {
        let refused = |error: Error| PyValueError::new_err(error.to_string());
        if learned {
            let step = |(name, magnitude, ..): Row| {
                let transformation = Transformation::named(&name)?;
                Ok(Step { transformation, magnitude: magnitude.map(|value| value as f32) })
            };
            let steps: Result<Vec<Step>, Error> = rows.into_iter().map(step).collect();
            return Ok(Self::Chain(steps.and_then(Chain::new).map_err(refused)?));
        }
        let action = |(name, magnitude, _, centre): Row| {
            let operation = Operation::named(&name).ok_or_else(|| {
                let all = Operation::ALL.map(Operation::name).join(", ");
                PyValueError::new_err(format!("there is no operation `{name}`; there are {all}"))
            })?;
            let value = magnitude.unwrap_or(0.0);
            if !value.is_finite() {
                return Err(PyValueError::new_err(format!("the magnitude of {name} is {value}")));
            }
            let centre = centre.map_or([0.5; 2], |(row, column)| [row, column]);
            Ok(Action { operation, value, centre })
        };
        Ok(Self::Actions(rows.into_iter().map(action).collect::<PyResult<_>>()?))
    }

    fn apply_to<P: Sample>(
        &self,
        shape: Shape,
        (source, source_strides): (&[P], Strides),
        (target, target_strides): (&mut [P], Strides),
    ) -> Result<(), Error> {
        match self {
            Self::Chain(chain) => {
                let images = ImagesRef::strided(source, shape, source_strides)?;
                chain.apply_into(images, ImagesMut::strided(target, shape, target_strides)?)
            }
            Self::Actions(actions) => {
                let Shape { height, width, channels, .. } = shape;
                let pixels = P::bytes(source).zip(P::bytes_mut(target));
                if let Some((source, target)) = pixels
                    && let Some(frame) = layout::frame(source, shape, source_strides)
                    && source_strides.is_like(target_strides, shape)
                {
                    Action::apply_all(actions, frame, &mut target[..shape.image()]);
                    return Ok(());
                }
                let pixels = P::to_bytes(source, shape, source_strides)?;
                let mut result = vec![0; pixels.len()];
                if let Some(frame) = Frame::interleaved(&pixels, height, width, channels) {
                    Action::apply_all(actions, frame, &mut result);
                }
                P::from_bytes(&result, shape, target_strides, target)
            }
        }
    }
}

/// A value of an image, and how it becomes one of PIL's and one of PIL's becomes it.
pub(crate) trait Sample: Pixel {
    /// The values themselves, where they are bytes.
    fn bytes(values: &[Self]) -> Option<&[u8]> {
        let _ = values;
        None
    }

    /// The same, to write.
    fn bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
        let _ = values;
        None
    }

    fn to_bytes(values: &[Self], shape: Shape, strides: Strides) -> Result<Vec<u8>, Error>;
    fn from_bytes(pixels: &[u8], shape: Shape, strides: Strides, to: &mut [Self]) -> Result<(), Error>;
}

impl Sample for u8 {
    fn bytes(values: &[Self]) -> Option<&[u8]> {
        Some(values)
    }

    fn bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
        Some(values)
    }

    fn to_bytes(values: &[Self], shape: Shape, strides: Strides) -> Result<Vec<u8>, Error> {
        Ok(layout::gather(values, shape, strides))
    }

    fn from_bytes(pixels: &[u8], shape: Shape, strides: Strides, to: &mut [Self]) -> Result<(), Error> {
        layout::scatter(pixels, shape, strides, to);
        Ok(())
    }
}

/// Floats are rounded to the levels that operations of PIL know.
impl Sample for f32 {
    fn to_bytes(values: &[Self], shape: Shape, strides: Strides) -> Result<Vec<u8>, Error> {
        Ok(ImagesRef::strided(values, shape, strides)?.to_images().to_u8())
    }

    fn from_bytes(pixels: &[u8], shape: Shape, strides: Strides, to: &mut [Self]) -> Result<(), Error> {
        let out = ImagesMut::strided(to, shape, strides)?;
        Chain::default().apply_into(ImagesRef::interleaved(pixels, shape)?, out)
    }
}

fn row_of_step(step: &Step) -> Row {
    let unit = step.transformation.magnitude().map(|magnitude| magnitude.unit.to_owned());
    (step.transformation.name().to_owned(), step.magnitude.map(f64::from), unit, None)
}

fn row_of_action(action: &Action) -> Row {
    let unit = action.operation.unit();
    let centre = (action.operation == Operation::Cutout).then_some((action.centre[0], action.centre[1]));
    (action.operation.name().to_owned(), unit.map(|_| action.value), unit.map(str::to_owned), centre)
}
