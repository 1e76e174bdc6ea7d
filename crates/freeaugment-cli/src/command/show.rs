//! `freeaugment show`

use freeaugment_base::Table;
use freeaugment_search::{Learned, policy_file};

use crate::arguments::ShowArguments;
use crate::exit::{Ending, Failure};
use crate::output::{print, print_json};

pub(crate) fn run(arguments: &ShowArguments) -> Result<Ending, Failure> {
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
