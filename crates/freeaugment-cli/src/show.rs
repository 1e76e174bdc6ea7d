//! `freeaugment show`

use std::path::{Path, PathBuf};

use freeaugment_search::Error;

use crate::arguments::ShowArguments;
use crate::exit::{Ending, Failure};
use crate::learned::Learned;
use crate::output::{print, print_json};
use freeaugment_base::Table;

pub(crate) fn run(arguments: &ShowArguments) -> Result<Ending, Failure> {
    let path = policy_path(&arguments.policy)?;
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

/// The policy of a run, or the file itself.
fn policy_path(path: &Path) -> Result<PathBuf, Error> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let policy = path.join("policy.json");
    if policy.exists() {
        return Ok(policy);
    }
    let reason = "holds no policy.json: it is no run, or its first epoch has not ended";
    Err(Error::NotARun { path: path.to_owned(), reason: reason.to_owned() })
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
