//! Figures as pixels: the same marks as in SVG, in the light theme, at twice their size.

use image::RgbImage;
use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

use crate::letter::{self, Ink};
use crate::svg::{Layout, Mark, Point, Svg};

/// Pixels of a unit.
const SCALE: f64 = 2.0;
/// The colours of the light theme, as [`crate::svg::STYLE`] has them.
const PAPER: u32 = 0x00ff_ffff;
const TEXT: u32 = 0x001b_1f24;
const SOFT: u32 = 0x0057_606a;
const LINE: u32 = 0x00d0_d7de;
const COLOURS: [u32; 7] =
    [0x0000_72b2, 0x00d5_5e00, 0x0000_7f5c, 0x00b0_578d, 0x00a8_6f00, 0x003a_8fc4, 0x006e_6e6e];

/// Draws several drawings into one picture, so many beside each other.
pub(crate) fn draw(panels: &[Svg], columns: usize) -> RgbImage {
    let Layout { places, size } = Layout::new(panels, columns);
    let pixels = |length: f64| (SCALE * length).ceil().max(1.0) as u32;
    let (width, height) = (pixels(size.0), pixels(size.1));
    let Some(mut map) = Pixmap::new(width, height) else { return RgbImage::new(1, 1) };
    map.fill(colour(PAPER, 1.0));
    for (panel, place) in panels.iter().zip(&places) {
        panel.marks.iter().for_each(|mark| shape(&mut map, mark, *place));
    }
    let opaque = map.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut image = RgbImage::from_raw(width, height, opaque).unwrap_or_default();
    // Letters lie above everything else in all figures.
    for (panel, place) in panels.iter().zip(&places) {
        panel.marks.iter().for_each(|mark| text(&mut image, mark, *place));
    }
    image
}

fn channels(colour: u32) -> [u8; 3] {
    let [_, red, green, blue] = colour.to_be_bytes();
    [red, green, blue]
}

fn colour(of: u32, opacity: f64) -> Color {
    let [red, green, blue] = channels(of);
    Color::from_rgba8(red, green, blue, (255.0 * opacity.clamp(0.0, 1.0)).round() as u8)
}

fn has(class: &str, name: &str) -> bool {
    class.split(' ').any(|one| one == name)
}

/// The number of a class such as `f3`.
fn numbered(class: &str, letter: char) -> Option<u32> {
    let number = class.split(' ').find_map(|one| one.strip_prefix(letter)?.parse::<usize>().ok())?;
    COLOURS.get(number).copied()
}

/// What a class fills with.
fn fill(class: &str, opacity: f64) -> Option<Color> {
    if has(class, "pf") {
        return Some(colour(TEXT, 0.09));
    }
    numbered(class, 'f').map(|of| colour(of, opacity))
}

/// What a class draws a line with: its colour, its width, its dashes.
fn stroke(class: &str) -> Option<(u32, f32, Option<[f32; 2]>)> {
    if has(class, "grid") {
        return Some((LINE, 1.0, None));
    }
    if has(class, "axis") {
        return Some((SOFT, 1.0, None));
    }
    if has(class, "p") {
        return Some((TEXT, 1.4, Some([3.0, 3.0])));
    }
    let width = if has(class, "thin") { 1.0 } else { 1.8 };
    numbered(class, 'k').map(|of| (of, width, has(class, "d").then_some([5.0, 3.0])))
}

fn shape(map: &mut Pixmap, mark: &Mark, place: Point) {
    let at = |point: Point| ((place.0 + point.0) as f32, (place.1 + point.1) as f32);
    match mark {
        Mark::Path { points, class, opacity, .. } => {
            let mut path = PathBuilder::new();
            for (number, (x, y)) in points.iter().map(|point| at(*point)).enumerate() {
                if number == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
            }
            paint(map, path.finish(), class, opacity.unwrap_or(1.0));
        }
        Mark::Rect { corner, size, class, opacity, .. } => {
            let (x, y) = at(*corner);
            let rect = Rect::from_xywh(x, y, size.0 as f32, size.1 as f32);
            paint(map, rect.map(PathBuilder::from_rect), class, *opacity);
        }
        Mark::Circle { centre, radius, class, .. } => {
            let (x, y) = at(*centre);
            paint(map, PathBuilder::from_circle(x, y, *radius as f32), class, 1.0);
        }
        Mark::Text { .. } | Mark::Group { .. } | Mark::End => {}
    }
}

/// Fills and outlines a path as its class says. What has no extent has no path.
fn paint(map: &mut Pixmap, path: Option<Path>, class: &str, opacity: f64) {
    let Some(path) = path else { return };
    let scale = Transform::from_scale(SCALE as f32, SCALE as f32);
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    if let Some(colour) = fill(class, opacity) {
        paint.set_color(colour);
        map.fill_path(&path, &paint, FillRule::Winding, scale, None);
    }
    if let Some((of, width, dashes)) = stroke(class) {
        paint.set_color(colour(of, 1.0));
        let dash = dashes.and_then(|dashes| StrokeDash::new(dashes.to_vec(), 0.0));
        let stroke = Stroke { width, dash, line_join: LineJoin::Round, ..Stroke::default() };
        map.stroke_path(&path, &paint, &stroke, scale, None);
    }
}

fn text(image: &mut RgbImage, mark: &Mark, place: Point) {
    let Mark::Text { at, class, text } = mark else { return };
    let colour = match class {
        class if has(class, "s") => SOFT,
        class if has(class, "i") => PAPER,
        _ => TEXT,
    };
    let width = i64::from(letter::width(text));
    let before = match class {
        class if has(class, "e") => width,
        class if has(class, "m") => width / 2,
        _ => 0,
    };
    let pixels = |value: f64| (SCALE * value).round() as i64;
    let left = pixels(place.0 + at.0) - before;
    let ink = Ink { colour: channels(colour), bold: has(class, "t") };
    letter::write(image, (left, pixels(place.1 + at.1)), text, ink);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::STYLE;

    #[test]
    fn colours_are_those_of_the_light_theme() {
        let (light, _) = STYLE.split_once("@media").unwrap();
        for (number, colour) in COLOURS.into_iter().enumerate() {
            assert!(light.contains(&format!("--c{number}:#{colour:06x}")), "{number}");
        }
        for (name, colour) in [("text", TEXT), ("soft", SOFT), ("line", LINE)] {
            assert!(light.contains(&format!("--{name}:#{colour:06x}")), "{name}");
        }
    }

    #[test]
    fn marks_are_where_they_belong() {
        let mut svg = Svg::new(100.0, 50.0, "");
        svg.rect((10.0, 10.0), (20.0, 20.0), "f1", 1.0, "");
        svg.line((50.0, 0.0), (50.0, 50.0), "l k0");
        svg.area(&[(60.0, 10.0), (90.0, 10.0), (90.0, 40.0), (60.0, 40.0)], "f2", 0.5, "");
        svg.text((2.0, 48.0), "", "MMM");
        let image = draw(&[svg], 1);
        assert_eq!(image.dimensions(), (2 * 124, 2 * 74));
        // A drawing stands 12 units from the edge.
        let at = |x: u32, y: u32| image.get_pixel(2 * (x + 12), 2 * (y + 12)).0;
        assert_eq!((at(20, 20), at(5, 5)), (channels(COLOURS[1]), [255; 3]));
        assert_eq!(at(50, 25), channels(COLOURS[0]));
        let mixed = at(75, 25).into_iter().zip(channels(COLOURS[2]));
        assert!(mixed.into_iter().all(|(seen, full)| seen.abs_diff(u8::midpoint(full, 255)) <= 2));
        let letters = (0..20).flat_map(|x| (38..50).map(move |y| (x, y)));
        assert!(letters.into_iter().any(|(x, y)| at(x, y)[0] < 80));
    }
}
