//! FNV-1a: a number that changes when bytes do. It tells data apart by accident, not against malice.

/// The hash of 64 bits, fed piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// The hash of one piece.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut hash = Self::default();
        hash.add(bytes);
        hash.finish()
    }

    /// Takes in more bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The hash of all that was added.
    pub fn finish(self) -> u64 {
        self.0
    }
}

/// The hash of 32 bits, for constants.
pub const fn fnv32(bytes: &[u8]) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(Fnv::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv::of(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv32(b"foobar"), 0xbf9c_f968);
        let mut pieces = Fnv::default();
        pieces.add(b"foo");
        pieces.add(b"bar");
        assert_eq!(pieces.finish(), Fnv::of(b"foobar"));
    }
}
