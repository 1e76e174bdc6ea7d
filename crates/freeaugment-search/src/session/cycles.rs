//! How the steps of a search that looks far ahead are cut into cycles.

use std::ops::Range;

/// Cycles of nearly the same length, one after the other, from the first step in which anything learns to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycles {
    first: u64,
    total: u64,
    count: u64,
}

impl Cycles {
    /// Cycles of about `horizon` steps between `first` and `total`; none where one step is as far as the search looks.
    pub(crate) fn new(first: u64, total: u64, horizon: u64) -> Option<Self> {
        let steps = total.saturating_sub(first);
        let count = ((steps as f64 / horizon as f64).round() as u64).max(1);
        (horizon > 1 && steps > 0).then_some(Self { first, total, count })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The steps of the cycle that a step belongs to; none before the first.
    pub(crate) fn at(&self, step: u64) -> Option<Range<u64>> {
        let steps = self.total - self.first;
        let within = step.checked_sub(self.first).filter(|within| *within < steps)?;
        let number = ((within + 1) * self.count - 1) / steps;
        let bound = |number: u64| self.first + number * steps / self.count;
        Some(bound(number)..bound(number + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_cover_all_steps_once_and_differ_by_one_step_at_most() {
        for (first, total, horizon, count) in
            [(0, 900, 150, 6), (420, 1320, 150, 6), (7, 107, 30, 3), (0, 10, 40, 1), (3, 20, 2, 9)]
        {
            let cycles = Cycles::new(first, total, horizon).unwrap();
            assert_eq!(cycles.count(), count);
            assert_eq!(first.checked_sub(1).and_then(|before| cycles.at(before)), None);
            assert_eq!(cycles.at(total), None);
            let mut next = first;
            let mut lengths = Vec::new();
            while next < total {
                let cycle = cycles.at(next).unwrap();
                assert_eq!(cycle.start, next);
                assert!(cycle.clone().all(|step| cycles.at(step) == Some(cycle.clone())));
                lengths.push(cycle.end - cycle.start);
                next = cycle.end;
            }
            assert_eq!((next, lengths.len() as u64), (total, count));
            assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn a_horizon_of_one_step_and_a_search_that_never_learns_have_none() {
        assert_eq!(Cycles::new(0, 100, 1), None);
        assert_eq!(Cycles::new(100, 100, 50), None);
    }
}
