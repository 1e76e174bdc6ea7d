//! Writes down what a network computes, and refuses what no engine could compute.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Fault;
use super::step::{Operation, Place, Step};
use crate::parameter::{Kind, Layout, LayoutBuilder};
use crate::pass::{Activation, Convolution, Pass, Window};

/// A [`Pass`] that computes nothing: it writes the operations down. [`super::Network::record`] hands it out.
///
/// What is wrong is remembered, not reported at once, because a pass has no errors; the first fault is what
/// [`super::Network::record`] returns.
#[derive(Debug)]
pub struct Recorder {
    /// Tells values of this recorder from those of others.
    id: u64,
    operations: Vec<Operation>,
    values: Vec<Shape>,
    layout: LayoutBuilder,
    parameters: BTreeSet<String>,
    fault: Option<Fault>,
}

/// A value of a [`Recorder`]: not the numbers, only which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    recorder: u64,
    place: Place,
}

/// What is known of a value before the images' size is known.
#[derive(Clone, Copy, Debug)]
struct Shape {
    channels: usize,
    extent: Extent,
}

/// Height or width of a value, as a function of the images' e.
///
/// A window maps e to ⌊(e + 2·padding - side) / stride⌋ + 1, and so does, with other numbers, a window after a window:
/// two values are of one size for all images if these two numbers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// ⌊(e + shift) / stride⌋ + 1.
    Pixels { shift: i64, stride: i64 },
    /// 1, whatever the images are.
    One,
}

impl Extent {
    const IMAGE: Self = Self::Pixels { shift: -1, stride: 1 };
    /// No image is larger.
    const LARGEST: i64 = 1 << 32;

    /// The extent after a window; none where there is none for any image.
    fn after(self, window: Window) -> Option<Self> {
        match self {
            Self::One => (window.positions(1) == 1).then_some(Self::One),
            Self::Pixels { shift, stride } => {
                let (side, padding) = (window.kernel as i64, window.padding as i64);
                let shift = stride.checked_mul(1 + 2 * padding - side)?.checked_add(shift)?;
                let stride = stride.checked_mul(window.stride as i64)?;
                let sane = shift.abs() <= Self::LARGEST && stride <= Self::LARGEST;
                sane.then_some(Self::Pixels { shift, stride })
            }
        }
    }
}

/// Channels, and sides and strides of windows, beyond these are mistakes.
const MOST_CHANNELS: usize = 1 << 20;
const MOST_PIXELS: usize = 1 << 10;
/// No machine holds more parameters than this.
const MOST_PARAMETERS: usize = 1 << 40;

impl Recorder {
    pub(super) fn new(channels: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            operations: Vec::new(),
            values: vec![Shape { channels, extent: Extent::IMAGE }],
            layout: LayoutBuilder::default(),
            parameters: BTreeSet::new(),
            fault: None,
        }
    }

    /// The value of the images.
    pub(super) fn images(&self) -> Handle {
        Handle { recorder: self.id, place: 0 }
    }

    /// What was recorded, where it makes sense and `result` is the logits of `classes` classes.
    pub(super) fn finish(self, result: Handle, classes: usize) -> Result<(Vec<Step>, Layout), Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let wrong = |found: String| Fault::Result { classes, found };
        if result.recorder != self.id {
            return Err(wrong("it is a value of another network".to_owned()));
        }
        let shape = self.values[result.place];
        if shape.extent != Extent::One {
            return Err(wrong("its height and width depend on the images".to_owned()));
        }
        if shape.channels != classes {
            return Err(wrong(format!("it has {} channels", shape.channels)));
        }
        // The last operation that reads each value; the result is read by whoever asked.
        let mut last_reader = vec![None; self.values.len()];
        for (index, operation) in self.operations.iter().enumerate() {
            for place in operation.reads() {
                last_reader[place] = Some(index);
            }
        }
        let mut released = vec![Vec::new(); self.operations.len()];
        for (place, reader) in last_reader.into_iter().enumerate().skip(1) {
            match reader {
                Some(reader) => released[reader].push(place),
                None if place == result.place => {}
                None => {
                    let operation = self.operations[place - 1].describe(place);
                    return Err(Fault::Unused { operation });
                }
            }
        }
        let steps = self.operations.into_iter().zip(released);
        let steps = steps.map(|(operation, released)| Step { operation, released }).collect();
        Ok((steps, self.layout.finish()))
    }

    /// What messages call the operation that is being recorded.
    fn describe(&self, operation: &Operation) -> String {
        operation.describe(self.operations.len() + 1)
    }

    fn place(&self, value: Handle) -> Option<Place> {
        (value.recorder == self.id).then_some(value.place)
    }

    /// Appends an operation on values of this recorder; `shape` checks it, declares its parameters and says what comes
    /// out.
    fn push(
        &mut self,
        operation: Option<Operation>,
        shape: impl FnOnce(&mut Self, &Operation) -> Result<Shape, Fault>,
        verb: &str,
    ) -> Handle {
        // After a fault nothing is checked any more: what follows from it would only distract.
        if self.fault.is_none() {
            let number = self.operations.len() + 1;
            let result = match &operation {
                Some(operation) => shape(self, operation),
                None => Err(Fault::ForeignValue { operation: format!("operation {number}, {verb}") }),
            };
            match (result, operation) {
                (Ok(shape), Some(operation)) => {
                    self.values.push(shape);
                    self.operations.push(operation);
                }
                (Err(fault), _) => self.fault = Some(fault),
                (Ok(_), None) => {}
            }
        }
        Handle { recorder: self.id, place: self.values.len() - 1 }
    }

    fn parameter(
        &mut self,
        operation: &Operation,
        kind: &str,
        shape: &[usize],
        start: Kind,
    ) -> Result<(), Fault> {
        let layer = operation.name().unwrap_or_default();
        if layer.is_empty() {
            return Err(Fault::EmptyName { operation: self.describe(operation) });
        }
        let parameter = format!("{layer}.{kind}");
        if !self.parameters.insert(parameter.clone()) {
            return Err(Fault::DuplicateParameter { operation: self.describe(operation), parameter });
        }
        let size = shape.iter().product::<usize>();
        if self.layout.parameters() + size > MOST_PARAMETERS {
            return Err(Fault::TooLarge { operation: self.describe(operation) });
        }
        self.layout.parameter(parameter, shape, start);
        Ok(())
    }

    fn check_outputs(&self, operation: &Operation, outputs: usize) -> Result<(), Fault> {
        if (1..=MOST_CHANNELS).contains(&outputs) {
            return Ok(());
        }
        Err(Fault::Outputs { operation: self.describe(operation), outputs, most: MOST_CHANNELS })
    }

    /// The extent after a window whose padding is at most `most_padding`.
    fn slide(
        &self,
        operation: &Operation,
        x: Place,
        window: Window,
        (most_padding, padding): (usize, &'static str),
    ) -> Result<Extent, Fault> {
        let allowed = 1..=MOST_PIXELS;
        let wrong =
            || Fault::Window { operation: self.describe(operation), window, most: MOST_PIXELS, padding };
        if !allowed.contains(&window.kernel)
            || !allowed.contains(&window.stride)
            || window.padding > most_padding
        {
            return Err(wrong());
        }
        let extent = self.values[x].extent;
        extent.after(window).ok_or_else(|| match extent {
            Extent::One => Fault::OnePixel { operation: self.describe(operation) },
            Extent::Pixels { .. } => wrong(),
        })
    }
}

impl Pass for Recorder {
    type Value = Handle;

    fn convolve(&mut self, x: &Handle, name: &str, convolution: Convolution) -> Handle {
        let x = self.place(*x);
        let operation = x.map(|x| Operation::Convolve { x, name: name.to_owned(), convolution });
        let shape = |this: &mut Self, operation: &Operation| {
            let Convolution { inputs, outputs, window } = convolution;
            let [x, _] = operation.reads();
            let found = this.values[x].channels;
            if inputs != found {
                return Err(Fault::Channels { operation: this.describe(operation), expected: inputs, found });
            }
            this.check_outputs(operation, outputs)?;
            let padding = (window.kernel.saturating_sub(1), "a padding below the side");
            let extent = this.slide(operation, x, window, padding)?;
            let shape = [outputs, inputs, window.kernel, window.kernel];
            this.parameter(operation, "weight", &shape, Kind::Convolution)?;
            Ok(Shape { channels: outputs, extent })
        };
        self.push(operation, shape, "convolve")
    }

    fn normalize(&mut self, x: &Handle, name: &str, activation: Option<Activation>) -> Handle {
        let x = self.place(*x);
        let operation = x.map(|x| Operation::Normalize { x, name: name.to_owned(), activation });
        let shape = |this: &mut Self, operation: &Operation| {
            let shape = this.values[operation.reads()[0]];
            this.parameter(operation, "weight", &[shape.channels], Kind::Scale)?;
            this.parameter(operation, "bias", &[shape.channels], Kind::Shift)?;
            this.layout.norm(operation.name().unwrap_or_default(), shape.channels);
            Ok(shape)
        };
        self.push(operation, shape, "normalize")
    }

    fn add(&mut self, a: &Handle, b: &Handle, activation: Option<Activation>) -> Handle {
        let operation = self.place(*a).zip(self.place(*b)).map(|(a, b)| Operation::Add { a, b, activation });
        let shape = |this: &mut Self, operation: &Operation| {
            let [a, b] = operation.reads().map(|place| this.values[place]);
            let different = |what| Err(Fault::DifferentShapes { operation: this.describe(operation), what });
            if a.channels != b.channels {
                return different("channels");
            }
            if a.extent != b.extent {
                return different("height and width");
            }
            Ok(a)
        };
        self.push(operation, shape, "add")
    }

    fn max_pool(&mut self, x: &Handle, window: Window) -> Handle {
        let operation = self.place(*x).map(|x| Operation::MaxPool { x, window });
        let shape = |this: &mut Self, operation: &Operation| {
            let [x, _] = operation.reads();
            let padding = (window.kernel / 2, "a padding up to half the side");
            let extent = this.slide(operation, x, window, padding)?;
            Ok(Shape { extent, ..this.values[x] })
        };
        self.push(operation, shape, "max_pool")
    }

    fn mean_pixels(&mut self, x: &Handle) -> Handle {
        let operation = self.place(*x).map(|x| Operation::MeanPixels { x });
        let shape = |this: &mut Self, operation: &Operation| {
            Ok(Shape { extent: Extent::One, ..this.values[operation.reads()[0]] })
        };
        self.push(operation, shape, "mean_pixels")
    }

    fn linear(&mut self, x: &Handle, name: &str, outputs: usize) -> Handle {
        let x = self.place(*x);
        let operation = x.map(|x| Operation::Linear { x, name: name.to_owned(), outputs });
        let shape = |this: &mut Self, operation: &Operation| {
            let Shape { channels: inputs, extent } = this.values[operation.reads()[0]];
            if extent != Extent::One {
                return Err(Fault::NotFlat { operation: this.describe(operation) });
            }
            this.check_outputs(operation, outputs)?;
            this.parameter(operation, "weight", &[outputs, inputs], Kind::Linear { inputs })?;
            this.parameter(operation, "bias", &[outputs], Kind::Linear { inputs })?;
            Ok(Shape { channels: outputs, extent })
        };
        self.push(operation, shape, "linear")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows one after the other, against their composition in two numbers.
    #[test]
    fn an_extent_is_that_of_the_windows_one_after_the_other() {
        let windows = [(3, 1, 1), (3, 2, 1), (1, 2, 0), (2, 1, 0), (5, 3, 4), (2, 2, 1), (7, 2, 3)]
            .map(|(kernel, stride, padding)| Window { kernel, stride, padding });
        for index in 0..windows.len().pow(3) {
            let chain = [index % 7, index / 7 % 7, index / 49].map(|index| windows[index]);
            let composed = chain.iter().try_fold(Extent::IMAGE, |extent, window| extent.after(*window));
            let Some(Extent::Pixels { shift, stride }) = composed else { panic!("{chain:?}") };
            for extent in 40..80 {
                let plain = chain.iter().fold(extent, |extent, window| window.positions(extent));
                let found = (extent as i64 + shift).div_euclid(stride) + 1;
                assert_eq!(found, plain as i64, "{chain:?} on {extent}");
            }
        }
    }
}
