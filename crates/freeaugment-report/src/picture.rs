//! Pictures in a page: small ones, inline.

use freeaugment_data::Picture;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder as _, RgbImage, imageops};

/// Up to this side, pictures keep their pixels; larger ones are photographs and are made smaller.
const PIXELS: u32 = 40;
/// The side of a small photograph.
const SIDE: u32 = 96;
const QUALITY: u8 = 85;

/// As an image of three channels.
pub(crate) fn rgb(picture: &Picture) -> RgbImage {
    let picture = picture.clone().with_channels(3);
    RgbImage::from_raw(picture.width as u32, picture.height as u32, picture.pixels).unwrap_or_default()
}

/// Whether a picture is shown pixel by pixel.
pub(crate) fn is_small(picture: &Picture) -> bool {
    picture.width.max(picture.height) as u32 <= PIXELS
}

/// A picture as the source of an `img`.
pub(crate) fn source(picture: &Picture) -> String {
    if is_small(picture) {
        return inline(&rgb(picture), true);
    }
    inline(&fitted(&rgb(picture), SIDE), false)
}

/// An image whose longer side is as long as said.
pub(crate) fn fitted(image: &RgbImage, side: u32) -> RgbImage {
    let longest = image.width().max(image.height()).max(1);
    let scale = |length: u32| (u64::from(length) * u64::from(side) / u64::from(longest)).max(1) as u32;
    let filter = if longest < side { imageops::FilterType::Nearest } else { imageops::FilterType::Triangle };
    imageops::resize(image, scale(image.width()), scale(image.height()), filter)
}

/// The bytes of a PNG file.
pub(crate) fn png(image: &RgbImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing into memory cannot fail; an empty image has no file.
    let _ = PngEncoder::new(&mut bytes).write_image(
        image,
        image.width(),
        image.height(),
        ExtendedColorType::Rgb8,
    );
    bytes
}

pub(crate) fn inline(image: &RgbImage, exact: bool) -> String {
    if exact {
        return format!("data:image/png;base64,{}", base64(&png(image)));
    }
    let mut bytes = Vec::new();
    let _ = JpegEncoder::new_with_quality(&mut bytes, QUALITY).write_image(
        image,
        image.width(),
        image.height(),
        ExtendedColorType::Rgb8,
    );
    format!("data:image/jpeg;base64,{}", base64(&bytes))
}

/// Bytes as letters (RFC 4648).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let all = chunk.iter().enumerate().fold(0, |all, (at, &byte)| all | u32::from(byte) << (16 - 8 * at));
        for at in 0..4 {
            let letter = LETTERS[(all >> (18 - 6 * at)) as usize & 63] as char;
            text.push(if at <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_its_document() {
        let all = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(all, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn large_pictures_are_fitted_and_keep_their_shape() {
        assert_eq!(fitted(&RgbImage::new(300, 100), 96).dimensions(), (96, 32));
        assert_eq!(fitted(&RgbImage::new(1, 1000), 96).dimensions(), (1, 96));
    }
}
