//! Grey and hue.

use freeaugment_data::Picture;

/// PIL's grey of a colour, in 16.16 fixed point.
pub(super) fn grey([red, green, blue]: [u8; 3]) -> u8 {
    ((u32::from(red) * 19595 + u32::from(green) * 38470 + u32::from(blue) * 7471 + 0x8000) >> 16) as u8
}

pub(super) fn grayscale(picture: &mut Picture) {
    if picture.channels == 3 {
        for pixel in picture.pixels.as_chunks_mut::<3>().0 {
            *pixel = [grey(*pixel); 3];
        }
    }
}

/// Turns the 8-bit hue of PIL, which wraps. Even without a turn, the way there and back rounds.
pub(super) fn hue(picture: &mut Picture, share: f64) {
    let turn = (share * 255.0) as i32 as u8;
    if picture.channels == 3 {
        for pixel in picture.pixels.as_chunks_mut::<3>().0 {
            let [hue, saturation, value] = hsv(*pixel);
            *pixel = rgb([hue.wrapping_add(turn), saturation, value]);
        }
    }
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
    let [r, g, b] = [red, green, blue].map(|value| f32::from(most - value) / range);
    let sixths = if red == most {
        b - g
    } else if green == most {
        (2.0 + f64::from(r) - f64::from(b)) as f32
    } else {
        (4.0 + f64::from(g) - f64::from(r)) as f32
    };
    let circle = f64::from(sixths) / 6.0 + 1.0;
    let hue = (if circle >= 1.0 { circle - 1.0 } else { circle }) as f32;
    [(f64::from(hue) * 255.0) as u8, (f64::from(saturation) * 255.0) as u8, most]
}

fn rgb([hue, saturation, value]: [u8; 3]) -> [u8; 3] {
    if saturation == 0 {
        return [value; 3];
    }
    let sixths = f64::from(hue) * 6.0 / 255.0;
    let sector = sixths as u8;
    let rest = f64::from((sixths - f64::from(sector)) as f32);
    let saturation = f64::from((f64::from(saturation) / 255.0) as f32);
    let part = |share: f64| round(f64::from(value) * share);
    let low = part(1.0 - saturation);
    let falling = part(1.0 - saturation * rest);
    let rising = part(1.0 - saturation * (1.0 - rest));
    match sector % 6 {
        0 => [value, rising, low],
        1 => [falling, value, low],
        2 => [low, value, rising],
        3 => [low, falling, value],
        4 => [rising, low, value],
        _ => [value, low, falling],
    }
}

/// To the nearest, halves up. `f64::round` is a call into a library on older processors.
fn round(value: f64) -> u8 {
    let whole = value as u8;
    whole + u8::from(value - f64::from(whole) >= 0.5)
}
