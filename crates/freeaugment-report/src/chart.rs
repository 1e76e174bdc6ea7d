//! Lines over epochs, with bands: most figures are this.

use crate::axis::{Scale, extent, number, numbers};
use crate::escape::shortened;
use crate::svg::{COLOURS, Svg, width_of};

/// More points than this are thinned out: no screen shows them.
const MOST_POINTS: usize = 150;
/// Up to so many points, each has a mark that shows its numbers.
const MARKED: usize = 40;
/// Letters of a name in a legend.
const NAME: usize = 26;

/// A line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) colour: usize,
    pub(crate) dashed: bool,
    pub(crate) points: Vec<(f64, f64)>,
    /// Lower and upper edge at each point, in place of or beside the line.
    pub(crate) band: Vec<(f64, f64)>,
}

/// How the numbers of the upright axis are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Plain,
    /// Shares from 0 to 1 as percentages.
    Percent,
    /// By powers of ten.
    Powers,
}

/// A chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) size: (f64, f64),
    pub(crate) numbers: Numbers,
    /// What the upright axis must hold beside the lines.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) horizontal: &'static str,
    pub(crate) series: Vec<Series>,
    /// A range that is marked over the whole width, and what it is.
    pub(crate) marked: Option<(f64, f64, String)>,
    pub(crate) legend: bool,
}

/// The size of figures that stand alone, and of those that are many.
pub(crate) const LARGE: (f64, f64) = (400.0, 240.0);
pub(crate) const SMALL: (f64, f64) = (270.0, 170.0);

impl Chart {
    pub(crate) fn new(title: &str, numbers: Numbers, series: Vec<Series>) -> Self {
        Self {
            title: title.to_owned(),
            size: LARGE,
            numbers,
            range: None,
            horizontal: "epoch",
            legend: series.len() > 1,
            series,
            marked: None,
        }
    }

    fn shown(&self, value: f64) -> String {
        match self.numbers {
            Numbers::Percent => format!("{} %", number(100.0 * value)),
            _ => number(value),
        }
    }

    fn vertical(&self, ends: (f64, f64)) -> Scale {
        let values = self.series.iter().flat_map(|series| {
            let edges = series.band.iter().flat_map(|&(low, high)| [low, high]);
            series.points.iter().map(|point| point.1).chain(edges)
        });
        if self.numbers == Numbers::Powers {
            return Scale::logarithmic(extent(values.filter(|value| *value > 0.0)), ends);
        }
        let more = self.range.into_iter().flat_map(|(low, high)| [low, high]);
        let marked = self.marked.iter().flat_map(|(low, high, _)| [*low, *high]);
        let (low, high) = extent(values.chain(more).chain(marked));
        if self.numbers == Numbers::Percent && low == high {
            // One share alone: it is not below nothing, and not in the middle of everything.
            return Scale::new((0.0, (2.0 * high).clamp(0.1, 1.0)), ends);
        }
        let room = if self.range.is_some() { 0.0 } else { 0.04 * (high - low) };
        Scale::new((low - room, high + room), ends)
    }

    pub(crate) fn draw(&self) -> Svg {
        let (width, height) = self.size;
        let legend = if self.legend { self.legend_rows(width - 12.0) } else { Vec::new() };
        let height = height + 14.0 * legend.len() as f64;
        let mut svg = Svg::new(width, height, &self.label());
        svg.text((4.0, 14.0), "t", &shortened(&self.title, (width / 6.6) as usize));
        let mut top = 24.0;
        for row in &legend {
            let mut left = 6.0;
            for &at in row {
                let series = &self.series[at];
                let class = line_class(series);
                svg.line((left, top + 4.0), (left + 16.0, top + 4.0), &class);
                let name = shortened(&series.name, NAME);
                svg.text((left + 20.0, top + 8.0), "", &name);
                left += 32.0 + width_of(&name);
            }
            top += 14.0;
        }
        let (left, right, bottom) = (46.0, width - 10.0, height - 30.0);
        let upright = self.vertical((bottom, top + 6.0));
        let points = self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
        let (first, last) = extent(points);
        let across = Scale::new((first, last), (left, right));
        let rows = ((bottom - top) / 32.0) as usize;
        let ticks = upright.ticks(rows.max(2));
        let (factor, unit) = if self.numbers == Numbers::Percent { (100.0, " %") } else { (1.0, "") };
        let labels = numbers(&ticks.iter().map(|tick| factor * tick).collect::<Vec<_>>());
        for (tick, label) in ticks.into_iter().zip(labels) {
            let y = upright.at(tick);
            svg.line((left, y), (right, y), "grid");
            svg.text((left - 5.0, y + 4.0), "e s", &format!("{label}{unit}"));
        }
        for tick in across.ticks(6).into_iter().filter(|tick| tick.fract() == 0.0) {
            let x = across.at(tick);
            svg.line((x, bottom), (x, bottom + 4.0), "axis");
            svg.text((x, bottom + 15.0), "m s", &number(tick));
        }
        svg.line((left, bottom), (right, bottom), "axis");
        svg.text((right, height - 3.0), "e s", self.horizontal);
        if let Some((low, high, what)) = &self.marked {
            let (above, below) = (upright.at(*high), upright.at(*low));
            svg.rect((left, above), (right - left, (below - above).max(1.0)), "pf", 1.0, what);
            svg.line((left, above), (right, above), "p");
            svg.line((left, below), (right, below), "p");
        }
        for series in &self.series {
            self.draw_series(&mut svg, series, across, upright);
        }
        svg
    }

    fn draw_series(&self, svg: &mut Svg, series: &Series, across: Scale, upright: Scale) {
        let kept = thinned(series.points.len());
        let place = |at: usize, value: f64| (across.at(series.points[at].0), upright.at(value));
        if series.band.len() == series.points.len() && !series.band.is_empty() {
            let upper = kept.iter().map(|&at| place(at, series.band[at].1));
            let lower = kept.iter().rev().map(|&at| place(at, series.band[at].0));
            let edge: Vec<(f64, f64)> = upper.chain(lower).collect();
            svg.area(&edge, &format!("f{}", series.colour % COLOURS), 0.2, "");
        }
        let known: Vec<usize> = kept.into_iter().filter(|&at| series.points[at].1.is_finite()).collect();
        let line: Vec<(f64, f64)> = known.iter().map(|&at| place(at, series.points[at].1)).collect();
        let told = |at: usize| {
            let (x, y) = series.points[at];
            let name = if series.name.is_empty() { &self.title } else { &series.name };
            format!("{name}, {} {}: {}", self.horizontal, number(x), self.shown(y))
        };
        let title = known.last().map(|&at| told(at)).unwrap_or_default();
        if line.len() > 1 {
            svg.polyline(&line, &line_class(series), &title);
        }
        if line.len() <= MARKED {
            for (&at, &point) in known.iter().zip(&line) {
                let radius = if line.len() == 1 { 3.5 } else { 2.0 };
                svg.circle(point, radius, &format!("f{}", series.colour % COLOURS), &told(at));
            }
        }
    }

    /// Which series stand in which row of the legend.
    fn legend_rows(&self, room: f64) -> Vec<Vec<usize>> {
        let (mut rows, mut used): (Vec<Vec<usize>>, f64) = (vec![Vec::new()], 0.0);
        for (at, series) in self.series.iter().enumerate() {
            let width = 32.0 + width_of(&shortened(&series.name, NAME));
            if used + width > room && used > 0.0 {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += width;
            if let Some(row) = rows.last_mut() {
                row.push(at);
            }
        }
        rows
    }

    /// The chart in words.
    fn label(&self) -> String {
        let ends = self.series.iter().filter_map(|series| {
            let (first, last) = (series.points.first()?, series.points.last()?);
            let name = if series.name.is_empty() { String::new() } else { format!("{} ", series.name) };
            Some(format!("{name}from {} to {}", self.shown(first.1), self.shown(last.1)))
        });
        format!("{}: {}", self.title, ends.collect::<Vec<_>>().join("; "))
    }
}

fn line_class(series: &Series) -> String {
    format!("l k{}{}", series.colour % COLOURS, if series.dashed { " d" } else { "" })
}

/// Which of so many points are drawn; the last one always is.
pub(crate) fn thinned(count: usize) -> Vec<usize> {
    let step = count.div_ceil(MOST_POINTS).max(1);
    let mut kept: Vec<usize> = (0..count).step_by(step).collect();
    if let Some(last) = count.checked_sub(1)
        && kept.last() != Some(&last)
    {
        kept.push(last);
    }
    kept
}
