//! Operations that replace every value by another, whatever its place.

use freeaugment_base::level::{Counter, Histogram, Table, look_up, range};

use super::Frame;

/// The table of a function.
pub(super) fn each(function: impl Fn(u8) -> u8) -> Table {
    let mut table = [0; 256];
    for (value, result) in (0..=255).zip(&mut table) {
        *result = function(value);
    }
    table
}

/// Replaces the values of all channels.
pub(super) fn map(frame: Frame<'_>, table: &Table, out: &mut [u8]) {
    look_up(frame.bytes, std::array::from_ref(table), out);
}

/// Keeps the highest bits; none of them gives black, as PIL had it.
pub(super) fn posterize(frame: Frame<'_>, bits: f64, out: &mut [u8]) {
    let dropped = 8 - (bits as u32).min(8);
    let mask = (0xff_u32 << dropped) as u8;
    map(frame, &each(|value| value & mask), out);
}

pub(super) fn solarize(frame: Frame<'_>, threshold: f64, out: &mut [u8]) {
    map(frame, &each(|value| if f64::from(value) < threshold { value } else { !value }), out);
}

pub(super) fn solarize_add(frame: Frame<'_>, addition: f64, out: &mut [u8]) {
    let addition = addition as i16;
    let add = |value: u8| i16::from(value).saturating_add(addition).clamp(0, 255) as u8;
    map(frame, &each(|value| if value < 128 { add(value) } else { value }), out);
}

pub(super) fn invert(frame: Frame<'_>, out: &mut [u8]) {
    map(frame, &each(|value| !value), out);
}

/// Stretches each channel from its least and greatest value to 0 and 255.
pub(super) fn auto_contrast(frame: Frame<'_>, out: &mut [u8]) {
    by_channel(frame, out, range::<1>, range::<3>, |&(least, most)| {
        if most <= least {
            return None;
        }
        let scale = 255.0 / f64::from(most - least);
        let offset = -f64::from(least) * scale;
        Some(each(|value| (f64::from(value) * scale + offset) as u8))
    });
}

/// Flattens each channel's histogram.
pub(super) fn equalize(frame: Frame<'_>, out: &mut [u8]) {
    by_channel(frame, out, count::<1>, count::<3>, |counts| {
        let last = counts.iter().rfind(|&&count| count > 0)?;
        // A single value leaves nothing for the other steps.
        let step = (counts.iter().sum::<u32>() - last) / 255;
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

fn count<const CHANNELS: usize>(levels: &[u8]) -> [Histogram; CHANNELS] {
    let mut counter = Counter::default();
    counter.add(levels);
    counter.total()
}

/// Gives every channel the table that follows from what is found out about it, of one channel or of three side by side;
/// none leaves it as it is.
fn by_channel<T>(
    frame: Frame<'_>,
    out: &mut [u8],
    alone: impl Fn(&[u8]) -> [T; 1],
    together: impl Fn(&[u8]) -> [T; 3],
    table: impl Fn(&T) -> Option<Table>,
) {
    let table = |found: &T| table(found).unwrap_or_else(|| each(|value| value));
    if frame.depth == 3 {
        return look_up(frame.bytes, &together(frame.bytes).each_ref().map(table), out);
    }
    for (plane, out) in frame.planes(out) {
        look_up(plane, &alone(plane).each_ref().map(table), out);
    }
}
