//! Affine transformations with nearest sampling and black outside.
//!
//! Pillow has three ways to compute them, which round differently: by axis when nothing is sheared, in 16.16 fixed
//! point when all coordinates fit, in floating point otherwise. Its accumulation of steps is part of its result.

use freeaugment_data::Picture;

/// The value at (x, y) becomes that at `(m0 x + m1 y + m2, m3 x + m4 y + m5)`, measured between pixel centres.
pub(super) fn transform(picture: &mut Picture, matrix: [f64; 6]) {
    match picture.channels {
        3 => sample::<3>(picture, matrix),
        _ => sample::<1>(picture, matrix),
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

fn sample<const CHANNELS: usize>(picture: &mut Picture, matrix: [f64; 6]) {
    let (input, _) = picture.pixels.as_chunks::<CHANNELS>();
    let mut pixels = vec![0; picture.pixels.len()];
    let (output, _) = pixels.as_chunks_mut::<CHANNELS>();
    let source = Source { input, width: picture.width, height: picture.height };
    if matrix[1] == 0.0 && matrix[3] == 0.0 {
        source.by_axis(output, matrix);
    } else if source.fits(matrix) {
        source.fixed(output, matrix);
    } else {
        source.floating(output, matrix);
    }
    picture.pixels = pixels;
}

struct Source<'a, const CHANNELS: usize> {
    input: &'a [[u8; CHANNELS]],
    width: usize,
    height: usize,
}

impl<const CHANNELS: usize> Source<'_, CHANNELS> {
    fn by_axis(&self, output: &mut [[u8; CHANNELS]], matrix: [f64; 6]) {
        let columns: Vec<usize> =
            steps(matrix[2] + matrix[0] * 0.5, matrix[0]).map(pixel).take(self.width).collect();
        let rows = steps(matrix[5] + matrix[4] * 0.5, matrix[4]).map(pixel);
        for (output, row) in output.chunks_exact_mut(self.width).zip(rows) {
            if row >= self.height {
                continue;
            }
            let input = &self.input[row * self.width..][..self.width];
            for (output, &column) in output.iter_mut().zip(&columns) {
                if let Some(&value) = input.get(column) {
                    *output = value;
                }
            }
        }
    }

    /// Whether the corners, and with them all pixels, have coordinates of 16 bits.
    fn fits(&self, m: [f64; 6]) -> bool {
        let (width, height) = (self.width as f64, self.height as f64);
        [(0.0, 0.0), (width, height), (0.0, height), (width, 0.0)].into_iter().all(|(x, y)| {
            (x * m[0] + y * m[1] + m[2]).abs() < 32768.0 && (x * m[3] + y * m[4] + m[5]).abs() < 32768.0
        })
    }

    fn fixed(&self, output: &mut [[u8; CHANNELS]], m: [f64; 6]) {
        let fix = |value: f64| (value * 65536.0 + 0.5).floor() as i64;
        let right = [fix(m[0]), fix(m[3])];
        let down = [fix(m[1]), fix(m[4])];
        let mut start = [fix(m[2] + m[0] * 0.5 + m[1] * 0.5), fix(m[5] + m[3] * 0.5 + m[4] * 0.5)];
        for output in output.chunks_exact_mut(self.width) {
            let [mut x, mut y] = start;
            for output in output {
                // Negative coordinates become huge ones.
                let (column, row) = ((x >> 16) as usize, (y >> 16) as usize);
                if column < self.width && row < self.height {
                    *output = self.input[row * self.width + column];
                }
                x += right[0];
                y += right[1];
            }
            start[0] += down[0];
            start[1] += down[1];
        }
    }

    fn floating(&self, output: &mut [[u8; CHANNELS]], m: [f64; 6]) {
        let first = steps(m[2] + m[1] * 0.5 + m[0] * 0.5, m[1]);
        let second = steps(m[5] + m[4] * 0.5 + m[3] * 0.5, m[4]);
        for ((output, x), y) in output.chunks_exact_mut(self.width).zip(first).zip(second) {
            for ((output, x), y) in output.iter_mut().zip(steps(x, m[0])).zip(steps(y, m[3])) {
                let (column, row) = (pixel(x), pixel(y));
                if column < self.width && row < self.height {
                    *output = self.input[row * self.width + column];
                }
            }
        }
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
