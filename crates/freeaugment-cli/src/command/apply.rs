//! `freeaugment apply`

use std::path::Path;

use freeaugment_base::{Table, duration, percent};
use freeaugment_search::{Applied, Apply, ApplySettings, Candidate, Halt, Settings};

use super::use_threads;
use crate::arguments::ApplyArguments;
use crate::exit::{Ending, Failure};
use crate::interrupt;
use crate::output::{self, print, print_json};
use crate::progress::Copying;

pub(crate) fn run(arguments: &ApplyArguments) -> Result<Ending, Failure> {
    use_threads(arguments.threads)?;
    interrupt::listen(arguments.quiet)?;
    // The defaults take a policy as its file has it.
    let policy = Candidate::open(&arguments.policy, &Settings::default())?;
    let settings = ApplySettings {
        copies: arguments.copies,
        include_originals: arguments.include_originals,
        seed: arguments.seed,
        jpeg_quality: arguments.quality,
        max_unreadable: arguments.max_unreadable,
    };
    let apply = Apply::new(&policy, &arguments.input, &arguments.output, settings)?;
    interrupt::be_careful();
    let copying = Copying::new(arguments.quiet);
    let result = apply.run(&copying, interrupt::stop());
    copying.end();
    let (halt, applied) = result?;
    if !arguments.quiet {
        notes(&applied);
    }
    if halt == Halt::Stopped {
        let done = applied.before + applied.written;
        let again = output::again();
        output::say(&format!("interrupted: {done} of {} files are there\nto go on: {again}", apply.files()));
        if arguments.json {
            print_json(
                &serde_json::json!({ "outcome": "interrupted", "applied": applied, "resume": again }),
            )?;
        }
        return Ok(Ending::Interrupted);
    }
    if arguments.json {
        print_json(&serde_json::json!({ "outcome": "finished", "applied": applied }))?;
    } else if !arguments.quiet {
        print(&summary(&applied, &arguments.output))?;
    }
    Ok(Ending::Done)
}

/// What whoever uses the files should know of them.
fn notes(applied: &Applied) {
    for image in &applied.unreadable {
        output::say(&format!("skipped: {image}"));
    }
    let kinds = [
        (applied.not_images, "left out, for they are no JPEG, PNG, WebP or BMP images by their names"),
        (applied.deeper, "images with more than 8 bits a channel, whose copies have 8"),
        (applied.lost_profiles, "images with a colour profile that their copies cannot have"),
    ];
    for (count, text) in kinds.into_iter().filter(|(count, _)| *count > 0) {
        output::say(&format!("note: {text}: {count}"));
    }
}

fn summary(applied: &Applied, output: &Path) -> String {
    let Applied { images, written, before, seconds, unreadable, .. } = applied;
    let mut table = Table::new("<<");
    let more = |count: usize, text: &str| if count > 0 { format!(", {count} {text}") } else { String::new() };
    table.row(["images".to_owned(), format!("{images}{}", more(unreadable.len(), "of them unreadable"))]);
    table.row(["files".to_owned(), format!("{written} written{}", more(*before, "there from before"))]);
    if *written > 0 {
        let share = |part: f64| percent(part / seconds.total());
        let shares = format!(
            "{} of all threads: decoding {}, augmentation {}, encoding {}, files {}",
            duration(seconds.total()),
            share(seconds.decoding),
            share(seconds.augmentation),
            share(seconds.encoding),
            share(seconds.files)
        );
        table.row(["time".to_owned(), shares]);
    }
    let manifest = output.join("manifest.csv");
    table.row(["manifest".to_owned(), format!("{}: what was done to which file", manifest.display())]);
    table.to_string()
}
