//! Our own file of a baseline: versioned JSON that a person can read. It is data; reading it checks everything.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;

use super::error::{FORMAT, Problem, VERSION};
use super::{Published, Scheme, Source};

/// The largest of the published policies takes some 60 KiB.
pub(super) const MOST_BYTES: u64 = 4 << 20;

/// What every version of the file starts with.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

/// Whether a text has our format's name.
pub(super) fn recognises(text: &[u8]) -> bool {
    serde_json::from_slice::<Name>(text).is_ok_and(|name| name.format == FORMAT)
}

#[derive(Deserialize)]
struct Name {
    format: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    name: String,
    source: Source,
    #[serde(default)]
    notes: Vec<String>,
    policy: Scheme,
}

pub(super) fn to_json(published: &Published) -> String {
    let Published { name, source, notes, scheme } = published.clone();
    let file = File { format: FORMAT.to_owned(), version: VERSION, name, source, notes, policy: scheme };
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Readable::default());
    // Writing to memory does not fail, and what was checked has no numbers that JSON lacks.
    file.serialize(&mut serializer).unwrap_or_default();
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_default()
}

pub(super) fn from_json(bytes: &[u8]) -> Result<Published, Problem> {
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Problem::TooLarge { most: MOST_BYTES });
    }
    // The header first: of a file from the future, its version is what a user must hear about, not its keys.
    let header: Header = match parse(bytes) {
        Err(Problem::Key { .. }) => return Err(Problem::NotABaseline),
        other => other?,
    };
    if header.format != FORMAT {
        return Err(Problem::NotABaseline);
    }
    if header.version != VERSION {
        return Err(Problem::Version { found: header.version });
    }
    let File { name, source, notes, policy: scheme, .. } = parse(bytes)?;
    scheme.check(source.kind).map_err(|message| Problem::Key { key: "policy".to_owned(), message })?;
    Ok(Published { name, source, notes, scheme })
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let key = error.path().to_string();
        problem_of(&error.into_inner(), key)
    })?;
    deserializer.end().map_err(|error| problem_of(&error, ".".to_owned()))?;
    Ok(value)
}

fn problem_of(error: &serde_json::Error, key: String) -> Problem {
    let text = error.to_string();
    let message =
        text.split(" at line ").next().unwrap_or_default().replace("expected f64", "expected a number");
    match error.classify() {
        serde_json::error::Category::Data => {
            Problem::Key { key: if key == "." { "the top level".to_owned() } else { key }, message }
        }
        _ => Problem::Syntax { message, line: error.line(), column: error.column() },
    }
}

/// Keys, and lists and objects within lists, begin a line of their own; numbers stand side by side.
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
