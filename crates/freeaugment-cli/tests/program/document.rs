//! The reference in `docs/` says what the program does.

use std::fmt::Write as _;
use std::path::PathBuf;

use freeaugment_search::{FIELDS, Task, ValueKind, preset};
use toml::{Table, Value};

const BEGIN: &str = "<!-- settings: written by `UPDATE_DOCS=1 cargo test -p freeaugment-cli document` -->\n";
const END: &str = "<!-- end of settings -->\n";
const PRESETS: [&str; 4] = ["drawings", "quick", "cifar10", "imagenet100"];

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md")
}

/// The table of all settings.
fn settings() -> String {
    let table = |task, name| Table::try_from(preset::preset(task, name).unwrap()).unwrap();
    let tables = PRESETS.map(|name| [Task::Search, Task::Comparison].map(|task| table(task, name)));
    let mut text = String::new();
    let mut group = "";
    for field in FIELDS {
        if field.group != group {
            group = field.group;
            let columns = PRESETS.join("` | `");
            let _ = write!(
                text,
                "\n**{group}**\n\n| key | what it does | `{columns}` |\n|---|---|{}\n",
                "---|".repeat(PRESETS.len())
            );
        }
        let words = match field.kind {
            ValueKind::Choice(words) => format!(": `{}`", words.join("`, `")),
            _ => String::new(),
        };
        let tasks = [Task::Search, Task::Comparison];
        let has = tasks.map(|task| task.fields().any(|known| known.name == field.name));
        let values = tables.each_ref().map(|[search, training]| {
            let (search, training) = (shown(&search[field.name]), shown(&training[field.name]));
            match has {
                [true, true] if search != training => format!("{search}; {training} in training"),
                [true, _] => search,
                _ => training,
            }
        });
        let help = field.help.trim().replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(text, "| `{}` | {help}{words} | {} |", field.name, values.join(" | "));
    }
    format!("{text}\n")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[test]
fn the_table_of_settings_is_in_step() {
    let text = std::fs::read_to_string(page()).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the page has a place for the table");
    let (found, after) = rest.split_once(END).expect("the table ends");
    if found == settings() {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_DOCS").is_some(),
        "docs/commands.md does not list the settings as they are: run `UPDATE_DOCS=1 cargo test -p freeaugment-cli document`"
    );
    std::fs::write(page(), format!("{before}{BEGIN}{}{END}{after}", settings())).unwrap();
}

#[test]
fn every_exit_code_of_the_help_is_in_the_reference() {
    let text = std::fs::read_to_string(page()).unwrap();
    let help = crate::command::run(&std::env::temp_dir(), "--help").stdout;
    let codes = help.split_once("Exit codes:\n").unwrap().1;
    for line in codes.lines() {
        let (code, meaning) = line.trim().split_once(' ').unwrap();
        let row = format!("| {code} | {} |", meaning.trim());
        assert!(text.contains(&row), "{row}");
    }
}

#[test]
fn the_architecture_names_what_is_there_and_all_that_is_there() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let paths: Vec<&str> = text.split('`').skip(1).step_by(2).filter(|code| code.contains('/')).collect();
    assert!(paths.len() > 30, "{paths:?}");
    for path in &paths {
        assert!(root.join(path).exists(), "docs/architecture.md names {path}, which is not there");
    }
    for crate_folder in std::fs::read_dir(root.join("crates")).unwrap() {
        let folder = crate_folder.unwrap().path();
        let name = format!("crates/{}", folder.file_name().unwrap().display());
        assert!(paths.contains(&&*name), "docs/architecture.md does not name {name}");
        for part in std::fs::read_dir(folder.join("src")).unwrap() {
            let part = part.unwrap();
            let path = format!("{name}/src/{}/", part.file_name().display());
            let is_named = || paths.iter().any(|named| named.starts_with(&path));
            // How a baseline is made is for its own crate to say.
            let is_inside = name.ends_with("baseline");
            assert!(
                !part.path().is_dir() || is_inside || is_named(),
                "docs/architecture.md does not name {path}"
            );
        }
    }
}
