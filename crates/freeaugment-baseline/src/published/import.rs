//! From a file of another search to a [`Published`] policy.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::deepaa::DeepAa;
use super::dra::Dra;
use super::error::{Error, Problem};
use super::kind::Kind;
use super::name::Name;
use super::pba::Schedule;
use super::python;
use super::slack::Slack;
use super::subpolicy::SubPolicies;
use super::{Published, Scheme, Source};

/// The longest of the texts has 180 KB.
const MOST_TEXT: u64 = 2 << 20;
/// The largest of the archives has 8 KB.
const MOST_ARCHIVE: u64 = 64 << 20;
/// How long the searches of Population Based Augmentation were, which their files do not say.
const PBA_EPOCHS: f64 = 200.0;
const PBA_EPOCHS_SVHN: f64 = 160.0;

/// What has to be said of squares whose corner falls outside.
const CUTOUT: &str = "the authors' cutout is smaller at the border, here it is moved inside";

/// Reads a policy from the file that its authors published.
///
/// `name` chooses among the policies of one file; without it, a file that holds several is refused with their names.
/// The schedules of Population Based Augmentation have no names: there it is the number of epochs of the search, by
/// default 160 where the file's name has `svhn` in it and 200 otherwise, as in the authors' code.
pub fn import(kind: Kind, path: &Path, name: Option<&str>) -> Result<Published, Error> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = load(kind, path).map_err(|problem| problem.at(path))?;
    read(kind, &file, &bytes, name).map_err(|problem| problem.at(path))
}

/// As [`import`], from the bytes of a file of this name.
pub fn import_bytes(kind: Kind, file: &str, bytes: &[u8], name: Option<&str>) -> Result<Published, Error> {
    check_size(kind, bytes)?;
    Ok(read(kind, file, bytes, name)?)
}

/// A policy with its own name, and what has to be said about it.
type Found = (String, Scheme, Vec<String>);

/// The most bytes that a file of a kind may have.
fn most(kind: Kind) -> u64 {
    match kind {
        Kind::Slack | Kind::DeepAa => MOST_ARCHIVE,
        Kind::Dada | Kind::FastAutoAugment | Kind::Dra | Kind::Pba => MOST_TEXT,
    }
}

fn load(kind: Kind, path: &Path) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most(kind) + 1).read_to_end(&mut bytes))
        .map_err(Problem::Read)?;
    check_size(kind, &bytes)?;
    Ok(bytes)
}

fn check_size(kind: Kind, bytes: &[u8]) -> Result<(), Problem> {
    let most = most(kind);
    if bytes.len() as u64 > most { Err(Problem::TooLarge { most }) } else { Ok(()) }
}

fn read(kind: Kind, file: &str, bytes: &[u8], name: Option<&str>) -> Result<Published, Problem> {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (own, scheme, notes) = match kind {
        Kind::Slack | Kind::DeepAa => read_archive(kind, bytes, name, stem)?,
        Kind::Pba => read_pba(text(kind, bytes)?, file, name, stem)?,
        Kind::Dada | Kind::FastAutoAugment | Kind::Dra => read_python(kind, text(kind, bytes)?, name)?,
    };
    let source = Source { kind, file: file.to_owned(), bytes: bytes.len() as u64 };
    Ok(Published { name: format!("{kind} {own}"), source, notes, scheme })
}

fn text(kind: Kind, bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|_| Problem::Content { kind, reason: "it is not text".to_owned() })
}

fn read_archive(kind: Kind, bytes: &[u8], name: Option<&str>, stem: String) -> Result<Found, Problem> {
    if let Some(name) = name {
        return Err(Problem::NothingToChoose { name: name.to_owned() });
    }
    let content = |reason| Problem::Content { kind, reason };
    if kind == Kind::Slack {
        let slack = Slack::from_bytes(bytes).map_err(content)?;
        let mut notes = vec!["the authors' cutout is black, here it is grey".to_owned()];
        let rows = slack.logits.iter().map(|row| Slack::probabilities(row));
        let rows: Vec<_> = rows.collect();
        notes.extend(missing(slack.operations.iter().copied(), &rows));
        return Ok((stem, Scheme::Slack(slack), notes));
    }
    let deepaa = DeepAa::from_bytes(bytes).map_err(content)?;
    let mut notes =
        vec!["the authors' crop pads with grey, here it pads with black".to_owned(), CUTOUT.to_owned()];
    let rows: Vec<Vec<f64>> =
        deepaa.probabilities.iter().map(|row| row.iter().map(|&value| value.into()).collect()).collect();
    notes.extend(missing(deepaa.choices.iter().map(|choice| choice.0), &rows));
    Ok((stem, Scheme::DeepAa(deepaa), notes))
}

/// What has to be said where operations cannot be done.
fn missing(names: impl Iterator<Item = Name>, rows: &[Vec<f64>]) -> Option<String> {
    let (mut share, mut missing) = (0.0, None);
    for (at, name) in names.enumerate().filter(|(_, name)| name.is_missing()) {
        missing = Some(name);
        share += rows.iter().filter_map(|row| row.get(at)).sum::<f64>() / rows.len().max(1) as f64;
    }
    missing.map(|name| {
        format!("nothing is done in the place of {name:?}, which is {:.1} % of the choices", 100.0 * share)
    })
}

fn read_pba(text: &str, file: &str, name: Option<&str>, stem: String) -> Result<Found, Problem> {
    let content = |reason| Problem::Content { kind: Kind::Pba, reason };
    let given = name.map(|name| match name.parse::<u32>() {
        Ok(epochs) if epochs > 0 => Ok(f64::from(epochs)),
        _ => {
            Err(content("a schedule is chosen by the number of epochs of its search, such as 200".to_owned()))
        }
    });
    let guess = if file.to_lowercase().contains("svhn") { PBA_EPOCHS_SVHN } else { PBA_EPOCHS };
    let epochs = given.transpose()?.unwrap_or(guess);
    let schedule = Schedule::from_text(text, epochs).map_err(content)?;
    let notes = vec![
        format!("the search is taken to have had {epochs} epochs"),
        "where an image is moved away the authors put the mean colour, here it is black".to_owned(),
        CUTOUT.to_owned(),
    ];
    Ok((stem, Scheme::Pba(schedule), notes))
}

fn read_python(kind: Kind, text: &str, name: Option<&str>) -> Result<Found, Problem> {
    let content = |reason| Problem::Content { kind, reason };
    let assignments = python::read(text).map_err(content)?;
    if kind == Kind::Dra {
        let (policies, mut notes) = Dra::all_of(&assignments).map_err(content)?;
        notes.push("the authors' cutout is black, here it is grey".to_owned());
        let (own, dra) = choose(kind, policies, name, None)?;
        return Ok((own, Scheme::Dra(dra), notes));
    }
    let clamped = kind == Kind::Dada;
    let policies = SubPolicies::all_of(&assignments, clamped);
    // Every name that a statement gives is good, only the first is shown.
    let other = name.and_then(|name| {
        assignments.iter().rev().find(|assignment| assignment.names.iter().any(|own| own == name))
    });
    let reason = other.and_then(|other| match &other.value {
        Ok(value) => SubPolicies::from_python(value, clamped).err(),
        Err(reason) => Some(reason.clone()),
    });
    let name = other.and_then(|other| other.names.first()).map(String::as_str).or(name);
    let policies = policies.into_iter().map(|(own, policy)| (own.to_owned(), policy)).collect();
    let (own, policy) = choose(kind, policies, name, reason)?;
    Ok((own, Scheme::SubPolicies(policy), Vec::new()))
}

/// The policy of this name, or the only one. Case and signs of names do not matter.
fn choose<T>(
    kind: Kind,
    mut policies: Vec<(String, T)>,
    name: Option<&str>,
    reason: Option<String>,
) -> Result<(String, T), Problem> {
    let names: Vec<String> = policies.iter().map(|(own, _)| own.clone()).collect();
    let letters = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let place = match (name, policies.len()) {
        (_, 0) => {
            let reason = reason.unwrap_or_else(|| "no policy was found in it".to_owned());
            return Err(Problem::Content { kind, reason });
        }
        (None, 1) => Some(0),
        (None, _) => return Err(Problem::Several { names }),
        // The last of that name is the one that Python would see.
        (Some(name), _) => names.iter().rposition(|own| letters(own) == letters(name)),
    };
    match (place, name) {
        (Some(place), _) => Ok(policies.swap_remove(place)),
        (None, name) => {
            let name = name.unwrap_or_default().chars().take(80).collect();
            Err(Problem::Unknown { name, names, reason })
        }
    }
}
