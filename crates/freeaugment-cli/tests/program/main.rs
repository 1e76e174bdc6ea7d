//! The real program, run as a user runs it.

mod apply;
mod browser;
mod command;
mod determinism;
mod document;
mod find;
mod grid;
mod interruption;
mod output;
mod preview;
mod reference;
mod refusal;
mod report;
mod reproduce;
mod run_folder;
mod tensorboard;
mod training;
