//! What a network is made of, as a trait: a network's forward pass is written once over [`Pass`] and run by whoever
//! implements it (the CPU engine's planner, and training, inference and (value, tangent) tensors of Burn). To hand over
//! one of your own, write it over [`Pass`] and record it: [`crate::Network::record`].

/// An elementwise nonlinearity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// max(x, 0), with slope 0 at 0.
    #[default]
    Relu,
    /// ln(1 + e^x): smooth, so that finite differences of gradients mean something. For checks, not for accuracy.
    Softplus,
}

/// A square convolution without bias: weight `[outputs, inputs, kernel, kernel]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// Where the weight reads.
    pub window: Window,
}

/// A square window that slides over an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Side of the window, in pixels.
    pub kernel: usize,
    /// Distance between two positions.
    pub stride: usize,
    /// Pixels of padding at every side.
    pub padding: usize,
}

impl Window {
    /// A window of odd side that keeps the image's size at stride 1.
    pub const fn centred(kernel: usize, stride: usize) -> Self {
        Self { kernel, stride, padding: kernel / 2 }
    }

    /// The number of positions along a side of `extent` pixels; 0 where the window does not fit.
    pub const fn positions(&self, extent: usize) -> usize {
        match (extent + 2 * self.padding).checked_sub(self.kernel) {
            Some(room) => room / self.stride + 1,
            None => 0,
        }
    }
}

/// The operations of a network. Values are `[batch, channel, height, width]`; names are prefixes of parameter names.
pub trait Pass {
    /// What flows between the operations.
    type Value;

    /// Convolution with the parameter `<name>.weight`.
    fn convolve(&mut self, x: &Self::Value, name: &str, convolution: Convolution) -> Self::Value;

    /// Batch norm with `<name>.weight` and `<name>.bias`, then the activation.
    fn normalize(&mut self, x: &Self::Value, name: &str, activation: Option<Activation>) -> Self::Value;

    /// The sum of two values, then the activation.
    fn add(&mut self, a: &Self::Value, b: &Self::Value, activation: Option<Activation>) -> Self::Value;

    /// The largest value in every window; padding never wins.
    fn max_pool(&mut self, x: &Self::Value, window: Window) -> Self::Value;

    /// The mean over all pixels: `[batch, channel, 1, 1]`.
    fn mean_pixels(&mut self, x: &Self::Value) -> Self::Value;

    /// A linear layer with `<name>.weight` and `<name>.bias` on `[batch, channel, 1, 1]`.
    fn linear(&mut self, x: &Self::Value, name: &str, outputs: usize) -> Self::Value;
}
