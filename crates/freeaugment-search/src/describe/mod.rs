//! What people and programs want to know of a policy and of a search, computed once.

mod fixed;
mod learned;
mod overview;
mod planted;

pub use fixed::{Described, Fixed};
pub use learned::{Learned, Range, Usage};
pub use overview::{Notes, Overview, Starts, Unreadable};
pub use planted::{Found, Planted};

pub(crate) use overview::{noun, preparation};
