//! Grey and hue.

use super::Frame;

/// PIL's grey of a colour, in 16.16 fixed point.
#[inline(always)]
pub(super) fn grey([red, green, blue]: [u8; 3]) -> u8 {
    ((u32::from(red) * 19595 + u32::from(green) * 38470 + u32::from(blue) * 7471 + 0x8000) >> 16) as u8
}

pub(super) fn grayscale(frame: Frame<'_>, out: &mut [u8]) {
    if frame.is_grey() {
        out.copy_from_slice(frame.bytes);
    } else {
        frame.map_pixels(out, |pixel| [grey(pixel); 3]);
    }
}

/// Turns the 8-bit hue of PIL, which wraps. Even without a turn, the way there and back rounds.
pub(super) fn hue(frame: Frame<'_>, share: f64, out: &mut [u8]) {
    if frame.is_grey() {
        return out.copy_from_slice(frame.bytes);
    }
    let turn = (share * 255.0) as i32 as u8;
    frame.map_pixels(out, |pixel| {
        let [hue, saturation, value] = hsv(pixel);
        rgb([hue.wrapping_add(turn), saturation, value])
    });
}

// The mixture of single and double precision below is PIL's: other roundings give other bytes.

fn hsv([red, green, blue]: [u8; 3]) -> [u8; 3] {
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    if most == least {
        return [0, 0, most];
    }
    let range = f32::from(most - least);
    let saturation = range / f32::from(most);
    let share = |value: u8| f32::from(most - value) / range;
    let sixths = if red == most {
        share(blue) - share(green)
    } else if green == most {
        (2.0 + f64::from(share(red)) - f64::from(share(blue))) as f32
    } else {
        (4.0 + f64::from(share(green)) - f64::from(share(red))) as f32
    };
    let circle = f64::from(sixths) / 6.0 + 1.0;
    let hue = (if circle >= 1.0 { circle - 1.0 } else { circle }) as f32;
    [(f64::from(hue) * 255.0) as u8, (f64::from(saturation) * 255.0) as u8, most]
}

fn rgb([hue, saturation, value]: [u8; 3]) -> [u8; 3] {
    if saturation == 0 {
        return [value; 3];
    }
    let (sector, rest) = SECTORS[usize::from(hue)];
    let saturation = SHARES[usize::from(saturation)];
    let part = |share: f64| round(f64::from(value) * share);
    let low = part(1.0 - saturation);
    let falling = part(1.0 - saturation * rest);
    let rising = part(1.0 - saturation * (1.0 - rest));
    match sector {
        1 => [falling, value, low],
        2 => [low, value, rising],
        3 => [low, falling, value],
        4 => [rising, low, value],
        5 => [value, low, falling],
        _ => [value, rising, low],
    }
}

/// For each hue its sixth of the circle, and how far it lies in it.
static SECTORS: [(u8, f64); 256] = {
    let mut sectors = [(0, 0.0); 256];
    let mut hue = 0;
    while hue < 256 {
        let sixths = hue as f64 * 6.0 / 255.0;
        let sector = sixths as u8;
        sectors[hue] = (sector % 6, (sixths - sector as f64) as f32 as f64);
        hue += 1;
    }
    sectors
};

/// For each saturation its share of the greatest.
static SHARES: [f64; 256] = {
    let mut shares = [0.0; 256];
    let mut saturation = 0;
    while saturation < 256 {
        shares[saturation] = (saturation as f64 / 255.0) as f32 as f64;
        saturation += 1;
    }
    shares
};

/// To the nearest, halves up. `f64::round` is a call into a library on older processors.
fn round(value: f64) -> u8 {
    let whole = value as u8;
    whole + u8::from(value - f64::from(whole) >= 0.5)
}
