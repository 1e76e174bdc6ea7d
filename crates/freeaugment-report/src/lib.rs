//! Pages, figures and pictures of what FreeAugment has done: a run in, files out.
//!
//! [`write()`] makes one self-contained HTML page of a run or of several, without a script, and beside it, where asked for, a
//! folder with every figure as SVG and PNG and the numbers behind it as CSV. It reads runs through [`Run`] alone and shows what
//! can be read; what cannot is named on the page. The same run gives the same bytes.
//! [`Live`] writes the page of a run that goes on, and [`Board`] its event files for TensorBoard.
//!
//! ```no_run
//! use freeaugment_report::{Files, Pictures, write};
//! use freeaugment_search::Run;
//!
//! # fn main() -> Result<(), freeaugment_search::Error> {
//! let run = Run::open("runs/search-1".as_ref())?;
//! let page = run.folder().join("report.html");
//! write(&[run], &page, Pictures::With, Files::With)?;
//! # Ok(())
//! # }
//! ```

mod axis;
mod board;
mod chart;
mod escape;
mod figure;
mod letter;
mod live;
mod page;
mod picture;
mod preview;
mod raster;
mod section;
mod sheet;
mod studio;
mod svg;
mod terminal;
mod turn;
mod words;

use std::path::Path;

use freeaugment_base::write_atomically;
use freeaugment_search::{CollectedTable, Error, Run, Task};

pub use board::Board;
pub use live::Live;
pub use preview::Preview;
pub use terminal::Terminal;

use crate::figure::{Figure, table};
use crate::page::Page;
use crate::section::{comparison, find, search, several};
use crate::studio::Studio;

/// What the page of a run is called, in its folder.
pub const PAGE: &str = "report.html";

/// Whether a page shows pictures, for which data has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// It does.
    With,
    /// It does not.
    Without,
}

/// Whether figures and their numbers are written as files of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// They are, into a folder that is called as the page is, without its ending.
    With,
    /// They are not.
    Without,
}

/// Writes the page of a run, or of several beside each other.
pub fn write(runs: &[Run], path: &Path, pictures: Pictures, files: Files) -> Result<(), Error> {
    write_with(runs, path, &mut Studio::new(pictures), files)
}

fn write_with(runs: &[Run], path: &Path, studio: &mut Studio, files: Files) -> Result<(), Error> {
    let page = page(runs, studio);
    save(path, page.finish().as_bytes())?;
    if files == Files::Without {
        return Ok(());
    }
    save_figures(page.drawn(), &path.with_extension(""))
}

/// Writes a figure for every table of a plan in which something was measured, with its numbers, into a folder.
pub fn write_tables(tables: &[CollectedTable], folder: &Path) -> Result<(), Error> {
    save_figures(tables.iter().filter_map(table::figure).collect::<Vec<_>>().iter(), folder)
}

fn save_figures<'a>(figures: impl IntoIterator<Item = &'a Figure>, folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    for figure in figures {
        save(&folder.join(format!("{}.svg", figure.id)), figure.file().as_bytes())?;
        save(&folder.join(format!("{}.png", figure.id)), &figure.png())?;
        save(&folder.join(format!("{}.csv", figure.id)), figure.csv.as_str().as_bytes())?;
    }
    Ok(())
}

fn page(runs: &[Run], studio: &mut Studio) -> Page {
    let [run] = runs else { return several::page(runs) };
    match run.task() {
        Task::Search => search::page(run, studio),
        Task::Comparison => comparison::page(run, studio),
        Task::Find => find::page(run, studio),
    }
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(path, bytes).map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
    move |source| Error::Io { path: path.to_owned(), source }
}
