//! The matrix product that everything heavy is made of: a register tile of a few rows by 16 columns, per instruction
//! set. The order of every sum is fixed by the shapes alone.

use freeaugment_base::simd::{InstructionSet, instruction_set};

/// Columns of a tile, and of a panel of the right-hand matrix.
pub(crate) const PANEL: usize = 16;

/// The left-hand matrix: element (i, k) is `values[i * row + k * step]`.
#[derive(Clone, Copy)]
pub(crate) struct Left<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) row: usize,
    pub(crate) step: usize,
}

/// The right-hand matrix in panels of 16 columns: element (k, j) is `values[j / 16 * panel + k * step + j % 16]`.
///
/// A row-major matrix whose width is a multiple of 16 has `panel` 16 and its width as `step`; a packed one has `step`
/// 16. Where the width is not a multiple of 16 the last panel is filled up with zeros.
#[derive(Clone, Copy)]
pub(crate) struct Right<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) panel: usize,
    pub(crate) step: usize,
}

impl<'a> Right<'a> {
    /// A matrix of `depth` rows as [`pack`] lays it out.
    pub(crate) fn packed(values: &'a [f32], depth: usize) -> Self {
        Self { values, panel: depth * PANEL, step: PANEL }
    }
}

/// The length of a packed matrix.
pub(crate) const fn packed_len(depth: usize, columns: usize) -> usize {
    depth * columns.div_ceil(PANEL) * PANEL
}

/// Packs the matrix whose element (k, j) is `value(k, j)` into panels.
pub(crate) fn pack(out: &mut [f32], depth: usize, columns: usize, value: impl Fn(usize, usize) -> f32) {
    for (index, panel) in out.chunks_exact_mut(depth * PANEL).enumerate() {
        let first = index * PANEL;
        for (k, row) in panel.chunks_exact_mut(PANEL).enumerate() {
            for (j, slot) in row.iter_mut().enumerate() {
                *slot = if first + j < columns { value(k, first + j) } else { 0.0 };
            }
        }
    }
}

/// The extents of a product: `rows` × `depth` times `depth` × `columns`.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) rows: usize,
    pub(crate) depth: usize,
    pub(crate) columns: usize,
}

/// `c = a · b`, or `c += a · b` where `accumulate`; row i of c starts at `c[i * c_row]`.
pub(crate) fn multiply(extent: Extent, a: Left, b: Right, c: &mut [f32], c_row: usize, accumulate: bool) {
    multiply_with(instruction_set(), extent, a, b, c, c_row, accumulate);
}

/// [`multiply`] with a given instruction set, which the processor must have.
#[allow(clippy::too_many_arguments)]
fn multiply_with(
    set: InstructionSet,
    extent: Extent,
    a: Left,
    b: Right,
    c: &mut [f32],
    c_row: usize,
    accumulate: bool,
) {
    const EDGE: usize = 16;
    let Extent { rows, depth, columns } = extent;
    if rows == 0 || columns == 0 {
        return;
    }
    // The tiles below read and write through pointers; these checks are what makes that sound.
    let panels = columns.div_ceil(PANEL);
    if depth > 0 {
        assert!((rows - 1) * a.row + (depth - 1) * a.step < a.values.len(), "left matrix is too short");
        assert!(
            (panels - 1) * b.panel + (depth - 1) * b.step + PANEL <= b.values.len(),
            "right matrix is too short"
        );
    }
    assert!((rows - 1) * c_row + columns <= c.len(), "result is too short");
    for panel in 0..panels {
        let first = panel * PANEL;
        let width = PANEL.min(columns - first);
        let strip = |top: usize| Strip {
            depth,
            a: a.values[(top * a.row).min(a.values.len())..].as_ptr(),
            a_row: a.row,
            a_step: a.step,
            b: b.values[(panel * b.panel).min(b.values.len())..].as_ptr(),
            b_step: b.step,
        };
        if width == PANEL {
            run(set, rows, &strip(0), &mut c[first..], c_row, accumulate);
            continue;
        }
        // The last columns go through a full panel, so that nothing is written behind them.
        for top in (0..rows).step_by(EDGE) {
            let count = EDGE.min(rows - top);
            let mut edge = [0.0; EDGE * PANEL];
            run(set, count, &strip(top), &mut edge, PANEL, false);
            for (i, row) in edge.chunks_exact(PANEL).take(count).enumerate() {
                let target = &mut c[(top + i) * c_row + first..][..width];
                for (target, value) in target.iter_mut().zip(row) {
                    *target = if accumulate { *target + value } else { *value };
                }
            }
        }
    }
}

/// Where a strip of the result, 16 columns wide, reads from. Built by [`multiply_with`] only, after it has checked the
/// extents.
struct Strip {
    depth: usize,
    a: *const f32,
    a_row: usize,
    a_step: usize,
    b: *const f32,
    b_step: usize,
}

/// One strip of `rows` rows and 16 columns.
#[allow(unsafe_code)]
fn run(set: InstructionSet, rows: usize, strip: &Strip, c: &mut [f32], c_row: usize, accumulate: bool) {
    assert!(c.len() >= (rows - 1) * c_row + PANEL);
    let c = c.as_mut_ptr();
    // SAFETY: `multiply_with` has checked that every a(i, k), b(k, j) of the strip lies inside its slice, the assertion
    // above that every c(i, j) does, and `set` is one that the processor has.
    unsafe {
        match set {
            InstructionSet::Portable => strip_portable(rows, strip, c, c_row, accumulate),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => strip_avx2(rows, strip, c, c_row, accumulate),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => strip_avx512(rows, strip, c, c_row, accumulate),
            #[cfg(not(target_arch = "x86_64"))]
            _ => strip_portable(rows, strip, c, c_row, accumulate),
        }
    }
}

/// A function that cuts a strip into tiles: as many rows as leave registers for the right-hand side, and the rest.
macro_rules! strip {
    ($(#[$meta:meta])* $name:ident, $tile:ident, $height:literal: $($rest:literal)*) => {
        /// # Safety
        /// As the tile's, for all rows of the strip.
        $(#[$meta])*
        #[allow(unsafe_code)]
        unsafe fn $name(rows: usize, strip: &Strip, c: *mut f32, c_row: usize, accumulate: bool) {
            let mut top = 0;
            // SAFETY: every tile is a part of the strip.
            unsafe {
                while top + $height <= rows {
                    let a = strip.a.add(top * strip.a_row);
                    $tile::<$height>(strip, a, c.add(top * c_row), c_row, accumulate);
                    top += $height;
                }
                match rows - top {
                    $($rest => {
                        let a = strip.a.add(top * strip.a_row);
                        $tile::<$rest>(strip, a, c.add(top * c_row), c_row, accumulate);
                    })*
                    _ => {}
                }
            }
        }
    };
}

strip!(strip_portable, tile_portable, 4: 1 2 3);
strip!(
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    strip_avx2, tile_avx2, 6: 1 2 3 4 5
);
strip!(
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    strip_avx512, tile_avx512, 12: 1 2 3 4 5 6 7 8 9 10 11
);

/// # Safety
/// Every element the tile reads and every `c[i * c_row + j]`, i < ROWS, j < 16, must be inside its allocation.
#[allow(unsafe_code)]
unsafe fn tile_portable<const ROWS: usize>(
    strip: &Strip,
    a: *const f32,
    c: *mut f32,
    c_row: usize,
    accumulate: bool,
) {
    let mut sum = [[0.0_f32; PANEL]; ROWS];
    // SAFETY: the caller's promise covers every access below.
    unsafe {
        if accumulate {
            for (i, row) in sum.iter_mut().enumerate() {
                *row = c.add(i * c_row).cast::<[f32; PANEL]>().read_unaligned();
            }
        }
        for k in 0..strip.depth {
            let b = strip.b.add(k * strip.b_step).cast::<[f32; PANEL]>().read_unaligned();
            for (i, row) in sum.iter_mut().enumerate() {
                let a = *a.add(i * strip.a_row + k * strip.a_step);
                for (sum, b) in row.iter_mut().zip(&b) {
                    // 64-bit ARM always has the fused form; x86-64 without FMA would call a function for it.
                    *sum = if cfg!(target_arch = "aarch64") { a.mul_add(*b, *sum) } else { *sum + a * b };
                }
            }
        }
        for (i, row) in sum.iter().enumerate() {
            c.add(i * c_row).cast::<[f32; PANEL]>().write_unaligned(*row);
        }
    }
}

/// # Safety
/// As [`tile_portable`], and the processor must have AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn tile_avx2<const ROWS: usize>(
    strip: &Strip,
    a: *const f32,
    c: *mut f32,
    c_row: usize,
    accumulate: bool,
) {
    use std::arch::x86_64::{
        _mm256_broadcast_ss, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };
    let mut sum = [[_mm256_setzero_ps(); 2]; ROWS];
    // SAFETY: the caller's promise covers every access below.
    unsafe {
        if accumulate {
            for (i, row) in sum.iter_mut().enumerate() {
                let c = c.add(i * c_row);
                *row = [_mm256_loadu_ps(c), _mm256_loadu_ps(c.add(8))];
            }
        }
        let (mut a, mut b) = (a, strip.b);
        for _ in 0..strip.depth {
            let right = [_mm256_loadu_ps(b), _mm256_loadu_ps(b.add(8))];
            for (i, row) in sum.iter_mut().enumerate() {
                let left = _mm256_broadcast_ss(&*a.add(i * strip.a_row));
                row[0] = _mm256_fmadd_ps(left, right[0], row[0]);
                row[1] = _mm256_fmadd_ps(left, right[1], row[1]);
            }
            a = a.wrapping_add(strip.a_step);
            b = b.wrapping_add(strip.b_step);
        }
        for (i, row) in sum.iter().enumerate() {
            let c = c.add(i * c_row);
            _mm256_storeu_ps(c, row[0]);
            _mm256_storeu_ps(c.add(8), row[1]);
        }
    }
}

/// # Safety
/// As [`tile_portable`], and the processor must have AVX-512F.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn tile_avx512<const ROWS: usize>(
    strip: &Strip,
    a: *const f32,
    c: *mut f32,
    c_row: usize,
    accumulate: bool,
) {
    use std::arch::x86_64::{
        _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
    };
    let mut sum = [_mm512_setzero_ps(); ROWS];
    // SAFETY: the caller's promise covers every access below.
    unsafe {
        if accumulate {
            for (i, row) in sum.iter_mut().enumerate() {
                *row = _mm512_loadu_ps(c.add(i * c_row));
            }
        }
        let (mut a, mut b) = (a, strip.b);
        for _ in 0..strip.depth {
            let right = _mm512_loadu_ps(b);
            for (i, row) in sum.iter_mut().enumerate() {
                *row = _mm512_fmadd_ps(_mm512_set1_ps(*a.add(i * strip.a_row)), right, *row);
            }
            a = a.wrapping_add(strip.a_step);
            b = b.wrapping_add(strip.b_step);
        }
        for (i, row) in sum.iter().enumerate() {
            _mm512_storeu_ps(c.add(i * c_row), *row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::noise;
    use super::*;
    use freeaugment_base::simd::available;

    #[test]
    fn every_instruction_set_agrees_with_a_plain_loop_on_odd_shapes() {
        for set in available() {
            for (rows, depth, columns) in
                [(1, 1, 1), (6, 5, 16), (7, 27, 33), (13, 64, 48), (25, 3, 10), (5, 0, 16)]
            {
                for (transposed, accumulate) in [(false, false), (true, false), (false, true), (true, true)] {
                    let a = noise(1, rows * depth);
                    let b = noise(2, depth * columns);
                    let start = noise(3, rows * columns);
                    let (row, step) = if transposed { (1, rows) } else { (depth, 1) };
                    let mut packed = vec![f32::NAN; packed_len(depth, columns)];
                    if depth > 0 {
                        pack(&mut packed, depth, columns, |k, j| b[k * columns + j]);
                    }
                    let mut c = start.clone();
                    multiply_with(
                        *set,
                        Extent { rows, depth, columns },
                        Left { values: &a, row, step },
                        Right::packed(&packed, depth),
                        &mut c,
                        columns,
                        accumulate,
                    );
                    for i in 0..rows {
                        for j in 0..columns {
                            let mut sum = if accumulate { f64::from(start[i * columns + j]) } else { 0.0 };
                            for k in 0..depth {
                                sum += f64::from(a[i * row + k * step]) * f64::from(b[k * columns + j]);
                            }
                            let error = (f64::from(c[i * columns + j]) - sum).abs();
                            assert!(
                                error < 1e-5 * (1.0 + depth as f64),
                                "{set:?} {rows}x{depth}x{columns} at {i},{j}"
                            );
                        }
                    }
                }
            }
        }
    }
}
