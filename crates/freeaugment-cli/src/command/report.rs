//! `freeaugment report`

use std::path::PathBuf;

use freeaugment_report::{Board, Files, PAGE, Pictures, write};
use freeaugment_search::Run;

use crate::arguments::ReportArguments;
use crate::exit::{Ending, Failure};
use crate::output::print;

pub(crate) fn run(arguments: &ReportArguments) -> Result<Ending, Failure> {
    let runs = arguments.runs.iter().map(|folder| Run::open(folder)).collect::<Result<Vec<_>, _>>()?;
    let path = arguments.out.clone().unwrap_or_else(|| match &runs[..] {
        [run] => run.folder().join(PAGE),
        _ => PathBuf::from(PAGE),
    });
    let pictures = if arguments.no_pictures { Pictures::Without } else { Pictures::With };
    write(&runs, &path, pictures, Files::With)?;
    if arguments.tensorboard {
        for run in &runs {
            Board::new(run.folder()).tell()?;
        }
    }
    print(&path.display().to_string())?;
    Ok(Ending::Done)
}
