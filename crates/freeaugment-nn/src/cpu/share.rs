//! The images of a batch that this process computes, and sums over all images of the batch.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::buffer::{Buffer, Pool};
use crate::Error;
use crate::parameter::{Layout, Weights};
use crate::ranks::{Alone, Fold, PIECE, Ranks, Span, share, single_bytes, singles, spans};

/// Who has how many images of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    ranks: Arc<dyn Ranks>,
    /// The images of all ranks.
    total: usize,
    own: Range<usize>,
}

impl Share {
    /// Asks all ranks how many images they have.
    pub(crate) fn agree(ranks: &Arc<dyn Ranks>, own: usize) -> Result<Self, Error> {
        if ranks.is_alone() {
            return Ok(Self::alone(own));
        }
        let (rank, size) = (ranks.rank(), ranks.size());
        let counts = ranks.gather_doubles(&[own as f64], &vec![1; size]);
        let total = counts.iter().sum::<f64>() as usize;
        for (rank, &count) in counts.iter().enumerate() {
            let expected = share(total, rank, size).len();
            if expected != count as usize {
                return Err(Error::BadShare { rank, found: count as usize, expected, total });
            }
        }
        Ok(Self { ranks: Arc::clone(ranks), total, own: share(total, rank, size) })
    }

    /// A batch that nobody shares.
    pub(crate) fn alone(images: usize) -> Self {
        Self { ranks: Arc::new(Alone), total: images, own: 0..images }
    }

    /// All images of the batch.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// The own pieces, as ranges of the own images.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let images = self.own.len();
        (0..images).step_by(PIECE).map(move |first| first..images.min(first + PIECE))
    }

    fn first_piece(&self) -> usize {
        self.own.start / PIECE
    }

    fn spans_of(&self, rank: usize) -> Vec<Span> {
        let own = share(self.total, rank, self.ranks.size());
        spans(own.start / PIECE..own.end.div_ceil(PIECE))
    }

    /// The spans of all ranks, and how many of them each rank has.
    fn all_spans(&self) -> (Vec<Span>, Vec<usize>) {
        let spans: Vec<_> = (0..self.ranks.size()).map(|rank| self.spans_of(rank)).collect();
        let counts = spans.iter().map(Vec::len).collect();
        (spans.concat(), counts)
    }

    /// The sum over the pieces of all ranks, of a few numbers per piece; `join` adds up two such.
    pub(crate) fn sum(&self, own: Vec<Vec<f64>>, join: impl Fn(&mut [f64], &[f64])) -> Vec<f64> {
        let join = |a: &mut Vec<f64>, b: Vec<f64>| join(a, &b);
        let width = own.first().map_or(0, Vec::len);
        let mut fold = Fold::new(&join);
        for piece in own {
            fold.push_piece(self.first_piece(), piece);
        }
        if !self.ranks.is_alone() {
            let (spans, counts) = self.all_spans();
            let lens: Vec<usize> = counts.iter().map(|count| width * count).collect();
            let all = self.ranks.gather_doubles(&fold.parts().concat(), &lens);
            fold = Fold::new(&join);
            for (span, part) in spans.into_iter().zip(all.chunks_exact(width)) {
                fold.push(span, part.to_vec());
            }
        }
        fold.total().unwrap_or_default()
    }
}

/// Parameters of so many numbers are small: the sums of all pieces are held at once.
const SMALL: usize = 65_536;

/// Adds numbers up one by one.
pub(crate) fn add_doubles(total: &mut [f64], more: &[f64]) {
    for (total, more) in total.iter_mut().zip(more) {
        *total += more;
    }
}

/// Gradients to the weights, while they are sums over some of the pieces.
pub(crate) struct Sums {
    share: Share,
    pool: Arc<Pool>,
    /// What is known on every rank, and at the end everything.
    total: Weights,
    /// What the own pieces add, for every span of them; empty where there is nobody to tell.
    parts: Vec<Weights>,
    /// Parameters that are sums over pieces.
    summed: Vec<usize>,
}

impl Sums {
    pub(crate) fn new(share: &Share, pool: &Arc<Pool>, layout: &Arc<Layout>) -> Self {
        let count = if share.ranks.is_alone() { 0 } else { share.spans_of(share.ranks.rank()).len() };
        Self {
            share: share.clone(),
            pool: Arc::clone(pool),
            total: Weights::zeros(Arc::clone(layout)),
            parts: (0..count).map(|_| Weights::zeros(Arc::clone(layout))).collect(),
            summed: Vec::new(),
        }
    }

    /// A parameter whose gradient is known on every rank.
    pub(crate) fn whole(&mut self, parameter: usize) -> &mut [f32] {
        self.total.at_mut(parameter)
    }

    /// A parameter whose gradient is the sum over pieces of what `compute` writes for a range of the own images.
    pub(crate) fn add(&mut self, parameter: usize, compute: impl Fn(Range<usize>, &mut [f32]) + Sync) {
        let out = self.total.at_mut(parameter);
        let pieces: Vec<_> = self.share.pieces().collect();
        if let ([piece], true) = (&pieces[..], self.parts.is_empty()) {
            compute(piece.clone(), out);
            return;
        }
        let mut fold = Fold::new(|a: &mut Buffer, b: Buffer| add_singles(a, &b));
        let sum_of = |piece: &Range<usize>| {
            let mut sum = self.pool.take(out.len());
            compute(piece.clone(), &mut sum);
            sum
        };
        // Threads share the work of a large piece; of small ones each takes some.
        let at_once = if out.len() <= SMALL { pieces.len() } else { 1 };
        for pieces in pieces.chunks(at_once) {
            let sums: Vec<Buffer> = pieces.par_iter().map(sum_of).collect();
            for sum in sums {
                fold.push_piece(self.share.first_piece(), sum);
            }
        }
        if self.parts.is_empty() {
            out.copy_from_slice(&fold.total().expect("a batch has images"));
            return;
        }
        self.summed.push(parameter);
        for (part, sum) in self.parts.iter_mut().zip(fold.parts()) {
            part.at_mut(parameter).copy_from_slice(&sum);
        }
    }

    /// The gradient of the whole batch. Every rank joins a part of the numbers and tells the others.
    pub(crate) fn finish(mut self) -> Weights {
        if self.parts.is_empty() {
            return self.total;
        }
        let Share { ranks, .. } = &self.share;
        let (rank, size) = (ranks.rank(), ranks.size());
        let numbers = self.total.values().len();
        let slice = |rank: usize| numbers * rank / size..numbers * (rank + 1) / size;
        let (spans, counts) = self.share.all_spans();
        let to: Vec<usize> = (0..size).map(|rank| 4 * self.parts.len() * slice(rank).len()).collect();
        let own = slice(rank).len();
        let from: Vec<usize> = counts.iter().map(|count| 4 * count * own).collect();
        let parts: Vec<_> = (0..size)
            .flat_map(|rank| self.parts.iter().map(move |part| single_bytes(&part.values()[slice(rank)])))
            .collect();
        let all = singles(&ranks.exchange(&parts.concat(), &to, &from));
        let mut fold = Fold::new(|a: &mut Vec<f32>, b: Vec<f32>| add_singles(a, &b));
        for (at, span) in spans.into_iter().enumerate() {
            fold.push(span, all[at * own..][..own].to_vec());
        }
        let lens: Vec<usize> = (0..size).map(|rank| slice(rank).len()).collect();
        let sums = ranks.gather_singles(&fold.total().unwrap_or_default(), &lens);
        let layout = Arc::clone(self.total.layout());
        for &parameter in &self.summed {
            self.total.at_mut(parameter).copy_from_slice(&sums[layout.entries()[parameter].range()]);
        }
        self.total
    }
}

fn add_singles(total: &mut [f32], more: &[f32]) {
    const CHUNK: usize = 16_384;
    total.par_chunks_mut(CHUNK).zip(more.par_chunks(CHUNK)).for_each(|(total, more)| {
        for (total, more) in total.iter_mut().zip(more) {
            *total += more;
        }
    });
}
