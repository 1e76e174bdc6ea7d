//! One computation shared by several processes, the ranks: who has which images, and what they tell each other.
//!
//! Whatever is summed over a batch is summed over pieces of [`PIECE`] images first, and the sums of pieces are joined in a
//! tree that the number of images alone decides. Ranks have whole pieces, so a sum has the same bits whoever
//! computed which part of it.

mod threads;

use std::fmt::Debug;
use std::ops::Range;

pub use threads::in_threads;

/// Images that are summed over at a time. A rank has whole pieces of a batch; only the last one may be smaller.
pub const PIECE: usize = 8;

/// The processes that share a computation. All of them call the same functions in the same order.
///
/// Where one of them is lost, nothing returns: an implementation ends the process.
pub trait Ranks: Debug + Send + Sync {
    /// Which one this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// What every rank has to say, one after the other: so many bytes from each.
    fn gather(&self, own: &[u8], lens: &[usize]) -> Vec<u8>;

    /// Hands each rank its part of `own`, so many bytes, and returns what every rank has for this one, so many from each.
    fn exchange(&self, own: &[u8], to: &[usize], from: &[usize]) -> Vec<u8>;

    /// Bytes that this rank has handed to others so far.
    fn sent(&self) -> u64;
}

/// One process that shares nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&self, own: &[u8], _lens: &[usize]) -> Vec<u8> {
        own.to_vec()
    }

    fn exchange(&self, own: &[u8], _to: &[usize], _from: &[usize]) -> Vec<u8> {
        own.to_vec()
    }

    fn sent(&self) -> u64 {
        0
    }
}

impl dyn Ranks + '_ {
    /// Whether this process shares nothing.
    pub fn is_alone(&self) -> bool {
        self.size() == 1
    }

    /// Whether this is the rank that writes.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// A message from every rank, however long.
    pub fn tell(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let lens = self.gather(&(own.len() as u64).to_le_bytes(), &vec![8; self.size()]);
        let lens: Vec<usize> =
            lens.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes) as usize).collect();
        let all = self.gather(own, &lens);
        let mut rest = &all[..];
        let mut take = |len: &usize| rest.split_off(..*len).expect("as long as was told").to_vec();
        lens.iter().map(&mut take).collect()
    }

    /// What the first rank has to say; what the others hand over is ignored.
    pub fn from_first(&self, own: &[u8]) -> Vec<u8> {
        let own = if self.is_first() { own } else { &[] };
        self.tell(own).swap_remove(0)
    }

    /// Whether any rank says so.
    pub fn any(&self, own: bool) -> bool {
        self.gather(&[own.into()], &vec![1; self.size()]).contains(&1)
    }

    /// Numbers of every rank, one after the other: so many from each.
    pub fn gather_singles(&self, own: &[f32], lens: &[usize]) -> Vec<f32> {
        let lens: Vec<usize> = lens.iter().map(|len| 4 * len).collect();
        singles(&self.gather(&single_bytes(own), &lens))
    }

    /// Numbers in double precision likewise.
    pub fn gather_doubles(&self, own: &[f64], lens: &[usize]) -> Vec<f64> {
        let lens: Vec<usize> = lens.iter().map(|len| 8 * len).collect();
        let own: Vec<u8> = own.iter().flat_map(|value| value.to_le_bytes()).collect();
        let all = self.gather(&own, &lens);
        all.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
    }
}

/// Numbers as bytes.
pub(crate) fn single_bytes(values: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; 4 * values.len()];
    for (bytes, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
        *bytes = value.to_le_bytes();
    }
    bytes
}

/// Bytes as numbers.
pub(crate) fn singles(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// The images of a batch that a rank has: whole pieces, as evenly as they go.
pub fn share(images: usize, rank: usize, size: usize) -> Range<usize> {
    let pieces = images.div_ceil(PIECE);
    let at = |rank: usize| (pieces * rank / size * PIECE).min(images);
    at(rank)..at(rank + 1)
}

/// The most ranks that can share a batch: each has at least one piece.
pub fn most(images: usize) -> usize {
    images.div_ceil(PIECE)
}

/// The sum of some pieces that stand beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    first: usize,
    pieces: usize,
}

/// Joins the sums of pieces as they come, from first to last: two of the same size that are halves of something twice as
/// large are joined at once, and what is left at the end from right to left. So the order of joining depends on the number
/// of pieces alone, and some of them can be joined without knowing the others.
pub(crate) struct Fold<T, J> {
    spans: Vec<(Span, T)>,
    join: J,
}

impl<T, J: FnMut(&mut T, T)> Fold<T, J> {
    pub(crate) fn new(join: J) -> Self {
        Self { spans: Vec::new(), join }
    }

    /// The next span.
    pub(crate) fn push(&mut self, span: Span, value: T) {
        self.spans.push((span, value));
        while let [.., (left, _), (right, _)] = &self.spans[..] {
            if left.pieces != right.pieces || !left.first.is_multiple_of(2 * left.pieces) {
                break;
            }
            self.join_last();
        }
    }

    /// The next piece, whose number is `first` where it is the first of all.
    pub(crate) fn push_piece(&mut self, first: usize, value: T) {
        let next = self.spans.last().map_or(first, |(span, _)| span.first + span.pieces);
        self.push(Span { first: next, pieces: 1 }, value);
    }

    fn join_last(&mut self) {
        let (right, value) = self.spans.pop().expect("there are two");
        let (left, total) = self.spans.last_mut().expect("there are two");
        (self.join)(total, value);
        left.pieces += right.pieces;
    }

    /// What can be joined without knowing other pieces.
    pub(crate) fn parts(self) -> Vec<T> {
        self.spans.into_iter().map(|(_, value)| value).collect()
    }

    /// The sum of all pieces.
    pub(crate) fn total(mut self) -> Option<T> {
        while self.spans.len() > 1 {
            self.join_last();
        }
        self.spans.pop().map(|(_, value)| value)
    }
}

/// What [`Fold::parts`] of some pieces are.
pub(crate) fn spans(pieces: Range<usize>) -> Vec<Span> {
    let mut fold = Fold::new(|(), ()| {});
    for _ in pieces.clone() {
        fold.push_piece(pieces.start, ());
    }
    fold.spans.into_iter().map(|(span, ())| span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum that shows how it was made.
    fn written(fold: impl Fn(&mut dyn FnMut(Span, String))) -> String {
        let mut joined = Fold::new(|a: &mut String, b: String| *a = format!("({a}{b})"));
        fold(&mut |span, value| joined.push(span, value));
        joined.total().unwrap()
    }

    fn name(piece: usize) -> String {
        char::from(b'a' + piece as u8).to_string()
    }

    #[test]
    fn the_order_of_joining_depends_on_the_number_of_pieces_alone() {
        for pieces in 1..=13 {
            let alone = written(|push| {
                for first in 0..pieces {
                    push(Span { first, pieces: 1 }, name(first));
                }
            });
            for size in 1..=pieces {
                let shared = written(|push| {
                    for rank in 0..size {
                        let own = pieces * rank / size..pieces * (rank + 1) / size;
                        let mut fold = Fold::new(|a: &mut String, b: String| *a = format!("({a}{b})"));
                        own.clone().for_each(|piece| fold.push_piece(own.start, name(piece)));
                        let spans = spans(own);
                        let parts = fold.parts();
                        assert_eq!(spans.len(), parts.len());
                        spans.into_iter().zip(parts).for_each(|(span, part)| push(span, part));
                    }
                });
                assert_eq!(shared, alone, "{pieces} pieces, {size} ranks");
            }
        }
        let five = written(|push| (0..5).for_each(|first| push(Span { first, pieces: 1 }, name(first))));
        assert_eq!(five, "(((ab)(cd))e)");
    }

    #[test]
    fn shares_are_whole_pieces_of_all_images() {
        for images in [1, 7, 8, 9, 32, 100, 128] {
            for size in 1..=most(images) {
                let mut end = 0;
                for rank in 0..size {
                    let own = share(images, rank, size);
                    assert_eq!(own.start, end);
                    assert!(own.start.is_multiple_of(PIECE) && !own.is_empty());
                    end = own.end;
                }
                assert_eq!(end, images);
            }
        }
    }

    #[test]
    fn ranks_in_threads_hear_each_other_in_order() {
        let heard = in_threads(3, |ranks| {
            let own = ranks.rank();
            let words = ranks.tell(&b"abc"[..=own]);
            assert_eq!(words, [b"a".to_vec(), b"ab".to_vec(), b"abc".to_vec()]);
            assert_eq!(ranks.from_first(if own == 0 { b"first" } else { b"?" }), b"first");
            assert!(ranks.any(own == 2) && !ranks.any(false));
            assert_eq!(ranks.gather_doubles(&vec![own as f64; own], &[0, 1, 2]), [1.0, 2.0, 2.0]);
            // To rank r go r + 1 bytes.
            let parts = [[own as u8; 1].to_vec(), vec![own as u8; 2], vec![own as u8; 3]].concat();
            ranks.exchange(&parts, &[1, 2, 3], &[own + 1; 3])
        });
        assert_eq!(heard, [vec![0, 1, 2], vec![0, 0, 1, 1, 2, 2], vec![0, 0, 0, 1, 1, 1, 2, 2, 2]]);
    }
}
