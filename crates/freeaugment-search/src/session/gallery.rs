//! A few training images of a run, to be looked at.

use std::collections::BTreeMap;

use freeaugment_data::{Dataset, Picture, Pipeline, Scan};

use super::setup::{choose, open_data, pipeline};
use crate::config::Settings;
use crate::error::Error;
use crate::run::Run;

/// Images that may be read to find a few that can be.
const MOST_READ: usize = 64;

/// Training images and what happens around the policy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gallery {
    /// Crop, flip, cutout.
    pub pipeline: Pipeline,
    /// The images, of as many classes as there are.
    pub specimens: Vec<Specimen>,
    /// The names of all classes.
    pub classes: Vec<String>,
}

/// A training image.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Specimen {
    /// Its number in the data.
    pub index: u32,
    /// The name of its class.
    pub class: String,
    /// The image.
    pub picture: Picture,
}

impl Gallery {
    /// Up to so many training images of settings, class after class. The data is not read as a whole: that it is what a run
    /// was made with is not checked, and where the size is left to the images, these few decide.
    pub fn open(settings: &Settings, count: usize) -> Result<Self, Error> {
        let dataset = open_data(settings)?;
        let (training, ..) = choose(settings, &dataset);
        let options = Scan { cache_bytes: 0, max_unreadable: usize::MAX };
        let tried = in_turn(&dataset, &training, MOST_READ.max(count));
        let scanned = dataset.scan(&tried, options, &|| {})?;
        let pipeline = pipeline(settings, &dataset, &scanned)?;
        let mut specimens = Vec::new();
        for &index in scanned.good.iter().take(count) {
            let class = dataset.classes.get(dataset.label(index) as usize).cloned().unwrap_or_default();
            specimens.push(Specimen { index, class, picture: dataset.read(index)? });
        }
        Ok(Self { pipeline, specimens, classes: dataset.classes.clone() })
    }
}

/// Images of one class after the other, so that a few show many classes.
fn in_turn(dataset: &Dataset, training: &[u32], count: usize) -> Vec<u32> {
    let mut classes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &index in training {
        classes.entry(dataset.label(index)).or_default().push(index);
    }
    let most = classes.values().map(Vec::len).max().unwrap_or(0);
    (0..most).flat_map(|at| classes.values().filter_map(move |of| of.get(at)).copied()).take(count).collect()
}

impl Run {
    /// Up to so many of its training images, where the data still is where it was.
    pub fn gallery(&self, count: usize) -> Result<Gallery, Error> {
        Gallery::open(&self.settings()?, count)
    }
}
