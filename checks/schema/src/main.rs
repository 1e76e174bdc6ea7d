//! Holds the published schema of the policy file against what is written and what is refused: `scripts/check-schema`.

#[path = "../../../crates/freeaugment/tests/common/mod.rs"]
mod common;
#[path = "../../../crates/freeaugment/tests/common/kind.rs"]
mod kind;

use std::process::ExitCode;

use serde_json::Value;

const SCHEMA: &str = include_str!("../../../crates/freeaugment/schema/policy-1.schema.json");

/// What a file can have wrong in its shape, which is all that a schema can see.
const SHAPES: [&str; 9] = [
    "an unknown key",
    "an unknown key in a transformation",
    "a missing key",
    "an unknown kind",
    "a wrong type",
    "a negative count",
    "a misspelt transformation",
    "a later version",
    "a list instead of an object",
];

fn main() -> ExitCode {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let mut problems = Vec::new();
    let policies = kind::policies();
    for policy in &policies {
        let file: Value = serde_json::from_str(&policy.to_json().expect("it can be written")).expect("JSON");
        problems.extend(validator.iter_errors(&file).map(|error| format!("a good file is refused: {error}")));
    }
    let changes: Vec<_> = kind::changes().into_iter().filter(|(what, _)| SHAPES.contains(what)).collect();
    if changes.len() != SHAPES.len() {
        problems.push("a file that this check wants to see refused is no longer made".to_owned());
    }
    for (what, change) in changes {
        if validator.is_valid(&kind::changed(change)) {
            problems.push(format!("a file with {what} is accepted"));
        }
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        println!("the schema accepts {} kinds of policies and refuses {} bad files", policies.len(), SHAPES.len());
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}
