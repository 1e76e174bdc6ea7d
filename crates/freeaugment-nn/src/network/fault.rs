//! What can be wrong with a network that is recorded.

use crate::pass::Window;

/// Why a network cannot be built. Operations are counted from 1 and named as [`crate::pass::Pass`] names them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Two parameters of one name.
    #[error("{operation}: there is a parameter {parameter:?} already")]
    DuplicateParameter {
        /// The operation.
        operation: String,
        /// The parameter's name.
        parameter: String,
    },
    /// A layer without a name.
    #[error("{operation}: the name is empty, and its parameters are named after it")]
    EmptyName {
        /// The operation.
        operation: String,
    },
    /// A convolution for another number of channels than its input has.
    #[error("{operation}: it takes {expected} channels, and its input has {found}")]
    Channels {
        /// The operation.
        operation: String,
        /// What the convolution was made for.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// A layer without outputs, or with more than any network has.
    #[error("{operation}: it has {outputs} outputs, allowed are 1 to {most}")]
    Outputs {
        /// The operation.
        operation: String,
        /// The number that was asked for.
        outputs: usize,
        /// The largest number.
        most: usize,
    },
    /// A window that does not slide.
    #[error(
        "{operation}: a window of side {}, stride {} and padding {} does not work, allowed are sides and strides from \
         1 to {most} and {padding}", .window.kernel, .window.stride, .window.padding
    )]
    Window {
        /// The operation.
        operation: String,
        /// The window.
        window: Window,
        /// The largest side and stride.
        most: usize,
        /// Which padding is allowed.
        padding: &'static str,
    },
    /// A window that does not fit a value of one pixel.
    #[error("{operation}: its input is one pixel, and the window makes other than one of it")]
    OnePixel {
        /// The operation.
        operation: String,
    },
    /// A linear layer on pixels.
    #[error("{operation}: it takes [batch, channel, 1, 1], so its input has to come from mean_pixels")]
    NotFlat {
        /// The operation.
        operation: String,
    },
    /// A sum of values of different shape.
    #[error("{operation}: the two values differ in {what}")]
    DifferentShapes {
        /// The operation.
        operation: String,
        /// In what they differ.
        what: &'static str,
    },
    /// A value that another recorder handed out.
    #[error("{operation}: it reads a value of another network")]
    ForeignValue {
        /// The operation.
        operation: String,
    },
    /// A value that does not reach the logits.
    #[error("{operation}: nothing reads its value")]
    Unused {
        /// The operation.
        operation: String,
    },
    /// A result that is not one number per class.
    #[error("the result has to be [batch, {classes}, 1, 1], but {found}")]
    Result {
        /// The number of classes.
        classes: usize,
        /// What it is.
        found: String,
    },
    /// More numbers than fit into memory.
    #[error("{operation}: the parameters are too many")]
    TooLarge {
        /// The operation.
        operation: String,
    },
}
