//! What is written of a run for people while it is worked on: its page, and event files. That one of them cannot be written is
//! worth a line, and nothing more.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use freeaugment_report::{Board, Live, PAGE};
use freeaugment_search::Error;

use crate::arguments::Record;
use crate::output;

/// Writes the page and the event files; all copies write the same ones.
#[derive(Clone, Debug)]
pub(crate) struct Follow(Rc<RefCell<Following>>);

#[derive(Debug)]
struct Following {
    page: Option<Written<Live>>,
    board: Option<Written<Board>>,
}

#[derive(Debug)]
struct Written<T> {
    what: &'static str,
    writer: T,
    warned: bool,
}

impl<T> Written<T> {
    fn new(what: &'static str, writer: T) -> Self {
        Self { what, writer, warned: false }
    }

    fn write(&mut self, write: impl FnOnce(&mut T) -> Result<(), Error>) {
        if let Err(error) = write(&mut self.writer)
            && !std::mem::replace(&mut self.warned, true)
        {
            output::say(&format!("warning: {} not written: {error}", self.what));
        }
    }
}

impl Follow {
    /// The run in this folder. Event files that were begun are gone on with.
    pub(crate) fn new(run: &Path, record: Record) -> Self {
        let wants_board = record.tensorboard || Board::is_begun(run).unwrap_or(false);
        let page = (!record.no_report).then(|| Written::new("the report is", Live::new(run)));
        let board = wants_board.then(|| Written::new("the event files are", Board::new(run)));
        Self(Rc::new(RefCell::new(Following { page, board })))
    }

    /// An epoch has ended.
    pub(crate) fn epoch(&self) {
        self.0.borrow_mut().write(|live| live.epoch().map(|_| ()), Board::epoch);
    }

    /// The work has. Where it failed, what went wrong there is told, and not what that did to the page.
    pub(crate) fn end(&self, failed: bool) {
        let following = &mut *self.0.borrow_mut();
        if failed {
            following.page.iter_mut().for_each(|page| page.warned = true);
            following.board.iter_mut().for_each(|board| board.warned = true);
        }
        following.write(Live::end, Board::tell);
    }

    /// Says where the page is, where there is one.
    pub(crate) fn tell(&self, run: &Path) {
        let page = run.join(PAGE);
        if self.0.borrow().page.is_some() && page.is_file() {
            output::say(&format!("      open {} in a browser", output::quoted(&page)));
        }
    }
}

impl Following {
    fn write(
        &mut self,
        page: impl FnOnce(&mut Live) -> Result<(), Error>,
        board: impl FnOnce(&mut Board) -> Result<(), Error>,
    ) {
        if let Some(written) = &mut self.page {
            written.write(page);
        }
        if let Some(written) = &mut self.board {
            written.write(board);
        }
    }
}
