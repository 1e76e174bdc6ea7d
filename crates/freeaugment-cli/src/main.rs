//! The program `freeaugment`: arguments in, a learned policy and the proof that it helps out.
//!
//! [`arguments`] says what can be typed; each [`command`] has a file of its own and does no more than to ask the library,
//! show ([`progress`], [`output`]) and exit ([`exit`]). Results go to stdout and talk to stderr; what goes wrong has a
//! message and a documented number.

mod arguments;
mod command;
mod exit;
mod flags;
mod interrupt;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::command::{compare, data, find, import, resume, search, show};

fn main() -> ExitCode {
    let ending = match Arguments::parse().command {
        Command::Find(arguments) => find::run(&arguments),
        Command::Search(arguments) => search::run(&arguments),
        Command::Train(arguments) => compare::train(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Resume(arguments) => resume::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Data(arguments) => data::run(&arguments),
    };
    exit::code(ending)
}
