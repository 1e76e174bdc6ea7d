//! One source, several instruction sets, chosen at run time.
//!
//! A kernel is written once as a plain loop inside `versions!`; the compiler vectorises it for every instruction set
//! listed there, and the first call finds out which of them this processor has. Kernels never fuse a multiplication
//! with an addition and sum in a fixed order, so all versions return the same bits.

use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InstructionSet {
    /// What every processor of this architecture has (SSE2 on x86-64, NEON on 64-bit ARM).
    Portable = 1,
    /// 256-bit vectors of x86-64.
    Avx2 = 2,
}

/// 0 until the first call finds out.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// The instruction set in use.
#[inline]
pub fn instruction_set() -> InstructionSet {
    match CHOSEN.load(Ordering::Relaxed) {
        1 => InstructionSet::Portable,
        2 => InstructionSet::Avx2,
        _ => {
            let best = best();
            CHOSEN.store(best as u8, Ordering::Relaxed);
            best
        }
    }
}

/// Uses the portable kernels from now on, whatever the processor has. For tests and for comparing speed.
pub fn force_portable() {
    CHOSEN.store(InstructionSet::Portable as u8, Ordering::Relaxed);
}

fn best() -> InstructionSet {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return InstructionSet::Avx2;
    }
    InstructionSet::Portable
}

/// Compiles a function once per instruction set; calling it runs the version that fits the processor.
///
/// The body must not call anything that is not inlined into it, or that part stays portable.
macro_rules! versions {
    ($(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<const $size:ident: usize>)? ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block
    )*) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name $(<const $size: usize>)? ($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn portable $(<const $size: usize>)? ($($arg: $ty),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2 $(<const $size: usize>)? ($($arg: $ty),*) $(-> $ret)? {
                    portable $(::<$size>)? ($($arg),*)
                }
                if $crate::simd::instruction_set() == $crate::simd::InstructionSet::Avx2 {
                    // SAFETY: `InstructionSet::Avx2` is only ever chosen after the processor said it has AVX2, and
                    // the function needs nothing else: its body is safe code.
                    return unsafe { avx2 $(::<$size>)? ($($arg),*) };
                }
            }
            portable $(::<$size>)? ($($arg),*)
        }
    )*};
}
pub(crate) use versions;
