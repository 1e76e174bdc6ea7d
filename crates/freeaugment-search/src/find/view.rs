//! How images are cut, and whether they are mirrored: what comes before every policy, and what nobody should have to know
//! of their images. On some data it is worth more than any policy; the defaults would all suffer alike.

use std::sync::Arc;

use freeaugment::Place;
use freeaugment_data::{Crop, Pipeline};

use super::selection::Competition;
use super::{Find, Setups, Stage};
use crate::config::{CropChoice, Settings};
use crate::run::RunWriter;
use crate::session::Setup;

mod cutting;
mod mirroring;

pub use cutting::{Cutting, WayToCut};
pub use mirroring::Mirroring;
pub(super) use mirroring::Tried;

/// What comes before a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) cut: Cut,
    /// Whether nothing is mirrored although the data would have it so.
    pub(super) unmirrored: bool,
}

/// How training images are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// As settings and data have it.
    Usual,
    /// Padded, then cut.
    Padded,
    /// Random boxes of at least so many percent of the area, resized.
    Boxes(u8),
}

impl Cut {
    /// Boxes as they are usual on large photographs, and such that keep most of an image: policies shift and shear, too.
    const BOXES: [Self; 2] = [Self::Boxes(35), Self::Boxes(8)];
    const ALL: [Self; 4] = [Self::Usual, Self::Padded, Self::BOXES[0], Self::BOXES[1]];

    /// The other ways that are tried, the gentler ones first: none where the settings or the data have decided.
    pub(super) fn others(settings: &Settings, usual: Crop) -> Vec<Self> {
        if settings.crop != CropChoice::Auto || settings.place == Place::First {
            return Vec::new();
        }
        let all = [&[Self::Padded][..], &Self::BOXES].concat();
        let is_usual = |cut: &Self| cut.crop(settings, usual) == usual;
        all.into_iter().filter(|cut| usual != Crop::None && !is_usual(cut)).collect()
    }

    fn crop(self, settings: &Settings, usual: Crop) -> Crop {
        match self {
            Self::Usual => usual,
            Self::Padded => Crop::Pad { pad: settings.pad },
            Self::Boxes(smallest) => Crop::Resized { smallest },
        }
    }
}

impl View {
    /// All that there can be.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let of = |cut| [false, true].map(|unmirrored| Self { cut, unmirrored });
        Cut::ALL.into_iter().flat_map(of)
    }

    /// The name of the folder of the selection whose trainings have this view.
    pub(super) fn folder(self) -> String {
        let cut = match self.cut {
            Cut::Usual => String::new(),
            Cut::Padded => "-padded".to_owned(),
            Cut::Boxes(smallest) => format!("-boxes-{smallest}"),
        };
        format!("selection{cut}{}", if self.unmirrored { "-unmirrored" } else { "" })
    }

    fn settings(self, settings: Settings) -> Settings {
        let settings = match self.cut {
            Cut::Usual => settings,
            Cut::Padded => Settings { crop: CropChoice::Pad, ..settings },
            Cut::Boxes(smallest) => {
                Settings { crop: CropChoice::Resized, smallest_box: f64::from(smallest) / 100.0, ..settings }
            }
        };
        Settings { flip: if self.unmirrored { 0.0 } else { settings.flip }, ..settings }
    }
}

impl Setups {
    /// How many classifiers ask for the view, for every seed of the first round.
    pub(super) fn view_cells(&self, settings: &Settings) -> u64 {
        let cuts = Cut::others(settings, self.selection.pipeline.crop).len() * cutting::JUDGES.len();
        u64::from(self.mirror_unasked(settings)) + cuts as u64
    }

    fn viewed(&self, view: View, settings: &Settings) -> Self {
        let of = |setup: &Setup| {
            let usual = &*setup.pipeline;
            let flip = if view.unmirrored { 0.0 } else { usual.flip };
            let pipeline = Pipeline { crop: view.cut.crop(settings, usual.crop), flip, ..usual.clone() };
            Setup { pipeline: Arc::new(pipeline), ..setup.clone() }
        };
        Self { search: of(&self.search), selection: of(&self.selection), proof: of(&self.proof) }
    }
}

impl Find {
    /// The same with another view.
    pub(super) fn viewed(&self, view: View) -> Self {
        Self {
            settings: view.settings(self.settings.clone()),
            plan: self.plan.clone(),
            setups: self.setups.viewed(view, &self.settings),
        }
    }

    /// The selection of this find, in its folder.
    pub(super) fn competition<'a>(
        &'a self,
        run: &RunWriter,
        view: View,
        settings: &'a Settings,
    ) -> Competition<'a> {
        Competition {
            folder: run.folder().join(view.folder()),
            rungs: &self.plan.rungs,
            settings,
            setup: &self.setups.selection,
        }
    }

    /// The settings of its selection.
    pub(super) fn selection_settings(&self) -> Settings {
        self.plan.settings(&self.settings, &self.setups, Stage::Selection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_cuts_are_tried_where_nobody_has_said_how() {
        let settings = Settings { crop: CropChoice::Auto, ..Settings::default() };
        let others = |settings: &Settings, usual| Cut::others(settings, usual);
        let (padded, boxes) = (Crop::Pad { pad: settings.pad }, Crop::Resized { smallest: 8 });
        assert_eq!(others(&settings, padded), [Cut::Boxes(35), Cut::Boxes(8)]);
        assert_eq!(others(&settings, boxes), [Cut::Padded, Cut::Boxes(35)]);
        for decided in [
            Settings { crop: CropChoice::Pad, ..settings.clone() },
            Settings { crop: CropChoice::Resized, ..settings.clone() },
            Settings { place: Place::First, ..settings.clone() },
        ] {
            assert_eq!(others(&decided, padded), []);
        }
        assert_eq!(others(&settings, Crop::None), []);
    }

    #[test]
    fn every_view_has_a_folder_of_its_own() {
        let mut names: Vec<String> = View::all().map(View::folder).collect();
        assert_eq!(names[..2], ["selection", "selection-unmirrored"]);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
