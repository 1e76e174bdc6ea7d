//! `freeaugment preview`

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use freeaugment::Policy;
use freeaugment_baseline::BaselineFile;
use freeaugment_data::{Picture, read_image};
use freeaugment_report::{Preview, Terminal};
use freeaugment_search::{Candidate, Error, Gallery, Settings, Task, preset};

use crate::arguments::PreviewArguments;
use crate::exit::{Ending, Failure};
use crate::output::print;

/// Rows where nothing is said of them.
const ROWS: usize = 4;
const SAMPLES: u32 = 6;
/// Pixels of a picture on the sheet.
const SIDE: u32 = 192;

pub(crate) fn run(arguments: &PreviewArguments) -> Result<Ending, Failure> {
    let data = arguments.data.as_ref().map(|folder| folder.display().to_string()).unwrap_or_default();
    let settings = Settings { data, seed: 0, ..preset::preset(Task::Comparison, "drawings")? };
    let candidate = Candidate::open(&arguments.policy, &settings)?;
    let out = arguments.out.clone().unwrap_or_else(|| file_name(&arguments.policy));
    check(&out, &arguments.image)?;
    let strips = arguments.strips.then(|| learned(&candidate)).transpose()?;
    let rows = arguments.grid.map(|grid| grid.rows);
    let images = if arguments.image.is_empty() {
        let gallery = Gallery::open(&settings, rows.unwrap_or(ROWS))?;
        gallery.specimens.into_iter().map(|specimen| (specimen.class, specimen.picture)).collect()
    } else {
        let most = rows.unwrap_or(arguments.image.len());
        arguments.image.iter().take(most).map(|file| read(file)).collect::<Result<Vec<_>, _>>()?
    };
    let preview = Preview {
        candidate: &candidate,
        samples: arguments.grid.map_or(SAMPLES, |grid| grid.columns),
        seed: arguments.seed,
        size: arguments.size.into(),
        side: SIDE,
    };
    let png = preview.draw(&images, strips.as_ref())?;
    freeaugment_base::write_atomically(&out, &png)
        .map_err(|source| Error::Io { path: out.clone(), source })?;
    if io::stdout().is_terminal()
        && let Some(terminal) = Terminal::detect(|name| std::env::var(name).ok())
    {
        print(&terminal.show(&png))?;
    }
    print(&out.display().to_string())?;
    Ok(Ending::Done)
}

fn read(file: &Path) -> Result<(String, Picture), Error> {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    Ok((name, read_image(file)?))
}

/// The policy of a candidate, where that was learned or can be.
fn learned(candidate: &Candidate) -> Result<Policy, Error> {
    let document = candidate.policy_document();
    if BaselineFile::recognises(document) {
        let reason = "it is a baseline, which has no learned ranges: --strips shows those".to_owned();
        return Err(Error::Candidate { name: candidate.name().to_owned(), reason });
    }
    Ok(Policy::from_json(document)?)
}

/// `preview-` and the name of the policy, or of the folder that holds it.
fn file_name(policy: &str) -> PathBuf {
    let path = Path::new(policy);
    let named = if path.is_file() { path.with_extension("") } else { path.to_owned() };
    let named = named.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String =
        named.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    format!("preview-{}.png", plain.trim_matches('-')).into()
}

/// A preview replaces a PNG file, as one that was made before is, but nothing else, and no image that it shows.
fn check(out: &Path, images: &[PathBuf]) -> Result<(), Error> {
    const PNG: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
    let refuse = |reason: &str| {
        let source = io::Error::new(io::ErrorKind::AlreadyExists, reason.to_owned());
        Err(Error::Io { path: out.to_owned(), source })
    };
    let Ok(place) = out.canonicalize() else { return Ok(()) };
    if images.iter().any(|image| image.canonicalize().is_ok_and(|image| image == place)) {
        return refuse("is one of the images to be shown: name another file with --out");
    }
    let is_png = place.is_file() && std::fs::read(&place).is_ok_and(|bytes| bytes.starts_with(&PNG));
    if is_png { Ok(()) } else { refuse("exists and is no PNG file: it is not replaced") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_as_the_policy_is() {
        assert_eq!(file_name("rand:2:9"), Path::new("preview-rand-2-9.png"));
        assert_eq!(file_name("runs/search-1"), Path::new("preview-search-1.png"));
    }
}
