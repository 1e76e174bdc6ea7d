//! Transformations that change each value by its level alone: a table says what they do, and a chain of them is one
//! table for each channel.

use super::histogram::{self, Histogram};
use super::{Levels, Picture};
use crate::chain::Step;
use crate::image::Image;
use crate::view::nearest_level;
use crate::work::Scratch;

/// What becomes of each level.
pub(crate) type Table = [u8; 256];

/// The tables of the channels.
struct Tables {
    channels: [Table; 3],
    /// Whether those of all channels are the first.
    is_one: bool,
}

/// Applies a run of steps, each of which has a table. Every pixel is written once; it is read once more where a step wants
/// to know how often each level occurs, however many steps do.
pub(super) fn apply(steps: &[Step], picture: Picture<'_>, out: &mut [u8], scratch: &mut Scratch) {
    let tables = tables(steps, picture, scratch);
    for (plane, out) in out.chunks_exact_mut(picture.plane_len()).enumerate() {
        for (row, out) in picture.rows(plane).zip(out.chunks_exact_mut(picture.row_len())) {
            if tables.is_one || picture.depth == 1 {
                look_up(row, &tables.channels[if tables.is_one { 0 } else { plane }], out);
            } else {
                look_up_pixels(row, &tables.channels, out);
            }
        }
    }
}

fn tables(steps: &[Step], picture: Picture<'_>, scratch: &mut Scratch) -> Tables {
    let mut tables = Tables { channels: [std::array::from_fn(|level| level as u8); 3], is_one: true };
    let mut counted: Option<[Histogram; 3]> = None;
    for step in steps {
        let kernel = step.transformation.kernel();
        match kernel.levels() {
            Levels::PerChannel(table) => {
                let counted = counted.get_or_insert_with(|| histogram::count(picture));
                for (counted, channel) in counted.iter().zip(&mut tables.channels).take(picture.channels()) {
                    let table = table(&histogram::after(counted, channel));
                    follow(channel, &table);
                }
                tables.is_one = picture.channels() == 1;
            }
            Levels::Same | Levels::Neighbours => {
                let table = table_of(step, scratch);
                for channel in &mut tables.channels {
                    follow(channel, &table);
                }
            }
        }
    }
    tables
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

fn look_up(row: &[u8], table: &Table, out: &mut [u8]) {
    for (out, &level) in out.iter_mut().zip(row) {
        *out = table[usize::from(level)];
    }
}

fn look_up_pixels(row: &[u8], [red, green, blue]: &[Table; 3], out: &mut [u8]) {
    for (out, pixel) in out.as_chunks_mut::<3>().0.iter_mut().zip(row.as_chunks::<3>().0) {
        let [r, g, b] = pixel.map(usize::from);
        *out = [red[r], green[g], blue[b]];
    }
}
