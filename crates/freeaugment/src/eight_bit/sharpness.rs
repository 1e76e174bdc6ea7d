//! Sharpness of bytes: m·x + (1-m)·blur inside, and the border of one pixel as it is.

use super::{Picture, whole_level};
use crate::work::{Scratch, grown};

pub(crate) fn apply(picture: Picture<'_>, m: f32, out: &mut [u8], scratch: &mut Scratch) {
    let (len, depth, last) = (picture.row_len(), picture.depth, picture.height - 1);
    if picture.height < 3 || picture.width < 3 {
        return picture.copy_to(out);
    }
    let sums = grown(&mut scratch.sums, len);
    for (plane, out) in out.chunks_exact_mut(picture.plane_len()).enumerate() {
        for (y, out) in out.chunks_exact_mut(len).enumerate() {
            let row = picture.row(plane, y);
            if y == 0 || y == last {
                out.copy_from_slice(row);
                continue;
            }
            add_rows(picture.row(plane, y - 1), row, picture.row(plane, y + 1), sums);
            out[..depth].copy_from_slice(&row[..depth]);
            out[len - depth..].copy_from_slice(&row[len - depth..]);
            let inside = depth..len - depth;
            let (left, right) = (&sums[..len - 2 * depth], &sums[2 * depth..]);
            sharpen(&row[inside.clone()], left, &sums[inside.clone()], right, m, &mut out[inside]);
        }
    }
}

freeaugment_base::versions! {
    fn add_rows(above: &[u8], here: &[u8], below: &[u8], sums: &mut [u16]) {
        for (((sum, &above), &here), &below) in sums.iter_mut().zip(above).zip(here).zip(below) {
            *sum = u16::from(above) + u16::from(here) + u16::from(below);
        }
    }

    fn sharpen(row: &[u8], left: &[u16], middle: &[u16], right: &[u16], m: f32, out: &mut [u8]) {
        let share = (1.0 - m) / 13.0;
        let sums = left.iter().zip(middle).zip(right);
        for ((out, &level), ((&left, &middle), &right)) in out.iter_mut().zip(row).zip(sums) {
            let sum = left + middle + right + 4 * u16::from(level);
            *out = whole_level(m * i32::from(level) as f32 + share * i32::from(sum) as f32);
        }
    }
}
