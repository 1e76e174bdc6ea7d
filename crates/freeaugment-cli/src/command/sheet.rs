//! A contact sheet: a few images of each class in one picture.

use std::path::Path;

use freeaugment_data::{Dataset, Picture};
use freeaugment_search::Error;
use image::{ImageEncoder as _, RgbImage, codecs::png::PngEncoder, imageops};

/// Classes and images of each, at most.
const MOST_CLASSES: usize = 12;
const OF_TRAINING: usize = 6;
const OF_OTHERS: usize = 4;
/// Pixels of an image on the sheet, and between two.
const SIDE: u32 = 64;
const GAP: u32 = 4;

/// One column a class: training images, and below a wider gap those of validation (or of testing).
pub(crate) fn save(dataset: &Dataset, path: &Path) -> Result<(), Error> {
    let splits = &dataset.splits;
    let others = splits.validation.as_deref().or(splits.test.as_deref()).unwrap_or_default();
    let classes = dataset.classes.len().min(MOST_CLASSES) as u32;
    let rows = OF_TRAINING + if others.is_empty() { 0 } else { OF_OTHERS };
    let (width, height) = (classes * (SIDE + GAP) + GAP, rows as u32 * (SIDE + GAP) + 3 * GAP);
    let mut sheet = RgbImage::from_pixel(width, height, image::Rgb([255; 3]));
    for class in 0..classes {
        let of = |indices: &[u32], most: usize| -> Vec<u32> {
            indices.iter().copied().filter(|&index| dataset.label(index) == class).take(most).collect()
        };
        let columns = [
            (of(&splits.train, OF_TRAINING), GAP),
            (of(others, OF_OTHERS), 3 * GAP + OF_TRAINING as u32 * (SIDE + GAP)),
        ];
        for (indices, top) in columns {
            for (row, index) in (0_u32..).zip(indices) {
                // What cannot be read is told by the scan and stays white here.
                if let Ok(picture) = dataset.read(index) {
                    let (x, y) = (GAP + class * (SIDE + GAP), top + row * (SIDE + GAP));
                    imageops::replace(&mut sheet, &thumbnail(picture), x.into(), y.into());
                }
            }
        }
    }
    let mut bytes = Vec::new();
    let failed = |reason: std::io::Error| Error::Io { path: path.to_owned(), source: reason };
    PngEncoder::new(&mut bytes)
        .write_image(&sheet, width, height, image::ExtendedColorType::Rgb8)
        .map_err(|error| failed(std::io::Error::other(error.to_string())))?;
    freeaugment_base::write_atomically(path, &bytes).map_err(failed)
}

fn thumbnail(picture: Picture) -> RgbImage {
    let picture = picture.with_channels(3);
    let (width, height) = (picture.width as u32, picture.height as u32);
    let image =
        RgbImage::from_raw(width, height, picture.pixels).unwrap_or_else(|| RgbImage::new(SIDE, SIDE));
    // Small images keep their pixels, large ones are smoothed.
    let filter = if width.max(height) <= SIDE {
        imageops::FilterType::Nearest
    } else {
        imageops::FilterType::Triangle
    };
    imageops::resize(&image, SIDE, SIDE, filter)
}
