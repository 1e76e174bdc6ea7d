//! What happens to a picture before the policy (crop and flip) and after it (cutout and normalisation).
//!
//! Everything random about a picture is drawn first, as a [`View`]; the rest are plain functions of picture and view.
//! Those that come after the policy have their pullback beside them.

use freeaugment::Shape;
use freeaugment_base::random::{Purpose, Stream};

use crate::picture::Picture;
use crate::resample::{Window, resize};

/// How a training picture is cut to the network's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crop {
    /// Not at all; a picture of another size is resized.
    None,
    /// Mirrored at its edges by so many pixels, then cut at random. A picture of another size is resized first.
    Pad {
        /// Pixels on each side.
        pad: usize,
    },
    /// A random box with sides of 3:4 to 4:3, resized (bicubic).
    Resized {
        /// The smallest box, in percent of the area: 8 is usual.
        smallest: u8,
    },
}

/// The steps around the policy. The policy stands between [`Self::before`] and [`Self::after`].
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// Rows and columns of the network's images.
    pub size: usize,
    /// How training pictures are cut.
    pub crop: Crop,
    /// The probability that a training picture is mirrored left to right.
    pub flip: f32,
    /// The side of the square that is cut out of training pictures; 0 for none.
    pub cutout: usize,
    /// The mean of each channel.
    pub mean: Vec<f32>,
    /// The standard deviation of each channel.
    pub deviation: Vec<f32>,
    /// Whether crop and flip come after the policy, in [`Self::after`], and not before it.
    pub policy_first: bool,
}

/// What was drawn for one picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Where the cut begins, in pixels of the padded picture.
    corner: (usize, usize),
    /// The box of [`Crop::Resized`], as shares of the picture: top, left, height, width.
    window: Option<[f64; 4]>,
    flip: bool,
    /// Rows and columns that are cut out: top, bottom, left, right.
    hole: [usize; 4],
}

const VIEW: Purpose = Purpose::named("data/view");

impl Pipeline {
    /// Channels of the images.
    pub fn channels(&self) -> usize {
        self.mean.len()
    }

    /// The shape of a batch.
    pub fn shape(&self, count: usize) -> Shape {
        Shape { count, channels: self.channels(), height: self.size, width: self.size }
    }

    /// Draws the view of a training picture.
    pub fn draw(&self, seed: u64, epoch: u32, index: u32, picture: &Picture) -> View {
        let mut stream = Stream::new(seed, VIEW, epoch, index);
        let flip = self.flip > 0.0 && uniform(&mut stream) < f64::from(self.flip);
        let centre = [0; 2].map(|_: u8| stream.below(self.size as u32) as usize);
        let hole = self.hole(centre);
        let (mut corner, mut window) = ((0, 0), None);
        match self.crop {
            Crop::None => {}
            Crop::Pad { pad } => {
                let places = 2 * pad as u32 + 1;
                corner = (stream.below(places) as usize, stream.below(places) as usize);
            }
            Crop::Resized { smallest } => {
                let smallest = f64::from(smallest) / 100.0;
                window = Some(draw_window(&mut stream, smallest, picture.height, picture.width));
            }
        }
        View { corner, window, flip, hole }
    }

    fn hole(&self, [y, x]: [usize; 2]) -> [usize; 4] {
        let (before, after) = (self.cutout / 2, self.cutout - self.cutout / 2);
        let (top, left) = (y.saturating_sub(before), x.saturating_sub(before));
        let (bottom, right) = ((y + after).min(self.size), (x + after).min(self.size));
        if self.cutout == 0 { [0; 4] } else { [top, bottom, left, right] }
    }

    /// A training picture as the policy sees it: `[channel, size, size]` in [0, 1].
    pub fn before(&self, picture: &Picture, view: &View) -> Vec<f32> {
        let (height, width) = (picture.height as f64, picture.width as f64);
        let planes = match view.window {
            Some([top, left, rows, columns]) => self.fit(
                picture,
                Window {
                    top: top * height,
                    left: left * width,
                    height: rows * height,
                    width: columns * width,
                },
            ),
            None => self.whole(picture),
        };
        if self.policy_first || (view.corner == self.no_shift() && !view.flip) {
            return planes;
        }
        let mut out = vec![0.0; planes.len()];
        self.crop_and_flip(&planes, view, &mut out);
        out
    }

    /// A picture for evaluation: resized and cut at the centre where it is large, as it is where it has the size.
    pub fn evaluate(&self, picture: &Picture) -> Vec<f32> {
        let (height, width) = (picture.height as f64, picture.width as f64);
        if matches!(self.crop, Crop::Resized { .. }) {
            // Shorter side to 256 when the network takes 224, and the centre of that.
            let side = height.min(width) * 224.0 / 256.0;
            let window =
                Window { top: (height - side) / 2.0, left: (width - side) / 2.0, height: side, width: side };
            return self.fit(picture, window);
        }
        self.whole(picture)
    }

    /// The whole picture at the network's size.
    fn whole(&self, picture: &Picture) -> Vec<f32> {
        let window =
            Window { top: 0.0, left: 0.0, height: picture.height as f64, width: picture.width as f64 };
        self.fit(picture, window)
    }

    fn fit(&self, picture: &Picture, window: Window) -> Vec<f32> {
        let planes = picture.to_planes();
        let is_whole = window.height == picture.height as f64 && window.width == picture.width as f64;
        if is_whole && (picture.height, picture.width) == (self.size, self.size) {
            return planes;
        }
        resize(&planes, (picture.height, picture.width), window, (self.size, self.size))
    }

    /// The corner at which a padded picture is cut back to itself.
    fn no_shift(&self) -> (usize, usize) {
        match self.crop {
            Crop::Pad { pad } => (pad, pad),
            Crop::None | Crop::Resized { .. } => (0, 0),
        }
    }

    /// For every output position of a side, the input position it shows.
    fn positions(&self, corner: usize, flip: bool) -> impl Iterator<Item = usize> + '_ {
        let pad = self.no_shift().0;
        (0..self.size).map(move |at| {
            let at = if flip { self.size - 1 - at } else { at };
            reflect((corner + at) as isize - pad as isize, self.size)
        })
    }

    fn crop_and_flip(&self, planes: &[f32], view: &View, out: &mut [f32]) {
        self.each_pair(planes.len(), view, |from, to| out[to] = planes[from]);
    }

    fn crop_and_flip_pullback(&self, cotangent: &[f32], view: &View, grad: &mut [f32]) {
        self.each_pair(cotangent.len(), view, |from, to| grad[from] += cotangent[to]);
    }

    /// Calls `visit` with the input and output position of every value of an image.
    fn each_pair(&self, len: usize, view: &View, mut visit: impl FnMut(usize, usize)) {
        let columns: Vec<usize> = self.positions(view.corner.1, view.flip).collect();
        for plane in (0..len).step_by(self.size * self.size) {
            for (y, row) in self.positions(view.corner.0, false).enumerate() {
                for (x, column) in columns.iter().enumerate() {
                    visit(plane + row * self.size + column, plane + y * self.size + x);
                }
            }
        }
    }

    /// What the policy made, as the network takes it: crop and flip where the policy came first, cutout, normalised.
    pub fn after(&self, images: &[f32], views: &[View]) -> Vec<f32> {
        let mut out = images.to_vec();
        let len = self.shape(1).image();
        for ((out, image), view) in out.chunks_exact_mut(len).zip(images.chunks_exact(len)).zip(views) {
            if self.policy_first {
                self.crop_and_flip(image, view, out);
            }
            self.cut(out, view);
        }
        self.normalise(&mut out);
        out
    }

    /// Pulls the gradient at the network's images back to what the policy made.
    pub fn after_pullback(&self, gradient: &[f32], views: &[View]) -> Vec<f32> {
        let mut out = gradient.to_vec();
        let len = self.shape(1).image();
        let plane = self.size * self.size;
        for (image, view) in out.chunks_exact_mut(len).zip(views) {
            for (plane, deviation) in image.chunks_exact_mut(plane).zip(&self.deviation) {
                for value in plane {
                    *value /= deviation;
                }
            }
            self.cut(image, view);
            if self.policy_first {
                let cotangent = image.to_vec();
                image.fill(0.0);
                self.crop_and_flip_pullback(&cotangent, view, image);
            }
        }
        out
    }

    /// Sets what is cut out to zero: cutout and its pullback.
    fn cut(&self, image: &mut [f32], view: &View) {
        let [top, bottom, left, right] = view.hole;
        for plane in image.chunks_exact_mut(self.size * self.size) {
            for row in plane.chunks_exact_mut(self.size).take(bottom).skip(top) {
                row[left..right].fill(0.0);
            }
        }
    }

    /// Subtracts the mean and divides by the deviation, channel by channel.
    pub fn normalise(&self, images: &mut [f32]) {
        let plane = self.size * self.size;
        for image in images.chunks_exact_mut(self.shape(1).image()) {
            let channels = image.chunks_exact_mut(plane).zip(&self.mean).zip(&self.deviation);
            for ((values, mean), deviation) in channels {
                for value in values {
                    *value = (*value - mean) / deviation;
                }
            }
        }
    }
}

fn uniform(stream: &mut Stream) -> f64 {
    let mut value = [0.0];
    stream.uniform(&mut value);
    f64::from(value[0])
}

/// The position that `at` shows when an axis is mirrored at its ends without repeating them.
fn reflect(at: isize, size: usize) -> usize {
    let period = (2 * size as isize - 2).max(1);
    let at = at.rem_euclid(period);
    at.min(period - at) as usize % size
}

/// The box of a random resized crop, as shares of height and width: ten tries, then the largest box that is allowed.
fn draw_window(stream: &mut Stream, smallest: f64, height: usize, width: usize) -> [f64; 4] {
    const RATIO: (f64, f64) = (3.0 / 4.0, 4.0 / 3.0);
    let (height, width) = (height as f64, width as f64);
    for _ in 0..10 {
        let area = height * width * (smallest + (1.0 - smallest) * uniform(stream));
        let ratio = (RATIO.0.ln() + (RATIO.1.ln() - RATIO.0.ln()) * uniform(stream)).exp();
        let (columns, rows) = ((area * ratio).sqrt().round(), (area / ratio).sqrt().round());
        if (1.0..=width).contains(&columns) && (1.0..=height).contains(&rows) {
            let top = f64::from(stream.below((height - rows) as u32 + 1));
            let left = f64::from(stream.below((width - columns) as u32 + 1));
            return [top / height, left / width, rows / height, columns / width];
        }
    }
    let ratio = (width / height).clamp(RATIO.0, RATIO.1);
    let (columns, rows) =
        if width / height > ratio { (height * ratio, height) } else { (width, width / ratio) };
    [(1.0 - rows / height) / 2.0, (1.0 - columns / width) / 2.0, rows / height, columns / width]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(crop: Crop, policy_first: bool) -> Pipeline {
        Pipeline {
            size: 8,
            crop,
            flip: 0.5,
            cutout: 3,
            mean: vec![0.5, 0.4, 0.3],
            deviation: vec![0.2, 0.25, 0.3],
            policy_first,
        }
    }

    fn picture(height: usize, width: usize) -> Picture {
        let pixels = (0..height * width * 3).map(|i| (i * 53 % 256) as u8).collect();
        Picture { height, width, channels: 3, pixels }
    }

    #[test]
    fn edges_are_mirrored_without_repeating_them() {
        let shown: Vec<usize> = (-3..7).map(|at| reflect(at, 4)).collect();
        assert_eq!(shown, [3, 2, 1, 0, 1, 2, 3, 2, 1, 0]);
        assert_eq!(reflect(-5, 1), 0);
    }

    #[test]
    fn the_policys_place_does_not_change_what_a_network_sees_without_a_policy() {
        let picture = picture(8, 8);
        let (early, late) = (pipeline(Crop::Pad { pad: 2 }, false), pipeline(Crop::Pad { pad: 2 }, true));
        let mut distinct = std::collections::BTreeSet::new();
        for index in 0..40 {
            let view = early.draw(3, 1, index, &picture);
            assert_eq!(view, late.draw(3, 1, index, &picture));
            let seen = early.after(&early.before(&picture, &view), &[view]);
            assert_eq!(seen, late.after(&late.before(&picture, &view), &[view]));
            distinct.insert(format!("{view:?}"));
        }
        assert!(distinct.len() > 30, "views differ from picture to picture");
    }

    #[test]
    fn the_pullback_is_the_transpose() {
        // <after(x) - after(0), g> = <x, pullback(g)> for the linear part of an affine map.
        for policy_first in [false, true] {
            let pipeline = pipeline(Crop::Pad { pad: 3 }, policy_first);
            for index in 0..20 {
                let view = pipeline.draw(1, 0, index, &picture(8, 8));
                let mut numbers = vec![0.0; 2 * 192];
                Stream::new(9, VIEW, 0, index).uniform(&mut numbers);
                let (x, g) = numbers.split_at(192);
                let (there, origin) = (pipeline.after(x, &[view]), pipeline.after(&[0.0; 192], &[view]));
                let left: f64 = (0..192).map(|i| f64::from((there[i] - origin[i]) * g[i])).sum();
                let back = pipeline.after_pullback(g, &[view]);
                let right: f64 = (0..192).map(|i| f64::from(x[i] * back[i])).sum();
                assert!((left - right).abs() < 1e-3 * left.abs().max(1.0), "{left} {right}");
            }
        }
    }

    #[test]
    fn what_is_cut_out_is_black_and_no_gradient_comes_from_it() {
        let pipeline = pipeline(Crop::None, false);
        let view = View { hole: pipeline.hole([0, 7]), ..View::default() };
        assert_eq!(view.hole, [0, 2, 6, 8]);
        let seen = pipeline.after(&[1.0; 192], &[view]);
        assert_eq!(seen[7], (0.0 - 0.5) / 0.2);
        assert_eq!(seen[5], (1.0 - 0.5) / 0.2);
        let back = pipeline.after_pullback(&[1.0; 192], &[view]);
        assert_eq!((back[7], back[15], back[5]), (0.0, 0.0, 1.0 / 0.2));
    }

    #[test]
    fn large_pictures_are_cut_to_size_whatever_their_shape() {
        let pipeline = pipeline(Crop::Resized { smallest: 8 }, false);
        for (height, width) in [(40, 30), (5, 60), (60, 5), (1, 1), (8, 8)] {
            let picture = picture(height, width);
            assert_eq!(pipeline.evaluate(&picture).len(), 192);
            for index in 0..20 {
                let view = pipeline.draw(0, 0, index, &picture);
                let [top, left, rows, columns] = view.window.unwrap();
                assert!(
                    top >= 0.0 && left >= 0.0 && top + rows <= 1.0 + 1e-9 && left + columns <= 1.0 + 1e-9
                );
                assert_eq!(pipeline.before(&picture, &view).len(), 192);
            }
        }
    }
}
