//! Color of bytes: m·x + (1-m)·grey, grey the mean over the channels.

use super::{Picture, whole_level};

pub(crate) fn apply(picture: Picture<'_>, m: f32, out: &mut [u8]) {
    if picture.channels() == 1 {
        picture.copy_to(out);
    } else if picture.depth == 3 {
        for (row, out) in picture.rows(0).zip(out.chunks_exact_mut(picture.row_len())) {
            apply_pixels(row, m, out);
        }
    } else {
        let (red, rest) = out.split_at_mut(picture.plane_len());
        let (green, blue) = rest.split_at_mut(picture.plane_len());
        let width = picture.width;
        let rows =
            red.chunks_exact_mut(width).zip(green.chunks_exact_mut(width)).zip(blue.chunks_exact_mut(width));
        for (y, ((red, green), blue)) in rows.enumerate() {
            apply_planes(std::array::from_fn(|plane| picture.row(plane, y)), m, [red, green, blue]);
        }
    }
}

#[inline(always)]
fn mixed(pixel: [u8; 3], m: f32) -> [u8; 3] {
    let [r, g, b] = pixel.map(i32::from);
    let base = (r + g + b) as f32 * ((1.0 - m) / 3.0);
    [r, g, b].map(|level| whole_level(m * level as f32 + base))
}

freeaugment_base::versions! {
    fn apply_pixels(row: &[u8], m: f32, out: &mut [u8]) {
        for (out, &pixel) in out.as_chunks_mut::<3>().0.iter_mut().zip(row.as_chunks::<3>().0) {
            *out = mixed(pixel, m);
        }
    }

    fn apply_planes(rows: [&[u8]; 3], m: f32, out: [&mut [u8]; 3]) {
        let ([r, g, b], [out_r, out_g, out_b]) = (rows, out);
        let pixels = r.iter().zip(g).zip(b).zip(out_r.iter_mut().zip(out_g).zip(out_b));
        for (((&r, &g), &b), ((out_r, out_g), out_b)) in pixels {
            [*out_r, *out_g, *out_b] = mixed([r, g, b], m);
        }
    }
}
