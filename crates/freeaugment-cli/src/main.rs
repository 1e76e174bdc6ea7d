//! The program `freeaugment`: arguments in, a learned policy and the proof that it helps out.
//!
//! [`arguments`] says what can be typed; each command has a file of its own. Results go to stdout and talk to stderr
//! ([`output`]); what goes wrong has a message and a documented number ([`exit`]).

mod arguments;
mod compare;
mod comparison;
mod configuration;
mod data;
mod estimate;
mod exit;
mod flags;
mod import;
mod interrupt;
mod learned;
mod output;
mod overview;
mod planted;
mod progress;
mod proof;
mod resume;
mod search;
mod sheet;
mod show;
mod work;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};

fn main() -> ExitCode {
    let ending = match Arguments::parse().command {
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
