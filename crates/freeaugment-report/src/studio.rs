//! Where pictures are made, and kept: the page of a running search is written again and again, its data is opened once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use freeaugment_search::{Error, Gallery, Run};

use crate::Pictures;

/// Images that were read and sheets that were made.
#[derive(Debug)]
pub(crate) struct Studio {
    pictures: Pictures,
    galleries: BTreeMap<PathBuf, Rc<Gallery>>,
    /// The last sheet of each run, and what it was made of.
    sheets: BTreeMap<PathBuf, (String, String)>,
}

impl Studio {
    pub(crate) fn new(pictures: Pictures) -> Self {
        Self { pictures, galleries: BTreeMap::new(), sheets: BTreeMap::new() }
    }

    /// Whether there are no pictures.
    pub(crate) fn is_closed(&self) -> bool {
        self.pictures == Pictures::Without
    }

    /// Training images of a run, read when they are first asked for.
    pub(crate) fn gallery(&mut self, run: &Run, count: usize) -> Result<Rc<Gallery>, Error> {
        if let Some(known) = self.galleries.get(run.folder()) {
            return Ok(Rc::clone(known));
        }
        let gallery = Rc::new(run.gallery(count)?);
        self.galleries.insert(run.folder().to_owned(), Rc::clone(&gallery));
        Ok(gallery)
    }

    /// The sheet of a run: made by `make` where what it is `of` is not what it was of before.
    pub(crate) fn sheet(
        &mut self,
        run: &Run,
        of: &str,
        make: impl FnOnce(&mut Self) -> Result<String, Error>,
    ) -> Result<String, Error> {
        if let Some((known, html)) = self.sheets.get(run.folder())
            && known == of
        {
            return Ok(html.clone());
        }
        let html = make(self)?;
        self.sheets.insert(run.folder().to_owned(), (of.to_owned(), html.clone()));
        Ok(html)
    }
}
