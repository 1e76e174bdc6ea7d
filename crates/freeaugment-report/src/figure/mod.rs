//! The figures, a file each: numbers in, drawings and the numbers behind them out.

pub(crate) mod class;
pub(crate) mod curve;
pub(crate) mod depth;
pub(crate) mod forest;
pub(crate) mod phase;
pub(crate) mod policy;
pub(crate) mod range;
pub(crate) mod table;
pub(crate) mod training;
pub(crate) mod types;

use crate::escape::escape;
use crate::picture::png;
use crate::raster;
use crate::svg::Svg;
use freeaugment_base::csv::Csv;

/// A figure: drawings with a title, a sentence, and the numbers behind them.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// The name of its files.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) panels: Vec<Svg>,
    pub(crate) csv: Csv,
}

impl Figure {
    pub(crate) fn html(&self) -> String {
        let drawings: String = self.panels.iter().map(Svg::inline).collect();
        let small = self.panels.iter().all(|panel| panel.width < 300.0);
        format!(
            "<figure id=\"{}\"><h3{}>{}</h3><div class=\"panels{}\">{drawings}</div><figcaption>{}</figcaption></figure>\n",
            escape(&self.id),
            // One drawing says its title itself; the heading is for those who listen.
            if self.panels.len() == 1 { " class=\"heard\"" } else { "" },
            escape(&self.title),
            if small { " small" } else { "" },
            escape(&self.caption)
        )
    }

    /// The figure as a file of its own.
    pub(crate) fn file(&self) -> String {
        Svg::file(&self.panels, self.columns())
    }

    /// The same as a PNG file.
    pub(crate) fn png(&self) -> Vec<u8> {
        png(&raster::draw(&self.panels, self.columns()))
    }

    fn columns(&self) -> usize {
        if self.panels.iter().all(|panel| panel.width < 300.0) { 4 } else { 2 }
    }
}
