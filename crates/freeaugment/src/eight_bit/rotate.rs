//! Rotations of bytes.
//!
//! Pixels are first copied with their channels side by side, inside two rings of zeros: each of the four neighbours that a
//! blend reads is then one short vector, none needs a check whether it lies inside, and both orders of channels are one.

use super::Picture;
use super::blend::fixed;
use crate::image::Image;
use crate::transformation::{Positions, RING, ROTATE_BLOCK as BLOCK, Turn};
use crate::work::{Scratch, grown};

pub(crate) fn apply(picture: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
    let turn = Turn::new(Image { data: &[], height: picture.height, width: picture.width }, m);
    let shades = grown(&mut scratch.shades, turn.stride * (picture.height + 2 * RING));
    copy(picture, turn.stride, shades);
    if picture.depth == 3 {
        blend_pixels(&turn, picture, shades, out);
    } else {
        blend_planes(&turn, picture, shades, out);
    }
}

/// The channels of a pixel, and a zero. Levels are in units of 2⁻⁶: 16 bits hold twice the difference of any two.
type Shade = [i16; 4];

/// Bits of a shade below those of a level.
const FINER: u32 = 6;

#[inline(always)]
fn shade(level: u8) -> i16 {
    i16::from(level) << FINER
}

/// low + fraction·(high - low), rounded down. It is written as one instruction of x86 (`pmulhw`) has it.
#[inline(always)]
fn between(low: i16, high: i16, fraction: i16) -> i16 {
    let twice = 2 * (high - low);
    low + ((i32::from(twice) * i32::from(fraction)) >> 16) as i16
}

/// The level nearest to a shade that was rounded down twice, each time by half a unit in the mean.
#[inline(always)]
fn level(shade: i16) -> u8 {
    ((shade + (1 << (FINER - 1)) + 1) >> FINER) as u8
}

freeaugment_base::versions! {
    fn blend_pixels(turn: &Turn, picture: Picture<'_>, shades: &[Shade], out: &mut [u8]) {
        let mut blend = Blend::new();
        for (y, out) in out.chunks_exact_mut(picture.row_len()).enumerate() {
            for (first, out) in out.as_chunks_mut::<3>().0.chunks_mut(BLOCK).enumerate() {
                blend.find(turn, y, first * BLOCK, shades);
                for (out, [r, g, b, _]) in out.iter_mut().zip(blend.pixels) {
                    *out = [r, g, b];
                }
            }
        }
    }

    fn blend_planes(turn: &Turn, picture: Picture<'_>, shades: &[Shade], out: &mut [u8]) {
        let mut blend = Blend::new();
        for y in 0..picture.height {
            for first in (0..picture.width).step_by(BLOCK) {
                blend.find(turn, y, first, shades);
                let count = BLOCK.min(picture.width - first);
                for (plane, out) in out.chunks_exact_mut(picture.plane_len()).enumerate() {
                    let out = &mut out[y * picture.width + first..][..count];
                    for (out, pixel) in out.iter_mut().zip(&blend.pixels) {
                        *out = pixel[plane];
                    }
                }
            }
        }
    }
}

/// A few neighbouring pixels of the result. Everything is first laid side by side, so that the blends are one loop of
/// vectors without a jump in memory.
struct Blend {
    positions: Positions,
    /// The neighbours above (left, right) and below (left, right).
    around: [[Shade; BLOCK]; 4],
    fx: [Shade; BLOCK],
    fy: [Shade; BLOCK],
    pixels: [[u8; 4]; BLOCK],
}

impl Blend {
    fn new() -> Self {
        let none = [[0; 4]; BLOCK];
        Self {
            positions: Positions::default(),
            around: [none; 4],
            fx: none,
            fy: none,
            pixels: [[0; 4]; BLOCK],
        }
    }

    /// The pixels of row y from `first` on (those beyond the row mean nothing).
    #[inline(always)]
    fn find(&mut self, turn: &Turn, y: usize, first: usize, shades: &[Shade]) {
        let Self { positions, around, fx, fy, pixels } = self;
        positions.find(turn, y, first);
        for b in 0..BLOCK {
            fx[b] = [fixed(positions.fx[b]); 4];
            fy[b] = [fixed(positions.fy[b]); 4];
        }
        let [above_left, above_right, below_left, below_right] = around;
        for b in 0..BLOCK {
            let found = &shades[positions.start[b] as usize..][..turn.stride + 2];
            (above_left[b], above_right[b]) = (found[0], found[1]);
            (below_left[b], below_right[b]) = (found[turn.stride], found[turn.stride + 1]);
        }
        let [above_left, above_right, below_left, below_right] =
            around.each_ref().map(|side| side.as_flattened());
        let (fx, fy, pixels) = (fx.as_flattened(), fy.as_flattened(), pixels.as_flattened_mut());
        for at in 0..4 * BLOCK {
            let left = between(above_left[at], below_left[at], fy[at]);
            let right = between(above_right[at], below_right[at], fy[at]);
            pixels[at] = level(between(left, right, fx[at]));
        }
    }
}

/// The pixels inside their rings of zeros.
fn copy(picture: Picture<'_>, stride: usize, shades: &mut [Shade]) {
    let (height, width) = (picture.height, picture.width);
    let (above, rest) = shades.split_at_mut(RING * stride);
    let (inside, below) = rest.split_at_mut(height * stride);
    above.fill([0; 4]);
    below.fill([0; 4]);
    for (y, shades) in inside.chunks_exact_mut(stride).enumerate() {
        shades[..RING].fill([0; 4]);
        shades[RING + width..].fill([0; 4]);
        let shades = &mut shades[RING..][..width];
        match (picture.planes, picture.depth) {
            (_, 3) => copy_pixels(picture.row(0, y), shades),
            (1, _) => copy_grey(picture.row(0, y), shades),
            _ => copy_planes(picture.row(0, y), picture.row(1, y), picture.row(2, y), shades),
        }
    }
}

freeaugment_base::versions! {
    fn copy_pixels(row: &[u8], shades: &mut [Shade]) {
        for (out, &[r, g, b]) in shades.iter_mut().zip(row.as_chunks::<3>().0) {
            *out = [shade(r), shade(g), shade(b), 0];
        }
    }

    fn copy_planes(red: &[u8], green: &[u8], blue: &[u8], shades: &mut [Shade]) {
        for (((out, &r), &g), &b) in shades.iter_mut().zip(red).zip(green).zip(blue) {
            *out = [shade(r), shade(g), shade(b), 0];
        }
    }

    fn copy_grey(row: &[u8], shades: &mut [Shade]) {
        for (out, &level) in shades.iter_mut().zip(row) {
            *out = [shade(level), 0, 0, 0];
        }
    }
}
