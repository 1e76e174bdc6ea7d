//! A network's parameters and running statistics as flat arrays with names.

use std::ops::Range;
use std::sync::Arc;

use freeaugment_base::random::{Purpose, Stream};

use crate::network::Network;

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Convolution,
    Scale,
    Shift,
    Linear { inputs: usize },
}

/// A parameter's name, shape and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    name: String,
    shape: Vec<usize>,
    range: Range<usize>,
    kind: Kind,
}

impl Entry {
    /// The parameter's name, such as `group0.block0.conv1.weight`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameter's shape, as PyTorch has it.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Where the parameter stands in the flat array.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// A batch norm's name and the place of its running statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Norm {
    name: String,
    range: Range<usize>,
}

impl Norm {
    /// The batch norm's name, such as `group0.block0.bn1`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its channels stand in the flat arrays of running statistics.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// Names, shapes and places of a network's parameters, in the order of its forward pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    entries: Vec<Entry>,
    norms: Vec<Norm>,
}

impl Layout {
    /// The layout of a network.
    pub fn of(network: &Network) -> Self {
        // Parameters do not depend on the size of the images.
        crate::cpu::plan_layout(network)
    }

    /// All parameters, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All batch norms, in order.
    pub fn norms(&self) -> &[Norm] {
        &self.norms
    }

    /// The number of learnable numbers.
    pub fn parameters(&self) -> usize {
        self.entries.last().map_or(0, |entry| entry.range.end)
    }

    /// The number of channels of all batch norms.
    pub fn channels(&self) -> usize {
        self.norms.last().map_or(0, |norm| norm.range.end)
    }

    /// The parameter of that name.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// Collects a layout while a network is laid out.
#[derive(Default)]
pub(crate) struct LayoutBuilder(Layout);

impl LayoutBuilder {
    /// Appends a parameter; its index.
    pub(crate) fn parameter(&mut self, name: String, shape: &[usize], kind: Kind) -> usize {
        let start = self.0.parameters();
        let range = start..start + shape.iter().product::<usize>();
        self.0.entries.push(Entry { name, shape: shape.to_vec(), range, kind });
        self.0.entries.len() - 1
    }

    /// Appends a batch norm; its index.
    pub(crate) fn norm(&mut self, name: &str, channels: usize) -> usize {
        let start = self.0.channels();
        self.0.norms.push(Norm { name: name.to_owned(), range: start..start + channels });
        self.0.norms.len() - 1
    }

    pub(crate) fn finish(self) -> Layout {
        self.0
    }
}

/// One number per parameter of a network: its weights, a gradient, a momentum buffer or a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    layout: Arc<Layout>,
    values: Vec<f32>,
}

impl Parameters {
    /// All zero.
    pub fn zeros(layout: Arc<Layout>) -> Self {
        let values = vec![0.0; layout.parameters()];
        Self { layout, values }
    }

    /// Fresh weights (He et al.'s initialisation, by fan-out, as torchvision's ResNets have it): a pure function of
    /// layout and seed.
    pub fn initial(layout: Arc<Layout>, seed: u64) -> Self {
        const PURPOSE: Purpose = Purpose::named("network/init");
        let mut parameters = Self::zeros(layout);
        let layout = Arc::clone(&parameters.layout);
        for (index, entry) in layout.entries.iter().enumerate() {
            let values = &mut parameters.values[entry.range()];
            let mut stream = Stream::new(seed, PURPOSE, 0, index as u32);
            match entry.kind {
                Kind::Convolution => {
                    stream.normal(values);
                    let fan_out: usize = entry.shape[0] * entry.shape[2..].iter().product::<usize>();
                    let deviation = (2.0 / fan_out as f32).sqrt();
                    for value in &mut *values {
                        *value *= deviation;
                    }
                }
                Kind::Scale => values.fill(1.0),
                Kind::Shift => values.fill(0.0),
                Kind::Linear { inputs } => {
                    stream.uniform(values);
                    let bound = 1.0 / (inputs as f32).sqrt();
                    for value in &mut *values {
                        *value = bound * (2.0 * *value - 1.0);
                    }
                }
            }
        }
        parameters
    }

    /// Names, shapes and places.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// All numbers, in the layout's order.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All numbers, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The numbers of one parameter.
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        Some(&self.values[self.layout.find(name)?.range()])
    }

    /// The numbers of one parameter, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut [f32]> {
        let range = self.layout.find(name)?.range();
        Some(&mut self.values[range])
    }

    /// The numbers of the parameter at an index of the layout.
    pub(crate) fn at(&self, index: usize) -> &[f32] {
        &self.values[self.layout.entries[index].range()]
    }

    /// As [`Self::at`], to be changed.
    pub(crate) fn at_mut(&mut self, index: usize) -> &mut [f32] {
        &mut self.values[self.layout.entries[index].range.clone()]
    }

    /// The inner product with another set of numbers of the same layout, summed in double precision.
    pub fn dot(&self, other: &Self) -> f64 {
        self.values.iter().zip(&other.values).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }
}

/// The running mean and variance of every batch norm, for inference.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    layout: Arc<Layout>,
    mean: Vec<f32>,
    variance: Vec<f32>,
}

impl Statistics {
    /// How much of a batch's statistics the running ones take over.
    const MOMENTUM: f32 = 0.1;

    /// Mean 0 and variance 1.
    pub fn initial(layout: Arc<Layout>) -> Self {
        let channels = layout.channels();
        Self { layout, mean: vec![0.0; channels], variance: vec![1.0; channels] }
    }

    /// Names and places.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The running means of all batch norms.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// The running variances of all batch norms.
    pub fn variance(&self) -> &[f32] {
        &self.variance
    }

    /// Both, to be changed.
    pub fn values_mut(&mut self) -> (&mut [f32], &mut [f32]) {
        (&mut self.mean, &mut self.variance)
    }

    /// Takes over a share of a batch's mean and biased variance, over `count` numbers per channel; the running
    /// variance is the unbiased one.
    pub(crate) fn update(&mut self, norm: usize, mean: &[f32], variance: &[f32], count: usize) {
        let range = self.layout.norms[norm].range();
        let unbiased = count as f32 / (count as f32 - 1.0);
        let blend = |running: &mut f32, new: f32| *running += Self::MOMENTUM * (new - *running);
        for (running, mean) in self.mean[range.clone()].iter_mut().zip(mean) {
            blend(running, *mean);
        }
        for (running, variance) in self.variance[range].iter_mut().zip(variance) {
            blend(running, variance * unbiased);
        }
    }
}
