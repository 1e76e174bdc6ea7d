//! One source, several instruction sets, chosen at run time.
//!
//! A kernel is written once as a plain loop inside [`versions!`](crate::versions); the compiler vectorises it for every
//! instruction set listed there, and the first call finds out which of them this processor has. Such kernels never fuse
//! a multiplication with an addition and sum in a fixed order, so all versions return the same bits.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// An instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// What every processor of this architecture has (SSE2 on x86-64, NEON on 64-bit ARM).
    Portable,
    /// 256-bit vectors and fused multiply-add of x86-64.
    Avx2,
    /// 512-bit vectors of x86-64.
    Avx512,
}

/// All sets that this processor can run, best last.
pub fn available() -> &'static [InstructionSet] {
    static FOUND: OnceLock<Vec<InstructionSet>> = OnceLock::new();
    FOUND.get_or_init(|| {
        #[allow(unused_mut, reason = "only x86-64 has more than one set")]
        let mut found = vec![InstructionSet::Portable];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            found.push(InstructionSet::Avx2);
            if std::arch::is_x86_feature_detected!("avx512f") {
                found.push(InstructionSet::Avx512);
            }
        }
        found
    })
}

static PORTABLE: AtomicBool = AtomicBool::new(false);

/// The instruction set in use: the best that this processor has.
#[inline]
pub fn instruction_set() -> InstructionSet {
    if PORTABLE.load(Ordering::Relaxed) {
        return InstructionSet::Portable;
    }
    available().last().copied().unwrap_or(InstructionSet::Portable)
}

/// Uses the portable kernels from now on, whatever the processor has. For tests and for comparing speed.
pub fn force_portable() {
    PORTABLE.store(true, Ordering::Relaxed);
}

/// Compiles a function once per instruction set; calling it runs the version that fits the processor.
///
/// The body must not call anything that is not inlined into it, or that part stays portable. A type parameter is written
/// `<type T: Bound>`, so that the macro can tell it from a constant.
#[macro_export]
macro_rules! versions {
    ($(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<const $size:ident: usize>)? $(<type $kind:ident: $bound:ident>)?
        ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block
    )*) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name $(<const $size: usize>)? $(<$kind: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn portable $(<const $size: usize>)? $(<$kind: $bound>)? ($($arg: $ty),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<const $size: usize>)? $(<$kind: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                    portable $(::<$size>)? $(::<$kind>)? ($($arg),*)
                }
                if $crate::simd::instruction_set() != $crate::simd::InstructionSet::Portable {
                    // SAFETY: every set but `Portable` is only listed after the processor said that it has AVX2 and
                    // FMA, and the function needs nothing else: its body is safe code.
                    return unsafe { avx2 $(::<$size>)? $(::<$kind>)? ($($arg),*) };
                }
            }
            portable $(::<$size>)? $(::<$kind>)? ($($arg),*)
        }
    )*};
}

/// As [`versions!`](crate::versions), for kernels that say how many numbers they work on at a time: `fn name<LANES>(…)` has
/// as many as a vector of the instruction set holds, 16 with AVX-512 and 8 without. The bits must not depend on it.
#[macro_export]
macro_rules! lanes {
    ($(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident<$lanes:ident>($($arg:ident: $ty:ty),* $(,)?) $body:block
    )*) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn with<const $lanes: usize>($($arg: $ty),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::simd::InstructionSet;
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) {
                    with::<8>($($arg),*);
                }
                #[target_feature(enable = "avx512f")]
                fn avx512($($arg: $ty),*) {
                    with::<16>($($arg),*);
                }
                match $crate::simd::instruction_set() {
                    // SAFETY: this set is only listed after the processor said that it has AVX2 and FMA, and the function
                    // needs nothing else: its body is safe code.
                    InstructionSet::Avx2 => return unsafe { avx2($($arg),*) },
                    // SAFETY: likewise AVX-512F.
                    InstructionSet::Avx512 => return unsafe { avx512($($arg),*) },
                    InstructionSet::Portable => {}
                }
            }
            with::<8>($($arg),*);
        }
    )*};
}
