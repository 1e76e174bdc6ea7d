//! One source, several instruction sets, chosen at run time.
//!
//! Loops over plain arrays are written once inside [`versions!`] and vectorised by the compiler for every set; they
//! never fuse a multiplication with an addition, so all versions return the same bits. Only the matrix product
//! ([`super::matmul`]) is written per set.

use std::ops::{Add, Mul, Sub};
use std::sync::OnceLock;

/// An instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    /// What every processor of this architecture has (SSE2 on x86-64, NEON on 64-bit ARM).
    Portable,
    /// 256-bit vectors and fused multiply-add of x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors of x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// All sets that this processor can run, best last.
pub(crate) fn available() -> &'static [InstructionSet] {
    static FOUND: OnceLock<Vec<InstructionSet>> = OnceLock::new();
    FOUND.get_or_init(|| {
        #[allow(unused_mut, reason = "only x86-64 has more than one set")]
        let mut found = vec![InstructionSet::Portable];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            found.push(InstructionSet::Avx2);
            if is_x86_feature_detected!("avx512f") {
                found.push(InstructionSet::Avx512);
            }
        }
        found
    })
}

/// The best instruction set that this processor has.
#[inline]
pub(crate) fn instruction_set() -> InstructionSet {
    available().last().copied().unwrap_or(InstructionSet::Portable)
}

/// Compiles a function once per instruction set; calling it runs the version that fits the processor.
///
/// The body must not call anything that is not inlined into it, or that part stays portable.
macro_rules! versions {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident $(<$kind:ident: $bound:ident>)? ($($arg:ident: $ty:ty),* $(,)?)
        $(-> $ret:ty)? $body:block)*) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name $(<$kind: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn portable $(<$kind: $bound>)? ($($arg: $ty),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<$kind: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                    portable $(::<$kind>)? ($($arg),*)
                }
                if $crate::cpu::simd::instruction_set() != $crate::cpu::simd::InstructionSet::Portable {
                    // SAFETY: every set but `Portable` is only listed after the processor said that it has AVX2 and
                    // FMA, and the function needs nothing else: its body is safe code.
                    return unsafe { avx2 $(::<$kind>)? ($($arg),*) };
                }
            }
            portable $(::<$kind>)? ($($arg),*)
        }
    )*};
}
pub(crate) use versions;

/// Eight neighbouring channels of one pixel.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Lane(pub(crate) [f32; Lane::WIDTH]);

impl Lane {
    pub(crate) const WIDTH: usize = 8;
    pub(crate) const ZERO: Self = Self([0.0; Self::WIDTH]);

    /// The first eight of `values`.
    #[inline(always)]
    pub(crate) fn load(values: &[f32]) -> Self {
        let mut lane = Self::ZERO;
        lane.0.copy_from_slice(&values[..Self::WIDTH]);
        lane
    }

    /// Writes to the first eight of `values`.
    #[inline(always)]
    pub(crate) fn store(self, values: &mut [f32]) {
        values[..Self::WIDTH].copy_from_slice(&self.0);
    }
}

impl Add for Lane {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for i in 0..Self::WIDTH {
            self.0[i] += other.0[i];
        }
        self
    }
}

impl Sub for Lane {
    type Output = Self;
    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for i in 0..Self::WIDTH {
            self.0[i] -= other.0[i];
        }
        self
    }
}

impl Mul<f32> for Lane {
    type Output = Self;
    #[inline(always)]
    fn mul(mut self, factor: f32) -> Self {
        for value in &mut self.0 {
            *value *= factor;
        }
        self
    }
}
