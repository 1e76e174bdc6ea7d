//! Drawing subsets and splits by seed, class by class.

use freeaugment_base::random::{Purpose, Stream};

/// A random order of `items`, by seed, purpose, epoch and index alone.
pub(crate) fn shuffle(items: &mut [u32], mut stream: Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, stream.below(last as u32 + 1) as usize);
    }
}

/// So many images, with classes in the proportion they have among `indices` (as nearly as whole images allow), in
/// ascending order. All of them where there are not more.
pub fn take_stratified(indices: &[u32], label: impl Fn(u32) -> u32, count: usize, seed: u64) -> Vec<u32> {
    const PURPOSE: Purpose = Purpose::named("data/subset");
    if count >= indices.len() {
        return indices.to_vec();
    }
    let mut classes = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for &index in indices {
        classes.entry(label(index)).or_default().push(index);
    }
    // Every image gets a place between 0 and 1 within its shuffled class; those with the lowest places are taken.
    let mut places = Vec::with_capacity(indices.len());
    for (class, mut members) in classes {
        shuffle(&mut members, Stream::new(seed, PURPOSE, 0, class));
        let size = members.len();
        places.extend(members.into_iter().enumerate().map(|(at, index)| ((2 * at + 1, size), class, index)));
    }
    places.sort_by(|((a, of_a), class_a, _), ((b, of_b), class_b, _)| {
        (a * of_b).cmp(&(b * of_a)).then(class_a.cmp(class_b))
    });
    let mut taken: Vec<u32> = places[..count].iter().map(|&(.., index)| index).collect();
    taken.sort_unstable();
    taken
}

/// Two parts with classes in proportion; `share` of the images go into the second.
pub fn halve(indices: &[u32], label: impl Fn(u32) -> u32, share: f64, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let count = (indices.len() as f64 * share).round() as usize;
    let second = take_stratified(indices, label, count, seed);
    let first = indices.iter().copied().filter(|index| second.binary_search(index).is_err()).collect();
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_keep_the_proportion_of_classes_and_depend_on_the_seed() {
        // 60 of class 0, 30 of class 1, 10 of class 2.
        let label = |index: u32| u32::from(index >= 60) + u32::from(index >= 90);
        let all: Vec<u32> = (0..100).collect();
        let taken = take_stratified(&all, label, 20, 1);
        let counts = [0, 1, 2].map(|class| taken.iter().filter(|&&index| label(index) == class).count());
        assert_eq!(counts, [12, 6, 2]);
        assert_eq!(taken, take_stratified(&all, label, 20, 1));
        assert_ne!(taken, take_stratified(&all, label, 20, 2));
        assert_eq!(take_stratified(&all, label, 100, 1), all);
    }

    #[test]
    fn halves_are_disjoint_and_complete() {
        let all: Vec<u32> = (5..56).collect();
        let (first, second) = halve(&all, |index| index % 3, 0.5, 7);
        assert_eq!((first.len(), second.len()), (25, 26));
        let mut together = [first, second].concat();
        together.sort_unstable();
        assert_eq!(together, all);
    }
}
