//! Where actions move pixels: for masks, boxes and key points that belong to an image.

use freeaugment::{Affine, Motion};
use freeaugment_data::Picture;

use crate::pixel::source_matrix;
use crate::{Action, Operation};

/// No pixel of the input: what lies outside.
pub const OUTSIDE: u32 = u32::MAX;

impl Action {
    /// Where the points of an image of this size go; none where pixels stay in their places. Pixel centres lie at whole
    /// numbers.
    pub fn affine(&self, height: usize, width: usize) -> Option<Affine> {
        let [a, b, c, d, e, f] = source_matrix(self, height, width)?;
        // PIL measures at the edges of pixels.
        let half = |a: f64, b: f64, c: f64| c + (a + b - 1.0) / 2.0;
        Some(Affine { rows: [[a, b, half(a, b, c)], [d, e, half(d, e, f)]] }.inverse())
    }

    /// What actions do to positions in an image of this size.
    pub fn motion(actions: &[Self], height: usize, width: usize) -> Motion {
        Motion::new(height, width, actions.iter().filter_map(|action| action.affine(height, width)).collect())
    }

    /// For each pixel of the result, row by row, the number of the one it shows, or [`OUTSIDE`]. The pixels are those that
    /// the image itself shows: PIL takes the nearest one at every step, so numbers can be moved as colours are.
    pub fn moved_pixels(actions: &[Self], height: usize, width: usize) -> Vec<u32> {
        let actions: Vec<&Self> =
            actions.iter().filter(|action| action.affine(height, width).is_some()).collect();
        // Zero is what lies outside. Three colours hold 24 bits; larger pictures need a second one for the rest.
        let moved = |shift: u32| {
            let numbers = (1..=(height * width) as u64).flat_map(|number| {
                let [first, second, third, ..] = (number >> shift).to_le_bytes();
                [first, second, third]
            });
            let mut picture = Picture { height, width, channels: 3, pixels: numbers.collect() };
            for action in &actions {
                action.apply(&mut picture);
            }
            picture.pixels
        };
        let low = moved(0);
        let high = (height * width >= 1 << 24).then(|| moved(24));
        let number = |at: usize| {
            let bytes = &low[3 * at..][..3];
            let top = high.as_ref().map_or(0, |high| high[3 * at]);
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], top])
        };
        (0..height * width).map(|at| number(at).wrapping_sub(1)).collect()
    }
}

impl Operation {
    /// The operation of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_boxes_and_points_move_as_pixels_do() {
        let (height, width) = (31, 44);
        let values = [
            (Operation::ShearX, 0.3),
            (Operation::ShearY, -0.4),
            (Operation::TranslateX, 7.0),
            (Operation::TranslateY, -5.0),
            (Operation::Rotate, 33.0),
            (Operation::Flip, 0.0),
            (Operation::Invert, 0.0),
        ];
        let pixels: Vec<u8> = (0..height * width).map(|at| (at * 7 % 251) as u8 + 1).collect();
        for (operation, value) in values {
            let actions = [Action::new(operation, value)];
            let moved = Action::moved_pixels(&actions, height, width);
            let motion = Action::motion(&actions, height, width);
            let mut picture = Picture { height, width, channels: 1, pixels: pixels.clone() };
            if motion.is_still() {
                assert!(moved.iter().enumerate().all(|(at, &from)| at == from as usize));
                continue;
            }
            actions[0].apply(&mut picture);
            for (at, (&from, &pixel)) in moved.iter().zip(&picture.pixels).enumerate() {
                let expected = if from == OUTSIDE { 0 } else { pixels[from as usize] };
                assert_eq!(pixel, expected, "{operation:?} {at}");
                if from != OUTSIDE {
                    let place = |at: usize| [(at % width) as f64, (at / width) as f64];
                    let (found, expected) = (motion.point(place(from as usize)), place(at));
                    let distance =
                        (0..2).map(|axis| (found[axis] - expected[axis]).abs()).fold(0.0, f64::max);
                    assert!(distance <= 1.0, "{operation:?}: {found:?} {expected:?}");
                }
            }
        }
    }
}
