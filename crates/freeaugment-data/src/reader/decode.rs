//! From the bytes of an image file to 8-bit red, green and blue.

use std::fs;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

use crate::picture::Picture;

/// A small file may claim to be a huge image: these bound what is believed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Of the file, and of what it unpacks to.
    bytes: u64,
    /// Pixels of the longer side.
    side: u32,
}

pub(super) const BOUNDS: Bounds = Bounds { bytes: 1 << 30, side: 30_000 };

/// Decodes a file; the error says what is wrong with it, without its name.
pub(super) fn read(path: &Path) -> Result<Picture, String> {
    guarded(&load(path)?, |bytes| decode(bytes, BOUNDS))
}

/// Height and width of the image in a file, from its header.
pub(super) fn size(path: &Path) -> Result<(usize, usize), String> {
    guarded(&load(path)?, size_of_image)
}

fn size_of_image(bytes: &[u8]) -> Result<(usize, usize), String> {
    let mut decoder = decoder(bytes, BOUNDS)?;
    let (width, height) = decoder.dimensions();
    let turned = matches!(
        decoder.orientation(),
        Ok(Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH)
    );
    let (height, width) = (height as usize, width as usize);
    Ok(if turned { (width, height) } else { (height, width) })
}

/// How the image in a file is stored: its format and its kind of pixels.
pub(super) fn mode(path: &Path) -> Result<String, String> {
    guarded(&load(path)?, mode_of_image)
}

fn mode_of_image(bytes: &[u8]) -> Result<String, String> {
    let format = match image::guess_format(bytes) {
        Ok(ImageFormat::Jpeg) => "JPEG",
        Ok(ImageFormat::Png) => "PNG",
        Ok(ImageFormat::WebP) => "WebP",
        _ => "BMP",
    };
    let kind = decoder(bytes, BOUNDS)?.original_color_type();
    let bits = kind.bits_per_pixel() / u16::from(kind.channel_count()).max(1);
    let name = match kind {
        ExtendedColorType::Cmyk8 | ExtendedColorType::Cmyk16 => "CMYK",
        _ if format == "PNG" && is_palette(bytes) => "palette",
        _ => match kind.channel_count() {
            1 => "grey",
            2 => "grey with alpha",
            3 => "RGB",
            _ => "RGB with alpha",
        },
    };
    Ok(format!("{format}, {bits}-bit {name}"))
}

/// Whether a PNG's header says that its pixels are indices into a palette.
fn is_palette(bytes: &[u8]) -> bool {
    const COLOUR_TYPE: usize = 25;
    bytes.get(COLOUR_TYPE) == Some(&3)
}

pub(super) fn load(path: &Path) -> Result<Vec<u8>, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > BOUNDS.bytes {
        return Err(format!("the file has {length} bytes, at most {} are allowed", BOUNDS.bytes));
    }
    fs::read(path).map_err(|error| error.to_string())
}

/// One broken file among a million must not end a run: should a decoder have a bug that panics, the image is
/// unreadable and the rest goes on.
pub(super) fn guarded<T>(bytes: &[u8], of: impl Fn(&[u8]) -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(|| of(bytes)))
        .unwrap_or_else(|_| Err("the decoder failed on this file".to_owned()))
}

fn decode(bytes: &[u8], bounds: Bounds) -> Result<Picture, String> {
    let image = upright(checked(bytes, bounds)?, bounds)?.into_rgb8();
    let (width, height) = (image.width() as usize, image.height() as usize);
    Ok(Picture { height, width, channels: 3, pixels: image.into_raw() })
}

/// The decoder of an image that is whole and of a size that is believed.
pub(super) fn checked(bytes: &[u8], bounds: Bounds) -> Result<impl ImageDecoder, String> {
    if bytes.starts_with(&[0xff, 0xd8]) && is_cut_short(bytes) {
        return Err("the JPEG data is cut short: there is no end marker".to_owned());
    }
    let decoder = decoder(bytes, bounds)?;
    let (width, height) = decoder.dimensions();
    let decoded = u64::from(width) * u64::from(height) * 3;
    if decoder.total_bytes().max(decoded) > bounds.bytes {
        return Err(format!(
            "{width} × {height} pixels do not fit the {} bytes allowed for one image",
            bounds.bytes
        ));
    }
    Ok(decoder)
}

/// The image as it is meant to be seen.
pub(super) fn upright(mut decoder: impl ImageDecoder, bounds: Bounds) -> Result<DynamicImage, String> {
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|error| reason(&error, bounds))?;
    image.apply_orientation(orientation);
    let (width, height) = (image.width(), image.height());
    if width == 0 || height == 0 {
        return Err(format!("the image is empty: {width} × {height} pixels"));
    }
    Ok(image)
}

/// The decoder for what the bytes are, whatever the file's name says.
fn decoder(bytes: &[u8], bounds: Bounds) -> Result<impl ImageDecoder, String> {
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    if !matches!(
        reader.format(),
        Some(ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP | ImageFormat::Bmp)
    ) {
        return Err("not a JPEG, PNG, WebP or BMP image".to_owned());
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(bounds.side);
    limits.max_image_height = Some(bounds.side);
    limits.max_alloc = Some(bounds.bytes);
    reader.limits(limits);
    reader.into_decoder().map_err(|error| reason(&error, bounds))
}

/// The decoder fills what is missing with grey; a training image that is half grey should be reported instead.
/// Compressed data never holds these markers, so the last scan must be followed by an end.
fn is_cut_short(bytes: &[u8]) -> bool {
    let last = |marker: u8| bytes.windows(2).rposition(|pair| pair == [0xff, marker]);
    match (last(0xda), last(0xd9)) {
        (Some(scan), Some(end)) => end < scan,
        (_, end) => end.is_none(),
    }
}

/// An error of the decoder or encoder, in one line and in our style.
pub(super) fn reason(error: &ImageError, bounds: Bounds) -> String {
    let text = match error {
        ImageError::Limits(_) => {
            return format!(
                "the image is too large: at most {} pixels a side and {} bytes are allowed",
                bounds.side, bounds.bytes
            );
        }
        error => error.to_string(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = text.trim_end_matches('.').chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Reads bytes as an image, with bounds that keep a run short; header and contents agree.
pub(super) fn fuzz(bytes: &[u8]) {
    let bounds = Bounds { bytes: 1 << 22, side: 2048 };
    let picture = decode(bytes, bounds);
    let (size, mode) = (size_of_image(bytes), mode_of_image(bytes));
    // Only what is read to be written again keeps its kind of pixels; what is readable does not depend on that.
    let stored = super::stored::decode(bytes, bounds);
    assert_eq!(stored.is_ok(), picture.is_ok());
    if let Ok(picture) = picture {
        assert_eq!(picture.pixels.len(), picture.height * picture.width * picture.channels);
        assert_eq!(size, Ok((picture.height, picture.width)));
        assert!(mode.is_ok(), "what can be decoded has a kind of pixels");
    }
}
