//! Randomness without a generator to carry around: every number is a pure function of
//! `(seed, purpose, epoch, index, position)`.
//!
//! Nothing is shared between threads and nothing has to be saved in a checkpoint, so the number of threads, the order
//! in which images are worked on and an interruption cannot change a draw. The function is Philox4x32-10 (Salmon et
//! al., "Parallel random numbers: as easy as 1, 2, 3", 2011): the seed is its key; position, index, epoch and purpose
//! are the four words of its counter.
//!
//! ```
//! use freeaugment_base::random::{Purpose, Stream};
//!
//! const JITTER: Purpose = Purpose::named("example/jitter");
//! let mut first = [0.0; 3];
//! let mut again = [0.0; 3];
//! Stream::new(7, JITTER, 0, 42).uniform(&mut first);
//! Stream::new(7, JITTER, 0, 42).uniform(&mut again);
//! assert_eq!(first, again);
//! ```

use crate::math::ln;

/// What a draw is for. Two purposes never share numbers, whatever the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose(u32);

impl Purpose {
    /// A purpose from its name, such as `"network/init"` (32-bit FNV-1a).
    pub const fn named(name: &str) -> Self {
        Self(crate::hash::fnv32(name.as_bytes()))
    }
}

/// One sequence of random numbers. Asking for more continues it; making it again starts it again.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
}

impl Stream {
    /// The sequence of `(seed, purpose, epoch, index)`; `index` is the image, the batch or whatever the purpose counts.
    pub const fn new(seed: u64, purpose: Purpose, epoch: u32, index: u32) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            counter: [0, index, epoch, purpose.0],
            block: [0; 4],
            used: 4,
        }
    }

    /// The next 32 random bits.
    pub fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// Leaves out this many draws of 32 bits, in no time: of uniform numbers, one each.
    pub fn skip(&mut self, draws: u32) {
        let left = 4 - self.used as u32;
        let Some(beyond) = draws.checked_sub(left) else {
            self.used += draws as usize;
            return;
        };
        self.counter[0] = self.counter[0].wrapping_add(beyond / 4);
        self.used = 4;
        for _ in 0..beyond % 4 {
            self.bits();
        }
    }

    /// An integer uniform in `0..bound`, without bias. `bound` must not be zero.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "below(0) has no value to return");
        // Lemire: the high half of a 64-bit product, redrawn in the few cases that would favour small values.
        let reject = bound.wrapping_neg() % bound;
        loop {
            let product = u64::from(self.bits()) * u64::from(bound);
            if product as u32 >= reject {
                return (product >> 32) as u32;
            }
        }
    }

    /// Fills `out` with numbers uniform in [0, 1).
    pub fn uniform(&mut self, out: &mut [f32]) {
        self.fill(out, |bits| (bits >> 8) as f32 * (1.0 / 16_777_216.0));
    }

    /// Fills `out` with numbers uniform in (0, 1): neither end occurs, so that logarithms stay finite.
    pub fn uniform_open(&mut self, out: &mut [f32]) {
        self.fill(out, |bits| ((bits >> 9) as f32 + 0.5) * (1.0 / 8_388_608.0));
    }

    /// Fills `out` with what becomes of the next bits, whole blocks at a time: blocks do not wait for each other.
    #[inline(always)]
    fn fill(&mut self, out: &mut [f32], number: impl Fn(u32) -> f32) {
        let (begun, rest) = out.split_at_mut(out.len().min(4 - self.used));
        for value in begun {
            *value = number(self.bits());
        }
        let (blocks, rest) = rest.as_chunks_mut::<4>();
        for block in blocks {
            *block = philox(self.counter, self.key).map(&number);
            self.counter[0] = self.counter[0].wrapping_add(1);
        }
        for value in rest {
            *value = number(self.bits());
        }
    }

    /// Fills `out` with standard Gumbel noise.
    pub fn gumbel(&mut self, out: &mut [f32]) {
        self.uniform_open(out);
        gumbel_from_uniform(out);
    }

    /// Fills `out` with standard normal noise (Box-Muller).
    pub fn normal(&mut self, out: &mut [f32]) {
        let mut pair = [0.0; 2];
        for values in out.chunks_mut(2) {
            self.uniform_open(&mut pair);
            let radius = libm::sqrt(-2.0 * libm::log(f64::from(pair[0])));
            let (sine, cosine) = libm::sincos(core::f64::consts::TAU * f64::from(pair[1]));
            for (value, direction) in values.iter_mut().zip([cosine, sine]) {
                *value = (radius * direction) as f32;
            }
        }
    }
}

crate::versions! {
    /// Turns uniform numbers r in (0, 1) into Gumbel noise -ln(-ln r), in place.
    pub fn gumbel_from_uniform(values: &mut [f32]) {
        for value in values {
            *value = -ln(-ln(*value));
        }
    }
}

/// Philox4x32 with ten rounds.
#[inline(always)]
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let left = u64::from(counter[0]) * 0xD251_1F53;
        let right = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (right >> 32) as u32 ^ counter[1] ^ key[0],
            right as u32,
            (left >> 32) as u32 ^ counter[3] ^ key[1],
            left as u32,
        ];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_published_known_answers() {
        // The known-answer vectors of the Random123 distribution for philox4x32-10.
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn every_part_of_the_key_changes_the_numbers() {
        const A: Purpose = Purpose::named("a");
        const B: Purpose = Purpose::named("b");
        let first = |mut stream: Stream| [stream.bits(), stream.bits()];
        let base = first(Stream::new(1, A, 2, 3));
        for other in [
            Stream::new(2, A, 2, 3),
            Stream::new(1, B, 2, 3),
            Stream::new(1, A, 3, 3),
            Stream::new(1, A, 2, 4),
        ] {
            assert_ne!(first(other), base);
        }
        assert_ne!(first(Stream::new(1 << 40, A, 2, 3)), first(Stream::new(0, A, 2, 3)));
    }

    #[test]
    fn asking_in_pieces_gives_the_same_numbers_as_asking_at_once() {
        const A: Purpose = Purpose::named("a");
        let mut whole = [0.0; 11];
        Stream::new(5, A, 0, 0).uniform(&mut whole);
        let mut pieces = [0.0; 11];
        let mut stream = Stream::new(5, A, 0, 0);
        for piece in pieces.chunks_mut(3) {
            stream.uniform(piece);
        }
        assert_eq!(whole, pieces);
    }

    #[test]
    fn numbers_after_those_left_out_are_the_ones_that_come_there() {
        const A: Purpose = Purpose::named("a");
        let mut whole = [0.0; 40];
        Stream::new(5, A, 0, 0).uniform(&mut whole);
        for first in 0..9 {
            for skipped in 0..20 {
                let mut stream = Stream::new(5, A, 0, 0);
                let (mut before, mut after) = ([0.0; 40], [0.0; 2]);
                stream.uniform(&mut before[..first]);
                stream.skip(skipped as u32);
                stream.uniform(&mut after);
                assert_eq!(after, whole[first + skipped..][..2], "{first} {skipped}");
            }
        }
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        const COUNT: usize = 200_000;
        let mut stream = Stream::new(3, Purpose::named("moments"), 0, 0);
        let mut values = vec![0.0; COUNT];
        let mut moments = |fill: fn(&mut Stream, &mut [f32])| {
            fill(&mut stream, &mut values);
            let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / COUNT as f64;
            let variance = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / COUNT as f64;
            (mean, variance)
        };
        // Five standard errors of the mean are 0.015 for the widest of these.
        let near = |(mean, variance): (f64, f64), expected: (f64, f64)| {
            (mean - expected.0).abs() < 0.015 && (variance / expected.1 - 1.0).abs() < 0.03
        };
        assert!(near(moments(Stream::uniform), (0.5, 1.0 / 12.0)));
        assert!(near(moments(Stream::uniform_open), (0.5, 1.0 / 12.0)));
        assert!(near(moments(Stream::normal), (0.0, 1.0)));
        assert!(near(moments(Stream::gumbel), (0.577_216, core::f64::consts::PI.powi(2) / 6.0)));
    }

    #[test]
    fn below_reaches_every_value_about_equally_often() {
        let mut stream = Stream::new(9, Purpose::named("below"), 0, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        // The standard deviation of a count is 93.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 500), "{counts:?}");
    }
}
