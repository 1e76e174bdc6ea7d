//! How often each level occurs in each channel.

use freeaugment_base::level::{Counter, Histogram, Table, range};

use super::Picture;

/// Counts the levels of each channel; those of channels that are not there are all zero.
pub(super) fn count(picture: Picture<'_>) -> [Histogram; 3] {
    of_channels(picture, counted::<1>, counted::<3>)
}

/// One of the least and one of the greatest level of each channel, for those who want to know no more: many times as fast.
pub(super) fn ends(picture: Picture<'_>) -> [Histogram; 3] {
    of_channels(picture, ranged::<1>, ranged::<3>)
}

/// What is found out about each channel: alone where it is a plane, together where they lie side by side.
fn of_channels(
    picture: Picture<'_>,
    alone: fn(Picture<'_>, usize) -> [Histogram; 1],
    together: fn(Picture<'_>, usize) -> [Histogram; 3],
) -> [Histogram; 3] {
    if picture.depth == 3 {
        return together(picture, 0);
    }
    [0, 1, 2].map(|plane| if plane < picture.planes { alone(picture, plane)[0] } else { [0; 256] })
}

fn counted<const CHANNELS: usize>(picture: Picture<'_>, plane: usize) -> [Histogram; CHANNELS] {
    let mut counter = Counter::default();
    picture.pieces(plane).for_each(|piece| counter.add(piece));
    counter.total()
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
