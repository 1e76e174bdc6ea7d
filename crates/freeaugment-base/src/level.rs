//! Bytes that are levels of colour: replaced by what a table says, counted, ranged.
//!
//! A table of 256 bytes fits the registers of wide vectors, where one instruction looks many levels up at once. No loop
//! is compiled to such instructions, so they are called by name here; every version returns the same bytes.

use crate::versions;

/// What becomes of each level.
pub type Table = [u8; 256];

/// How often each level occurs.
pub type Histogram = [u32; 256];

/// Replaces every level; the tables are those of channels that lie side by side. Both slices have the same length.
pub fn look_up<const CHANNELS: usize>(levels: &[u8], tables: &[Table; CHANNELS], out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if vector::look_up(levels, tables, out) {
        return;
    }
    look_up_one_by_one(levels, tables, out);
}

fn look_up_one_by_one<const CHANNELS: usize>(levels: &[u8], tables: &[Table; CHANNELS], out: &mut [u8]) {
    for (out, levels) in out.as_chunks_mut::<CHANNELS>().0.iter_mut().zip(levels.as_chunks::<CHANNELS>().0) {
        for ((out, &level), table) in out.iter_mut().zip(levels).zip(tables) {
            *out = table[usize::from(level)];
        }
    }
}

/// Counters that take turns, because neighbouring pixels often share a level and would wait for each other.
const TURNS: usize = 4;

/// Counts how often each level occurs in channels that lie side by side, at most three.
pub struct Counter<const CHANNELS: usize>([[Histogram; TURNS]; CHANNELS]);

impl<const CHANNELS: usize> Default for Counter<CHANNELS> {
    fn default() -> Self {
        Self([[[0; 256]; TURNS]; CHANNELS])
    }
}

impl<const CHANNELS: usize> Counter<CHANNELS> {
    /// Counts these levels too; the first one is of the first channel.
    pub fn add(&mut self, levels: &[u8]) {
        let Self(counts) = self;
        // A turn of three channels, and of one: what is counted where is known when this is compiled.
        let (groups, rest) = levels.as_chunks::<{ 3 * TURNS }>();
        for group in groups {
            for (at, &level) in group.iter().enumerate() {
                counts[at % CHANNELS][at / CHANNELS % TURNS][usize::from(level)] += 1;
            }
        }
        for (at, &level) in rest.iter().enumerate() {
            counts[at % CHANNELS][0][usize::from(level)] += 1;
        }
    }

    /// How often each level occurred.
    pub fn total(&self) -> [Histogram; CHANNELS] {
        self.0.each_ref().map(|turns| std::array::from_fn(|level| turns.iter().map(|turn| turn[level]).sum()))
    }
}

/// Levels that are compared at once; a multiple of three, so that each place belongs to one channel.
const WIDTH: usize = 96;

/// The least and the greatest level of each of the channels that lie side by side, one or three; (255, 0) where there are none.
pub fn range<const CHANNELS: usize>(levels: &[u8]) -> [(u8, u8); CHANNELS] {
    let (mut low, mut high) = ([255; WIDTH], [0; WIDTH]);
    find_ends(levels, &mut low, &mut high);
    std::array::from_fn(|channel| {
        let ends = low.iter().zip(&high).skip(channel).step_by(CHANNELS);
        ends.fold((255, 0), |(low, high), ends| (low.min(*ends.0), high.max(*ends.1)))
    })
}

versions! {
    fn find_ends(levels: &[u8], low: &mut [u8; WIDTH], high: &mut [u8; WIDTH]) {
        let (chunks, rest) = levels.as_chunks::<WIDTH>();
        let (mut least, mut most) = (*low, *high);
        for chunk in chunks {
            for at in 0..WIDTH {
                least[at] = least[at].min(chunk[at]);
                most[at] = most[at].max(chunk[at]);
            }
        }
        (*low, *high) = (least, most);
        for (at, &level) in rest.iter().enumerate() {
            low[at] = low[at].min(level);
            high[at] = high[at].max(level);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod vector {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_loadu_si128, _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_set1_epi8,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_storeu_si256, _mm256_subs_epi8, _mm256_xor_si256,
        _mm512_loadu_si512, _mm512_mask_mov_epi8, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8,
        _mm512_movepi8_mask, _mm512_permutex2var_epi8,
    };

    use super::{Table, look_up_one_by_one};
    use crate::simd::{InstructionSet, instruction_set};

    /// Whether there is an instruction that looks up in a table of two registers.
    fn has_wide_tables() -> bool {
        instruction_set() == InstructionSet::Avx512
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512vbmi")
    }

    /// Whether this processor could.
    pub(super) fn look_up<const CHANNELS: usize>(
        levels: &[u8],
        tables: &[Table; CHANNELS],
        out: &mut [u8],
    ) -> bool {
        if has_wide_tables() {
            // SAFETY: the processor has what the function needs.
            unsafe { by_permuting(levels, tables, out) };
        } else if CHANNELS == 1 && instruction_set() != InstructionSet::Portable {
            // SAFETY: as above.
            unsafe { by_shuffling(levels, &tables[0], out) };
        } else {
            return false;
        }
        true
    }

    /// Which of 64 levels belong to the first of three channels, where the first level belongs to the first, the third
    /// and the second channel: after 64 levels the next one is of the next channel.
    const FIRST: [u64; 3] = [0x9249_2492_4924_9249, 0x4924_9249_2492_4924, 0x2492_4924_9249_2492];

    /// Looks 64 levels up at once: half a table in each of two pairs of registers, the highest bit chooses between them.
    /// The levels take the tables in turns.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn by_permuting<const CHANNELS: usize>(levels: &[u8], tables: &[Table; CHANNELS], out: &mut [u8]) {
        let registers: [[__m512i; 4]; CHANNELS] = tables.each_ref().map(|table| {
            let parts = table.as_chunks::<64>().0;
            // SAFETY: a part has 64 bytes.
            std::array::from_fn(|part| unsafe { _mm512_loadu_si512(parts[part].as_ptr().cast()) })
        });
        for (at, (out, levels)) in out.chunks_mut(64).zip(levels.chunks(64)).enumerate() {
            let there = u64::MAX >> (64 - levels.len());
            // SAFETY: the mask leaves out what lies behind the slice, which has at least one level.
            let given = unsafe { _mm512_maskz_loadu_epi8(there, levels.as_ptr().cast()) };
            let highest = _mm512_movepi8_mask(given);
            let mut found = given;
            for (channel, [a, b, c, d]) in registers.into_iter().enumerate() {
                let low = _mm512_permutex2var_epi8(a, given, b);
                let here = _mm512_mask_mov_epi8(low, highest, _mm512_permutex2var_epi8(c, given, d));
                let mask = if CHANNELS == 1 { u64::MAX } else { FIRST[(at + 3 - channel) % 3] };
                found = _mm512_mask_mov_epi8(found, mask, here);
            }
            // SAFETY: as above; both slices have the same length.
            unsafe { _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), there, found) };
        }
    }

    /// Looks 32 levels up at once: a shuffle knows sixteen levels, and gives zero for a negative one. So sixteen is taken
    /// off again and again, and each sixteen says only in what it differs from the one before.
    #[target_feature(enable = "avx2")]
    fn by_shuffling(levels: &[u8], table: &Table, out: &mut [u8]) {
        let difference = |part: usize, at: usize| {
            let before = if part.is_multiple_of(8) { 0 } else { table[16 * (part - 1) + at] };
            table[16 * part + at] ^ before
        };
        let parts: [__m256i; 16] = std::array::from_fn(|part| {
            let part: [u8; 16] = std::array::from_fn(|at| difference(part, at));
            // SAFETY: it has 16 bytes.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(part.as_ptr().cast()) })
        });
        let (low, high) = parts.split_at(8);
        let (sixteen, half) = (_mm256_set1_epi8(16), _mm256_set1_epi8(-128));
        let (chunks, rest) = levels.as_chunks::<32>();
        let (out, out_rest) = out.split_at_mut(levels.len() - rest.len());
        for (out, chunk) in out.as_chunks_mut::<32>().0.iter_mut().zip(chunks) {
            // SAFETY: it has 32 bytes.
            let mut given = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
            let mut beyond = _mm256_xor_si256(given, half);
            let mut found = _mm256_setzero_si256();
            for (&low, &high) in low.iter().zip(high) {
                found = _mm256_xor_si256(found, _mm256_shuffle_epi8(low, given));
                found = _mm256_xor_si256(found, _mm256_shuffle_epi8(high, beyond));
                given = _mm256_subs_epi8(given, sixteen);
                beyond = _mm256_subs_epi8(beyond, sixteen);
            }
            // SAFETY: it has 32 bytes.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), found) };
        }
        look_up_one_by_one(rest, std::array::from_ref(table), out_rest);
    }

    #[cfg(test)]
    mod tests {
        use super::super::tests::assert_looked_up;
        use super::*;

        #[test]
        fn a_shuffle_finds_what_the_table_says() {
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has it.
                assert_looked_up::<1>(|levels, [table], out| unsafe { by_shuffling(levels, table, out) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    fn noise(seed: u32, len: usize) -> Vec<u8> {
        let mut values = vec![0.0; len];
        Stream::new(0, Purpose::named("test/level"), 0, seed).uniform(&mut values);
        values.into_iter().map(|value| (value * 256.0) as u8).collect()
    }

    /// For lengths around those of vectors.
    pub(super) fn assert_looked_up<const CHANNELS: usize>(
        look_up: impl Fn(&[u8], &[Table; CHANNELS], &mut [u8]),
    ) {
        let tables: [Table; CHANNELS] =
            std::array::from_fn(|seed| noise(seed as u32, 256).try_into().expect("256 levels"));
        for pixels in [0, 1, 10, 11, 21, 22, 31, 32, 33, 63, 64, 65, 128, 129, 1000] {
            let levels = noise(7, CHANNELS * pixels);
            let mut found = vec![0; levels.len()];
            look_up(&levels, &tables, &mut found);
            for (at, (&level, found)) in levels.iter().zip(found).enumerate() {
                assert_eq!(found, tables[at % CHANNELS][usize::from(level)], "{at} of {}", levels.len());
            }
        }
    }

    #[test]
    fn levels_become_what_tables_say() {
        assert_looked_up::<1>(look_up);
        assert_looked_up::<3>(look_up);
        assert_looked_up::<1>(look_up_one_by_one);
        assert_looked_up::<3>(look_up_one_by_one);
    }

    #[test]
    fn levels_are_counted_and_ranged_in_every_channel() {
        for len in [0, 3, 9, 48, 96, 99, 300, 3000] {
            let levels: Vec<u8> = noise(7, len).into_iter().map(|level| 40 + level / 2).collect();
            let channel = |channel: usize| levels.iter().skip(channel).step_by(3).copied();
            let (mut counter, mut alone) = (Counter::<3>::default(), Counter::<1>::default());
            for part in levels.chunks(150) {
                counter.add(part);
                alone.add(part);
            }
            let counted = counter.total();
            for (at, counted) in counted.iter().enumerate() {
                for (level, &found) in counted.iter().enumerate() {
                    assert_eq!(
                        found as usize,
                        channel(at).filter(|&other| usize::from(other) == level).count()
                    );
                }
                let ends = (channel(at).min().unwrap_or(255), channel(at).max().unwrap_or(0));
                assert_eq!(range::<3>(&levels)[at], ends);
            }
            let all: Histogram =
                std::array::from_fn(|level| counted.iter().map(|counted| counted[level]).sum());
            assert_eq!(alone.total(), [all]);
            let ends =
                (levels.iter().min().copied().unwrap_or(255), levels.iter().max().copied().unwrap_or(0));
            assert_eq!(range::<1>(&levels), [ends]);
        }
    }
}
