//! How often each level occurs in each channel.

use freeaugment_base::level::{Counter, Histogram, Table, range};

use super::Picture;

/// Counts the levels of each channel; those of channels that are not there are all zero.
pub(super) fn count(picture: Picture<'_>) -> [Histogram; 3] {
    if picture.depth == 3 {
        return counted::<3>(picture, 0);
    }
    let planes = [0, 1, 2].map(|plane| (plane < picture.planes).then(|| counted::<1>(picture, plane)));
    planes.map(|plane| plane.map_or([0; 256], |[counts]| counts))
}

fn counted<const CHANNELS: usize>(picture: Picture<'_>, plane: usize) -> [Histogram; CHANNELS] {
    let mut counter = Counter::default();
    picture.pieces(plane).for_each(|piece| counter.add(piece));
    counter.total()
}

/// One of the least and one of the greatest level of each channel, for those who want to know no more: many times as fast.
pub(super) fn ends(picture: Picture<'_>) -> [Histogram; 3] {
    if picture.depth == 3 {
        return ranged::<3>(picture, 0);
    }
    let planes = [0, 1, 2].map(|plane| (plane < picture.planes).then(|| ranged::<1>(picture, plane)));
    planes.map(|plane| plane.map_or([0; 256], |[counts]| counts))
}

fn ranged<const CHANNELS: usize>(picture: Picture<'_>, plane: usize) -> [Histogram; CHANNELS] {
    let mut found = [(255, 0); CHANNELS];
    for piece in picture.pieces(plane) {
        for (found, (low, high)) in found.iter_mut().zip(range::<CHANNELS>(piece)) {
            *found = (found.0.min(low), found.1.max(high));
        }
    }
    found.map(|(low, high)| {
        let mut counts = [0; 256];
        for level in [low, high] {
            counts[usize::from(level)] += 1;
        }
        counts
    })
}

/// The histogram of a channel after a table, without another look at the image.
pub(super) fn after(counted: &Histogram, table: &Table) -> Histogram {
    let mut moved = [0; 256];
    for (&count, &level) in counted.iter().zip(table) {
        moved[usize::from(level)] += count;
    }
    moved
}
