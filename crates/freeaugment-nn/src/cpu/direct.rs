//! Convolution of any shape as a matrix product of gathered patches: forward, to the input, to the weights.
//!
//! A convolution and its input gradient are the same walk: for every position of a grid, gather the pixels under some
//! taps and multiply with a matrix. At stride s the input gradient is s² such walks, one for each kind of input pixel
//! (even or odd row and column, for s = 2), because each kind meets other taps of the window.

use rayon::prelude::*;

use super::frame::Frame;
use super::matmul::{Extent, Left, PANEL, Right, multiply, pack, packed_len};
use super::scratch;
use crate::pass::Window;

/// A grid of positions, the source pixels each of them reads and the target pixel it writes.
pub(crate) struct Walk {
    rows: usize,
    columns: usize,
    source_step: usize,
    target_step: usize,
    target_first: (usize, usize),
    /// Offsets from the position's source pixel, row by row.
    taps: Vec<(isize, isize)>,
    /// The place of every tap in the window.
    places: Vec<(usize, usize)>,
}

impl Walk {
    /// The walk of a forward convolution.
    pub(crate) fn forward(window: Window, source: Frame) -> Self {
        let places: Vec<_> =
            (0..window.kernel).flat_map(|y| (0..window.kernel).map(move |x| (y, x))).collect();
        let offset = |place: usize| place as isize - window.padding as isize;
        Self {
            rows: window.positions(source.height),
            columns: window.positions(source.width),
            source_step: window.stride,
            target_step: 1,
            target_first: (0, 0),
            taps: places.iter().map(|&(y, x)| (offset(y), offset(x))).collect(),
            places,
        }
    }

    /// The walks of its input gradient: `target` is the input's frame.
    pub(crate) fn backward(window: Window, target: Frame) -> Vec<Self> {
        let stride = window.stride;
        // Input row i meets window row k where i + padding - k is a multiple of the stride; then the output row is
        // that multiple. Larger k come first, so that offsets ascend and neighbouring taps are neighbours in memory.
        let along = |first: usize| -> Vec<(usize, isize)> {
            let meets = (0..window.kernel).rev().map(|k| (k, (first + window.padding) as isize - k as isize));
            meets.filter(|(_, d)| d % stride as isize == 0).map(|(k, d)| (k, d / stride as isize)).collect()
        };
        let kinds = (0..stride).flat_map(|y| (0..stride).map(move |x| (y, x)));
        let walks = kinds.map(|(y, x)| {
            let (vertical, horizontal) = (along(y), along(x));
            let pairs = || vertical.iter().flat_map(|&v| horizontal.iter().map(move |&h| (v, h)));
            Self {
                rows: target.height.saturating_sub(y).div_ceil(stride),
                columns: target.width.saturating_sub(x).div_ceil(stride),
                source_step: 1,
                target_step: stride,
                target_first: (y, x),
                taps: pairs().map(|(v, h)| (v.1, h.1)).collect(),
                places: pairs().map(|(v, h)| (v.0, h.0)).collect(),
            }
        });
        walks.collect()
    }

    /// Packs the weights `[outputs, inputs, kernel, kernel]` for this walk: rows are (tap, source channel), columns
    /// target channels. `backward` swaps the roles of inputs and outputs.
    pub(crate) fn pack(
        &self,
        weight: &[f32],
        channels: (usize, usize),
        kernel: usize,
        backward: bool,
    ) -> Vec<f32> {
        let (outputs, inputs) = channels;
        let (from, to) = if backward { (outputs, inputs) } else { (inputs, outputs) };
        let depth = self.taps.len() * from;
        let mut packed = vec![0.0; packed_len(depth, to)];
        if depth > 0 {
            packed.par_chunks_exact_mut(depth * PANEL).enumerate().for_each(|(index, panel)| {
                let first = index * PANEL;
                pack(panel, depth, to - first.min(to), |row, column| {
                    let (y, x) = self.places[row / from];
                    let (source, target) = (row % from, first + column);
                    let (output, input) = if backward { (source, target) } else { (target, source) };
                    weight[((output * inputs + input) * kernel + y) * kernel + x]
                });
            });
        }
        packed
    }

    /// Whether a position reads exactly its own pixel and writes it: no patches need to be gathered.
    fn is_pointwise(&self) -> bool {
        self.source_step == 1 && self.target_step == 1 && self.taps == [(0, 0)]
    }

    /// Copies the patches of positions `first..first + count` of one image: `[position, tap, channel]`.
    fn gather(&self, image: &[f32], source: Frame, first: usize, count: usize, patches: &mut [f32]) {
        let channels = source.channels;
        let width = self.taps.len() * channels;
        let side = self.run();
        for (index, patch) in patches.chunks_exact_mut(width).take(count).enumerate() {
            let (row, column) = ((first + index) / self.columns, (first + index) % self.columns);
            for (taps, out) in self.taps.chunks_exact(side).zip(patch.chunks_exact_mut(side * channels)) {
                let y = (row * self.source_step) as isize + taps[0].0;
                let x = (column * self.source_step) as isize + taps[0].1;
                if y < 0 || y >= source.height as isize {
                    out.fill(0.0);
                    continue;
                }
                let line = &image[y as usize * source.width * channels..][..source.width * channels];
                if x >= 0 && x as usize + side <= source.width {
                    out.copy_from_slice(&line[x as usize * channels..][..side * channels]);
                    continue;
                }
                for (i, out) in out.chunks_exact_mut(channels).enumerate() {
                    match usize::try_from(x + i as isize).ok().filter(|&x| x < source.width) {
                        Some(x) => out.copy_from_slice(&line[x * channels..][..channels]),
                        None => out.fill(0.0),
                    }
                }
            }
        }
    }

    /// How many consecutive taps are neighbours in a row of pixels.
    fn run(&self) -> usize {
        self.taps.iter().take_while(|tap| tap.0 == self.taps[0].0).count()
    }

    /// Positions per block: the patches should stay in the second-level cache.
    fn block(&self, channels: usize) -> usize {
        (65_536 / (self.taps.len() * channels).max(1)).clamp(12, 96)
    }
}

/// A source image batch and the packed weights of every walk over it.
pub(crate) struct Source<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) packed: &'a [Vec<f32>],
}

/// `target = Σ over sources of walk(source) (+ addend)`; frames are of one image.
pub(crate) fn correlate(
    walks: &[Walk],
    sources: &[Source],
    source: Frame,
    target: Frame,
    out: &mut [f32],
    addend: Option<&[f32]>,
) {
    out.par_chunks_exact_mut(target.len()).enumerate().for_each(|(image, out)| {
        let addend = addend.map(|addend| &addend[image * target.len()..][..target.len()]);
        for (index, walk) in walks.iter().enumerate() {
            let block = walk.block(source.channels);
            let depth = walk.taps.len() * source.channels;
            let total = walk.rows * walk.columns;
            scratch::with(block * (depth + target.channels), |scratch| {
                let (patches, results) = scratch.split_at_mut(block * depth);
                for first in (0..total).step_by(block) {
                    let count = block.min(total - first);
                    let results = &mut results[..count * target.channels];
                    results.fill(0.0);
                    // A kind of pixel that no tap meets, such as the odd ones of a 1×1 window at stride 2, gets zeros.
                    for from in sources.iter().filter(|_| depth > 0) {
                        let values = &from.values[image * source.len()..][..source.len()];
                        let left = if walk.is_pointwise() {
                            &values[first * depth..][..count * depth]
                        } else {
                            walk.gather(values, source, first, count, patches);
                            &patches[..count * depth]
                        };
                        multiply(
                            Extent { rows: count, depth, columns: target.channels },
                            Left { values: left, row: depth, step: 1 },
                            Right::packed(&from.packed[index], depth),
                            results,
                            target.channels,
                            true,
                        );
                    }
                    walk.emit(results, first, target, out, addend);
                }
            });
        }
    });
}

impl Walk {
    /// Writes a block's results to the target pixels they belong to.
    fn emit(&self, results: &[f32], first: usize, target: Frame, out: &mut [f32], addend: Option<&[f32]>) {
        let channels = target.channels;
        for (index, result) in results.chunks_exact(channels).enumerate() {
            let (row, column) = ((first + index) / self.columns, (first + index) % self.columns);
            let y = row * self.target_step + self.target_first.0;
            let x = column * self.target_step + self.target_first.1;
            let at = (y * target.width + x) * channels;
            let out = &mut out[at..][..channels];
            match addend {
                None => out.copy_from_slice(result),
                Some(addend) => {
                    for ((out, result), addend) in out.iter_mut().zip(result).zip(&addend[at..][..channels]) {
                        *out = result + addend;
                    }
                }
            }
        }
    }
}

/// The input gradient for images of few channels, (+ addend): every position's cotangent becomes a whole patch, and
/// patches are added up where they overlap. `walk` is the forward one; a term is a cotangent and the weights
/// `[outputs, inputs, kernel, kernel]`.
///
/// [`correlate`] would multiply with a matrix as narrow as the image has channels, and most of a panel would idle.
pub(crate) fn scatter(
    walk: &Walk,
    terms: &[(&[f32], &[f32])],
    outputs: usize,
    target: Frame,
    out: &mut [f32],
    addend: Option<&[f32]>,
) {
    let (channels, places) = (target.channels, walk.taps.len());
    let (width, positions) = (places * channels, walk.rows * walk.columns);
    let pack_term = |weight: &[f32]| {
        let mut packed = vec![0.0; packed_len(outputs, width)];
        let at = |k: usize, j: usize| (k * channels + j % channels) * places + j / channels;
        pack(&mut packed, outputs, width, |k, j| weight[at(k, j)]);
        packed
    };
    let packed: Vec<_> = terms.iter().map(|(_, weight)| pack_term(weight)).collect();
    let block = walk.block(channels);
    out.par_chunks_exact_mut(target.len()).enumerate().for_each(|(image, out)| {
        match addend {
            Some(addend) => out.copy_from_slice(&addend[image * target.len()..][..target.len()]),
            None => out.fill(0.0),
        }
        scratch::with(block * width, |patches| {
            for first in (0..positions).step_by(block) {
                let count = block.min(positions - first);
                for (index, ((cotangent, _), packed)) in terms.iter().zip(&packed).enumerate() {
                    multiply(
                        Extent { rows: count, depth: outputs, columns: width },
                        Left {
                            values: &cotangent[(image * positions + first) * outputs..],
                            row: outputs,
                            step: 1,
                        },
                        Right::packed(packed, outputs),
                        patches,
                        width,
                        index > 0,
                    );
                }
                walk.add_patches(&patches[..count * width], first, target, out);
            }
        });
    });
}

impl Walk {
    /// Adds patches of positions from `first` to the pixels they cover.
    fn add_patches(&self, patches: &[f32], first: usize, target: Frame, out: &mut [f32]) {
        let channels = target.channels;
        for (index, patch) in patches.chunks_exact(self.taps.len() * channels).enumerate() {
            let (row, column) = ((first + index) / self.columns, (first + index) % self.columns);
            for (tap, values) in self.taps.iter().zip(patch.chunks_exact(channels)) {
                let y = (row * self.source_step) as isize + tap.0;
                let x = (column * self.source_step) as isize + tap.1;
                if y >= 0 && x >= 0 && (y as usize) < target.height && (x as usize) < target.width {
                    let at = (y as usize * target.width + x as usize) * channels;
                    for (out, value) in out[at..][..channels].iter_mut().zip(values) {
                        *out += value;
                    }
                }
            }
        }
    }
}

/// The gradient to the weights, `[tap, input, output]`: the sum over all positions of patch ⊗ cotangent.
pub(crate) fn correlate_weights(
    walk: &Walk,
    input: &[f32],
    source: Frame,
    cotangent: &[f32],
    outputs: usize,
) -> Vec<f32> {
    let depth = walk.taps.len() * source.channels;
    let positions = walk.rows * walk.columns;
    let batch = cotangent.len() / (positions * outputs);
    let block = walk.block(source.channels);
    let groups = super::groups(batch, depth * outputs);
    let partial = (0..groups).into_par_iter().map(|group| {
        let mut sum = vec![0.0; depth * outputs];
        scratch::with(block * depth + packed_len(block, outputs), |scratch| {
            let (patches, packed) = scratch.split_at_mut(block * depth);
            for image in group * batch / groups..(group + 1) * batch / groups {
                let values = &input[image * source.len()..][..source.len()];
                let cotangent = &cotangent[image * positions * outputs..][..positions * outputs];
                for first in (0..positions).step_by(block) {
                    let count = block.min(positions - first);
                    walk.gather(values, source, first, count, patches);
                    let right = &cotangent[first * outputs..][..count * outputs];
                    let right = if outputs.is_multiple_of(PANEL) {
                        Right { values: right, panel: PANEL, step: outputs }
                    } else {
                        let packed = &mut packed[..packed_len(count, outputs)];
                        pack(packed, count, outputs, |k, j| right[k * outputs + j]);
                        Right::packed(packed, count)
                    };
                    let extent = Extent { rows: depth, depth: count, columns: outputs };
                    multiply(
                        extent,
                        Left { values: patches, row: 1, step: depth },
                        right,
                        &mut sum,
                        outputs,
                        true,
                    );
                }
            }
        });
        sum
    });
    super::sum_in_order(partial.collect())
}
