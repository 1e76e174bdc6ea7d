//! What people and programs want to know of a policy and of a search, computed once.

mod learned;
mod overview;
mod planted;

pub use learned::{Learned, Range, Usage};
pub use overview::{Notes, Overview, Starts, Unreadable};
pub use planted::{Found, Planted};

pub(crate) use overview::{noun, preparation};
