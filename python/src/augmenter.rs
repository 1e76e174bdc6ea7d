//! A policy of any kind: learned, a baseline by name, or one that another search published.

use std::path::Path;

use freeaugment::{Policy, Sharing};
use freeaugment_baseline::{BaselineFile, Moment};
use freeaugment_search::{Augmenter as Kind, Candidate, Drawn, Task, policy_file, resolve};
use pyo3::prelude::*;

use crate::PolicyError;

/// What augments images, with the text of its file.
pub(crate) struct Augmenter {
    pub(crate) document: String,
    pub(crate) title: String,
    kind: Kind,
}

/// What a draw is a function of.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) seed: u64,
    pub(crate) epoch: u32,
    pub(crate) index: u32,
}

fn refused(error: impl std::fmt::Display) -> PyErr {
    PolicyError::new_err(error.to_string())
}

impl Augmenter {
    /// From the text of a file.
    pub(crate) fn parse(text: &[u8]) -> PyResult<Self> {
        if BaselineFile::recognises(text) {
            return Ok(Self::of_file(BaselineFile::from_json(text).map_err(refused)?));
        }
        Self::of_policy(Policy::from_json(text).map_err(refused)?)
    }

    /// From a file, or from a run that holds one.
    pub(crate) fn load(path: &Path) -> PyResult<Self> {
        let path = policy_file(path).map_err(refused)?;
        let is_baseline = std::fs::read(&path).is_ok_and(|text| BaselineFile::recognises(&text));
        if is_baseline {
            return Ok(Self::of_file(BaselineFile::load(&path).map_err(refused)?));
        }
        Self::of_policy(Policy::load(&path).map_err(refused)?)
    }

    /// A baseline by the name that the program knows it by.
    pub(crate) fn named(name: &str) -> PyResult<Self> {
        let is_known = Candidate::names().any(|known| name.split(':').next() == Some(known));
        if !is_known && Path::new(name).exists() {
            return Err(refused(format!("`{name}` is a file and no baseline: use Policy.load")));
        }
        let settings = resolve(Task::Comparison, "quick", &[]).map_err(refused)?;
        let candidate = Candidate::open(name, &settings).map_err(refused)?;
        Self::parse(candidate.policy_document())
    }

    fn of_policy(policy: Policy) -> PyResult<Self> {
        let document = policy.to_json().map_err(refused)?;
        let config = policy.config();
        let title =
            format!("{} transformations, up to {} layers", config.transformations.len(), config.layers);
        Ok(Self { document, title, kind: Kind::Learned(Box::new(policy)) })
    }

    fn of_file(file: BaselineFile) -> Self {
        let title = file.name();
        match file {
            BaselineFile::Named(named) => Self {
                document: named.to_json(),
                title,
                kind: named.baseline.augmentation().map_or(Kind::Nothing, Kind::Actions),
            },
            BaselineFile::Published(published) => {
                Self { document: published.to_json(), title, kind: Kind::Actions(Box::new(published)) }
            }
        }
    }

    /// What its magnitudes are meant for: `learned`, or `baseline` where operations are PIL's.
    pub(crate) fn kind(&self) -> &'static str {
        if matches!(self.kind, Kind::Learned(_)) { "learned" } else { "baseline" }
    }

    /// What people want to know about it.
    pub(crate) fn describe(&self) -> PyResult<String> {
        match &self.kind {
            Kind::Learned(policy) => Ok(policy.describe().map_err(refused)?.to_string()),
            _ => Ok(BaselineFile::from_json(self.document.as_bytes()).map_err(refused)?.explanation()),
        }
    }

    /// Whether a whole batch shares what is drawn.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(&self.kind, Kind::Learned(policy) if policy.config().sharing == Sharing::PerBatch)
    }

    /// Draws for one image. The calling thread alone works on it.
    pub(crate) fn draw(&self, key: Key, moment: Moment) -> Drawn {
        let Key { seed, epoch, index } = key;
        self.kind.draw(seed, epoch, index, moment)
    }
}
