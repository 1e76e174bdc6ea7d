//! Records as TensorFlow frames them: length, its checksum, the bytes, their checksum. A record that was cut off is told by
//! either.

/// A record in its frame.
pub(super) fn framed(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u64).to_le_bytes();
    let checksum = |bytes: &[u8]| masked(crc32c(bytes)).to_le_bytes();
    [&length[..], &checksum(&length), bytes, &checksum(bytes)].concat()
}

/// How many records there are before the end, or before one that is not whole.
pub(super) fn count(bytes: &[u8]) -> usize {
    let (mut count, mut rest) = (0, bytes);
    while let Some(record) = first(rest) {
        rest = &rest[framed(record).len()..];
        count += 1;
    }
    count
}

/// The bytes of the first record, if it is whole.
fn first(bytes: &[u8]) -> Option<&[u8]> {
    let length = u64::from_le_bytes(*bytes.first_chunk()?);
    let record = bytes.get(12..)?.get(..usize::try_from(length).ok()?)?;
    bytes.starts_with(&framed(record)).then_some(record)
}

/// Checksums are stored masked, for a checksum of bytes that hold a checksum is a weak one.
fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: a few kilobytes an epoch need no table.
fn crc32c(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let shifted = |rest: u32, _| if rest & 1 == 1 { rest >> 1 ^ POLYNOMIAL } else { rest >> 1 };
    !bytes.iter().fold(!0, |rest, &byte| (0..8).fold(rest ^ u32::from(byte), shifted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_the_published_ones() {
        // RFC 3720, B.4, and the usual check value.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&rising), 0x46dd_794e);
    }

    #[test]
    fn records_are_counted_up_to_one_that_is_not_whole() {
        let whole = [framed(b"one"), framed(b""), framed(b"three")].concat();
        let last = framed(b"three").len();
        assert_eq!(count(&whole), 3);
        for cut in 1..=last {
            assert_eq!(count(&whole[..whole.len() - cut]), 2, "{cut}");
        }
        for at in whole.len() - last..whole.len() {
            let mut wrong = whole.clone();
            wrong[at] ^= 1;
            assert_eq!(count(&wrong), 2, "{at}");
        }
        assert_eq!(count(&[0xff; 40]), 0);
    }

    #[test]
    fn a_frame_is_length_checksum_bytes_checksum() {
        let frame = framed(b"abc");
        assert_eq!(frame.len(), 8 + 4 + 3 + 4);
        assert_eq!(frame[..8], [3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(frame[12..15], *b"abc");
        assert_eq!(frame[15..], masked(crc32c(b"abc")).to_le_bytes());
        // The mask, by its definition: rotated right by 15 bits, plus a constant.
        assert_eq!(masked(0), 0xa282_ead8);
        assert_eq!(masked(1), 0xa284_ead8);
    }
}
