//! Ctrl-C: the first press finishes the step and saves, a second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::{Failure, INTERRUPTED};
use crate::output;

static STOP: AtomicBool = AtomicBool::new(false);
/// Whether there is anything to save.
static CAREFUL: AtomicBool = AtomicBool::new(false);

/// Begins to listen. Until [`be_careful`] is called there is nothing to lose, and the first press ends the program.
pub(crate) fn listen(quiet: bool) -> Result<(), Failure> {
    let handler = move || {
        if !CAREFUL.load(Ordering::Relaxed) || STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
        if !quiet {
            output::say("\nfinishing this step; press again to end at once");
        }
    };
    hear()?;
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::Unforeseen(format!("Ctrl-C cannot be listened to: {error}")))
}

/// Whoever started this program may have blocked signals, and what is blocked there is blocked here: Ray's workers do so with
/// Ctrl-C. One thread that hears is enough, and this is the first one.
#[cfg(unix)]
fn hear() -> Result<(), Failure> {
    use nix::sys::signal::{SigSet, Signal};

    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
    signals
        .thread_unblock()
        .map_err(|error| Failure::Unforeseen(format!("Ctrl-C cannot be listened to: {error}")))
}

#[cfg(not(unix))]
fn hear() -> Result<(), Failure> {
    Ok(())
}

/// From now on there is something to save.
pub(crate) fn be_careful() {
    CAREFUL.store(true, Ordering::Relaxed);
}

/// Set once someone wants to stop.
pub(crate) fn stop() -> &'static AtomicBool {
    &STOP
}
