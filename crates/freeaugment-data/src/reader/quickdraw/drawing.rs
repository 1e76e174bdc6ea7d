//! One line of a file: strokes, or pixels that were drawn already.

use serde::Deserialize;

use super::raster::{Point, draw};

/// Height and width of a drawing in pixels.
pub(super) const SIDE: usize = 28;

/// An official line; it has more keys, which do not matter here.
#[derive(Deserialize)]
struct Strokes {
    /// Per stroke the x, the y and in the unsimplified data the times of its points.
    drawing: Vec<Vec<Vec<f64>>>,
}

/// The pixels of a drawing, white on black.
pub(super) fn pixels(line: &[u8]) -> Result<Vec<u8>, String> {
    // A form feed is white space to us, but not to JSON.
    let line = line.trim_ascii();
    if line.starts_with(b"[") {
        return from_numbers(line);
    }
    let strokes: Strokes = serde_json::from_slice(line).map_err(|error| no_drawing(&error))?;
    let strokes = strokes
        .drawing
        .iter()
        .map(|stroke| match stroke.as_slice() {
            [x, y] | [x, y, _] if x.len() == y.len() => {
                Ok(x.iter().zip(y).map(|(&x, &y)| Point { x, y }).collect())
            }
            _ => Err("a stroke is not a list of x and a list of as many y".to_owned()),
        })
        .collect::<Result<Vec<Vec<Point>>, _>>()?;
    if strokes.iter().all(Vec::is_empty) {
        return Err("the drawing has no strokes".to_owned());
    }
    Ok(draw(fitted(strokes), SIDE))
}

fn from_numbers(line: &[u8]) -> Result<Vec<u8>, String> {
    let numbers: Vec<f32> = serde_json::from_slice(line).map_err(|error| no_drawing(&error))?;
    if numbers.len() != SIDE * SIDE {
        return Err(format!("{} numbers, but {} ({SIDE} × {SIDE}) are expected", numbers.len(), SIDE * SIDE));
    }
    if let Some(number) = numbers.iter().find(|number| !(0.0..=1.0).contains(*number)) {
        return Err(format!("the number {number} is not from 0 to 1"));
    }
    Ok(numbers.iter().map(|number| (number * 255.0).round() as u8).collect())
}

/// Strokes in the square from 0 to 255. Simplified drawings are there already; unsimplified ones are in the
/// pixels of the screen they were drawn on, and are moved and scaled as the official simplification does.
fn fitted(mut strokes: Vec<Vec<Point>>) -> Vec<Vec<Point>> {
    let points = || strokes.iter().flatten();
    if points().all(|point| (0.0..=255.0).contains(&point.x) && (0.0..=255.0).contains(&point.y)) {
        return strokes;
    }
    let left = points().map(|point| point.x).fold(f64::INFINITY, f64::min);
    let top = points().map(|point| point.y).fold(f64::INFINITY, f64::min);
    let extent = points().map(|point| (point.x - left).max(point.y - top)).fold(0.0, f64::max);
    let scale = if extent > 0.0 { 255.0 / extent } else { 0.0 };
    for point in strokes.iter_mut().flatten() {
        *point = Point { x: (point.x - left) * scale, y: (point.y - top) * scale };
    }
    strokes
}

fn no_drawing(error: &serde_json::Error) -> String {
    // The place that the error names is one in this line, not in the file.
    let error = error.to_string().replace(" at line 1 column", " at column");
    format!("a drawing or {} numbers in JSON are expected: {error}", SIDE * SIDE)
}
