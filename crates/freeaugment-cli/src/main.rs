//! The program `freeaugment`. All of it is in the library of this crate, which the Python package calls too.

use std::process::ExitCode;

fn main() -> ExitCode {
    freeaugment_cli::run(std::env::args_os()).into()
}
