//! One picture of what a policy does to images: each beside its samples, and beneath them what was done.

use freeaugment::Policy;
use freeaugment_data::Picture;
use freeaugment_search::{Candidate, Error, Learned};
use image::{Rgb, RgbImage, imageops};

use crate::escape::shortened;
use crate::letter::{self, Ink, LINE};
use crate::picture::{fitted, png, rgb};
use crate::sheet::strip_of_each;

/// Pixels between two pictures, and lines of words beneath each.
const GAP: u32 = 12;
const LINES: usize = 10;

const BOLD: Ink = Ink { colour: [0x1b, 0x1f, 0x24], bold: true };
const PLAIN: Ink = Ink { colour: [0x57, 0x60, 0x6a], bold: false };

/// How a policy is shown.
#[derive(Clone, Debug)]
pub struct Preview<'a> {
    /// What is shown.
    pub candidate: &'a Candidate,
    /// Samples of each image.
    pub samples: u32,
    /// The seed of the samples.
    pub seed: u64,
    /// Images are made smaller until their longer side has so many pixels.
    pub size: usize,
    /// The longer side of a picture on the sheet.
    pub side: u32,
}

impl Preview<'_> {
    /// The bytes of a PNG file: a row for each image. With `strips` also each transformation of a learned policy from its
    /// lower to its upper learned magnitude, on the first image.
    pub fn draw(&self, images: &[(String, Picture)], strips: Option<&Policy>) -> Result<Vec<u8>, Error> {
        let mut rows = Vec::new();
        for (index, (name, picture)) in (0_u32..).zip(images) {
            let picture = self.sized(picture);
            let mut cells = vec![(rgb(&picture), name.clone(), BOLD)];
            for sample in 0..self.samples {
                let example = self.candidate.example(&picture, self.seed, sample, index)?;
                let words =
                    if example.steps.is_empty() { "nothing".to_owned() } else { example.steps.join(", ") };
                cells.push((rgb(&example.picture), words, PLAIN));
            }
            rows.push(row(&cells, self.side));
        }
        if let (Some(policy), Some((_, picture))) = (strips, images.first()) {
            let strips = strip_of_each(policy, &Learned::new(policy)?, &self.sized(picture))?;
            rows.extend(strips.into_iter().map(|(words, strip)| titled(&words, &strip)));
        }
        Ok(png(&stack(self.candidate.name(), &rows)))
    }

    fn sized(&self, picture: &Picture) -> Picture {
        if picture.height.max(picture.width) <= self.size {
            return picture.clone();
        }
        let small = fitted(&rgb(picture), self.size as u32);
        let (height, width) = (small.height() as usize, small.width() as usize);
        Picture { height, width, channels: 3, pixels: small.into_raw() }.with_channels(picture.channels)
    }
}

fn paper(width: u32, height: u32) -> RgbImage {
    RgbImage::from_pixel(width.max(1), height.max(1), Rgb([255; 3]))
}

/// Pictures beside each other, with words beneath.
fn row(cells: &[(RgbImage, String, Ink)], side: u32) -> RgbImage {
    let letters = (side / letter::WIDTH) as usize;
    let cells: Vec<(RgbImage, Vec<String>, Ink)> = (cells.iter())
        .map(|(image, words, ink)| (fitted(image, side), few(letter::lines(words, letters), letters), *ink))
        .collect();
    let tallest = cells.iter().map(|(image, ..)| image.height()).max().unwrap_or(0);
    let lines = cells.iter().map(|(_, lines, _)| lines.len() as u32).max().unwrap_or(0);
    let mut out = paper(cells.len() as u32 * (side + GAP), tallest + lines * LINE + GAP);
    for (at, (image, lines, ink)) in (0_u32..).zip(&cells) {
        let left = i64::from(at * (side + GAP));
        imageops::replace(&mut out, image, left, 0);
        for (number, line) in (1_u32..).zip(lines) {
            letter::write(&mut out, (left, i64::from(tallest + number * LINE - 5)), line, *ink);
        }
    }
    out
}

/// As many lines as there is room for; the last one says that there were more.
fn few(mut lines: Vec<String>, letters: usize) -> Vec<String> {
    if lines.len() > LINES {
        lines.truncate(LINES);
        if let Some(last) = lines.last_mut() {
            *last = shortened(&format!("{last}…………"), letters.min(last.chars().count() + 1));
        }
    }
    lines
}

fn titled(words: &str, image: &RgbImage) -> RgbImage {
    let mut out = paper(image.width().max(letter::width(words)), image.height() + LINE + GAP);
    imageops::replace(&mut out, image, 0, 0);
    letter::write(&mut out, (0, i64::from(image.height() + LINE - 5)), words, PLAIN);
    out
}

/// Rows below each other, under a title.
fn stack(title: &str, rows: &[RgbImage]) -> RgbImage {
    let widest = rows.iter().map(RgbImage::width).max().unwrap_or(0);
    let letters = (widest / letter::WIDTH) as usize;
    let height: u32 = rows.iter().map(RgbImage::height).sum();
    let mut out = paper(widest + GAP, height + LINE + 2 * GAP);
    letter::write(&mut out, (i64::from(GAP), i64::from(GAP + LINE - 8)), &shortened(title, letters), BOLD);
    let mut top = GAP + LINE;
    for row in rows {
        imageops::replace(&mut out, row, GAP.into(), top.into());
        top += row.height();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_do_not_fit_end_with_dots() {
        let lines = vec!["three".to_owned(); LINES + 1];
        assert_eq!(few(lines.clone(), 12)[LINES - 2..], ["three", "three…"]);
        assert_eq!(few(lines.clone(), 5)[LINES - 2..], ["three", "thre…"]);
        assert_eq!(few(lines[..LINES].to_vec(), 5), lines[..LINES]);
    }
}
