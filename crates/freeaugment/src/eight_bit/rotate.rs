//! Rotations of bytes.
//!
//! Pixels are first copied to words, inside two rings of zeros: each of the four neighbours that a blend reads is then one
//! word, none needs a check whether it lies inside, and both orders of channels are one. In a word of 64 bits every
//! channel has 21 of them. That is room for a level times a weight, so that a multiplication weighs a whole pixel.

use super::Picture;
use crate::image::Image;
use crate::math::truncate;
use crate::transformation::{Positions, RING, ROTATE_BLOCK as BLOCK, Turn};
use crate::work::{Scratch, grown};

pub(crate) fn apply(picture: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
    let turn = Turn::new(Image { data: &[], height: picture.height, width: picture.width }, m);
    let words = grown(&mut scratch.words, turn.stride * (picture.height + 2 * RING));
    pack(picture, turn.stride, words);
    if picture.depth == 3 {
        blend_pixels(&turn, picture, words, out);
    } else {
        blend_planes(&turn, picture, words, out);
    }
}

/// Bits of a channel in a word.
const CHANNEL: u32 = 21;
/// Bits of a weight: 255 times the sum of all weights, and one half for rounding, are less than 2²¹.
const WEIGHT: u32 = 13;

freeaugment_base::versions! {
    fn blend_pixels(turn: &Turn, picture: Picture<'_>, words: &[u64], out: &mut [u8]) {
        let mut blend = Blend::default();
        for (y, out) in out.chunks_exact_mut(picture.row_len()).enumerate() {
            for (first, out) in out.as_chunks_mut::<3>().0.chunks_mut(BLOCK).enumerate() {
                blend.find(turn, y, first * BLOCK);
                for (b, out) in out.iter_mut().enumerate() {
                    *out = channels(blend.word(b, turn, words));
                }
            }
        }
    }

    fn blend_planes(turn: &Turn, picture: Picture<'_>, words: &[u64], out: &mut [u8]) {
        let (mut blend, mut block) = (Blend::default(), [[0; 3]; BLOCK]);
        for y in 0..picture.height {
            for first in (0..picture.width).step_by(BLOCK) {
                blend.find(turn, y, first);
                let block = &mut block[..BLOCK.min(picture.width - first)];
                for (b, pixel) in block.iter_mut().enumerate() {
                    *pixel = channels(blend.word(b, turn, words));
                }
                for (plane, out) in out.chunks_exact_mut(picture.plane_len()).enumerate() {
                    let out = &mut out[y * picture.width + first..];
                    for (out, pixel) in out.iter_mut().zip(block.iter()) {
                        *out = pixel[plane];
                    }
                }
            }
        }
    }
}

/// Where a few neighbouring pixels read, and the weights of their four neighbours.
#[derive(Default)]
struct Blend {
    positions: Positions,
    weights: [[u32; BLOCK]; 4],
}

impl Blend {
    /// For the pixels of row y from `first` on (those beyond the row mean nothing).
    #[inline(always)]
    fn find(&mut self, turn: &Turn, y: usize, first: usize) {
        self.positions.find(turn, y, first);
        let one = 1 << WEIGHT;
        for b in 0..BLOCK {
            let fixed = |fraction: f32| truncate(fraction * one as f32 + 0.5, one as f32);
            let (x, y) = (fixed(self.positions.fx[b]), fixed(self.positions.fy[b]));
            // Rounded down, which is why no weight is negative: (1-x)·(1-y) is not.
            let both = (x * y) >> WEIGHT;
            self.weights[0][b] = (one - x - y + both) as u32;
            self.weights[1][b] = (x - both) as u32;
            self.weights[2][b] = (y - both) as u32;
            self.weights[3][b] = both as u32;
        }
    }

    /// The sum of the weighted neighbours of the b-th pixel, and one half in each channel.
    #[inline(always)]
    fn word(&self, b: usize, turn: &Turn, words: &[u64]) -> u64 {
        const HALF: u64 = spread([1, 1, 1]) << (WEIGHT - 1);
        let words = &words[self.positions.start[b] as usize..][..turn.stride + 2];
        let weighted = |corner: usize, word: u64| u64::from(self.weights[corner][b]) * word;
        let top = weighted(0, words[0]) + weighted(1, words[1]);
        let bottom = weighted(2, words[turn.stride]) + weighted(3, words[turn.stride + 1]);
        top + bottom + HALF
    }
}

/// The channels of a weighted word.
#[inline(always)]
fn channels(word: u64) -> [u8; 3] {
    [0, 1, 2].map(|channel| (word >> (channel * CHANNEL + WEIGHT)) as u8)
}

/// A word of these channels.
#[inline(always)]
const fn spread([r, g, b]: [u8; 3]) -> u64 {
    r as u64 | (g as u64) << CHANNEL | (b as u64) << (2 * CHANNEL)
}

/// The pixels as words, inside their rings of zeros.
fn pack(picture: Picture<'_>, stride: usize, words: &mut [u64]) {
    let (height, width) = (picture.height, picture.width);
    let (above, rest) = words.split_at_mut(RING * stride);
    let (inside, below) = rest.split_at_mut(height * stride);
    above.fill(0);
    below.fill(0);
    for (y, words) in inside.chunks_exact_mut(stride).enumerate() {
        words[..RING].fill(0);
        words[RING + width..].fill(0);
        let words = &mut words[RING..][..width];
        match (picture.planes, picture.depth) {
            (_, 3) => pack_pixels(picture.row(0, y), words),
            (1, _) => pack_grey(picture.row(0, y), words),
            _ => pack_planes(picture.row(0, y), picture.row(1, y), picture.row(2, y), words),
        }
    }
}

freeaugment_base::versions! {
    fn pack_pixels(row: &[u8], words: &mut [u64]) {
        for (word, &pixel) in words.iter_mut().zip(row.as_chunks::<3>().0) {
            *word = spread(pixel);
        }
    }

    fn pack_planes(red: &[u8], green: &[u8], blue: &[u8], words: &mut [u64]) {
        for (((word, &r), &g), &b) in words.iter_mut().zip(red).zip(green).zip(blue) {
            *word = spread([r, g, b]);
        }
    }

    fn pack_grey(row: &[u8], words: &mut [u64]) {
        for (word, &level) in words.iter_mut().zip(row) {
            *word = u64::from(level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_weight_is_negative_and_all_of_them_are_one() {
        let turn = Turn::new(Image { data: &[], height: 90, width: 64 }, 17.3);
        let mut blend = Blend::default();
        for y in 0..90 {
            for first in [0, 32] {
                blend.find(&turn, y, first);
                for b in 0..BLOCK {
                    let weights: [u32; 4] = std::array::from_fn(|corner| blend.weights[corner][b]);
                    assert!(weights.iter().all(|&weight| weight <= 1 << WEIGHT), "{weights:?}");
                    assert_eq!(weights.iter().sum::<u32>(), 1 << WEIGHT);
                }
            }
        }
        // The largest sum that there can be stays within its channel.
        let white = spread([255; 3]) * (1 << WEIGHT) + (spread([1; 3]) << (WEIGHT - 1));
        assert_eq!(channels(white), [255; 3]);
    }
}
