//! JSON documents that people read: an error tells where it is, and the numbers of a list stand side by side.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::ser::Formatter;
use thiserror::Error;

/// What can be wrong with the text of a document.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// The text is not JSON, or stops too early.
    #[error("is not valid JSON: {message} at line {line}, column {column}")]
    Syntax {
        /// What the parser says.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A key is unknown, missing, or holds what it must not.
    #[error("at `{key}`: {message}")]
    Key {
        /// Where, such as `transformations[3].range`.
        key: String,
        /// What is wrong there.
        message: String,
    },
}

/// Reads a document.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let key = error.path().to_string();
        problem_of(&error.into_inner(), key)
    })?;
    deserializer.end().map_err(|error| problem_of(&error, ".".to_owned()))?;
    Ok(value)
}

/// The text of a document: keys, and lists and objects within lists, begin a line of their own.
pub fn write<T: Serialize>(document: &T) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Readable::default());
    document.serialize(&mut serializer).map_err(|error| problem_of(&error, ".".to_owned()))?;
    bytes.push(b'\n');
    Ok(String::from_utf8(bytes).expect("JSON is UTF-8"))
}

fn problem_of(error: &serde_json::Error, key: String) -> Problem {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default();
    // serde names Rust's types; people know numbers.
    let message = message
        .replace("expected usize", "expected a whole number")
        .replace("expected f32", "expected a number")
        .replace("expected f64", "expected a number");
    match error.classify() {
        serde_json::error::Category::Data => {
            Problem::Key { key: if key == "." { "the top level".to_owned() } else { key }, message }
        }
        _ => Problem::Syntax { message, line: error.line(), column: error.column() },
    }
}

/// What [`write`] looks like.
#[derive(Default)]
struct Readable {
    open: Vec<Open>,
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Object,
    List,
    /// A list that has more than plain values in it.
    LongList,
}

impl Readable {
    fn new_line<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        self.open.iter().try_for_each(|_| writer.write_all(b"  "))
    }

    fn begin<W: ?Sized + io::Write>(&mut self, writer: &mut W, open: Open, sign: &[u8]) -> io::Result<()> {
        if let Some(list @ (Open::List | Open::LongList)) = self.open.last_mut() {
            *list = Open::LongList;
            self.new_line(writer)?;
        }
        self.open.push(open);
        writer.write_all(sign)
    }
}

impl Formatter for Readable {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, Open::List, b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.open.pop() == Some(Open::LongList) {
            self.new_line(writer)?;
        }
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b",") }
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, Open::Object, b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open.pop();
        self.new_line(writer)?;
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.new_line(writer)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_side_by_side_and_the_rest_below_each_other() {
        let value = serde_json::json!({"a": [1, 2], "b": [[1], [2, 3]], "c": [{"d": "e"}], "f": []});
        let text = write(&value).unwrap();
        let wanted = "{\n  \"a\": [1,2],\n  \"b\": [\n    [1],\n    [2,3]\n  ],\n  \"c\": [\n    {\n      \"d\": \"e\"\n    }\n  ],\n  \"f\": []\n}\n";
        assert_eq!(text, wanted);
        assert_eq!(parse::<serde_json::Value>(text.as_bytes()), Ok(value));
    }

    #[test]
    fn a_problem_has_its_place() {
        let key = |text: &str| parse::<Vec<Vec<f64>>>(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(key("[[1], [2, \"x\"]]"), "at `[1][1]`: invalid type: string \"x\", expected a number");
        assert_eq!(key("{}"), "at `the top level`: invalid type: map, expected a sequence");
        assert_eq!(key("[[1]"), "is not valid JSON: EOF while parsing a list at line 1, column 4");
        assert_eq!(key("[] 1"), "is not valid JSON: trailing characters at line 1, column 4");
    }
}
