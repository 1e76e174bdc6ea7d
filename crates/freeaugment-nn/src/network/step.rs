//! A network as data: its operations in order.

use crate::pass::{Activation, Convolution, Pass, Window};

/// A place among a network's values: 0 is the images, n what the n-th operation computed.
pub(crate) type Place = usize;

/// What is computed, by the names of [`Pass`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Convolve { x: Place, name: String, convolution: Convolution },
    Normalize { x: Place, name: String, activation: Option<Activation> },
    Add { a: Place, b: Place, activation: Option<Activation> },
    MaxPool { x: Place, window: Window },
    MeanPixels { x: Place },
    Linear { x: Place, name: String, outputs: usize },
}

impl Operation {
    /// The places it reads; an operation that reads one value names it twice.
    pub(crate) fn reads(&self) -> [Place; 2] {
        match *self {
            Self::Convolve { x, .. }
            | Self::Normalize { x, .. }
            | Self::MaxPool { x, .. }
            | Self::MeanPixels { x }
            | Self::Linear { x, .. } => [x, x],
            Self::Add { a, b, .. } => [a, b],
        }
    }

    /// The name of the layer, where it has parameters.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Convolve { name, .. } | Self::Normalize { name, .. } | Self::Linear { name, .. } => {
                Some(name)
            }
            Self::Add { .. } | Self::MaxPool { .. } | Self::MeanPixels { .. } => None,
        }
    }

    /// What messages call it: its number from 1, what it does and its name.
    pub(crate) fn describe(&self, number: usize) -> String {
        let verb = match self {
            Self::Convolve { .. } => "convolve",
            Self::Normalize { .. } => "normalize",
            Self::Add { .. } => "add",
            Self::MaxPool { .. } => "max_pool",
            Self::MeanPixels { .. } => "mean_pixels",
            Self::Linear { .. } => "linear",
        };
        match self.name() {
            Some(name) => format!("operation {number}, {verb} {name:?}"),
            None => format!("operation {number}, {verb}"),
        }
    }

    /// The activation is replaced where there is one.
    pub(crate) fn activate(&mut self, by: Activation) {
        if let Self::Normalize { activation: Some(activation), .. }
        | Self::Add { activation: Some(activation), .. } = self
        {
            *activation = by;
        }
    }

    /// Height and width of the value, from those of all values before it.
    pub(crate) fn size(&self, sizes: &[[usize; 2]]) -> [usize; 2] {
        match self {
            Self::Convolve { x, convolution: Convolution { window, .. }, .. }
            | Self::MaxPool { x, window } => sizes[*x].map(|extent| window.positions(extent)),
            Self::Normalize { x, .. } => sizes[*x],
            Self::Add { a, .. } => sizes[*a],
            Self::MeanPixels { .. } | Self::Linear { .. } => [1, 1],
        }
    }

    fn run<P: Pass>(&self, pass: &mut P, images: &P::Value, values: &[Option<P::Value>]) -> P::Value {
        let at = |place: Place| match place {
            0 => images,
            later => values[later - 1].as_ref().expect("a value is held until its last use"),
        };
        match self {
            Self::Convolve { x, name, convolution } => pass.convolve(at(*x), name, *convolution),
            Self::Normalize { x, name, activation } => pass.normalize(at(*x), name, *activation),
            Self::Add { a, b, activation } => pass.add(at(*a), at(*b), *activation),
            Self::MaxPool { x, window } => pass.max_pool(at(*x), *window),
            Self::MeanPixels { x } => pass.mean_pixels(at(*x)),
            Self::Linear { x, name, outputs } => pass.linear(at(*x), name, *outputs),
        }
    }
}

/// An operation, and the values that nothing reads after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) operation: Operation,
    pub(crate) released: Vec<Place>,
}

/// Runs operations one after the other; the last one's value is the result.
pub(crate) fn replay<P: Pass>(steps: &[Step], pass: &mut P, images: &P::Value) -> P::Value {
    let mut values = Vec::with_capacity(steps.len());
    for step in steps {
        let value = step.operation.run(pass, images, &values);
        values.push(Some(value));
        for &place in &step.released {
            values[place - 1] = None;
        }
    }
    values.pop().flatten().expect("a network has operations, and the last value is not released")
}
