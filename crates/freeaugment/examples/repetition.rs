//! How often a sample of an untrained policy uses a transformation more than once: the table of `docs/sampling.md`.
//!
//! `cargo run --release -p freeaugment --example repetition`
#![allow(clippy::print_stdout)]

use freeaugment::{Assignment, Error, PolicyConfig, TypesKind};

const SAMPLES: u32 = 100_000;

fn main() -> Result<(), Error> {
    let samplers = [1, 5, 20].map(|iterations| {
        (format!("Gumbel-Sinkhorn, L = {iterations}"), TypesKind::Sinkhorn { iterations, pad: -10.0 })
    });
    let samplers =
        samplers.into_iter().chain([("independent Gumbel-Softmax".to_owned(), TypesKind::Softmax)]);
    println!("| sampler | t = 1 | t = 0.5 | t = 0.1 |\n|---|---|---|---|");
    for (name, types) in samplers {
        print_row(&name, types, Assignment::ColumnMaximum)?;
    }
    print_row("Gumbel-Sinkhorn, L = 20, exact", PolicyConfig::default().types, Assignment::Exact)
}

fn print_row(name: &str, types: TypesKind, assignment: Assignment) -> Result<(), Error> {
    let policy = PolicyConfig { types, assignment, ..PolicyConfig::default() }.init()?;
    let mut row = format!("| {name} |");
    for temperature in [1.0, 0.5, 0.1] {
        row += &format!(" {:.1} % |", 100.0 * policy.repetition_rate(SAMPLES, temperature)?);
    }
    println!("{row}");
    Ok(())
}
