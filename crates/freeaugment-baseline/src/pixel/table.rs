//! Operations that replace every value by another, whatever its place.

use freeaugment_data::Picture;

/// What each value becomes.
pub(super) type Table = [u8; 256];

/// The table of a function.
pub(super) fn each(function: impl Fn(u8) -> u8) -> Table {
    let mut table = [0; 256];
    for (value, result) in (0..=255).zip(&mut table) {
        *result = function(value);
    }
    table
}

/// Replaces the values of all channels.
pub(super) fn map(picture: &mut Picture, table: &Table) {
    for value in &mut picture.pixels {
        *value = table[usize::from(*value)];
    }
}

/// Keeps the highest bits; none of them gives black, as PIL had it.
pub(super) fn posterize(picture: &mut Picture, bits: f64) {
    let dropped = 8 - (bits as u32).min(8);
    let mask = (0xff_u32 << dropped) as u8;
    picture.pixels.iter_mut().for_each(|value| *value &= mask);
}

pub(super) fn solarize(picture: &mut Picture, threshold: f64) {
    map(picture, &each(|value| if f64::from(value) < threshold { value } else { !value }));
}

pub(super) fn solarize_add(picture: &mut Picture, addition: f64) {
    let addition = addition as i16;
    let add = |value: u8| i16::from(value).saturating_add(addition).clamp(0, 255) as u8;
    map(picture, &each(|value| if value < 128 { add(value) } else { value }));
}

/// Stretches each channel from its least and greatest value to 0 and 255.
pub(super) fn auto_contrast(picture: &mut Picture) {
    by_channel(picture, |counts| {
        let least = counts.iter().position(|&count| count > 0)?;
        let most = counts.iter().rposition(|&count| count > 0)?;
        if most <= least {
            return None;
        }
        let scale = 255.0 / (most - least) as f64;
        let offset = -(least as f64) * scale;
        Some(each(|value| (f64::from(value) * scale + offset) as u8))
    });
}

/// Flattens each channel's histogram.
pub(super) fn equalize(picture: &mut Picture) {
    by_channel(picture, |counts| {
        let last = *counts.iter().rfind(|&&count| count > 0)?;
        // A single value leaves nothing for the other steps.
        let step = (counts.iter().sum::<usize>() - last) / 255;
        if step == 0 {
            return None;
        }
        let mut sum = step / 2;
        let mut table = [0; 256];
        for (result, count) in table.iter_mut().zip(counts) {
            *result = (sum / step).min(255) as u8;
            sum += count;
        }
        Some(table)
    });
}

/// Gives every channel the table that follows from how often its values occur; none leaves it as it is.
fn by_channel(picture: &mut Picture, table: impl Fn(&[usize; 256]) -> Option<Table>) {
    match picture.channels {
        3 => by_channel_of::<3>(&mut picture.pixels, table),
        _ => by_channel_of::<1>(&mut picture.pixels, table),
    }
}

fn by_channel_of<const CHANNELS: usize>(pixels: &mut [u8], table: impl Fn(&[usize; 256]) -> Option<Table>) {
    let (pixels, _) = pixels.as_chunks_mut::<CHANNELS>();
    let mut counts = [[0; 256]; CHANNELS];
    for pixel in &*pixels {
        for (counts, &value) in counts.iter_mut().zip(pixel) {
            counts[usize::from(value)] += 1;
        }
    }
    let tables = counts.map(|counts| table(&counts).unwrap_or_else(|| each(|value| value)));
    for pixel in pixels {
        for (table, value) in tables.iter().zip(pixel) {
            *value = table[usize::from(*value)];
        }
    }
}
