//! `freeaugment show`

use std::path::Path;

use freeaugment::Provenance;
use freeaugment_base::Table;
use freeaugment_search::{Described, Error, Fixed, Learned, Run, Task, policy_file};

use crate::arguments::ShowArguments;
use crate::exit::{Ending, Failure};
use crate::output::{print, print_json};

pub(crate) fn run(arguments: &ShowArguments) -> Result<Ending, Failure> {
    if let Ok(run) = Run::open(&arguments.policy) {
        match run.task() {
            Task::Comparison => return table(&run, arguments.json),
            Task::Find => return verdict(&run, arguments.json),
            Task::Search => {}
        }
    }
    let path = policy_file(&arguments.policy)?;
    match Described::load(&path)? {
        Described::Learned(learned) if arguments.json => print_json(&learned)?,
        Described::Learned(learned) if arguments.full => print(&learned.description.to_string())?,
        Described::Learned(learned) => print(&policy(&path, &learned))?,
        Described::Fixed(fixed) if arguments.json => print_json(&fixed)?,
        Described::Fixed(fixed) => print(&baseline(&path, &fixed))?,
    }
    Ok(Ending::Done)
}

fn policy(path: &Path, learned: &Learned) -> String {
    let count = learned.transformations.len();
    let head = format!("{}: {count} transformations, up to {} in a row", path.display(), learned.layers);
    format!("{head}\n\n{learned}{}", provenance(&learned.provenance))
}

/// A baseline has no layers, so all of it is little.
fn baseline(path: &Path, fixed: &Fixed) -> String {
    let lines: Vec<String> = fixed.description.iter().map(|line| plain(line)).collect();
    let head = format!("{}: the baseline {}", path.display(), plain(&fixed.baseline));
    format!("{head}\n\n{}{}", lines.join("\n"), provenance(&fixed.provenance))
}

/// The table of a comparison, as far as it is.
fn table(run: &Run, json: bool) -> Result<Ending, Failure> {
    let Some(report) = run.report()? else {
        let reason = "is a comparison of which no classifier is trained yet".to_owned();
        return Err(Error::NotARun { path: run.folder().to_owned(), reason }.into());
    };
    if json {
        print_json(&report)?;
    } else {
        print(&format!("{}\n\n{report}", report.budget))?;
    }
    Ok(Ending::Done)
}

/// The end of a find.
fn verdict(run: &Run, json: bool) -> Result<Ending, Failure> {
    let Some(verdict) = run.verdict()? else {
        let reason = "is a find that has not come to its end: `freeaugment resume` goes on".to_owned();
        return Err(Error::NotARun { path: run.folder().to_owned(), reason }.into());
    };
    if json {
        print_json(&verdict)?;
    } else {
        super::find::show(&verdict)?;
    }
    Ok(Ending::Done)
}

fn provenance(entries: &Provenance) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let mut table = Table::new("<<");
    for (key, value) in entries {
        table.row([plain(key), plain(value)]);
    }
    format!("\n\nwhere it comes from\n{table}")
}

/// A file is written by anyone; control characters must not reach the terminal.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}
