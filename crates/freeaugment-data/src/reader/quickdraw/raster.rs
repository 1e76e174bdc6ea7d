//! Strokes to pixels, with soft edges.
//!
//! The proportions are those of the official bitmaps: in a square of 256, lines are 16 wide, with a margin of 16
//! around them, and the drawing is in the middle. Only sums, products and square roots are used, so that all
//! machines draw the same.

/// A point of a stroke, from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

const SQUARE: f64 = 256.0;
const LINE: f64 = 16.0;
const MARGIN: f64 = 16.0;

/// Draws strokes as white lines with round ends on black, `side` pixels high and wide.
pub(super) fn draw(strokes: Vec<Vec<Point>>, side: usize) -> Vec<u8> {
    let scale = side as f64 / (SQUARE + LINE + 2.0 * MARGIN);
    let radius = LINE / 2.0 * scale;
    let farthest = |of: fn(&Point) -> f64| strokes.iter().flatten().map(of).fold(0.0, f64::max);
    let offset = Point {
        x: LINE / 2.0 + MARGIN + (SQUARE - farthest(|point| point.x)) / 2.0,
        y: LINE / 2.0 + MARGIN + (SQUARE - farthest(|point| point.y)) / 2.0,
    };
    let mut pixels = vec![0; side * side];
    for stroke in strokes {
        let points: Vec<_> = stroke
            .into_iter()
            .map(|point| Point { x: (point.x + offset.x) * scale, y: (point.y + offset.y) * scale })
            .collect();
        match points.as_slice() {
            [dot] => line(&mut pixels, side, *dot, *dot, radius),
            points => points.windows(2).for_each(|ends| line(&mut pixels, side, ends[0], ends[1], radius)),
        }
    }
    pixels
}

/// Brightens every pixel by how much of it the line covers, judged by the distance of its centre.
fn line(pixels: &mut [u8], side: usize, from: Point, to: Point, radius: f64) {
    let reach = radius + 1.0;
    // A float that is out of range or not a number becomes the nearest integer or zero.
    let range = |one: f64, other: f64| {
        let first = (one.min(other) - reach).floor() as usize;
        let last = (one.max(other) + reach).ceil() as usize;
        first.min(side)..last.min(side)
    };
    for row in range(from.y, to.y) {
        for column in range(from.x, to.x) {
            let centre = Point { x: column as f64 + 0.5, y: row as f64 + 0.5 };
            let covered = (radius + 0.5 - distance(centre, from, to)).clamp(0.0, 1.0);
            let pixel = &mut pixels[row * side + column];
            *pixel = (*pixel).max((covered * 255.0).round() as u8);
        }
    }
}

/// How far a point is from the nearest point of a line.
fn distance(point: Point, from: Point, to: Point) -> f64 {
    let (across, down) = (to.x - from.x, to.y - from.y);
    let length = across * across + down * down;
    let along = if length > 0.0 {
        (((point.x - from.x) * across + (point.y - from.y) * down) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let (x, y) = (point.x - from.x - along * across, point.y - from.y - along * down);
    (x * x + y * y).sqrt()
}
