//! How often each level occurs in each channel.

use super::{Picture, Table};

/// How often each level occurs.
pub(crate) type Histogram = [u32; 256];

/// Counters that take turns, because neighbouring pixels often share a level and would wait for each other.
const TURNS: usize = 4;

/// Counts the levels of each channel; those of channels that are not there are all zero.
pub(super) fn count(picture: Picture<'_>) -> [Histogram; 3] {
    let mut total = [[0; 256]; 3];
    if picture.depth == 3 {
        let mut counts = [[[0_u32; 256]; 3]; TURNS];
        for row in picture.rows(0) {
            let (groups, rest) = row.as_chunks::<{ 3 * TURNS }>();
            for group in groups {
                for (counts, pixel) in counts.iter_mut().zip(group.as_chunks::<3>().0) {
                    count_pixel(counts, *pixel);
                }
            }
            for pixel in rest.as_chunks::<3>().0 {
                count_pixel(&mut counts[0], *pixel);
            }
        }
        for counts in counts {
            for (total, counts) in total.iter_mut().zip(counts) {
                add(total, &counts);
            }
        }
        return total;
    }
    for (plane, total) in total.iter_mut().enumerate().take(picture.planes) {
        let mut counts = [[0_u32; 256]; TURNS];
        for row in picture.rows(plane) {
            let (groups, rest) = row.as_chunks::<TURNS>();
            for group in groups {
                for (counts, &level) in counts.iter_mut().zip(group) {
                    counts[usize::from(level)] += 1;
                }
            }
            for &level in rest {
                counts[0][usize::from(level)] += 1;
            }
        }
        for counts in counts {
            add(total, &counts);
        }
    }
    total
}

#[inline(always)]
fn count_pixel(counts: &mut [Histogram; 3], pixel: [u8; 3]) {
    for (counts, level) in counts.iter_mut().zip(pixel) {
        counts[usize::from(level)] += 1;
    }
}

fn add(total: &mut Histogram, counts: &Histogram) {
    for (total, count) in total.iter_mut().zip(counts) {
        *total += count;
    }
}

/// The histogram of a channel after a table, without another look at the image.
pub(super) fn after(counted: &Histogram, table: &Table) -> Histogram {
    let mut moved = [0; 256];
    for (&count, &level) in counted.iter().zip(table) {
        moved[usize::from(level)] += count;
    }
    moved
}
