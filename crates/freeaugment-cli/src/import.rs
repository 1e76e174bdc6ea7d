//! `freeaugment import`

use std::path::{Path, PathBuf};

use freeaugment_baseline::{Kind, Published, import};
use freeaugment_search::Error;

use crate::arguments::ImportArguments;
use crate::exit::{Ending, Failure};
use crate::output::{self, print};

pub(crate) fn run(arguments: &ImportArguments) -> Result<Ending, Failure> {
    let kind: Kind = arguments.kind.parse().map_err(|error: freeaugment_baseline::UnknownKind| {
        Error::Candidate { name: arguments.kind.clone(), reason: error.to_string() }
    })?;
    let published = import(kind, &arguments.file, arguments.name.as_deref()).map_err(Error::from)?;
    let out = arguments.out.clone().unwrap_or_else(|| file_name(kind, &published));
    published.save(&out).map_err(Error::from)?;
    print(&published.description())?;
    print(&format!("\nfor `freeaugment compare --policies …`: {}", out.display()))?;
    match published.to_policy() {
        Ok(policy) => {
            let path = policy_path(&out);
            policy.save(&path).map_err(Error::from)?;
            print(&format!("as a policy of this program: {}", path.display()))?;
        }
        // That it can be compared is worth having; why it is no policy is worth knowing.
        Err(error) => output::say(&format!("no policy file was written: {error}")),
    }
    Ok(Ending::Done)
}

fn file_name(kind: Kind, published: &Published) -> PathBuf {
    let plain = |text: &str| -> String {
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
    };
    format!("{kind}-{}.json", plain(published.name())).into()
}

fn policy_path(out: &Path) -> PathBuf {
    out.with_extension("policy.json")
}
