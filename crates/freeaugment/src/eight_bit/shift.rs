//! Shears and translations of bytes: lines that move as a whole, by whole pixels and a fraction of one.

use super::Picture;
use super::blend::{fixed, mix};
use crate::transformation::{Axis, Shifted};
use crate::work::{Scratch, grown};

pub(crate) fn apply(shifted: &Shifted, picture: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
    let size = crate::image::Image { data: &[], height: picture.height, width: picture.width };
    let line = |l: usize| {
        let (whole, fraction, _) = shifted.line(size, m, l);
        (whole, fixed(fraction))
    };
    match shifted.axis {
        Axis::X => along_x(picture, line, out, scratch),
        Axis::Y => along_y(picture, line, out, scratch),
    }
}

/// Rows move along x: a row between two margins of zeros, wide enough that every shift reads inside.
fn along_x(picture: Picture<'_>, line: impl Fn(usize) -> (i32, i16), out: &mut [u8], scratch: &mut Scratch) {
    let (len, depth) = (picture.row_len(), picture.depth);
    let margin = len + depth;
    let wide = grown(&mut scratch.bytes, margin + len + margin);
    wide.fill(0);
    for (plane, out) in out.chunks_exact_mut(picture.plane_len()).enumerate() {
        for (y, (row, out)) in picture.rows(plane).zip(out.chunks_exact_mut(len)).enumerate() {
            let (whole, fraction) = line(y);
            wide[margin..][..len].copy_from_slice(row);
            // Beyond these all that is read is zero.
            let most = picture.width as i64 + 1;
            let columns = most + i64::from(whole).clamp(-most, most - 1);
            let wide = &wide[columns as usize * depth..][..len + depth];
            blend_row(&wide[..len], &wide[depth..], fraction, out);
        }
    }
}

/// Columns move along y.
fn along_y(picture: Picture<'_>, line: impl Fn(usize) -> (i32, i16), out: &mut [u8], scratch: &mut Scratch) {
    let (len, depth) = (picture.row_len(), picture.depth);
    let fractions = grown(&mut scratch.fixed, len);
    let runs = &mut scratch.runs;
    runs.clear();
    for (x, fractions) in fractions.chunks_exact_mut(depth).enumerate() {
        let (whole, fraction) = line(x);
        fractions.fill(fraction);
        match runs.last_mut() {
            Some(run) if run.shift == i64::from(whole) => run.end += depth,
            _ => runs.push(Run { end: (x + 1) * depth, shift: i64::from(whole) }),
        }
    }
    let (mut low, mut high) = grown(&mut scratch.bytes, 2 * (len + STRIP)).split_at_mut(len + STRIP);
    for (plane, out) in out.chunks_exact_mut(picture.plane_len()).enumerate() {
        move_columns(picture, plane, 0, runs, high);
        for (y, out) in out.chunks_exact_mut(len).enumerate() {
            // What lies below a pixel lies on the pixel of the next row.
            std::mem::swap(&mut low, &mut high);
            move_columns(picture, plane, y + 1, runs, high);
            blend_columns(&low[..len], &high[..len], fractions, out);
        }
    }
}

/// Neighbouring columns that move by the same number of pixels.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// The byte of a row after their last.
    end: usize,
    shift: i64,
}

/// Bytes that are copied at once. A run may be shorter; the next one then overwrites what was copied too much.
const STRIP: usize = 16;

/// Row y of the plane whose columns have moved by whole pixels, zero outside the image. `moved` has a strip more than a row.
fn move_columns(picture: Picture<'_>, plane: usize, y: usize, runs: &[Run], moved: &mut [u8]) {
    let mut start = 0;
    for &Run { end, shift } in runs {
        let source = y as i64 + shift;
        if (0..picture.height as i64).contains(&source) {
            match picture.strip::<STRIP>(plane, source as usize, start) {
                Some(strip) if end - start <= STRIP => moved[start..][..STRIP].copy_from_slice(strip),
                _ => moved[start..end].copy_from_slice(&picture.row(plane, source as usize)[start..end]),
            }
        } else {
            moved[start..end].fill(0);
        }
        start = end;
    }
}

freeaugment_base::versions! {
    fn blend_row(low: &[u8], high: &[u8], fraction: i16, out: &mut [u8]) {
        for ((out, &low), &high) in out.iter_mut().zip(low).zip(high) {
            *out = mix(low, high, fraction);
        }
    }

    fn blend_columns(low: &[u8], high: &[u8], fractions: &[i16], out: &mut [u8]) {
        for (((out, &low), &high), &fraction) in out.iter_mut().zip(low).zip(high).zip(fractions) {
            *out = mix(low, high, fraction);
        }
    }
}
