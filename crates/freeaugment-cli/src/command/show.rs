//! `freeaugment show`

use freeaugment_base::Table;
use freeaugment_search::{Error, Learned, Run, Task, policy_file};

use crate::arguments::ShowArguments;
use crate::exit::{Ending, Failure};
use crate::output::{print, print_json};

pub(crate) fn run(arguments: &ShowArguments) -> Result<Ending, Failure> {
    if let Ok(run) = Run::open(&arguments.policy)
        && run.task() == Task::Comparison
    {
        return table(&run, arguments.json);
    }
    let path = policy_file(&arguments.policy)?;
    let learned = Learned::load(&path)?;
    if arguments.json {
        print_json(&learned)?;
    } else if arguments.full {
        print(&learned.description.to_string())?;
    } else {
        let count = learned.transformations.len();
        let head = format!("{}: {count} transformations, up to {} in a row", path.display(), learned.layers);
        print(&format!("{head}\n\n{learned}{}", provenance(&learned)))?;
    }
    Ok(Ending::Done)
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

fn provenance(learned: &Learned) -> String {
    if learned.provenance.is_empty() {
        return String::new();
    }
    let mut table = Table::new("<<");
    for (key, value) in &learned.provenance {
        // A file is written by anyone; control characters must not reach the terminal.
        let plain = |text: &str| text.chars().filter(|letter| !letter.is_control()).collect::<String>();
        table.row([plain(key), plain(value)]);
    }
    format!("\n\nwhere it comes from\n{table}")
}
