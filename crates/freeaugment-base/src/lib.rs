//! What the crates of FreeAugment share and policies have nothing to do with.
//!
//! [`random`] draws numbers as pure functions of seed, purpose, epoch and index; [`simd`] compiles a loop for several
//! instruction sets and chooses at run time, with elementary functions that vectorise ([`math`]) and
//! tables of bytes ([`level`]); [`write_atomically`]
//! writes files whole or not at all; [`document`] reads and writes JSON that people read; [`nearest`] guesses what a
//! misspelt name means; [`Table`] aligns columns by what letters take on a terminal; [`Fnv`] tells bytes apart.
//!
//! ```
//! use freeaugment_base::random::{Purpose, Stream};
//! use freeaugment_base::{Fnv, nearest};
//!
//! const JITTER: Purpose = Purpose::named("example/jitter");
//! let mut numbers = [0.0; 3];
//! Stream::new(7, JITTER, 0, 42).uniform(&mut numbers);
//! assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
//! assert_eq!(nearest("rotat", ["Rotate", "Invert"].into_iter()), Some("Rotate"));
//! assert_ne!(Fnv::of(b"a"), Fnv::of(b"b"));
//! ```

pub mod csv;
pub mod document;
mod file;
mod hash;
pub mod level;
pub mod math;
pub mod random;
pub mod simd;
mod spelling;
mod table;

pub use file::{write_atomically, write_atomically_unsynced};
pub use hash::{Fnv, fnv32};
pub use spelling::nearest;
pub use table::{Table, bar, duration, percent};

// The example of the front page is compiled and run like every other.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
