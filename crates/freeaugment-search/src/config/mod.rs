//! Settings: declared once, named by presets, resolved from flags over a file over a preset.

mod field;
pub mod preset;
mod resolve;
mod settings;

pub use field::{
    AssignmentChoice, CropChoice, DepthChoice, Field, HypergradientChoice, MagnitudeChoice, Task,
    TypesChoice, ValueKind,
};
pub use resolve::{Patch, resolve};
pub use settings::{FIELDS, Settings};

pub(crate) use settings::refuse;
