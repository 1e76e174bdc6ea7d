//! `freeaugment plan`, `freeaugment cell` and `freeaugment collect`

use std::path::Path;

use freeaugment_base::{Table, duration};
use freeaugment_search::{
    Candidate, Cell, CellState, CellTask, Claim, Collected, Cost, Error, Fenced, Grid, GridBuilder, GridRow,
    GridTable, Halt, PolicySource, Settings, Setup, Shows, Speed, Task, open_data,
};
use toml::Table as Values;

use super::{check_device, configuration, folder, use_threads};
use crate::arguments::grid::{CellArguments, CollectArguments, PlanArguments};
use crate::arguments::{Manner, Record, Source, Trials};
use crate::exit::{Ending, Failure};
use crate::follow::Follow;
use crate::interrupt;
use crate::output::{self, command, print, print_json};
use crate::progress::{Cells, Reading, Steps};

pub(crate) fn plan(arguments: &PlanArguments) -> Result<Ending, Failure> {
    let trials = &arguments.trials;
    let searched = arguments.search.then(|| search_settings(arguments)).transpose()?;
    let out = folder(trials.source.out.as_ref(), "plan");
    write(&arguments.policies, arguments.baseline.as_deref(), searched.as_ref(), trials, &out)
}

/// Settings of the searches: what they share with the trainings is said once.
fn search_settings(arguments: &PlanArguments) -> Result<Settings, Error> {
    let shared = Task::Search.fields().filter(|field| {
        matches!(field.group, "Data" | "Pipeline") || matches!(field.name, "network" | "device")
    });
    let flags = &arguments.trials.settings.0;
    let given = shared.filter_map(|field| Some((field.name.to_owned(), flags.get(field.name)?.clone())));
    let source = Source {
        preset: arguments.trials.source.preset.clone(),
        config: arguments.search_config.clone(),
        out: None,
        dry_run: false,
    };
    configuration::settings(Task::Search, &source, &given.collect::<Values>())
}

/// Writes the plan of a comparison, with a search for every seed or without.
pub(crate) fn write(
    policies: &[String],
    baseline: Option<&str>,
    searched: Option<&Settings>,
    trials: &Trials,
    out: &Path,
) -> Result<Ending, Failure> {
    let mut settings = configuration::settings(Task::Comparison, &trials.source, &trials.settings.0)?;
    use_threads(trials.manner.threads)?;
    check_device(&settings)?;
    if !settings.warm_start.is_empty() {
        let reason =
            "cells of a plan begin from scratch: they may be worked on where that file is not".to_owned();
        let (place, key) = ("the command line".to_owned(), "warm_start".to_owned());
        return Err(Error::Setting { place, key, reason }.into());
    }
    let speed = Speed::measure()?;
    let cost = |task: Task, settings: &Settings| -> Result<Cost, Error> {
        speed.cost(task, settings, Setup::count(&open_data(settings)?, settings, task))
    };
    let trained = cost(Task::Comparison, &settings)?;
    let found = searched.map(|searched| cost(Task::Search, searched)).transpose()?;

    let mut builder = GridBuilder::new("comparison");
    let root = place(&mut settings);
    let searched = searched.cloned().map(|mut searched| {
        place(&mut searched);
        searched
    });
    let mut rows = Vec::new();
    for name in policies {
        if rows.iter().any(|row: &GridRow| row.name == *name) {
            continue;
        }
        let policy = source(&mut builder, name, &settings)?;
        let cells = (1..=trials.seeds).map(|seed| {
            // Whatever a search has seen is not tested on: with searches, a seed is that of the images too.
            let images = if searched.is_some() { seed } else { settings.seed };
            builder.train(&Settings { seed: images, ..settings.clone() }, &policy, seed, None, trained)
        });
        rows.push(GridRow { name: name.clone(), published: None, cells: cells.collect() });
    }
    if let Some((searched, found)) = searched.zip(found) {
        let cells = (1..=trials.seeds).map(|seed| {
            let policy = PolicySource::Cell(builder.search(&searched, seed, found));
            builder.train(&Settings { seed, ..settings.clone() }, &policy, seed, None, trained)
        });
        rows.push(GridRow { name: "search".to_owned(), published: None, cells: cells.collect() });
    }
    let known = |name: &str| rows.iter().any(|row| row.name == name);
    let baseline = baseline.unwrap_or(if known("standard") { "standard" } else { &rows[0].name }).to_owned();
    if !known(&baseline) {
        let names: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
        let reason = format!("the baseline must be one of those compared: {}", names.join(", "));
        return Err(Error::Candidate { name: baseline, reason }.into());
    }
    builder.table(GridTable {
        title: "test accuracy".to_owned(),
        shows: Shows::Accuracy,
        baseline: Some(baseline),
        rows,
    });
    if trials.source.dry_run {
        print(&cells_table(builder.cells()))?;
        return Ok(Ending::Done);
    }
    let grid = builder.write(out, root.as_deref())?;
    tell(&grid, trials.manner)
}

/// The folder of the data, which from now on stands in the plan and not in the settings.
fn place(settings: &mut Settings) -> Option<std::path::PathBuf> {
    let data = std::mem::take(&mut settings.data);
    if data.is_empty() {
        return None;
    }
    ".".clone_into(&mut settings.data);
    Some(data.into())
}

/// A policy by its name, or a copy of its file.
pub(crate) fn source(
    builder: &mut GridBuilder,
    name: &str,
    settings: &Settings,
) -> Result<PolicySource, Error> {
    let candidate = Candidate::open(name, settings)?;
    match candidate.file() {
        None => Ok(PolicySource::Name(name.to_owned())),
        Some(bytes) => {
            let bytes = bytes.to_vec();
            Ok(builder.policy_file(name, bytes))
        }
    }
}

/// Says what a plan is and how it is worked on.
pub(crate) fn tell(grid: &Grid, manner: Manner) -> Result<Ending, Failure> {
    if manner.json {
        let cells = grid.cells();
        print_json(
            &serde_json::json!({ "plan": grid.folder(), "searches": grid.searches(), "cells": cells }),
        )?;
        return Ok(Ending::Done);
    }
    if manner.quiet {
        return Ok(Ending::Done);
    }
    print(&cells_table(grid.cells()))?;
    let (program, plan) = (output::program(), output::quoted(grid.folder()));
    output::say(&format!("\nnext: {program} cell {plan} 0\n      {program} collect {plan}"));
    Ok(Ending::Done)
}

/// The cells in a few lines: those that differ in their seed alone share one.
fn cells_table(cells: &[Cell]) -> String {
    let mut table = Table::new("<<<>>");
    table.row(["cells", "", "settings", "one takes about", "memory"]);
    let kind = |cell: &Cell| {
        let under = match &cell.task {
            CellTask::Search => "search".to_owned(),
            CellTask::Train { policy: PolicySource::Name(name) | PolicySource::File(name), .. } => {
                format!("train under {name}")
            }
            CellTask::Train { .. } => "train under what a search learned".to_owned(),
        };
        (under, cell.settings.clone())
    };
    let mut at = 0;
    while at < cells.len() {
        let same = cells[at..].iter().take_while(|cell| kind(cell) == kind(&cells[at])).count();
        let cell = &cells[at];
        let (what, settings) = kind(cell);
        let range = if same == 1 { at.to_string() } else { format!("{at}-{}", at + same - 1) };
        table.row([range, what, settings, duration(cell.seconds), format!("{} MiB", cell.mib)]);
        at += same;
    }
    let seconds: f64 = cells.iter().map(|cell| cell.seconds).sum();
    format!(
        "{table}\n\n{} cells, about {} on this machine, one after the other",
        cells.len(),
        duration(seconds)
    )
}

pub(crate) fn cell(arguments: &CellArguments) -> Result<Ending, Failure> {
    let grid = Grid::open(&arguments.plan)?;
    let index = match arguments.index {
        Some(index) => index,
        None => index_of_job(&grid)?,
    };
    use_threads(arguments.manner.threads)?;
    interrupt::listen(arguments.manner.quiet)?;
    let index = index.saturating_add(arguments.offset);
    let ending = work_on(&grid, index, arguments.data.as_deref(), arguments.manner)?;
    if ending == Ending::Interrupted {
        let again = format!("{} {index}", command("cell", &arguments.plan));
        output::say(&format!("interrupted: what was done is saved\nto go on: {again}"));
    }
    Ok(ending)
}

/// The index that a scheduler gives its jobs.
fn index_of_job(grid: &Grid) -> Result<u64, Error> {
    const KEYS: [&str; 2] = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"];
    let refuse = |reason: String| Error::Plan { path: grid.folder().to_owned(), reason };
    let found = KEYS.iter().find_map(|key| Some((key, std::env::var(key).ok()?)));
    let Some((key, text)) = found else {
        return Err(refuse(format!("has many cells: say which, or set {}", KEYS.join(" or "))));
    };
    text.parse().map_err(|_| refuse(format!("has no cell `{text}`, which {key} says")))
}

/// Works on a cell until it is finished or someone stops it.
pub(crate) fn work_on(
    grid: &Grid,
    index: u64,
    data: Option<&Path>,
    manner: Manner,
) -> Result<Ending, Failure> {
    let cell = grid.cell(index)?;
    let about = format!("cell {index} of {}, {}", grid.cells().len(), cell.name);
    let talk = |text: &str| {
        if !manner.quiet {
            output::say(&format!("{about}: {text}"));
        }
    };
    let finished = || -> Result<Ending, Failure> {
        talk("finished already");
        told(index, cell, "finished", manner)
    };
    if grid.state(cell)? == CellState::Finished {
        return finished();
    }
    grid.require_needs(cell)?;
    let settings = grid.settings(cell, data)?;
    check_device(&settings)?;
    // From here on there is something to lose: the claim.
    interrupt::be_careful();
    let mut watching = |holder: &str, seconds: f64| {
        talk(&format!("claimed by {holder}; watching it for at most {}", duration(seconds)));
    };
    let Some(claim) = grid.claim(cell, &mut watching, interrupt::stop())? else {
        return Ok(Ending::Interrupted);
    };
    // Someone may have finished it while it was watched.
    if grid.state(cell)? == CellState::Finished {
        claim.release()?;
        return finished();
    }
    let halt = match cell.task {
        CellTask::Search => search(grid, cell, &claim, settings, manner),
        CellTask::Train { .. } => train(grid, cell, &claim, &settings, manner),
    };
    if !matches!(halt, Err(Failure::Work(Error::ClaimLost { .. }))) {
        let released = claim.release();
        // The first error is the one to report.
        halt.as_ref().is_ok().then_some(released).transpose()?;
    }
    if halt? == Halt::Stopped {
        return Ok(Ending::Interrupted);
    }
    talk("finished");
    told(index, cell, "finished", manner)
}

fn told(index: u64, cell: &Cell, outcome: &str, manner: Manner) -> Result<Ending, Failure> {
    if manner.json {
        print_json(&serde_json::json!({ "outcome": outcome, "cell": cell.name, "index": index }))?;
    }
    Ok(Ending::Done)
}

/// Cells have no page: their plan has tables.
fn no_page(grid: &Grid, cell: &Cell) -> Follow {
    Follow::new(&grid.folder_of(cell), Record { no_report: true, tensorboard: false })
}

fn search(
    grid: &Grid,
    cell: &Cell,
    claim: &Claim,
    settings: Settings,
    manner: Manner,
) -> Result<Halt, Failure> {
    let setup = Setup::for_search(&settings, &Reading::new(manner.quiet))?;
    let (mut search, run) = grid.search(cell, claim, settings, setup, output::typed())?;
    let mut steps = Steps::new(&search, manner, no_page(grid, cell));
    let halt = run.search(&mut search, &mut Fenced { claim, observer: &mut steps }, interrupt::stop());
    steps.end()?;
    Ok(halt?)
}

fn train(
    grid: &Grid,
    cell: &Cell,
    claim: &Claim,
    settings: &Settings,
    manner: Manner,
) -> Result<Halt, Failure> {
    let setup = Setup::for_training(settings, &Reading::new(manner.quiet))?;
    let (comparison, run) = grid.training(cell, claim, settings, &setup, output::typed())?;
    let mut cells = Cells::new("test", manner.quiet, no_page(grid, cell));
    let mut fenced = Fenced { claim, observer: &mut cells };
    let halt = comparison.run(&run, settings, &setup, &mut fenced, interrupt::stop());
    cells.end();
    Ok(halt?)
}

pub(crate) fn collect(arguments: &CollectArguments) -> Result<Ending, Failure> {
    show(&Grid::open(&arguments.plan)?, arguments.json, false)
}

/// Writes and prints the tables of what is finished.
pub(crate) fn show(grid: &Grid, json: bool, quiet: bool) -> Result<Ending, Failure> {
    let collected = Collected::new(grid)?;
    collected.write(grid)?;
    freeaugment_report::write_tables(&collected.tables, &grid.folder().join("figures"))?;
    if json {
        print_json(&collected)?;
    } else if !quiet {
        print(&collected.to_string())?;
    }
    for warning in collected.mixed().into_iter().chain(collected.gap()) {
        output::say(&format!("warning: {warning}"));
    }
    Ok(if collected.missing.is_empty() { Ending::Done } else { Ending::Incomplete })
}
