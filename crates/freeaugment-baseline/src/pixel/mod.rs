//! What an operation does to the pixels, byte for byte as Pillow does it.
//!
//! Every operation reads a [`Frame`] and writes one of the same size and order: tensors, whose channels are planes, are
//! not turned into pixels for it.

mod affine;
mod colour;
mod enhance;
mod frame;
mod table;

use std::cell::RefCell;

use freeaugment_data::Picture;

pub use frame::Frame;

use crate::{Action, Operation};

thread_local! {
    /// What lies between two actions.
    static BETWEEN: RefCell<Vec<u8>> = RefCell::default();
}

impl Action {
    /// Does it. Grey pictures are PIL's mode `L`: operations on colours leave them as they are.
    pub fn apply(&self, picture: &mut Picture) {
        let Picture { height, width, channels, ref pixels } = *picture;
        if let Some(frame) = Frame::interleaved(pixels, height, width, channels) {
            let mut out = vec![0; pixels.len()];
            self.apply_to(frame, &mut out);
            picture.pixels = out;
        }
    }

    /// Does one after another, and writes the result in the same order into `out`, which has as many bytes.
    pub fn apply_all(actions: &[Self], frame: Frame<'_>, out: &mut [u8]) {
        assert_eq!(frame.bytes.len(), out.len(), "the result has the size of the image");
        let Some((first, others)) = actions.split_first() else { return out.copy_from_slice(frame.bytes) };
        if others.is_empty() {
            return first.apply_to(frame, out);
        }
        BETWEEN.with_borrow_mut(|between| {
            between.resize(out.len(), 0);
            // They take turns, so that the last one ends in `out`.
            let is_even = others.len() % 2 == 0;
            let (mut to, mut from) = if is_even { (out, &mut between[..]) } else { (&mut between[..], out) };
            first.apply_to(frame, to);
            for action in others {
                std::mem::swap(&mut to, &mut from);
                action.apply_to(frame.with(from), to);
            }
        });
    }

    fn apply_to(&self, frame: Frame<'_>, out: &mut [u8]) {
        if out.is_empty() {
            return;
        }
        let value = self.value;
        match self.operation {
            Operation::Identity => out.copy_from_slice(frame.bytes),
            Operation::ShearX
            | Operation::ShearY
            | Operation::TranslateX
            | Operation::TranslateY
            | Operation::Rotate => match source_matrix(self, frame.height, frame.width) {
                Some(matrix) => affine::transform(frame, matrix, out),
                None => out.copy_from_slice(frame.bytes),
            },
            Operation::Brightness => enhance::brightness(frame, value as f32, out),
            Operation::Color => enhance::color(frame, value as f32, out),
            Operation::Contrast => enhance::contrast(frame, value as f32, out),
            Operation::Sharpness => enhance::sharpness(frame, value as f32, out),
            Operation::Posterize => table::posterize(frame, value, out),
            Operation::Solarize => table::solarize(frame, value, out),
            Operation::SolarizeAdd => table::solarize_add(frame, value, out),
            Operation::AutoContrast => table::auto_contrast(frame, out),
            Operation::Equalize => table::equalize(frame, out),
            Operation::Invert => table::invert(frame, out),
            Operation::Cutout => cutout(frame, value, self.centre, out),
            Operation::Hue => colour::hue(frame, value, out),
            Operation::Grayscale => colour::grayscale(frame, out),
            Operation::Flip => flip(frame, out),
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
fn cutout(frame: Frame<'_>, side: f64, centre: [f64; 2], out: &mut [u8]) {
    out.copy_from_slice(frame.bytes);
    if side.is_nan() || side <= 0.0 {
        return;
    }
    let span = |centre: f64, length: usize| {
        let start = (centre * length as f64 - side / 2.0).max(0.0) as usize;
        let end = (start as f64 + side).min(length as f64) as usize;
        start.min(length)..length.min(end + 1)
    };
    let colour: &[u8] = if frame.is_grey() { &CUT.1 } else { &CUT.0 };
    let columns = span(centre[1], frame.width);
    let rows = span(centre[0], frame.height);
    for (plane, colour) in out.chunks_exact_mut(frame.plane()).zip(colour.chunks_exact(frame.depth)) {
        for row in plane.chunks_exact_mut(frame.row()).take(rows.end).skip(rows.start) {
            for pixel in
                row[columns.start * frame.depth..columns.end * frame.depth].chunks_exact_mut(frame.depth)
            {
                pixel.copy_from_slice(colour);
            }
        }
    }
}

fn flip(frame: Frame<'_>, out: &mut [u8]) {
    out.copy_from_slice(frame.bytes);
    for row in out.chunks_exact_mut(frame.row()) {
        match frame.depth {
            3 => row.as_chunks_mut::<3>().0.reverse(),
            _ => row.reverse(),
        }
    }
}
