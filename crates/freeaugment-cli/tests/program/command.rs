//! Running the program and reading what it says.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A search that takes a second: three transformations, a small network, a few drawings.
pub(crate) const SMALL: &str = "--drawings-train 128 --drawings-validation 64 --network WRN-10-1 --batch 16 --epochs 3 \
    --layers 2 --proof-epochs 0 --magnitude-start 1 --type-start 1 --depth-start 1 \
    --transformations Rotate,Brightness,Invert";

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program in a folder; `arguments` have spaces between them.
pub(crate) fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freeaugment"));
    // What a test is run with must not show in what the program says.
    command.env_remove("CARGO").env_remove("COLUMNS");
    command.current_dir(folder).args(arguments.split_whitespace()).stdin(Stdio::null());
    command
}

/// Runs the program to its end.
pub(crate) fn run(folder: &Path, arguments: &str) -> Ended {
    finish(command(folder, arguments))
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command) -> Ended {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ended { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Runs the program; it must succeed.
pub(crate) fn succeed(folder: &Path, arguments: &str) -> Ended {
    let ended = run(folder, arguments);
    assert_eq!(ended.code, Some(0), "{arguments}: {}", ended.stderr);
    ended
}

/// Starts the program and leaves it running.
pub(crate) fn start(folder: &Path, arguments: &str) -> Child {
    command(folder, arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..6000 {
        if condition() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited for a minute until {what}");
}

impl Ended {
    /// What a user sees, with the folder of the test left out.
    pub(crate) fn shown(&self, folder: &Path) -> String {
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        let text = format!("exit code: {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr);
        text.replace(&folder.display().to_string(), "FOLDER")
    }
}

/// Numbers as `#`, bars as one letter, runs of spaces as two: what was learned differs between processors.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut shown = String::new();
    let mut previous = ' ';
    let mut spaces = 0;
    for letter in text.chars() {
        let is_part = previous == '#' && letter == '.';
        let letter = match letter {
            '0'..='9' => '#',
            '█'..='▏' | '░' => '█',
            other => other,
        };
        spaces = if letter == ' ' { spaces + 1 } else { 0 };
        let repeats = letter == previous && (letter == '#' || letter == '█');
        if !repeats && !is_part && spaces <= 2 {
            shown.push(letter);
        }
        previous = if is_part { '#' } else { letter };
    }
    // How long something took decides how it is told.
    shown
        .replace("# min # s", "# s")
        .replace("#..-#", "#..#")
        .replace("-#", "#")
        .replace("█", "")
        .replace(" \n", "\n")
}
