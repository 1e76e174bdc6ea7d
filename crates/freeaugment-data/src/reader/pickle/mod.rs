//! Python pickles, read as plain data.
//!
//! A pickle is a program for a small stack machine which may import and call anything. Nothing is called here:
//! what the program would have built is described by a [`Value`], and calls stay calls ([`Value::Object`]) that
//! the reader of a particular file may recognise. Memory and nesting are bounded whatever the file says.

mod cursor;
mod machine;
mod value;

pub(super) use value::Value;

/// What a pickle describes. Bytes after its end are not looked at.
pub(super) fn parse(bytes: &[u8]) -> Result<Value<'_>, String> {
    machine::Machine::new(bytes).run()
}
