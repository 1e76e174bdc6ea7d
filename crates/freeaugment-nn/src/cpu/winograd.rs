//! 3×3 convolution at stride 1 by Winograd's minimal filtering (Lavin and Gray, "Fast algorithms for convolutional
//! neural networks", 2015): F(4×4, 3×3) has 36 multiplications where the plain sum has 144, F(2×2, 3×3) 16 for 36.
//!
//! A tile of input pixels becomes as many numbers ("points"), multiplied one by one with the points that a 3×3 weight
//! becomes, summed over input channels and turned back into output pixels. The sum over channels is one matrix product
//! per point. The gradient to the weights is the same in reverse: output tiles become points, and the products sum
//! over tiles.
//!
//! [`four`] is the fast one; its rounding errors are about twice those of a plain sum. [`two`] rounds less than a plain
//! sum and is for the values of the forward pass: they decide on which side of zero every activation falls, and a
//! gradient jumps where that changes.

use rayon::prelude::*;

use super::frame::Frame;
use super::lane::Lane;
use super::matmul::{Extent, Left, PANEL, Right, multiply};
use super::scratch;
use freeaugment_base::lanes;

/// Output pixels along the side of [`four`]'s tile.
const TILE: usize = 4;
/// Input pixels along the side of [`four`]'s tile.
const FIELD: usize = 6;
/// Numbers that [`four`]'s tile becomes.
const POINTS: usize = FIELD * FIELD;

/// Whether the kernels below can be used: whole vectors of channels on both sides.
pub(crate) fn fits(inputs: usize, outputs: usize) -> bool {
    inputs.is_multiple_of(PANEL) && outputs.is_multiple_of(PANEL)
}

// The six points are 0, ±NEAR, ±FAR and infinity. Their errors in f32 are half of those of the usual 0, ±1, ±2 and
// infinity, and about twice those of a plain sum; all constants below are exact.
const NEAR: f32 = 0.625;
const FAR: f32 = 1.5;
const NEAR2: f32 = NEAR * NEAR;
const FAR2: f32 = FAR * FAR;

/// Bᵀd: six neighbouring inputs to six points.
#[inline(always)]
fn input_points<const W: usize>(d: [Lane<W>; FIELD]) -> [Lane<W>; FIELD] {
    let near_even = d[4] - d[2] * FAR2;
    let near_odd = (d[3] - d[1] * FAR2) * NEAR;
    let far_even = d[4] - d[2] * NEAR2;
    let far_odd = (d[3] - d[1] * NEAR2) * FAR;
    [
        d[0] * (NEAR2 * FAR2) - d[2] * (NEAR2 + FAR2) + d[4],
        near_even + near_odd,
        near_even - near_odd,
        far_even + far_odd,
        far_even - far_odd,
        d[1] * (NEAR2 * FAR2) - d[3] * (NEAR2 + FAR2) + d[5],
    ]
}

/// Aᵀm: six points to four outputs.
#[inline(always)]
fn output_pixels<const W: usize>(m: [Lane<W>; FIELD]) -> [Lane<W>; TILE] {
    let (near_sum, near_difference) = (m[1] + m[2], m[1] - m[2]);
    let (far_sum, far_difference) = (m[3] + m[4], m[3] - m[4]);
    [
        m[0] + near_sum + far_sum,
        near_difference * NEAR + far_difference * FAR,
        near_sum * NEAR2 + far_sum * FAR2,
        near_difference * (NEAR * NEAR2) + far_difference * (FAR * FAR2) + m[5],
    ]
}

/// Ay, the transpose of [`output_pixels`]: four cotangents to six points.
#[inline(always)]
fn cotangent_points<const W: usize>(y: [Lane<W>; TILE]) -> [Lane<W>; FIELD] {
    let near_even = y[0] + y[2] * NEAR2;
    let near_odd = y[1] * NEAR + y[3] * (NEAR * NEAR2);
    let far_even = y[0] + y[2] * FAR2;
    let far_odd = y[1] * FAR + y[3] * (FAR * FAR2);
    [y[0], near_even + near_odd, near_even - near_odd, far_even + far_odd, far_even - far_odd, y[3]]
}

/// What the weights' points are divided by: the products of a point's differences from the other points.
const ZERO_SHARE: f32 = 1.0 / (NEAR2 * FAR2);
const NEAR_SHARE: f32 = 1.0 / (2.0 * NEAR2 * (NEAR2 - FAR2));
const FAR_SHARE: f32 = 1.0 / (2.0 * FAR2 * (FAR2 - NEAR2));

/// Gg: three weights to six points.
#[inline(always)]
fn weight_points<const W: usize>(g: [Lane<W>; 3]) -> [Lane<W>; FIELD] {
    let near_even = (g[0] + g[2] * NEAR2) * NEAR_SHARE;
    let near_odd = g[1] * (NEAR * NEAR_SHARE);
    let far_even = (g[0] + g[2] * FAR2) * FAR_SHARE;
    let far_odd = g[1] * (FAR * FAR_SHARE);
    [
        g[0] * ZERO_SHARE,
        near_even + near_odd,
        near_even - near_odd,
        far_even + far_odd,
        far_even - far_odd,
        g[2],
    ]
}

/// [`input_points`] of F(2×2, 3×3): points 0, ±1 and infinity.
#[inline(always)]
fn input_points_two<const W: usize>(d: [Lane<W>; 4]) -> [Lane<W>; 4] {
    [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[3] - d[1]]
}

/// [`output_pixels`] of F(2×2, 3×3).
#[inline(always)]
fn output_pixels_two<const W: usize>(m: [Lane<W>; 4]) -> [Lane<W>; 2] {
    [m[0] + m[1] + m[2], m[1] - m[2] + m[3]]
}

/// [`weight_points`] of F(2×2, 3×3).
#[inline(always)]
fn weight_points_two<const W: usize>(g: [Lane<W>; 3]) -> [Lane<W>; 4] {
    let even = (g[0] + g[2]) * 0.5;
    let odd = g[1] * 0.5;
    [g[0], even + odd, even - odd, g[2]]
}

/// Gᵀu, the transpose of [`weight_points`]: six points to three gradients.
#[inline(always)]
fn weight_gradients<const W: usize>(u: [Lane<W>; FIELD]) -> [Lane<W>; 3] {
    let near_sum = (u[1] + u[2]) * NEAR_SHARE;
    let far_sum = (u[3] + u[4]) * FAR_SHARE;
    [
        u[0] * ZERO_SHARE + near_sum + far_sum,
        (u[1] - u[2]) * (NEAR * NEAR_SHARE) + (u[3] - u[4]) * (FAR * FAR_SHARE),
        near_sum * NEAR2 + far_sum * FAR2 + u[5],
    ]
}

/// The array of an expression's values for an index from 0. `std::array::from_fn` would be a call that keeps its own
/// instruction set; this is part of the function around it.
macro_rules! array {
    (6, |$i:ident| $value:expr) => { array!(0 1 2 3 4 5, |$i| $value) };
    (4, |$i:ident| $value:expr) => { array!(0 1 2 3, |$i| $value) };
    (3, |$i:ident| $value:expr) => { array!(0 1 2, |$i| $value) };
    (2, |$i:ident| $value:expr) => { array!(0 1, |$i| $value) };
    ($($index:literal)*, |$i:ident| $value:expr) => {
        [$({
            let $i: usize = $index;
            $value
        }),*]
    };
}

/// Applies `along` to the columns of an n×n block and then to its rows, and evaluates `put` for every lane of the
/// resulting m×m block.
macro_rules! both_ways {
    ($n:tt to $m:tt by $along:ident, |$y:ident, $x:ident| $at:expr, |$v:ident, $u:ident, $lane:ident| $put:expr) => {
        let columns = array!($n, |$x| $along(array!($n, |$y| $at)));
        array!($m, |$v| {
            let row = $along(array!($n, |$x| columns[$x][$v]));
            array!($m, |$u| {
                let $lane = row[$u];
                $put;
            });
        });
    };
}

/// The tiles of a batch, in the order image, row, column.
#[derive(Clone, Copy)]
struct Tiles {
    frame: Frame,
    side: usize,
    rows: usize,
    columns: usize,
}

impl Tiles {
    fn of(frame: Frame, side: usize) -> Self {
        Self { frame, side, rows: frame.height.div_ceil(side), columns: frame.width.div_ceil(side) }
    }

    const fn per_image(&self) -> usize {
        self.rows * self.columns
    }

    /// (where the image starts, first row, first column) of a tile's output pixels.
    #[inline(always)]
    fn place(&self, tile: usize) -> (usize, usize, usize) {
        let (image, within) = (tile / self.per_image(), tile % self.per_image());
        (image * self.frame.len(), within / self.columns * self.side, within % self.columns * self.side)
    }
}

/// Whether a block of `side` pixels lies inside the image.
#[inline(always)]
fn inside(frame: Frame, top: isize, left: isize, side: isize) -> bool {
    top >= 0 && left >= 0 && top + side <= frame.height as isize && left + side <= frame.width as isize
}

/// A pixel; zero outside the image.
#[inline(always)]
fn read<const W: usize>(image: &[f32], frame: Frame, y: isize, x: isize, channel: usize) -> Lane<W> {
    if inside(frame, y, x, 1) {
        Lane::<W>::load(&image[(y as usize * frame.width + x as usize) * frame.channels + channel..])
    } else {
        Lane::<W>::ZERO
    }
}

/// A module with one size of the algorithm: weights packed as points, and the convolution.
macro_rules! filter {
    ($name:ident: $tile:tt from $field:tt by $input:ident, $output:ident, $weight:ident) => {
        pub(crate) mod $name {
            use super::*;

            lanes! {
                /// Input tiles `first..first + count` to points arrays `[count, channel]`.
                pub(super) fn transform_input<W>(values: &[f32], tiles: Tiles, first: usize, count: usize, points: &mut [&mut [f32]]) {
                    let (frame, channels) = (tiles.frame, tiles.frame.channels);
                    for index in 0..count {
                        let (image, top, left) = tiles.place(first + index);
                        let image = &values[image..][..frame.len()];
                        let (top, left) = (top as isize - 1, left as isize - 1);
                        for channel in (0..channels).step_by(W) {
                            let start = index * channels + channel;
                            if inside(frame, top, left, $field) {
                                let corner = &image[(top as usize * frame.width + left as usize) * channels + channel..];
                                both_ways!($field to $field by $input,
                                    |y, x| Lane::<W>::load(&corner[(y * frame.width + x) * channels..]),
                                    |v, u, lane| lane.store(&mut points[v * $field + u][start..]));
                            } else {
                                both_ways!($field to $field by $input,
                                    |y, x| read::<W>(image, frame, top + y as isize, left + x as isize, channel),
                                    |v, u, lane| lane.store(&mut points[v * $field + u][start..]));
                            }
                        }
                    }
                }

                /// `points` `[points, count, channel]` to the output pixels of tiles `first..first + count`, plus `addend`.
                fn transform_output<W>(
                    points: &[f32], tiles: Tiles, first: usize, count: usize, out: &mut [f32], addend: Option<&[f32]>,
                ) {
                    let frame = tiles.frame;
                    let channels = frame.channels;
                    for index in 0..count {
                        let (image, top, left) = tiles.place(first + index);
                        let (height, width) = (usize::min($tile, frame.height - top), usize::min($tile, frame.width - left));
                        for channel in (0..channels).step_by(W) {
                            let points = &points[index * channels + channel..];
                            let start = image + (top * frame.width + left) * channels + channel;
                            both_ways!($field to $tile by $output,
                                |y, x| Lane::<W>::load(&points[(y * $field + x) * count * channels..]),
                                |v, u, lane| if v < height && u < width {
                                    let at = start + (v * frame.width + u) * channels;
                                    let lane = match addend {
                                        Some(addend) => lane + Lane::<W>::load(&addend[at..]),
                                        None => lane,
                                    };
                                    lane.store(&mut out[at..]);
                                });
                        }
                    }
                }

                /// One panel (16 outputs) of [`pack`]: `[points, input, 16]`.
                fn pack_panel<W>(weight: &[f32], first: usize, inputs: usize, strides: (usize, usize), flip: bool, panel: &mut [f32]) {
                    for input in 0..inputs {
                        for half in (0..PANEL).step_by(W) {
                            let weight = &weight[(first + half) * strides.0 + input * strides.1..];
                            both_ways!(3 to $field by $weight,
                                |y, x| {
                                    let place = if flip { 8 - (y * 3 + x) } else { y * 3 + x };
                                    let mut lane = Lane::<W>::ZERO;
                                    for (j, value) in lane.0.iter_mut().enumerate() {
                                        *value = weight[j * strides.0 + place];
                                    }
                                    lane
                                },
                                |v, u, lane| lane.store(&mut panel[((v * $field + u) * inputs + input) * PANEL + half..]));
                        }
                    }
                }
            }

            /// The length of packed weights.
            pub(in crate::cpu) const fn packed_len(inputs: usize, outputs: usize) -> usize {
                ($field * $field) * inputs * outputs
            }

            /// Weights `[outputs, inputs, 3, 3]` as points in panels of 16 outputs: `[outputs / 16, points, inputs, 16]`.
            ///
            /// `backward` packs the weights of the input gradient: the roles of inputs and outputs are swapped and the window is
            /// turned by 180 degrees.
            pub(in crate::cpu) fn pack(weight: &[f32], outputs: usize, inputs: usize, backward: bool, packed: &mut [f32]) {
                let (from, strides) = if backward { (outputs, (9, inputs * 9)) } else { (inputs, (inputs * 9, 9)) };
                assert_eq!(packed.len(), packed_len(inputs, outputs));
                packed.par_chunks_exact_mut(($field * $field) * from * PANEL).enumerate().for_each(|(index, panel)| {
                    pack_panel(weight, index * PANEL, from, strides, backward, panel);
                });
            }

            /// Tiles per block: their points, input and output, should stay in the second-level cache, but a block must be large
            /// enough to pay for streaming the weights.
            fn block_tiles(inputs: usize, outputs: usize) -> usize {
                (102_400 / (($field * $field) * (inputs + outputs)) / 6 * 6).clamp(24, 96)
            }

            /// A source batch and its packed weights.
            pub(in crate::cpu) struct Source<'a> {
                pub(in crate::cpu) values: &'a [f32],
                pub(in crate::cpu) packed: &'a [f32],
            }

            /// `out = Σ over sources of convolution(source) (+ addend)`. All sources have the frame `source`; `target` differs
            /// from it in channels only.
            pub(in crate::cpu) fn convolve(
                sources: &[Source],
                source: Frame,
                target: Frame,
                out: &mut [f32],
                addend: Option<&[f32]>,
            ) {
                let (from, to) = (Tiles::of(source, $tile), Tiles::of(target, $tile));
                let (inputs, outputs) = (source.channels, target.channels);
                let block = block_tiles(inputs, outputs);
                // Small images share a task, so that a block is not cut short by the end of an image.
                let images = (24_usize).div_ceil(to.per_image()).min(4);
                out.par_chunks_mut(images * target.len()).enumerate().for_each(|(task, out)| {
                    let start = task * images;
                    let total = out.len() / target.len() * to.per_image();
                    let addend = addend.map(|addend| &addend[start * target.len()..][..out.len()]);
                    scratch::with(($field * $field) * block * (inputs + outputs), |scratch| {
                        let (points, products) = scratch.split_at_mut(($field * $field) * block * inputs);
                        for first in (0..total).step_by(block) {
                            let count = block.min(total - first);
                            for (index, one) in sources.iter().enumerate() {
                                let values = &one.values[start * source.len()..];
                                let mut slices: Vec<_> = points.chunks_exact_mut(block * inputs).collect();
                                transform_input(values, from, first, count, &mut slices);
                                for point in 0..($field * $field) {
                                    multiply(
                                        Extent { rows: count, depth: inputs, columns: outputs },
                                        Left { values: &points[point * block * inputs..], row: inputs, step: 1 },
                                        Right {
                                            values: &one.packed[point * inputs * PANEL..],
                                            panel: ($field * $field) * inputs * PANEL,
                                            step: PANEL,
                                        },
                                        &mut products[point * count * outputs..][..count * outputs],
                                        outputs,
                                        index > 0,
                                    );
                                }
                            }
                            transform_output(products, to, first, count, out, addend);
                        }
                    });
                });
            }
        }
    };
}

filter!(four: 4 from 6 by input_points, output_pixels, weight_points);
filter!(two: 2 from 4 by input_points_two, output_pixels_two, weight_points_two);

lanes! {
    /// Output cotangent tiles `first..first + count` to 36 arrays `[count, channel]`.
    fn transform_cotangent<W>(values: &[f32], tiles: Tiles, first: usize, count: usize, points: &mut [&mut [f32]]) {
        let (frame, channels) = (tiles.frame, tiles.frame.channels);
        for index in 0..count {
            let (image, top, left) = tiles.place(first + index);
            let image = &values[image..][..frame.len()];
            let (top, left) = (top as isize, left as isize);
            for channel in (0..channels).step_by(W) {
                let start = index * channels + channel;
                if inside(frame, top, left, 4) {
                    let corner = &image[(top as usize * frame.width + left as usize) * channels + channel..];
                    both_ways!(4 to 6 by cotangent_points,
                        |y, x| Lane::<W>::load(&corner[(y * frame.width + x) * channels..]),
                        |v, u, lane| lane.store(&mut points[v * FIELD + u][start..]));
                } else {
                    both_ways!(4 to 6 by cotangent_points,
                        |y, x| read::<W>(image, frame, top + y as isize, left + x as isize, channel),
                        |v, u, lane| lane.store(&mut points[v * FIELD + u][start..]));
                }
            }
        }
    }

    /// Summed points `[36, input, output]` of one input channel to `[output, 9]`.
    fn unpack_input<W>(points: &[f32], input: usize, inputs: usize, outputs: usize, gradient: &mut [f32]) {
        for output in (0..outputs).step_by(W) {
            let points = &points[input * outputs + output..];
            both_ways!(6 to 3 by weight_gradients,
                |y, x| Lane::<W>::load(&points[(y * FIELD + x) * inputs * outputs..]),
                |v, u, lane| for (j, value) in lane.0.iter().enumerate() {
                    gradient[(output + j) * 9 + v * 3 + u] = *value;
                });
        }
    }
}

/// Tiles whose points, input and output, are summed at a time in [`convolve_weights`].
fn chunk_tiles(inputs: usize, outputs: usize) -> usize {
    ((1 << 20) / (POINTS * (inputs + outputs))).clamp(48, 512)
}

/// Tiles that one thread transforms at a time in [`convolve_weights`].
const SHARE: usize = 16;

/// Cuts `[36, tiles, channels]` into shares of [`SHARE`] tiles, each 36 slices.
fn shares(points: &mut [f32], tiles: usize, channels: usize) -> Vec<Vec<&mut [f32]>> {
    let mut shares: Vec<_> = (0..tiles.div_ceil(SHARE)).map(|_| Vec::with_capacity(POINTS)).collect();
    for point in points.chunks_exact_mut(tiles * channels) {
        for (share, slice) in shares.iter_mut().zip(point.chunks_mut(SHARE * channels)) {
            share.push(slice);
        }
    }
    shares
}

/// The gradient to the weights, `[outputs, inputs, 3, 3]`.
///
/// Threads share the tiles of a chunk while they transform it, and the 36 points while they sum over its tiles: no
/// partial sums have to be kept and joined.
pub(crate) fn convolve_weights(
    input: &[f32],
    source: Frame,
    cotangent: &[f32],
    outputs: usize,
    gradient: &mut [f32],
) {
    let inputs = source.channels;
    let (from, to) = (Tiles::of(source, TILE), Tiles::of(Frame { channels: outputs, ..source }, TILE));
    let total = input.len() / source.len() * from.per_image();
    let chunk = chunk_tiles(inputs, outputs).min(total);
    let (left, right, sums) = (POINTS * chunk * inputs, POINTS * chunk * outputs, POINTS * inputs * outputs);
    scratch::with(left + right + sums, |scratch| {
        let (points, rest) = scratch.split_at_mut(left);
        let (cotangents, sums) = rest.split_at_mut(right);
        for first in (0..total).step_by(chunk) {
            let end = total.min(first + chunk);
            let tasks = shares(points, chunk, inputs).into_par_iter().zip(shares(cotangents, chunk, outputs));
            tasks.enumerate().for_each(|(task, (mut points, mut cotangents))| {
                let start = first + task * SHARE;
                let count = SHARE.min(end.saturating_sub(start));
                four::transform_input(input, from, start, count, &mut points);
                transform_cotangent(cotangent, to, start, count, &mut cotangents);
            });
            sums.par_chunks_exact_mut(inputs * outputs).enumerate().for_each(|(point, sum)| {
                multiply(
                    Extent { rows: inputs, depth: end - first, columns: outputs },
                    Left { values: &points[point * chunk * inputs..], row: 1, step: inputs },
                    Right { values: &cotangents[point * chunk * outputs..], panel: PANEL, step: outputs },
                    sum,
                    outputs,
                    first > 0,
                );
            });
        }
        unpack(sums, inputs, outputs, gradient);
    });
}

/// Summed points `[36, input, output]` to the gradient `[output, input, 3, 3]`.
fn unpack(sums: &[f32], inputs: usize, outputs: usize, gradient: &mut [f32]) {
    scratch::with(inputs * outputs * 9, |columns| {
        columns.par_chunks_exact_mut(outputs * 9).enumerate().for_each(|(input, column)| {
            unpack_input(sums, input, inputs, outputs, column);
        });
        gradient.par_chunks_exact_mut(inputs * 9).enumerate().for_each(|(output, row)| {
            for (input, out) in row.chunks_exact_mut(9).enumerate() {
                out.copy_from_slice(&columns[(input * outputs + output) * 9..][..9]);
            }
        });
    });
}
