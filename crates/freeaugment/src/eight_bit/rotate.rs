//! Rotations of bytes.
//!
//! Pixels are first copied to words of four bytes, inside two rings of zeros: each of the four neighbours that a blend
//! reads is then one word, none needs a check whether it lies inside, and both orders of channels are one.

use super::Picture;
use crate::image::Image;
use crate::transformation::{Positions, RING, ROTATE_BLOCK as BLOCK, Turn};
use crate::work::{Scratch, grown};

pub(crate) fn apply(picture: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
    let turn = Turn::new(Image { data: &[], height: picture.height, width: picture.width }, m);
    let words = grown(&mut scratch.words, turn.stride * (picture.height + 2 * RING));
    pack(picture, turn.stride, words);
    if picture.channels() == 1 {
        blend::<1>(&turn, picture, words, out);
    } else {
        blend::<3>(&turn, picture, words, out);
    }
}

/// Bits of a fraction in a blend: two of them and a level are a number of 30 bits.
const BITS: u32 = 11;

freeaugment_base::versions! {
    fn blend<const C: usize>(turn: &Turn, picture: Picture<'_>, words: &[u32], out: &mut [u8]) {
        let (mut positions, mut neighbours) = (Positions::default(), [[0; BLOCK]; 4]);
        let mut blended = [[0; BLOCK]; C];
        for y in 0..picture.height {
            for first in (0..picture.width).step_by(BLOCK) {
                let count = BLOCK.min(picture.width - first);
                positions.find(turn, y, first);
                for (b, &start) in positions.start[..count].iter().enumerate() {
                    let start = start as usize;
                    let (top, bottom) = (&words[start..][..2], &words[start + turn.stride..][..2]);
                    for (neighbours, word) in neighbours.iter_mut().zip([top[0], top[1], bottom[0], bottom[1]]) {
                        neighbours[b] = word;
                    }
                }
                for (channel, blended) in blended.iter_mut().enumerate() {
                    blend_channel(&positions, &neighbours, 8 * channel as u32, blended);
                }
                write(picture, y * picture.width + first, count, &blended, out);
            }
        }
    }
}

#[inline(always)]
fn blend_channel(
    positions: &Positions,
    neighbours: &[[u32; BLOCK]; 4],
    shift: u32,
    blended: &mut [u8; BLOCK],
) {
    let one = (1 << BITS) as f32;
    for b in 0..BLOCK {
        let fx = crate::math::truncate(positions.fx[b] * one + 0.5, one);
        let fy = crate::math::truncate(positions.fy[b] * one + 0.5, one);
        let level = |corner: usize| ((neighbours[corner][b] >> shift) & 255) as i32;
        let top = (level(0) << BITS) + fx * (level(1) - level(0));
        let bottom = (level(2) << BITS) + fx * (level(3) - level(2));
        let value = (top << BITS) + fy * (bottom - top);
        blended[b] = ((value + (1 << (2 * BITS - 1))) >> (2 * BITS)) as u8;
    }
}

/// Writes pixels from `at` on.
#[inline(always)]
fn write<const C: usize>(
    picture: Picture<'_>,
    at: usize,
    count: usize,
    blended: &[[u8; BLOCK]; C],
    out: &mut [u8],
) {
    if picture.depth == 3 {
        let pixels = &mut out.as_chunks_mut::<3>().0[at..][..count];
        for (b, pixel) in pixels.iter_mut().enumerate() {
            for channel in 0..C {
                pixel[channel] = blended[channel][b];
            }
        }
        return;
    }
    for (blended, out) in blended.iter().zip(out.chunks_exact_mut(picture.plane_len())) {
        out[at..][..count].copy_from_slice(&blended[..count]);
    }
}

/// The pixels as words, inside their rings of zeros.
fn pack(picture: Picture<'_>, stride: usize, words: &mut [u32]) {
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
    fn pack_pixels(row: &[u8], words: &mut [u32]) {
        for (word, &[r, g, b]) in words.iter_mut().zip(row.as_chunks::<3>().0) {
            *word = u32::from_le_bytes([r, g, b, 0]);
        }
    }

    fn pack_planes(red: &[u8], green: &[u8], blue: &[u8], words: &mut [u32]) {
        for (((word, &r), &g), &b) in words.iter_mut().zip(red).zip(green).zip(blue) {
            *word = u32::from_le_bytes([r, g, b, 0]);
        }
    }

    fn pack_grey(row: &[u8], words: &mut [u32]) {
        for (word, &level) in words.iter_mut().zip(row) {
            *word = u32::from(level);
        }
    }
}
