//! What can be wrong with the choice of a baseline.

use thiserror::Error;

use crate::Baseline;

/// Why there is no such baseline.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselineError {
    /// Not a name that is known.
    #[error("there is no baseline `{name}`{}; there are {}", did_you_mean(*.nearest), Baseline::NAMES.join(", "))]
    Name {
        /// What was asked for.
        name: String,
        /// The name that may have been meant.
        nearest: Option<&'static str>,
    },
    /// Numbers after a name that takes none, or other than two for one that takes them.
    #[error("`{name}`: {}", numbers(.name, *.takes))]
    Numbers {
        /// What was asked for.
        name: String,
        /// Whether the baseline takes numbers at all.
        takes: bool,
    },
    /// RandAugment with no operation or too many.
    #[error("the number of operations is {found}, but must lie in 1..=14")]
    Operations {
        /// What was asked for.
        found: u32,
    },
    /// RandAugment with a level that there is not.
    #[error("the level is {found}, but must lie in 0..=30")]
    Level {
        /// What was asked for.
        found: u32,
    },
}

fn numbers(name: &str, takes: bool) -> String {
    let family = name.split(':').next().unwrap_or(name).parse::<Baseline>();
    match family {
        Ok(usual) if takes => format!("write the number of operations and the level, as in `{usual}`"),
        _ => "this baseline takes no numbers".to_owned(),
    }
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}
