//! Transformations that change each value by its level alone: a table says what they do, and a chain of them is one
//! table for each channel.

use freeaugment_base::level::{Histogram, Table, look_up};

use super::histogram::{after, count, ends};
use super::{Levels, Picture};
use crate::chain::Step;
use crate::image::Image;
use crate::view::nearest_level;
use crate::work::Scratch;

/// Applies a run of steps, each of which has a table. Every pixel is written once; it is read once more where a step wants
/// to know how often each level occurs, however many steps do.
pub(super) fn apply(steps: &[Step], picture: Picture<'_>, out: &mut [u8], scratch: &mut Scratch) {
    let tables = tables(steps, picture, scratch);
    let is_one = tables.iter().all(|table| *table == tables[0]);
    for (plane, out) in out.chunks_exact_mut(picture.plane_len()).enumerate() {
        for (levels, out) in picture.pieces(plane).zip(out.chunks_exact_mut(picture.piece_len())) {
            if picture.depth == 3 && !is_one {
                look_up(levels, &tables, out);
            } else {
                look_up(levels, std::array::from_ref(&tables[plane]), out);
            }
        }
    }
}

fn tables(steps: &[Step], picture: Picture<'_>, scratch: &mut Scratch) -> [Table; 3] {
    let mut tables = [std::array::from_fn(|level| level as u8); 3];
    let mut counted: Option<[Histogram; 3]> = None;
    for (at, step) in steps.iter().enumerate() {
        match step.transformation.kernel().levels() {
            // Behind another step, the least and the greatest level need not come from those of the image.
            Levels::PerRange(table) if at == 0 => follow_each(&mut tables, &ends(picture), table),
            Levels::PerRange(table) | Levels::PerChannel(table) => {
                follow_each(&mut tables, counted.get_or_insert_with(|| count(picture)), table);
            }
            Levels::Same | Levels::Neighbours => {
                let table = table_of(step, scratch);
                for channel in &mut tables {
                    follow(channel, &table);
                }
            }
        }
    }
    tables
}

/// First the tables that there are, then those that follow from what they leave of the channels.
fn follow_each(tables: &mut [Table; 3], counted: &[Histogram; 3], table: fn(&Histogram) -> Table) {
    for (channel, counted) in tables.iter_mut().zip(counted) {
        let table = table(&after(counted, channel));
        follow(channel, &table);
    }
}

/// The table of a transformation of single values, from the transformation itself.
fn table_of(step: &Step, scratch: &mut Scratch) -> Table {
    let levels: [f32; 256] = std::array::from_fn(|level| level as f32 / 255.0);
    let mut values = [0.0; 256];
    let image = Image { data: &levels, height: 16, width: 16 };
    step.transformation.kernel().apply(image, step.units(), &mut values, scratch);
    values.map(nearest_level)
}

/// First the one, then the next.
fn follow(table: &mut Table, next: &Table) {
    for level in table {
        *level = next[usize::from(*level)];
    }
}
