//! The program `freeaugment`: arguments in, a learned policy and the proof that it helps out.
//!
//! `arguments` says what can be typed; each `command` has a file of its own and does no more than to ask the library,
//! show (`progress`, `output`) and exit (`exit`). Results go to stdout and talk to stderr; what goes wrong has a
//! message and a documented number.

mod arguments;
mod command;
mod exit;
mod flags;
mod follow;
mod interrupt;
#[cfg(feature = "mpi")]
mod mpi;
mod output;
mod progress;
mod together;

use std::ffi::OsString;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::command::{
    apply, compare, data, export, find, grid, import, preview, report, reproduce, resume, search, show,
};

/// The Python that applies what was drawn to a batch of Kornia's: part of what `export` writes.
pub const KORNIA_OPERATIONS: &str = export::KORNIA_OPERATIONS;

/// Does what was typed, the name of the program first, and returns the number to end with.
///
/// It is a whole program: it prints, listens to Ctrl-C, may end the process on a second press, and is run once.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    output::remember(&words);
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(message) if together::is_silent() => return exit::refused_silently(&message),
        Err(message) => return exit::refused(&message),
    };
    let joined = match together::join(&arguments.command) {
        Ok(joined) => joined,
        Err(failure) => return exit::code(Err(failure)),
    };
    let ending = match arguments.command {
        Command::Find(arguments) => find::run(&arguments),
        Command::Search(arguments) => search::run(&arguments),
        Command::Train(arguments) => compare::train(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Plan(arguments) => grid::plan(&arguments),
        Command::Cell(arguments) => grid::cell(&arguments),
        Command::Collect(arguments) => grid::collect(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Apply(arguments) => apply::run(&arguments),
        Command::Resume(arguments) => resume::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Preview(arguments) => preview::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Data(arguments) => data::run(&arguments),
    };
    exit::code(together::end(joined.as_ref(), ending))
}
