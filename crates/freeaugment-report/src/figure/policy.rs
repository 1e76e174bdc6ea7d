//! The found policy: for each transformation its share and its range within what could be learned.

use freeaugment_base::percent;
use freeaugment_search::{Learned, Range};

use super::Figure;
use super::range::Plants;
use crate::axis::{Scale, number};
use crate::svg::Svg;
use freeaugment_base::csv::{Csv, cell};

/// The bars of a policy, most used first.
pub(crate) fn figure(id: &str, title: &str, learned: &Learned, plants: &Plants) -> Figure {
    let (width, top, row) = (400.0, 40.0, 24.0);
    let height = top + row * learned.transformations.len() as f64 + 8.0;
    let most = learned.transformations.first().map_or(1.0, |first| first.share).max(f64::MIN_POSITIVE);
    let first: Vec<String> = learned
        .transformations
        .iter()
        .take(3)
        .map(|of| format!("{} {}", of.name, percent(of.share)))
        .collect();
    let mut svg = Svg::new(width, height, &format!("{title}: {}…", first.join(", ")));
    svg.text((4.0, 14.0), "t", title);
    svg.text((142.0, 32.0), "e s", "share");
    svg.text((260.0, 32.0), "m s", "learned within allowed");
    let mut csv =
        Csv::new(["transformation", "share", "lowest", "highest", "allowed from", "allowed to", "unit"]);
    for (at, of) in learned.transformations.iter().enumerate() {
        let y = top + row * at as f64;
        let middle = y + row / 2.0;
        svg.text((86.0, middle + 4.0), "e", of.name);
        svg.text((142.0, middle + 4.0), "e", &percent(of.share));
        let strength = of.share / most;
        let thickness = 4.0 + 14.0 * strength;
        let place = (middle - thickness / 2.0, thickness);
        if let Some((range, allowed)) = of.range.zip(of.allowed) {
            let unit = of.unit.unwrap_or_default();
            let title = format!("{}: {range} {unit}, share {}", of.name, percent(of.share));
            ranged(&mut svg, (range, allowed), middle, place, (strength, &title));
            let plant = plants.iter().find(|plant| plant.0 == of.name).and_then(|plant| plant.1);
            if let Some(plant) = plant {
                planted(&mut svg, plant, allowed, (y + 2.0, row - 4.0));
            }
        } else {
            let title = format!("{}: share {}", of.name, percent(of.share));
            let (x, long) = (182.0, 156.0);
            svg.rect((x, place.0), (long * strength, place.1), "f6", 0.3 + 0.7 * strength, &title);
            if plants.iter().any(|plant| plant.0 == of.name) {
                svg.rect((x, y + 2.0), (long, row - 4.0), "p", 1.0, "planted");
            }
        }
        let ends = [of.range.map(|range| range.0), of.range.map(|range| range.1)];
        let allowed = [of.allowed.map(|range| range.0), of.allowed.map(|range| range.1)];
        let numbers = ends.into_iter().chain(allowed).map(|bound| cell(bound.map(f64::from)));
        let head = [of.name.to_owned(), cell(Some(of.share))];
        csv.row(head.into_iter().chain(numbers).chain([of.unit.unwrap_or_default().to_owned()]));
    }
    let planted = if plants.is_empty() { "" } else { " Dashed boxes: what was planted." };
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: format!(
            "Blue bars lie between the learned bounds, within the line of what could be learned; thicker and stronger means \
             applied more often. Grey bars: transformations without a magnitude.{planted}"
        ),
        panels: vec![svg],
        csv,
    }
}

const LEFT: f64 = 182.0;
const RIGHT: f64 = 338.0;

fn scale(allowed: Range) -> Scale {
    Scale::new((f64::from(allowed.0), f64::from(allowed.1)), (LEFT, RIGHT))
}

fn ranged(
    svg: &mut Svg,
    (range, allowed): (Range, Range),
    middle: f64,
    (y, thickness): (f64, f64),
    (strength, title): (f64, &str),
) {
    let across = scale(allowed);
    svg.line((LEFT, middle), (RIGHT, middle), "axis");
    let (from, to) = (across.at(range.0.into()), across.at(range.1.into()));
    svg.rect((from, y), ((to - from).max(2.0), thickness), "f0", 0.3 + 0.7 * strength, title);
    svg.text((LEFT - 4.0, middle + 4.0), "e s", &number(round(allowed.0)));
    svg.text((RIGHT + 4.0, middle + 4.0), "s", &number(round(allowed.1)));
}

fn planted(svg: &mut Svg, plant: Range, allowed: Range, (y, height): (f64, f64)) {
    let across = scale(allowed);
    let (from, to) = (across.at(plant.0.into()), across.at(plant.1.into()));
    svg.rect((from, y), ((to - from).max(2.0), height), "p", 1.0, &format!("planted: {plant}"));
}

/// Bounds are single precision; what that adds to 0.4 is no news.
fn round(value: f32) -> f64 {
    (f64::from(value) * 1e4).round() / 1e4
}
