//! Python source, read for the literals that it assigns. Nothing is run: what is not plain data stays unread.

mod expression;
mod source;
mod token;

pub(super) use expression::Value;
pub(super) use source::{Assignment, read};

use expression::{Evaluator, Scope};

/// The value of one literal, such as a line of a log.
pub(super) fn literal(text: &str) -> Result<Value, String> {
    match token::lines(text)?.as_slice() {
        [line] => Evaluator::default().value(&line.tokens, &[&Scope::default()]),
        lines => Err(format!("one value is expected, {} lines are there", lines.len())),
    }
}
