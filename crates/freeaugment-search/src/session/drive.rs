//! The one loop: steps, ends of epochs, saving, and stopping when someone wants it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Session, Step};
use crate::error::Error;
use crate::run::Journal;

/// How much work may be lost to a crash.
const SAVE_EVERY: Duration = Duration::from_mins(1);
/// The end of an epoch is a good moment to save, but not many times a second.
const SAVE_SELDOM: Duration = Duration::from_secs(1);

/// Told what happens in a session.
pub trait Observer<S: Session> {
    /// Something is about to be written; an error leaves it as it is and ends the work.
    fn before_writing(&mut self) -> Result<(), Error> {
        Ok(())
    }
    /// A step was taken.
    fn step(&mut self, _session: &S, _step: &Step) {}
    /// An epoch has ended and is written down.
    fn epoch(&mut self, _session: &S, _epoch: &S::Epoch) {}
}

/// No one is told.
impl<S: Session> Observer<S> for () {}

/// Why work came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// All of it is done.
    Finished,
    /// Someone stopped it; it is saved and can be taken up again.
    Stopped,
}

/// Takes all steps that are left, from where the session's folder says it was left. When `stop` is set, the step is
/// finished and the state saved. Where processes share a session, all of them take the same steps and stop at the same
/// one, whichever was told to; the first of them writes, and the others are given no folder.
pub fn drive<S: Session>(
    session: &mut S,
    folder: Option<&Path>,
    observer: &mut dyn Observer<S>,
    stop: &AtomicBool,
) -> Result<Halt, Error> {
    let (ranks, journal) = (session.ranks(), folder.map(Journal::new));
    let save = |session: &S| journal.as_ref().map_or(Ok(()), |journal| journal.save(session));
    let mut saved = Instant::now();
    while !session.progress().is_finished() {
        if ranks.any(stop.load(Ordering::Relaxed)) {
            observer.before_writing()?;
            save(session)?;
            return Ok(Halt::Stopped);
        }
        let before = session.progress().done;
        let step = session.step()?;
        observer.step(session, &step);
        let progress = session.progress();
        // Going back through a cycle takes many turns and is not counted before its end.
        let ends = progress.done > before && progress.done.is_multiple_of(progress.per_epoch);
        if ends {
            let epoch = session.end_epoch()?;
            observer.before_writing()?;
            if let Some((folder, journal)) = folder.zip(journal.as_ref()) {
                session.write_epoch(folder, &epoch)?;
                journal.append(&epoch)?;
            }
            observer.epoch(session, &epoch);
        }
        let patience = if ends { SAVE_SELDOM } else { SAVE_EVERY };
        if saved.elapsed() >= patience || progress.is_finished() {
            observer.before_writing()?;
            save(session)?;
            saved = Instant::now();
        }
    }
    Ok(Halt::Finished)
}
