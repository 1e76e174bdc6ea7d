//! Many searches and trainings as data: a plan of cells in a folder, each of which any machine can take up.
//!
//! A [`Grid`] is the plan and the folder it is in. A [`Cell`] is a search or a training; it is worked on by whoever holds
//! its [`Claim`], in a run of its own. [`Collected`] is the table of what is finished.

mod build;
mod claim;
mod collect;
mod cost;
mod host;
mod manifest;
mod outcome;
mod work;

pub use build::GridBuilder;
pub use claim::{Claim, Fenced};
pub use collect::{Collected, CollectedTable, Line, Machine, Missing, Source};
pub use cost::{Cost, Speed};
pub use manifest::{Cell, CellTask, Grid, GridRow, GridTable, Patience, PolicySource, Published, Shows};
pub use outcome::CellState;
