//! `freeaugment reproduce`

use std::path::PathBuf;

use freeaugment_base::{Table, duration};
use freeaugment_search::{EXPERIMENTS, Error, Experiment, Scale, Size, Speed, Wanted};

use super::grid::{show, tell, work_on};
use super::use_threads;
use crate::arguments::grid::ReproduceArguments;
use crate::exit::{Ending, Failure};
use crate::interrupt;
use crate::output::{self, command, print};

pub(crate) fn run(arguments: &ReproduceArguments) -> Result<Ending, Failure> {
    use_threads(arguments.manner.threads)?;
    let policies = arguments.policy.iter().map(|given| policy(given)).collect::<Result<_, _>>()?;
    let mut wanted = Wanted {
        scale: arguments.scale,
        data: arguments.data.as_deref(),
        seeds: arguments.seeds,
        preset: arguments.search_preset.as_deref(),
        device: &arguments.device,
        policies,
    };
    if arguments.name == "list" {
        // What there is does not depend on what is here.
        wanted.data = None;
        return list(&wanted);
    }
    let experiment = Experiment::named(&arguments.name)?;
    if wanted.data.is_none() && wanted.scale != Scale::Tiny && !arguments.plan_only {
        let reason = "name the folder that the data lies in".to_owned();
        let (place, key) = ("the command line".to_owned(), "data".to_owned());
        return Err(Error::Setting { place, key, reason }.into());
    }
    let (builder, size) = experiment.plan(&wanted, Speed::measure()?)?;
    let name = format!("{}-{}", experiment.name, wanted.scale.name());
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(name));
    let data = wanted.data.filter(|_| wanted.scale != Scale::Tiny);
    let grid = builder.write(&out, data)?;
    if arguments.plan_only {
        return tell(&grid, arguments.manner);
    }
    if !arguments.manner.quiet {
        let about = format!("{}, {}", experiment.name, told(&size));
        output::say(&format!("{about}\n  plan      {}", out.display()));
    }
    interrupt::listen(arguments.manner.quiet)?;
    for index in 0..grid.cells().len() as u64 {
        if work_on(&grid, index, None, arguments.manner)? == Ending::Interrupted {
            let (cell, collect) = (command("cell", &out), command("collect", &out));
            output::say(&format!(
                "interrupted: what was done is saved\nto go on: the same command, or {cell} {index}; so far: {collect}"
            ));
            return Ok(Ending::Interrupted);
        }
    }
    show(&grid, arguments.manner.json, arguments.manner.quiet)
}

/// A published policy and the row it belongs to, as in `SLACK=slack.json`.
fn policy(given: &str) -> Result<(String, Vec<u8>), Error> {
    let refuse = |reason: String| Error::Candidate { name: given.to_owned(), reason };
    let (name, file) = given
        .split_once('=')
        .ok_or_else(|| refuse("write a row and a file, as in `SLACK=slack.json`".to_owned()))?;
    let bytes = std::fs::read(file).map_err(|error| refuse(error.to_string()))?;
    Ok((name.to_owned(), bytes))
}

fn list(wanted: &Wanted) -> Result<Ending, Failure> {
    let speed = Speed::measure()?;
    let mut table = Table::new("<>><>>><");
    table.row(["name", "images", "epochs", "network", "searches", "trainings", "time here", "what"]);
    for experiment in &EXPERIMENTS {
        let (_, size) = experiment.plan(wanted, speed)?;
        let [images, epochs, networks] = numbers(&size);
        let (searches, trainings) = (size.searches.to_string(), size.trainings.to_string());
        let time = duration(3600.0 * size.hours);
        table.row([
            experiment.name.to_owned(),
            images,
            epochs,
            networks,
            searches,
            trainings,
            time,
            experiment.about.to_owned(),
        ]);
    }
    print(&format!(
        "scale {}\n\n{table}\n\nThe time is a rough one: multiplications, at the speed of a few of them on this machine; one cell \
         after the other.",
        wanted.scale.name()
    ))?;
    Ok(Ending::Done)
}

fn numbers(size: &Size) -> [String; 3] {
    let joined = |words: Vec<String>| words.join(", ");
    let text = |numbers: &[usize]| joined(numbers.iter().map(ToString::to_string).collect());
    [
        text(&size.images),
        joined(size.epochs.iter().map(ToString::to_string).collect()),
        joined(size.networks.clone()),
    ]
}

fn told(size: &Size) -> String {
    let [images, epochs, networks] = numbers(size);
    let time = duration(3600.0 * size.hours);
    format!(
        "{} searches and {} trainings ({networks}; {images} images, {epochs} epochs), about {time} on this machine",
        size.searches, size.trainings
    )
}
