//! The real program, run as a user runs it.

mod command;
mod determinism;
mod document;
mod find;
mod interruption;
mod output;
mod reference;
mod refusal;
mod run_folder;
mod training;
