//! Image files that are read to be written again: format, kind of pixels, alpha and colour profile are kept.

use std::path::Path;

use image::codecs::bmp::BmpEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, ImageDecoder as _, ImageEncoder, ImageFormat};

use super::decode::{self, BOUNDS, Bounds, checked, reason, upright};
use crate::error::Error;
use crate::picture::Picture;

/// How an image is stored. All that can be read can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// JPEG, in a quality of 1 to 100.
    Jpeg,
    /// PNG.
    Png,
    /// WebP; it is written without loss, whatever it was.
    WebP,
    /// BMP, which has no place for colour profiles.
    Bmp,
}

/// An image of a file, upright, with what a picture has no place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// What the bytes are, whatever the file's name says.
    pub format: Format,
    /// The image: grey where it is stored grey, colour otherwise, 8 bits a channel.
    pub picture: Picture,
    /// How opaque each pixel is, where the file says so.
    pub alpha: Option<Vec<u8>>,
    /// The ICC profile that says what the colours mean.
    pub profile: Option<Vec<u8>>,
    /// Whether the file has more than 8 bits a channel, of which the upper ones are kept.
    pub was_deeper: bool,
}

/// The bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Whether there was a colour profile that the file does not have.
    pub lost_profile: bool,
}

impl Stored {
    /// The bytes of an image file, of any length that an image may have.
    pub fn load(path: &Path) -> Result<Vec<u8>, Error> {
        decode::load(path).map_err(named(path))
    }

    /// Decodes the bytes of a file; its name is for messages.
    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        decode::guarded(bytes, |bytes| decode(bytes, BOUNDS)).map_err(named(path))
    }

    /// Height and width of the image in a file, upright, from its header.
    pub fn size(path: &Path) -> Result<(usize, usize), Error> {
        decode::size(path).map_err(named(path))
    }

    /// The file of this image, in the format it had.
    pub fn encode(&self, quality: u8) -> Result<Encoded, Error> {
        let mut bytes = Vec::new();
        let kept = match self.format {
            Format::Jpeg => self.write(JpegEncoder::new_with_quality(&mut bytes, quality)),
            Format::Png => self.write(PngEncoder::new(&mut bytes)),
            Format::WebP => self.write(WebPEncoder::new_lossless(&mut bytes)),
            Format::Bmp => self.write(BmpEncoder::new(&mut bytes)),
        };
        let kept = kept.map_err(|error| Error::BadImage {
            name: format!("{} × {} pixels", self.picture.width, self.picture.height),
            reason: format!("cannot be written: {}", reason(&error, BOUNDS)),
        })?;
        Ok(Encoded { bytes, lost_profile: self.profile.is_some() && !kept })
    }

    /// Returns whether a colour profile was written.
    fn write(&self, mut encoder: impl ImageEncoder) -> Result<bool, image::ImageError> {
        let Picture { height, width, channels, pixels } = &self.picture;
        // A profile of other colours (CMYK, which was converted, or grey for colour) would falsify these.
        let space: &[u8] = if *channels == 1 { b"GRAY" } else { b"RGB " };
        let profile = self.profile.as_ref().filter(|profile| profile.get(16..20) == Some(space));
        let kept = profile.is_some_and(|profile| encoder.set_icc_profile(profile.clone()).is_ok());
        let (width, height) = (*width as u32, *height as u32);
        match (&self.alpha, channels) {
            (None, 1) => encoder.write_image(pixels, width, height, ExtendedColorType::L8)?,
            (None, _) => encoder.write_image(pixels, width, height, ExtendedColorType::Rgb8)?,
            (Some(alpha), channels) => {
                let kind = if *channels == 1 { ExtendedColorType::La8 } else { ExtendedColorType::Rgba8 };
                let pixels = pixels.chunks_exact(*channels).zip(alpha);
                let mixed: Vec<u8> = pixels.flat_map(|(pixel, alpha)| [pixel, &[*alpha]].concat()).collect();
                encoder.write_image(&mixed, width, height, kind)?;
            }
        }
        Ok(kept)
    }
}

fn named(path: &Path) -> impl Fn(String) -> Error {
    move |reason| Error::BadImage { name: path.display().to_string(), reason }
}

pub(super) fn decode(bytes: &[u8], bounds: Bounds) -> Result<Stored, String> {
    let mut decoder = checked(bytes, bounds)?;
    // A profile that cannot be read is none.
    let profile = decoder.icc_profile().ok().flatten().filter(|profile| !profile.is_empty());
    let image = upright(decoder, bounds)?;
    let format = match image::guess_format(bytes) {
        Ok(ImageFormat::Jpeg) => Format::Jpeg,
        Ok(ImageFormat::Png) => Format::Png,
        Ok(ImageFormat::WebP) => Format::WebP,
        _ => Format::Bmp,
    };
    let (height, width) = (image.height() as usize, image.width() as usize);
    let colours = image.color();
    let was_deeper = u16::from(colours.bytes_per_pixel()) > u16::from(colours.channel_count());
    let (channels, pixels, alpha) = match (colours.has_color(), colours.has_alpha()) {
        (false, false) => (1, image.into_luma8().into_raw(), None),
        (true, false) => (3, image.into_rgb8().into_raw(), None),
        (false, true) => split(1, &image.into_luma_alpha8().into_raw()),
        (true, true) => split(3, &image.into_rgba8().into_raw()),
    };
    let picture = Picture { height, width, channels, pixels };
    Ok(Stored { format, picture, alpha, profile, was_deeper })
}

/// Colours and alpha apart.
fn split(channels: usize, mixed: &[u8]) -> (usize, Vec<u8>, Option<Vec<u8>>) {
    let pixels = mixed.chunks_exact(channels + 1);
    let alpha = pixels.clone().map(|pixel| pixel[channels]).collect();
    (channels, pixels.flat_map(|pixel| &pixel[..channels]).copied().collect(), Some(alpha))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(format: Format, channels: usize, alpha: bool) -> Stored {
        let pixels = (0..5 * 7 * channels).map(|at| (at * 29 % 256) as u8).collect();
        let picture = Picture { height: 5, width: 7, channels, pixels };
        let alpha = alpha.then(|| (0..35).map(|at| 7 * at).collect());
        Stored { format, picture, alpha, profile: None, was_deeper: false }
    }

    fn again(stored: &Stored) -> Stored {
        decode(&stored.encode(90).unwrap().bytes, BOUNDS).unwrap()
    }

    #[test]
    fn what_is_written_without_loss_is_read_as_it_was() {
        for format in [Format::Png, Format::WebP] {
            for (channels, alpha) in [(1, false), (1, true), (3, false), (3, true)] {
                let before = stored(format, channels, alpha);
                let after = again(&before);
                // WebP has no grey.
                let before = if format == Format::WebP {
                    let picture = before.picture.clone().with_channels(3);
                    Stored { picture, ..before }
                } else {
                    before
                };
                assert_eq!(after, before, "{format:?} {channels} {alpha}");
            }
        }
        let colour = stored(Format::Bmp, 3, false);
        assert_eq!(again(&colour), colour);
    }

    #[test]
    fn a_jpeg_stays_what_it_is() {
        for channels in [1, 3] {
            let after = again(&stored(Format::Jpeg, channels, false));
            assert_eq!((after.format, after.picture.channels), (Format::Jpeg, channels));
        }
    }

    #[test]
    fn a_profile_is_kept_where_it_fits_the_colours_and_the_format() {
        let profile = |space: &[u8]| {
            let mut bytes = vec![0; 128];
            bytes[16..20].copy_from_slice(space);
            bytes
        };
        for (format, space, kept) in [
            (Format::Jpeg, b"RGB ", true),
            (Format::Png, b"RGB ", true),
            (Format::WebP, b"RGB ", true),
            (Format::Bmp, b"RGB ", false),
            (Format::Jpeg, b"CMYK", false),
            (Format::Png, b"GRAY", false),
        ] {
            let before = Stored { profile: Some(profile(space)), ..stored(format, 3, false) };
            let encoded = before.encode(90).unwrap();
            assert_eq!(encoded.lost_profile, !kept, "{format:?}");
            let after = decode(&encoded.bytes, BOUNDS).unwrap();
            assert_eq!(after.profile, before.profile.filter(|_| kept), "{format:?}");
        }
    }
}
