//! 3×3 convolution at stride 1 by Winograd's minimal filtering F(4×4, 3×3): 36 multiplications where the plain sum
//! has 144 (Lavin and Gray, "Fast algorithms for convolutional neural networks", 2015).
//!
//! A tile of 6×6 input pixels becomes 36 numbers, multiplied pointwise with the 36 numbers that a 3×3 weight becomes,
//! summed over input channels and turned back into 4×4 output pixels. The sum over channels is 36 matrix products.
//! The gradient to the weights is the same in reverse: output tiles become 36 numbers, and 36 products sum over tiles.

use rayon::prelude::*;

use super::frame::Frame;
use super::matmul::{Extent, Left, PANEL, Right, multiply};
use super::scratch;
use super::simd::{Lane, versions};

/// Output pixels along the side of a tile.
const TILE: usize = 4;
/// Input pixels along the side of a tile.
const FIELD: usize = 6;
/// Numbers that a tile becomes.
const POINTS: usize = FIELD * FIELD;

/// Whether the kernels below can be used: whole vectors of channels on both sides.
pub(crate) fn fits(inputs: usize, outputs: usize) -> bool {
    inputs.is_multiple_of(PANEL) && outputs.is_multiple_of(PANEL)
}

/// Bᵀd: six neighbouring inputs to six points.
#[inline(always)]
fn input_points(d: [Lane; FIELD]) -> [Lane; FIELD] {
    let even = d[4] - d[2] * 4.0;
    let odd = d[3] - d[1] * 4.0;
    let wide_even = d[4] - d[2];
    let wide_odd = (d[3] - d[1]) * 2.0;
    [
        d[0] * 4.0 - d[2] * 5.0 + d[4],
        even + odd,
        even - odd,
        wide_even + wide_odd,
        wide_even - wide_odd,
        d[1] * 4.0 - d[3] * 5.0 + d[5],
    ]
}

/// Aᵀm: six points to four outputs.
#[inline(always)]
fn output_pixels(m: [Lane; FIELD]) -> [Lane; TILE] {
    let (sum, difference) = (m[1] + m[2], m[1] - m[2]);
    let (wide_sum, wide_difference) = (m[3] + m[4], m[3] - m[4]);
    [
        m[0] + sum + wide_sum,
        difference + wide_difference * 2.0,
        sum + wide_sum * 4.0,
        difference + wide_difference * 8.0 + m[5],
    ]
}

/// Ay, the transpose of [`output_pixels`]: four cotangents to six points.
#[inline(always)]
fn cotangent_points(y: [Lane; TILE]) -> [Lane; FIELD] {
    let (even, odd) = (y[0] + y[2], y[1] + y[3]);
    let (wide_even, wide_odd) = (y[0] + y[2] * 4.0, y[1] * 2.0 + y[3] * 8.0);
    [y[0], even + odd, even - odd, wide_even + wide_odd, wide_even - wide_odd, y[3]]
}

/// Gg: three weights to six points.
#[inline(always)]
fn weight_points(g: [Lane; 3]) -> [Lane; FIELD] {
    let outer = (g[0] + g[2]) * (-1.0 / 6.0);
    let middle = g[1] * (1.0 / 6.0);
    let wide_outer = g[0] * (1.0 / 24.0) + g[2] * (1.0 / 6.0);
    let wide_middle = g[1] * (1.0 / 12.0);
    [g[0] * 0.25, outer - middle, outer + middle, wide_outer + wide_middle, wide_outer - wide_middle, g[2]]
}

/// Gᵀu, the transpose of [`weight_points`]: six points to three gradients.
#[inline(always)]
fn weight_gradients(u: [Lane; FIELD]) -> [Lane; 3] {
    let sum = (u[1] + u[2]) * (-1.0 / 6.0);
    let wide = u[3] + u[4];
    [
        u[0] * 0.25 + sum + wide * (1.0 / 24.0),
        (u[2] - u[1]) * (1.0 / 6.0) + (u[3] - u[4]) * (1.0 / 12.0),
        sum + wide * (1.0 / 6.0) + u[5],
    ]
}

/// The array of an expression's values for an index from 0. `std::array::from_fn` would be a call that keeps its own
/// instruction set; this is part of the function around it.
macro_rules! array {
    (6, |$i:ident| $value:expr) => { array!(0 1 2 3 4 5, |$i| $value) };
    (4, |$i:ident| $value:expr) => { array!(0 1 2 3, |$i| $value) };
    (3, |$i:ident| $value:expr) => { array!(0 1 2, |$i| $value) };
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
    rows: usize,
    columns: usize,
}

impl Tiles {
    fn of(frame: Frame) -> Self {
        Self { frame, rows: frame.height.div_ceil(TILE), columns: frame.width.div_ceil(TILE) }
    }

    const fn per_image(&self) -> usize {
        self.rows * self.columns
    }

    /// (where the image starts, first row, first column) of a tile's output pixels.
    #[inline(always)]
    fn place(&self, tile: usize) -> (usize, usize, usize) {
        let (image, within) = (tile / self.per_image(), tile % self.per_image());
        (image * self.frame.len(), within / self.columns * TILE, within % self.columns * TILE)
    }
}

/// Whether a block of `side` pixels lies inside the image.
#[inline(always)]
fn inside(frame: Frame, top: isize, left: isize, side: isize) -> bool {
    top >= 0 && left >= 0 && top + side <= frame.height as isize && left + side <= frame.width as isize
}

/// A pixel; zero outside the image.
#[inline(always)]
fn read(image: &[f32], frame: Frame, y: isize, x: isize, channel: usize) -> Lane {
    if inside(frame, y, x, 1) {
        Lane::load(&image[(y as usize * frame.width + x as usize) * frame.channels + channel..])
    } else {
        Lane::ZERO
    }
}

versions! {
    /// Input tiles `first..first + count` to 36 arrays `[count, channel]`.
    fn transform_input(values: &[f32], tiles: Tiles, first: usize, count: usize, points: &mut [&mut [f32]]) {
        let (frame, channels) = (tiles.frame, tiles.frame.channels);
        for index in 0..count {
            let (image, top, left) = tiles.place(first + index);
            let image = &values[image..][..frame.len()];
            let (top, left) = (top as isize - 1, left as isize - 1);
            for channel in (0..channels).step_by(Lane::WIDTH) {
                let start = index * channels + channel;
                if inside(frame, top, left, 6) {
                    let corner = &image[(top as usize * frame.width + left as usize) * channels + channel..];
                    both_ways!(6 to 6 by input_points,
                        |y, x| Lane::load(&corner[(y * frame.width + x) * channels..]),
                        |v, u, lane| lane.store(&mut points[v * FIELD + u][start..]));
                } else {
                    both_ways!(6 to 6 by input_points,
                        |y, x| read(image, frame, top + y as isize, left + x as isize, channel),
                        |v, u, lane| lane.store(&mut points[v * FIELD + u][start..]));
                }
            }
        }
    }

    /// Output cotangent tiles `first..first + count` to 36 arrays `[count, channel]`.
    fn transform_cotangent(values: &[f32], tiles: Tiles, first: usize, count: usize, points: &mut [&mut [f32]]) {
        let (frame, channels) = (tiles.frame, tiles.frame.channels);
        for index in 0..count {
            let (image, top, left) = tiles.place(first + index);
            let image = &values[image..][..frame.len()];
            let (top, left) = (top as isize, left as isize);
            for channel in (0..channels).step_by(Lane::WIDTH) {
                let start = index * channels + channel;
                if inside(frame, top, left, 4) {
                    let corner = &image[(top as usize * frame.width + left as usize) * channels + channel..];
                    both_ways!(4 to 6 by cotangent_points,
                        |y, x| Lane::load(&corner[(y * frame.width + x) * channels..]),
                        |v, u, lane| lane.store(&mut points[v * FIELD + u][start..]));
                } else {
                    both_ways!(4 to 6 by cotangent_points,
                        |y, x| read(image, frame, top + y as isize, left + x as isize, channel),
                        |v, u, lane| lane.store(&mut points[v * FIELD + u][start..]));
                }
            }
        }
    }

    /// `points` `[36, count, channel]` to the output pixels of tiles `first..first + count`, plus `addend`.
    fn transform_output(
        points: &[f32], tiles: Tiles, first: usize, count: usize, out: &mut [f32], addend: Option<&[f32]>,
    ) {
        let frame = tiles.frame;
        let channels = frame.channels;
        for index in 0..count {
            let (image, top, left) = tiles.place(first + index);
            let (height, width) = (TILE.min(frame.height - top), TILE.min(frame.width - left));
            for channel in (0..channels).step_by(Lane::WIDTH) {
                let points = &points[index * channels + channel..];
                let start = image + (top * frame.width + left) * channels + channel;
                both_ways!(6 to 4 by output_pixels,
                    |y, x| Lane::load(&points[(y * FIELD + x) * count * channels..]),
                    |v, u, lane| if v < height && u < width {
                        let at = start + (v * frame.width + u) * channels;
                        let lane = match addend {
                            Some(addend) => lane + Lane::load(&addend[at..]),
                            None => lane,
                        };
                        lane.store(&mut out[at..]);
                    });
            }
        }
    }

    /// One panel (16 outputs) of [`pack`]: `[36, input, 16]`.
    fn pack_panel(weight: &[f32], first: usize, inputs: usize, strides: (usize, usize), flip: bool, panel: &mut [f32]) {
        for input in 0..inputs {
            for half in (0..PANEL).step_by(Lane::WIDTH) {
                let weight = &weight[(first + half) * strides.0 + input * strides.1..];
                both_ways!(3 to 6 by weight_points,
                    |y, x| {
                        let place = if flip { 8 - (y * 3 + x) } else { y * 3 + x };
                        let mut lane = Lane::ZERO;
                        for (j, value) in lane.0.iter_mut().enumerate() {
                            *value = weight[j * strides.0 + place];
                        }
                        lane
                    },
                    |v, u, lane| lane.store(&mut panel[((v * FIELD + u) * inputs + input) * PANEL + half..]));
            }
        }
    }

    /// Summed points `[36, input, output]` of one input channel to `[output, 9]`.
    fn unpack_input(points: &[f32], input: usize, inputs: usize, outputs: usize, gradient: &mut [f32]) {
        for output in (0..outputs).step_by(Lane::WIDTH) {
            let points = &points[input * outputs + output..];
            both_ways!(6 to 3 by weight_gradients,
                |y, x| Lane::load(&points[(y * FIELD + x) * inputs * outputs..]),
                |v, u, lane| for (j, value) in lane.0.iter().enumerate() {
                    gradient[(output + j) * 9 + v * 3 + u] = *value;
                });
        }
    }
}

/// The length of packed weights.
pub(crate) const fn packed_len(inputs: usize, outputs: usize) -> usize {
    POINTS * inputs * outputs
}

/// Weights `[outputs, inputs, 3, 3]` as points in panels of 16 outputs: `[outputs / 16, 36, inputs, 16]`.
///
/// `backward` packs the weights of the input gradient: the roles of inputs and outputs are swapped and the window is
/// turned by 180 degrees.
pub(crate) fn pack(weight: &[f32], outputs: usize, inputs: usize, backward: bool, packed: &mut [f32]) {
    let (from, strides) = if backward { (outputs, (9, inputs * 9)) } else { (inputs, (inputs * 9, 9)) };
    assert_eq!(packed.len(), packed_len(inputs, outputs));
    packed.par_chunks_exact_mut(POINTS * from * PANEL).enumerate().for_each(|(index, panel)| {
        pack_panel(weight, index * PANEL, from, strides, backward, panel);
    });
}

/// Tiles per block: their points, input and output, should stay in the second-level cache, but a block must be large
/// enough to pay for streaming the weights.
fn block_tiles(inputs: usize, outputs: usize) -> usize {
    (102_400 / (POINTS * (inputs + outputs)) / 6 * 6).clamp(24, 96)
}

/// A source batch and its packed weights.
pub(crate) struct Source<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) packed: &'a [f32],
}

/// `out = Σ over sources of convolution(source) (+ addend)`. All sources have the frame `source`; `target` differs
/// from it in channels only.
pub(crate) fn convolve(
    sources: &[Source],
    source: Frame,
    target: Frame,
    out: &mut [f32],
    addend: Option<&[f32]>,
) {
    let (from, to) = (Tiles::of(source), Tiles::of(target));
    let (inputs, outputs) = (source.channels, target.channels);
    let block = block_tiles(inputs, outputs);
    // Small images share a task, so that a block is not cut short by the end of an image.
    let images = (24_usize).div_ceil(to.per_image()).min(4);
    out.par_chunks_mut(images * target.len()).enumerate().for_each(|(task, out)| {
        let start = task * images;
        let total = out.len() / target.len() * to.per_image();
        let addend = addend.map(|addend| &addend[start * target.len()..][..out.len()]);
        scratch::with(POINTS * block * (inputs + outputs), |scratch| {
            let (points, products) = scratch.split_at_mut(POINTS * block * inputs);
            for first in (0..total).step_by(block) {
                let count = block.min(total - first);
                for (index, one) in sources.iter().enumerate() {
                    let values = &one.values[start * source.len()..];
                    let mut slices: Vec<_> = points.chunks_exact_mut(block * inputs).collect();
                    transform_input(values, from, first, count, &mut slices);
                    for point in 0..POINTS {
                        multiply(
                            Extent { rows: count, depth: inputs, columns: outputs },
                            Left { values: &points[point * block * inputs..], row: inputs, step: 1 },
                            Right {
                                values: &one.packed[point * inputs * PANEL..],
                                panel: POINTS * inputs * PANEL,
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
    let (from, to) = (Tiles::of(source), Tiles::of(Frame { channels: outputs, ..source }));
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
                transform_input(input, from, start, count, &mut points);
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
