//! Affine transformations with nearest sampling and black outside.
//!
//! Pillow has three ways to compute them, which round differently: by axis when nothing is sheared, in 16.16 fixed
//! point when all coordinates fit, in floating point otherwise. Its accumulation of steps is part of its result.

use std::ops::Range;

use freeaugment_base::versions;

use super::Frame;

/// The value at (x, y) becomes that at `(m0 x + m1 y + m2, m3 x + m4 y + m5)`, measured between pixel centres.
pub(super) fn transform(frame: Frame<'_>, matrix: [f64; 6], out: &mut [u8]) {
    if matrix[1] == 0.0 && matrix[3] == 0.0 {
        by_axis(frame, matrix, out);
    } else if fits(frame, matrix) {
        fixed(frame, matrix, out);
    } else {
        floating(frame, matrix, out);
    }
}

/// Counter-clockwise around the centre, by degrees. Right angles need no special case: they come out exact. None for
/// whole turns.
pub(super) fn rotation(degrees: f64, height: usize, width: usize) -> Option<[f64; 6]> {
    let degrees = degrees.rem_euclid(360.0);
    if degrees == 0.0 {
        return None;
    }
    let (sine, cosine) = (-degrees.to_radians()).sin_cos();
    let (sine, cosine) = (fifteen_digits(sine), fifteen_digits(cosine));
    let (x, y) = (width as f64 / 2.0, height as f64 / 2.0);
    Some([cosine, sine, cosine * -x + sine * -y + x, -sine, cosine, -sine * -x + cosine * -y + y])
}

/// Pillow rounds so that right angles have exact zeros.
fn fifteen_digits(value: f64) -> f64 {
    (value * 1e15).round() / 1e15
}

fn by_axis(frame: Frame<'_>, matrix: [f64; 6], out: &mut [u8]) {
    let columns = steps(matrix[2] + matrix[0] * 0.5, matrix[0]).map(pixel).take(frame.width);
    let pieces = pieces(columns, frame.width);
    let rows = || steps(matrix[5] + matrix[4] * 0.5, matrix[4]).map(pixel);
    let bytes = |pixels: &Range<usize>| pixels.start * frame.depth..pixels.end * frame.depth;
    for (plane, out) in frame.planes(out) {
        for (out, row) in out.chunks_exact_mut(frame.row()).zip(rows()) {
            out.fill(0);
            if row < frame.height {
                let row = &plane[row * frame.row()..][..frame.row()];
                for (to, from) in &pieces {
                    out[bytes(to)].copy_from_slice(&row[bytes(from)]);
                }
            }
        }
    }
}

/// Neighbouring columns of the result that show neighbouring columns of the image, and which.
fn pieces(columns: impl Iterator<Item = usize>, width: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut pieces: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for (to, from) in columns.enumerate().filter(|&(_, from)| from < width) {
        match pieces.last_mut() {
            Some((before, shown)) if before.end == to && shown.end == from => {
                (before.end, shown.end) = (to + 1, from + 1);
            }
            _ => pieces.push((to..to + 1, from..from + 1)),
        }
    }
    pieces
}

/// Whether the corners, and with them all pixels, have coordinates of 16 bits, and pixels have numbers of 32 bits.
fn fits(frame: Frame<'_>, m: [f64; 6]) -> bool {
    let (width, height) = (frame.width as f64, frame.height as f64);
    let corners = [(0.0, 0.0), (width, height), (0.0, height), (width, 0.0)];
    width * height < 4e9
        && corners.into_iter().all(|(x, y)| {
            (x * m[0] + y * m[1] + m[2]).abs() < 32768.0 && (x * m[3] + y * m[4] + m[5]).abs() < 32768.0
        })
}

fn fixed(frame: Frame<'_>, m: [f64; 6], out: &mut [u8]) {
    let fix = |value: f64| (value * 65536.0 + 0.5).floor() as i64;
    let right = [fix(m[0]), fix(m[3])];
    let down = [fix(m[1]), fix(m[4])];
    let mut start = [fix(m[2] + m[0] * 0.5 + m[1] * 0.5), fix(m[5] + m[3] * 0.5 + m[4] * 0.5)];
    let mut numbers = vec![0; frame.width];
    for y in 0..frame.height {
        let columns = within(start[0], right[0], frame.width, frame.width);
        let rows = within(start[1], right[1], frame.height, frame.width);
        let inside = columns.start.max(rows.start)..columns.end.min(rows.end);
        let inside = if inside.is_empty() { 0..0 } else { inside };
        // Where it lies in the image a coordinate is positive and has 31 bits.
        let first = [0, 1].map(|axis| (start[axis] + inside.start as i64 * right[axis]) as u32);
        if inside.is_empty() {
            gather_row(frame, y, inside, &[], out);
        } else if right == [1 << 16, 0] {
            let from = (first[1] >> 16) as usize * frame.width + (first[0] >> 16) as usize;
            copy_row(frame, y, inside, from, out);
        } else {
            let numbers = &mut numbers[..inside.len()];
            find_numbers(first, right.map(|step| step as u32), frame.width as u32, numbers);
            gather_row(frame, y, inside, numbers, out);
        }
        start = [start[0] + down[0], start[1] + down[1]];
    }
}

/// Which of `count` positions, one step apart, lie between 0 and so many pixels.
fn within(start: i64, step: i64, pixels: usize, count: usize) -> Range<usize> {
    let end = (pixels as i64) << 16;
    let (low, high) = match step {
        0 if (0..end).contains(&start) => (0, count as i64),
        0 => (0, 0),
        1.. => (-start.div_euclid(step), -(start - end).div_euclid(step)),
        _ => ((start - end).div_euclid(-step) + 1, start.div_euclid(-step) + 1),
    };
    let [low, high] = [low, high].map(|at| at.clamp(0, count as i64) as usize);
    low..high
}

versions! {
    /// The numbers of the pixels at positions one step apart.
    fn find_numbers(first: [u32; 2], step: [u32; 2], width: u32, numbers: &mut [u32]) {
        for (at, number) in numbers.iter_mut().enumerate() {
            let [x, y] = [0, 1].map(|axis| first[axis].wrapping_add((at as u32).wrapping_mul(step[axis])) >> 16);
            *number = y.wrapping_mul(width).wrapping_add(x);
        }
    }
}

fn floating(frame: Frame<'_>, m: [f64; 6], out: &mut [u8]) {
    let first = steps(m[2] + m[1] * 0.5 + m[0] * 0.5, m[1]);
    let second = steps(m[5] + m[4] * 0.5 + m[3] * 0.5, m[4]);
    for (y, (x_start, y_start)) in first.zip(second).take(frame.height).enumerate() {
        let positions = steps(x_start, m[0]).zip(steps(y_start, m[3])).take(frame.width);
        for (x, position) in positions.enumerate() {
            let (column, row) = (pixel(position.0), pixel(position.1));
            let is_inside = column < frame.width && row < frame.height;
            for (plane, out) in frame.planes(out) {
                let out = &mut out[(y * frame.width + x) * frame.depth..][..frame.depth];
                if is_inside {
                    out.copy_from_slice(&plane[(row * frame.width + column) * frame.depth..][..frame.depth]);
                } else {
                    out.fill(0);
                }
            }
        }
    }
}

/// Row y of the result: `inside`, pixels that follow one another from this number on.
fn copy_row(frame: Frame<'_>, y: usize, inside: Range<usize>, from: usize, out: &mut [u8]) {
    let (start, end) = (inside.start * frame.depth, inside.end * frame.depth);
    for (plane, out) in frame.planes(out) {
        let out = &mut out[y * frame.row()..][..frame.row()];
        out[..start].fill(0);
        out[start..end].copy_from_slice(&plane[from * frame.depth..][..end - start]);
        out[end..].fill(0);
    }
}

/// Row y of the result: `inside`, the pixels of these numbers.
fn gather_row(frame: Frame<'_>, y: usize, inside: Range<usize>, numbers: &[u32], out: &mut [u8]) {
    let (start, end) = (inside.start * frame.depth, inside.end * frame.depth);
    for (plane, out) in frame.planes(out) {
        let out = &mut out[y * frame.row()..][..frame.row()];
        out[..start].fill(0);
        out[end..].fill(0);
        let out = &mut out[start..end];
        if frame.depth == 3 {
            gather::<3>(plane, numbers, out);
        } else {
            gather::<1>(plane, numbers, out);
        }
    }
}

fn gather<const DEPTH: usize>(plane: &[u8], numbers: &[u32], out: &mut [u8]) {
    let pixels = plane.as_chunks::<DEPTH>().0;
    for (out, &number) in out.as_chunks_mut::<DEPTH>().0.iter_mut().zip(numbers) {
        *out = pixels[number as usize];
    }
}

/// Positions one step apart, added up one by one.
fn steps(start: f64, step: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(start), move |position| Some(position + step))
}

/// The pixel at a position; far outside for what lies before the first.
fn pixel(position: f64) -> usize {
    if position >= 0.0 { position as usize } else { usize::MAX }
}
