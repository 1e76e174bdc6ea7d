//! `freeaugment import`

use std::path::{Path, PathBuf};

use freeaugment::Policy;
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
    let out = arguments.out.clone().unwrap_or_else(|| file_name(&published));
    published.save(&out).map_err(Error::from)?;
    print(&published.description())?;
    print(&format!("\nfor `freeaugment compare --policies …`: {}", out.display()))?;
    // That it can be compared is worth having; why it is no policy, or not quite, is worth knowing.
    let refusal = match published.to_policy() {
        Ok(policy) => {
            print(&format!("as a policy of this program: {}", save(&policy, &out)?))?;
            return Ok(Ending::Done);
        }
        Err(error) => error,
    };
    match published.to_policy_leaving_out() {
        Ok(policy) => {
            print(&format!("as a policy of this program, nearly: {}", save(&policy, &out)?))?;
            output::say(&format!("not exactly: {refusal}"));
        }
        Err(error) => output::say(&format!("no policy file was written: {error}")),
    }
    Ok(Ending::Done)
}

/// The name begins with the kind.
fn file_name(published: &Published) -> PathBuf {
    let plain = |text: &str| -> String {
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
    };
    format!("{}.json", plain(published.name())).into()
}

/// Writes the policy beside the baseline.
fn save(policy: &Policy, out: &Path) -> Result<String, Error> {
    let path = out.with_extension("policy.json");
    policy.save(&path)?;
    Ok(path.display().to_string())
}
