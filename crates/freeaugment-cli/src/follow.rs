//! The page of a run while it is worked on. That it cannot be written is worth a line, and nothing more.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use freeaugment_report::{Live, PAGE};
use freeaugment_search::Error;

use crate::arguments::Manner;
use crate::output;

/// Writes the page; all copies write the same one.
#[derive(Clone, Debug)]
pub(crate) struct Follow(Option<Rc<RefCell<Following>>>);

#[derive(Debug)]
struct Following {
    live: Live,
    warned: bool,
}

impl Follow {
    /// The page of the run in this folder, unless nobody wants it.
    pub(crate) fn new(run: &Path, manner: Manner) -> Self {
        let wanted = !manner.no_report;
        Self(wanted.then(|| Rc::new(RefCell::new(Following { live: Live::new(run), warned: false }))))
    }

    /// An epoch has ended.
    pub(crate) fn epoch(&self) {
        self.write(|live| live.epoch().map(|_| ()));
    }

    /// The work has. Where it failed, what went wrong there is told, and not what that did to the page.
    pub(crate) fn end(&self, failed: bool) {
        let Some(following) = &self.0 else { return };
        following.borrow_mut().warned |= failed;
        self.write(Live::end);
    }

    /// Says where the page is, where there is one.
    pub(crate) fn tell(&self, run: &Path) {
        let page = run.join(PAGE);
        if self.0.is_some() && page.is_file() {
            output::say(&format!("      open {} in a browser", output::quoted(&page)));
        }
    }

    fn write(&self, write: impl FnOnce(&mut Live) -> Result<(), Error>) {
        let Some(following) = &self.0 else { return };
        let mut following = following.borrow_mut();
        if let Err(error) = write(&mut following.live)
            && !std::mem::replace(&mut following.warned, true)
        {
            output::say(&format!("warning: the report is not written: {error}"));
        }
    }
}
