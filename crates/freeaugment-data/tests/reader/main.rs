//! The readers, by files of the documented layouts and by everything that can be wrong with them.

mod cifar;
mod common;
mod domainnet;
mod hostile;
mod idx;
mod image_folder;
mod image_format;
mod nesting;
mod quickdraw;
mod recognition;
