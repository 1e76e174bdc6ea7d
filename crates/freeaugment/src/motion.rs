//! Where boxes and key points go that belong to an image.

use crate::chain::{Affine, Chain};

/// A position in the plane, x and y.
pub type Position = [f64; 2];

/// What a sequence of transformations does to positions in an image.
///
/// What a transformation moves out of the image is gone, even if a later one would move it back: boxes show what is left.
///
/// ```
/// use freeaugment::{Chain, Motion, Step, Transformation};
///
/// let step = Step { transformation: Transformation::named("TranslateX")?, magnitude: Some(0.25) };
/// let motion = Motion::of_chain(&Chain::new(vec![step])?, /* height */ 10, /* width */ 8);
/// assert_eq!(motion.upright_box([0.0, 0.0, 8.0, 3.0]), [2.0, 0.0, 8.0, 3.0]);
/// assert_eq!(motion.point([1.0, 5.0]), [3.0, 5.0]);
/// # Ok::<(), freeaugment::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    height: usize,
    width: usize,
    maps: Vec<Affine>,
}

impl Motion {
    /// A motion from the maps of its transformations in their order, each from a place in its input to where it lies in
    /// its output.
    pub fn new(height: usize, width: usize, maps: Vec<Affine>) -> Self {
        Self { height, width, maps }
    }

    /// The motion of a chain in an image of this size.
    pub fn of_chain(chain: &Chain, height: usize, width: usize) -> Self {
        let maps = chain.steps().iter().filter_map(|step| step.affine(height, width)).collect();
        Self::new(height, width, maps)
    }

    /// Whether nothing moves.
    pub fn is_still(&self) -> bool {
        self.maps.is_empty()
    }

    /// Where a point goes, inside the image or not. Pixel centres lie at whole numbers.
    pub fn point(&self, point: Position) -> Position {
        self.maps.iter().fold(point, |point, map| moved(*map, point))
    }

    /// The smallest upright box around what is left of a box, both given by their edges: left, top, right, bottom, where
    /// an image reaches from 0 to its width and height. Nothing left is a box without area.
    pub fn upright_box(&self, [left, top, right, bottom]: [f64; 4]) -> [f64; 4] {
        let (width, height) = (self.width as f64, self.height as f64);
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom]].map(centred);
        // A box may begin outside the image; what lies there was never seen.
        let mut visible = inside(corners.to_vec(), width, height);
        for &map in &self.maps {
            visible = inside(visible.into_iter().map(|corner| moved(map, corner)).collect(), width, height);
        }
        if visible.is_empty() {
            let [x, y] = self.point(corners[0]).map(|value| value + 0.5);
            let (x, y) = (x.clamp(0.0, width), y.clamp(0.0, height));
            return [x, y, x, y];
        }
        let [mut low, mut high] = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
        for corner in visible {
            for axis in 0..2 {
                low[axis] = low[axis].min(corner[axis] + 0.5);
                high[axis] = high[axis].max(corner[axis] + 0.5);
            }
        }
        [low[0], low[1], high[0], high[1]]
    }

    /// The corners of a turned rectangle, given by its corners in their order around it (measured as those of
    /// [`Self::upright_box`]): sheared, it is the rectangle around it along its longer side. It is not cut off at the edges.
    pub fn turned_box(&self, corners: [Position; 4]) -> [Position; 4] {
        let moved = corners.map(|corner| self.point(centred(corner)).map(|value| value + 0.5));
        if self.is_still() { corners } else { rectangle_around(moved) }
    }
}

fn moved(map: Affine, [x, y]: Position) -> Position {
    map.map(x, y).into()
}

/// From a position measured at the edges of pixels to one measured at their centres.
fn centred(position: Position) -> Position {
    position.map(|value| value - 0.5)
}

/// The part of a convex polygon inside the image (Sutherland and Hodgman).
fn inside(mut polygon: Vec<Position>, width: f64, height: f64) -> Vec<Position> {
    // How far inside each of the four edges a position lies.
    let edges: [&dyn Fn(Position) -> f64; 4] =
        [&|p| p[0] + 0.5, &|p| width - 0.5 - p[0], &|p| p[1] + 0.5, &|p| height - 0.5 - p[1]];
    for depth in edges {
        let mut kept = Vec::with_capacity(polygon.len() + 2);
        for (at, &corner) in polygon.iter().enumerate() {
            let before = polygon[(at + polygon.len() - 1) % polygon.len()];
            let (from, to) = (depth(before), depth(corner));
            if (from >= 0.0) != (to >= 0.0) {
                let share = from / (from - to);
                kept.push([0, 1].map(|axis| before[axis] + share * (corner[axis] - before[axis])));
            }
            if to >= 0.0 {
                kept.push(corner);
            }
        }
        polygon = kept;
    }
    polygon
}

/// The rectangle around a parallelogram with a side along the longer of its sides; corners stay in their order.
fn rectangle_around(corners: [Position; 4]) -> [Position; 4] {
    let side =
        |from: usize, to: usize| [corners[to][0] - corners[from][0], corners[to][1] - corners[from][1]];
    let (first, second) = (side(0, 1), side(0, 3));
    let length = |[x, y]: Position| libm::hypot(x, y);
    let is_first = length(first) >= length(second);
    let (long, other) = if is_first { (first, second) } else { (second, first) };
    if length(long) == 0.0 {
        return corners;
    }
    let along = long.map(|value| value / length(long));
    // Across the long side, to where the other side points.
    let overlap = other[0] * along[0] + other[1] * along[1];
    let across = [other[0] - overlap * along[0], other[1] - overlap * along[1]];
    let centre = [0, 1].map(|axis| f64::midpoint(corners[0][axis], corners[2][axis]));
    let half = f64::midpoint(length(long), overlap.abs());
    let corner = |u: f64, v: f64| {
        [0, 1].map(|axis| {
            let (first, second) = if is_first {
                (along[axis] * half, across[axis] / 2.0)
            } else {
                (across[axis] / 2.0, along[axis] * half)
            };
            centre[axis] + u * first + v * second
        })
    };
    [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Images, Shape, Step, Strides, Transformation};

    const OUTSIDE: u32 = u32::MAX;

    fn chain(words: &[(&str, f32)]) -> Chain {
        let step = |&(name, m): &(&str, f32)| {
            let transformation = Transformation::named(name).unwrap();
            Step { transformation, magnitude: transformation.magnitude().map(|_| m) }
        };
        Chain::new(words.iter().map(step).collect()).unwrap()
    }

    /// For each pixel, the number of the one it shows.
    fn sources(chain: &Chain, shape: Shape) -> Vec<u32> {
        let numbers: Vec<u32> = (0..shape.plane() as u32).collect();
        let mut moved = numbers.clone();
        chain.move_mask(&numbers, shape, Strides::planar(shape), OUTSIDE, &mut moved).unwrap();
        moved
    }

    const CASES: [&[(&str, f32)]; 9] = [
        &[("ShearX", 0.4)],
        &[("ShearY", -0.5)],
        &[("TranslateX", 0.21)],
        &[("TranslateY", -0.3)],
        &[("Rotate", 27.0)],
        &[("Rotate", -13.0), ("Invert", 0.0), ("Invert", 0.0)],
        &[("TranslateX", 0.5), ("TranslateX", -0.5)],
        &[("Rotate", 30.0), ("ShearX", 0.3), ("TranslateY", 0.2)],
        &[("ShearY", 0.5), ("Posterize", 8.0), ("ShearX", -0.5), ("Rotate", 20.0)],
    ];

    /// Pixels of a white block after some steps.
    fn painted(chain: &Chain, shape: Shape, [left, top, right, bottom]: [usize; 4]) -> Vec<f32> {
        let mut data = vec![0.0; shape.plane()];
        for y in top..bottom {
            data[y * shape.width..][left..right].fill(1.0);
        }
        let images = Images::new(data, shape).unwrap();
        let mut out = Images::black(shape).unwrap();
        chain.apply_into(&images, &mut out).unwrap();
        out.into_vec()
    }

    #[test]
    fn masks_and_boxes_lie_where_the_pixels_lie() {
        let shape = Shape { count: 1, channels: 1, height: 50, width: 70 };
        for words in CASES {
            let chain = chain(words);
            let motion = Motion::of_chain(&chain, shape.height, shape.width);
            for [left, top, right, bottom] in [[20, 15, 44, 31], [0, 0, 12, 9], [50, 30, 70, 50]] {
                let pixels = painted(&chain, shape, [left, top, right, bottom]);
                let is_painted = |at: u32| {
                    let (x, y) = (at as usize % shape.width, at as usize / shape.width);
                    at != OUTSIDE && (left..right).contains(&x) && (top..bottom).contains(&y)
                };
                let differing =
                    sources(&chain, shape).into_iter().zip(&pixels).filter(|&(source, &pixel)| {
                        (pixel > 0.75 && !is_painted(source)) || (pixel < 0.25 && is_painted(source))
                    });
                // Blended twice, an edge is a little softer than one that was rounded once.
                let differing = differing.count();
                assert!(differing <= if words.len() == 1 { 0 } else { 8 }, "{words:?}: {differing}");
                let found = motion.upright_box([left as f64, top as f64, right as f64, bottom as f64]);
                let mut around = [usize::MAX, usize::MAX, 0, 0];
                for at in (0..pixels.len()).filter(|&at| pixels[at] > 0.5) {
                    let (x, y) = (at % shape.width, at / shape.width);
                    around = [around[0].min(x), around[1].min(y), around[2].max(x + 1), around[3].max(y + 1)];
                }
                if around[0] == usize::MAX {
                    let area = (found[2] - found[0]) * (found[3] - found[1]);
                    assert!(area < 2.0, "{words:?}: {found:?}");
                    continue;
                }
                // A corner is sharper than the pixels that show it.
                for (edge, pixel) in found.into_iter().zip(around) {
                    assert!((edge - pixel as f64).abs() <= 2.0, "{words:?}: {found:?} {around:?}");
                }
            }
        }
    }

    #[test]
    fn what_was_moved_out_is_gone() {
        let chain = chain(CASES[6]);
        let motion = Motion::of_chain(&chain, 10, 10);
        assert_eq!(motion.upright_box([0.0, 0.0, 10.0, 10.0]), [0.0, 0.0, 5.0, 10.0]);
        assert_eq!(motion.upright_box([6.0, 2.0, 9.0, 4.0]), [6.0, 2.0, 6.0, 2.0]);
        assert_eq!(motion.point([7.0, 3.0]), [7.0, 3.0]);
    }

    #[test]
    fn a_turned_box_stays_a_rectangle_around_its_corners() {
        let corners = [[10.0, 10.0], [30.0, 10.0], [30.0, 18.0], [10.0, 18.0]];
        let still = Motion::of_chain(&Chain::default(), 40, 40);
        assert_eq!(still.turned_box(corners), corners);
        let turned = Motion::of_chain(&chain(&[("Rotate", 30.0)]), 40, 40);
        for (found, corner) in turned.turned_box(corners).into_iter().zip(corners) {
            let expected = turned.point(centred(corner));
            assert!(
                (0..2).all(|axis| (found[axis] - expected[axis] - 0.5).abs() < 1e-9),
                "{found:?} {expected:?}"
            );
        }
        let sheared = Motion::of_chain(&chain(&[("ShearX", 0.5), ("Rotate", 10.0)]), 40, 40);
        let [a, b, c, d] = sheared.turned_box(corners);
        let side = |from: Position, to: Position| [to[0] - from[0], to[1] - from[1]];
        let (first, second) = (side(a, b), side(b, c));
        assert!((first[0] * second[0] + first[1] * second[1]).abs() < 1e-9);
        for corner in corners {
            let place = sheared.point(centred(corner)).map(|value| value + 0.5);
            for (from, to) in [(a, b), (b, c), (c, d), (d, a)] {
                let (edge, there) = (side(from, to), side(from, place));
                assert!(edge[0] * there[1] - edge[1] * there[0] > -1e-6, "{corner:?} lies outside");
            }
        }
    }
}
