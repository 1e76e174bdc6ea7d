//! Results go to stdout, talk goes to stderr.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::sync::OnceLock;

use freeaugment_search::Settings;
use serde::Serialize;

/// Prints a result. That nobody reads on is no error: what was learned is in files.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints a result as one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    print(&serde_json::to_string(value).expect("results are plain values"))
}

/// Says something to whoever is there. Nobody being there is no error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

static TYPED: OnceLock<Vec<String>> = OnceLock::new();

/// Keeps what was typed, for runs to write down.
pub(crate) fn remember(words: &[OsString]) {
    TYPED.get_or_init(|| words.iter().map(|word| word.display().to_string()).collect());
}

/// What was typed to get here.
pub(crate) fn typed() -> &'static [String] {
    TYPED.get().map(Vec::as_slice).unwrap_or_default()
}

/// A command of this program, as it can be typed where this one was.
pub(crate) fn command(name: &str, path: &Path) -> String {
    format!("{} {name} {}", program(), quoted(path))
}

/// This program, as it was typed. `cargo run` says so to what it runs; whoever uses it may have installed nothing.
pub(crate) fn program() -> &'static str {
    if std::env::var_os("CARGO").is_some() { "cargo run --release --" } else { "freeaugment" }
}

/// A path as a shell wants it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+=:@%,\\".contains(letter);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// What was typed, as it can be typed once more.
pub(crate) fn again() -> String {
    let words = typed().iter().skip(1).map(|word| quoted(Path::new(word)));
    [program().to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// The flag that names the data of settings, with a space before it; nothing for the built-in drawings.
pub(crate) fn data_flag(settings: &Settings) -> String {
    match &*settings.data {
        "" => String::new(),
        data => format!(" --data {}", quoted(Path::new(data))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_a_shell_would_misread_them() {
        assert_eq!(quoted(Path::new("runs/search-1")), "runs/search-1");
        assert_eq!(quoted(Path::new("my runs/it's")), r"'my runs/it'\''s'");
    }
}
