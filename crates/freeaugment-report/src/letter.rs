//! Letters in pictures, without a font of the system: one face of one size, all letters of one width.

use image::{Rgb, RgbImage};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

const HEIGHT: RasterHeight = RasterHeight::Size24;
/// The row of a letter's raster on which it stands.
const BASELINE: i64 = 19;
/// Pixels of a letter, with what is between it and the next one.
pub(crate) const WIDTH: u32 = get_raster_width(FontWeight::Regular, HEIGHT) as u32;
/// Pixels from one line to the next.
pub(crate) const LINE: u32 = 24;

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ink {
    pub(crate) colour: [u8; 3],
    pub(crate) bold: bool,
}

/// How wide a text is.
pub(crate) fn width(text: &str) -> u32 {
    WIDTH * text.chars().count() as u32
}

/// Writes a text that begins at `left` and stands on `baseline`; what is outside the picture is not there.
pub(crate) fn write(image: &mut RgbImage, (left, baseline): (i64, i64), text: &str, ink: Ink) {
    let weight = if ink.bold { FontWeight::Bold } else { FontWeight::Regular };
    for (at, letter) in (0_i64..).zip(text.chars()) {
        let left = left + at * i64::from(WIDTH);
        if letter == '…' {
            for dot in [1, 5, 9] {
                square(image, (left + dot, baseline - 2), 2, ink.colour);
            }
            continue;
        }
        let Some(raster) = get_raster(plain(letter), weight, HEIGHT) else {
            // A letter that this face lacks: that there is one is shown.
            square(image, (left + 2, baseline - 9), 8, ink.colour);
            continue;
        };
        for (row, pixels) in (0_i64..).zip(raster.rows()) {
            for (column, &share) in (0_i64..).zip(pixels) {
                mix(image, (left + column, baseline - BASELINE + row), ink.colour, share);
            }
        }
    }
}

/// The letter of the face that stands for another one.
fn plain(letter: char) -> char {
    match letter {
        '−' | '–' | '—' | '‐' => '-',
        '‘' | '’' => '\'',
        '“' | '”' | '„' => '"',
        '∕' => '/',
        other => other,
    }
}

fn square(image: &mut RgbImage, (left, top): (i64, i64), side: i64, colour: [u8; 3]) {
    for at in 0..side * side {
        mix(image, (left + at % side, top + at / side), colour, 255);
    }
}

fn mix(image: &mut RgbImage, (x, y): (i64, i64), colour: [u8; 3], share: u8) {
    let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return };
    let Some(Rgb(under)) = image.get_pixel_mut_checked(x, y) else { return };
    for (under, over) in under.iter_mut().zip(colour) {
        let mixed = u32::from(over) * u32::from(share) + u32::from(*under) * (255 - u32::from(share));
        *under = (mixed / 255) as u8;
    }
}

/// Texts in lines of at most so many letters, cut between words where that is possible.
pub(crate) fn lines(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        if let Some(last) = lines.last_mut()
            && last.chars().count() + 1 + word.len() <= most
        {
            last.push(' ');
            last.extend(word);
            continue;
        }
        while word.len() > most.max(1) {
            lines.push(word.drain(..most.max(1)).collect());
        }
        lines.push(word.into_iter().collect());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Ink = Ink { colour: [0; 3], bold: false };

    fn dark(text: &str) -> usize {
        let mut image = RgbImage::from_pixel(width(text).max(1), LINE, Rgb([255; 3]));
        write(&mut image, (0, 19), text, INK);
        image.pixels().filter(|pixel| pixel.0[0] < 128).count()
    }

    #[test]
    fn letters_leave_ink_and_spaces_do_not() {
        assert_eq!(dark("   "), 0);
        for text in ["Rotate", "−", "…", "é", "ž", "±", "°", "ね"] {
            assert!(dark(text) > 3, "{text}");
        }
        assert_ne!(dark("l"), dark("M"));
    }

    #[test]
    fn what_is_outside_is_not_written() {
        let mut image = RgbImage::from_pixel(4, 4, Rgb([255; 3]));
        write(&mut image, (-20, -20), "wide and high", INK);
        write(&mut image, (100, 100), "far away", INK);
        assert!(image.pixels().all(|pixel| *pixel == Rgb([255; 3])));
    }

    #[test]
    fn lines_break_between_words_and_in_long_ones() {
        assert_eq!(lines("Rotate 21°, Brightness +0.20", 12), ["Rotate 21°,", "Brightness", "+0.20"]);
        assert_eq!(lines("TransformationX a", 8), ["Transfor", "mationX", "a"]);
        assert!(lines("", 8).is_empty());
    }
}
