//! What an operation does to the pixels, byte for byte as Pillow does it.

mod affine;
mod colour;
mod enhance;
mod table;

use freeaugment_data::Picture;

use crate::{Action, Operation};

impl Action {
    /// Does it. Grey pictures are PIL's mode `L`: operations on colours leave them as they are.
    pub fn apply(&self, picture: &mut Picture) {
        if picture.pixels.is_empty() {
            return;
        }
        let value = self.value;
        match self.operation {
            Operation::Identity => {}
            Operation::ShearX
            | Operation::ShearY
            | Operation::TranslateX
            | Operation::TranslateY
            | Operation::Rotate => {
                if let Some(matrix) = source_matrix(self, picture.height, picture.width) {
                    affine::transform(picture, matrix);
                }
            }
            Operation::Brightness => enhance::brightness(picture, value as f32),
            Operation::Color => enhance::color(picture, value as f32),
            Operation::Contrast => enhance::contrast(picture, value as f32),
            Operation::Sharpness => enhance::sharpness(picture, value as f32),
            Operation::Posterize => table::posterize(picture, value),
            Operation::Solarize => table::solarize(picture, value),
            Operation::SolarizeAdd => table::solarize_add(picture, value),
            Operation::AutoContrast => table::auto_contrast(picture),
            Operation::Equalize => table::equalize(picture),
            Operation::Invert => picture.pixels.iter_mut().for_each(|value| *value = !*value),
            Operation::Cutout => cutout(picture, value, self.centre),
            Operation::Hue => colour::hue(picture, value),
            Operation::Grayscale => colour::grayscale(picture),
            Operation::Flip => flip(picture),
        }
    }
}

/// The place in the picture that a place in the result shows, measured between the edges of pixels, as PIL has it:
/// `(m0 x + m1 y + m2, m3 x + m4 y + m5)`. None where pixels stay in their places.
pub(crate) fn source_matrix(action: &Action, height: usize, width: usize) -> Option<[f64; 6]> {
    let value = action.value;
    match action.operation {
        Operation::ShearX => Some([1.0, value, 0.0, 0.0, 1.0, 0.0]),
        Operation::ShearY => Some([1.0, 0.0, 0.0, value, 1.0, 0.0]),
        Operation::TranslateX => Some([1.0, 0.0, value, 0.0, 1.0, 0.0]),
        Operation::TranslateY => Some([1.0, 0.0, 0.0, 0.0, 1.0, value]),
        Operation::Rotate => affine::rotation(value, height, width),
        Operation::Flip => Some([-1.0, 0.0, width as f64, 0.0, 1.0, 0.0]),
        _ => None,
    }
}

/// The colour of a cut-out square, and the grey that PIL makes of it.
const CUT: ([u8; 3], [u8; 1]) = ([125, 123, 114], [123]);

/// A square with its top left corner half a side from the centre. PIL draws both ends of a rectangle, so it is one
/// pixel larger than it says; a corner that falls outside moves the square in and does not shrink it.
fn cutout(picture: &mut Picture, side: f64, centre: [f64; 2]) {
    if side.is_nan() || side <= 0.0 {
        return;
    }
    let span = |centre: f64, length: usize| {
        let start = (centre * length as f64 - side / 2.0).max(0.0) as usize;
        let end = (start as f64 + side).min(length as f64) as usize;
        start.min(length)..length.min(end + 1)
    };
    let channels = picture.channels;
    let colour: &[u8] = if channels == 3 { &CUT.0 } else { &CUT.1 };
    let columns = span(centre[1], picture.width);
    let rows = span(centre[0], picture.height);
    for row in picture.pixels.chunks_exact_mut(picture.width * channels).take(rows.end).skip(rows.start) {
        for pixel in row[columns.start * channels..columns.end * channels].chunks_exact_mut(colour.len()) {
            pixel.copy_from_slice(colour);
        }
    }
}

fn flip(picture: &mut Picture) {
    for row in picture.pixels.chunks_exact_mut(picture.width * picture.channels) {
        match picture.channels {
            3 => row.as_chunks_mut::<3>().0.reverse(),
            _ => row.reverse(),
        }
    }
}
