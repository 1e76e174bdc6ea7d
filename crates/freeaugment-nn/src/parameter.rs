//! A network's parameters and running statistics as flat arrays with names.

use std::ops::Range;
use std::sync::Arc;

use freeaugment_base::random::{Purpose, Stream};

use crate::Error;
#[cfg(feature = "burn")]
use crate::burn::{Array, Place};
use crate::mirror::Mirror;
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
        Self::clone(network.layout())
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
#[derive(Debug, Default)]
pub(crate) struct LayoutBuilder(Layout);

impl LayoutBuilder {
    /// The number of learnable numbers so far.
    pub(crate) fn parameters(&self) -> usize {
        self.0.parameters()
    }

    /// Appends a parameter.
    pub(crate) fn parameter(&mut self, name: String, shape: &[usize], kind: Kind) {
        let start = self.0.parameters();
        let range = start..start + shape.iter().product::<usize>();
        self.0.entries.push(Entry { name, shape: shape.to_vec(), range, kind });
    }

    /// Appends a batch norm.
    pub(crate) fn norm(&mut self, name: &str, channels: usize) {
        let start = self.0.channels();
        self.0.norms.push(Norm { name: name.to_owned(), range: start..start + channels });
    }

    pub(crate) fn finish(self) -> Layout {
        self.0
    }
}

/// One number per parameter of a network: its weights, a gradient, a momentum buffer or a direction.
///
/// On a device of Burn's the numbers stay there: they come to the host when [`Self::values`] is asked for, and go back
/// after [`Self::values_mut`]. Arithmetic ([`Self::add_scaled`], [`Self::blend`], [`Self::scale`], [`Self::dot`]) is done
/// where the numbers are. On the CPU they are always on the host.
#[derive(Clone, Debug)]
pub struct Weights {
    layout: Arc<Layout>,
    values: Mirror,
}

impl PartialEq for Weights {
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout && self.values() == other.values()
    }
}

impl Weights {
    /// All zero.
    pub fn zeros(layout: Arc<Layout>) -> Self {
        let values = Mirror::new(vec![0.0; layout.parameters()]);
        Self { layout, values }
    }

    /// Fresh weights (He et al.'s initialisation, by fan-out, as torchvision's ResNets have it): a pure function of
    /// layout and seed.
    pub fn initial(layout: Arc<Layout>, seed: u64) -> Self {
        const PURPOSE: Purpose = Purpose::named("network/init");
        let mut all = vec![0.0; layout.parameters()];
        for (index, entry) in layout.entries.iter().enumerate() {
            let values = &mut all[entry.range()];
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
        Self { layout, values: Mirror::new(all) }
    }

    /// Numbers that a device computed.
    #[cfg(feature = "burn")]
    pub(crate) fn from_device(layout: Arc<Layout>, values: Array) -> Self {
        Self { layout, values: values.into() }
    }

    /// The numbers on a device.
    #[cfg(feature = "burn")]
    pub(crate) fn on(&self, place: &Place) -> Result<Array, Error> {
        self.values.on(place)
    }

    /// Whether a device has the numbers.
    pub(crate) fn is_on_device(&self) -> bool {
        self.values.is_on_device()
    }

    /// Names, shapes and places.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Refuses numbers of another network.
    pub(crate) fn check_layout(&self, expected: &Arc<Layout>) -> Result<(), Error> {
        if Arc::ptr_eq(&self.layout, expected) || self.layout == *expected {
            return Ok(());
        }
        Err(Error::ForeignParameters { expected: expected.parameters(), found: self.layout.parameters() })
    }

    /// Brings the numbers to the host, where they are on a device alone: what [`Self::values`] does, with an error in
    /// place of a panic where the device fails.
    pub fn fetch(&self) -> Result<(), Error> {
        self.values.host().map(|_| ())
    }

    /// All numbers, in the layout's order.
    ///
    /// # Panics
    /// Where the numbers are on a device that fails; [`Self::fetch`] has an error for that. Never on the CPU.
    pub fn values(&self) -> &[f32] {
        self.values.host().unwrap_or_else(|error| panic!("{error}"))
    }

    /// All numbers, to be changed. Panics as [`Self::values`] does.
    pub fn values_mut(&mut self) -> &mut [f32] {
        self.values.host_mut().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The numbers of one parameter.
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        Some(&self.values()[self.layout.find(name)?.range()])
    }

    /// The numbers of one parameter, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut [f32]> {
        let range = self.layout.find(name)?.range();
        Some(&mut self.values_mut()[range])
    }

    /// The numbers of the parameter at an index of the layout.
    pub(crate) fn at(&self, index: usize) -> &[f32] {
        &self.values()[self.layout.entries[index].range()]
    }

    /// As [`Self::at`], to be changed.
    pub(crate) fn at_mut(&mut self, index: usize) -> &mut [f32] {
        let range = self.layout.entries[index].range();
        &mut self.values_mut()[range]
    }

    /// Multiplies all numbers by `factor`.
    pub fn scale(&mut self, factor: f32) -> Result<(), Error> {
        self.values.scale(factor)
    }

    /// Adds `factor` times the numbers of another set of the same layout.
    pub fn add_scaled(&mut self, factor: f32, other: &Self) -> Result<(), Error> {
        other.check_layout(&self.layout)?;
        self.values.combine(1.0, factor, &other.values, |value, other| *value += factor * other)
    }

    /// Goes a share of the way to another set of the same layout: `self += share · (other - self)`.
    pub fn blend(&mut self, share: f32, other: &Self) -> Result<(), Error> {
        other.check_layout(&self.layout)?;
        let towards = |value: &mut f32, other: f32| *value += share * (other - *value);
        self.values.combine(1.0 - share, share, &other.values, towards)
    }

    /// The inner product with another set of numbers of the same layout, summed in double precision on the host and in
    /// the device's single precision there. NaN for another layout, or where a device fails.
    pub fn dot(&self, other: &Self) -> f64 {
        let product = other.check_layout(&self.layout).and_then(|()| self.values.dot(&other.values));
        product.unwrap_or(f64::NAN)
    }
}

/// The running mean and variance of every batch norm, for inference. They are where [`Weights`] are.
#[derive(Clone, Debug)]
pub struct Statistics {
    layout: Arc<Layout>,
    mean: Mirror,
    variance: Mirror,
}

impl PartialEq for Statistics {
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout && self.mean() == other.mean() && self.variance() == other.variance()
    }
}

impl Statistics {
    /// How much of a batch's statistics the running ones take over.
    const MOMENTUM: f32 = 0.1;

    /// Mean 0 and variance 1.
    pub fn initial(layout: Arc<Layout>) -> Self {
        let filled = |value: f32| Mirror::new(vec![value; layout.channels()]);
        Self { mean: filled(0.0), variance: filled(1.0), layout }
    }

    /// Names and places.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Brings them to the host, as [`Weights::fetch`] does.
    pub fn fetch(&self) -> Result<(), Error> {
        self.mean.host().and(self.variance.host()).map(|_| ())
    }

    /// The running means of all batch norms. Panics as [`Weights::values`] does.
    pub fn mean(&self) -> &[f32] {
        self.mean.host().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The running variances of all batch norms. Panics as [`Weights::values`] does.
    pub fn variance(&self) -> &[f32] {
        self.variance.host().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Both, to be changed. Panics as [`Weights::values`] does.
    pub fn values_mut(&mut self) -> (&mut [f32], &mut [f32]) {
        let mean = self.mean.host_mut().unwrap_or_else(|error| panic!("{error}"));
        let variance = self.variance.host_mut().unwrap_or_else(|error| panic!("{error}"));
        (mean, variance)
    }

    /// Mean and variance on a device.
    #[cfg(feature = "burn")]
    pub(crate) fn on(&self, place: &Place) -> Result<[Array; 2], Error> {
        Ok([self.mean.on(place)?, self.variance.on(place)?])
    }

    /// Takes over a share of a batch's mean and biased variance, over `count` numbers per channel; the running
    /// variance is the unbiased one.
    pub(crate) fn update(&mut self, norm: usize, mean: &[f32], variance: &[f32], count: usize) {
        let range = self.layout.norms[norm].range();
        let unbiased = unbiased(count);
        let blend = |running: &mut f32, new: f32| *running += Self::MOMENTUM * (new - *running);
        let (means, variances) = self.values_mut();
        for (running, mean) in means[range.clone()].iter_mut().zip(mean) {
            blend(running, *mean);
        }
        for (running, variance) in variances[range].iter_mut().zip(variance) {
            blend(running, variance * unbiased);
        }
    }

    /// [`Self::update`] for all batch norms at once, on a device; the variances are unbiased already.
    #[cfg(feature = "burn")]
    pub(crate) fn update_on_device(&mut self, mean: Array, variance: Array) -> Result<(), Error> {
        let blend = |running: &mut f32, new: f32| *running += Self::MOMENTUM * (new - *running);
        for (running, new) in [(&mut self.mean, mean), (&mut self.variance, variance)] {
            running.combine(1.0 - Self::MOMENTUM, Self::MOMENTUM, &new.into(), blend)?;
        }
        Ok(())
    }
}

/// What makes a variance over `count` numbers unbiased.
pub(crate) fn unbiased(count: usize) -> f32 {
    count as f32 / (count as f32 - 1.0)
}
