//! Every kind of image file turns into 8-bit red, green and blue.

use std::fs;
use std::path::Path;

use freeaugment_data::{Picture, open};
use image::codecs::jpeg::JpegEncoder;
use image::{ImageBuffer, Luma, LumaA, Rgb, RgbImage, Rgba};

use crate::common::{fixture, folder, opened, paint, write};

/// Reads one file as an image of a data set.
fn read(path: &Path, as_name: &str) -> Result<Picture, String> {
    let root = folder();
    write(root.path().join("a").join(as_name), fs::read(path).expect("the file is there"));
    paint(root.path().join("b/1.png"), [0, 0, 0]);
    opened(root.path()).read(0).map_err(|error| error.to_string())
}

fn pixel(picture: &Picture, x: usize, y: usize) -> [u8; 3] {
    [0, 1, 2].map(|channel| picture.pixels[(y * picture.width + x) * 3 + channel])
}

fn near(found: [u8; 3], expected: [u8; 3]) -> bool {
    found.iter().zip(expected).all(|(&found, expected)| found.abs_diff(expected) <= 2)
}

/// The colour of a single pixel, saved by the `image` crate.
fn saved(save: impl Fn(&Path)) -> [u8; 3] {
    let root = folder();
    let path = root.path().join("1.png");
    save(&path);
    pixel(&read(&path, "1.png").expect("the image is sound"), 0, 0)
}

#[test]
fn grey_alpha_and_sixteen_bits_turn_into_colour() {
    let grey = saved(|path| ImageBuffer::from_pixel(1, 1, Luma([77_u8])).save(path).expect("saved"));
    assert_eq!(grey, [77; 3]);
    let grey_alpha =
        saved(|path| ImageBuffer::from_pixel(1, 1, LumaA([77_u8, 0])).save(path).expect("saved"));
    assert_eq!(grey_alpha, [77; 3]);
    // Alpha is dropped, not blended: the colour below full transparency is what it was.
    let alpha = saved(|path| ImageBuffer::from_pixel(1, 1, Rgba([1_u8, 2, 3, 0])).save(path).expect("saved"));
    assert_eq!(alpha, [1, 2, 3]);
    let deep = saved(|path| {
        ImageBuffer::from_pixel(1, 1, Rgb([257_u16 * 5, 65535, 0])).save(path).expect("saved");
    });
    assert_eq!(deep, [5, 255, 0]);
    let deep_grey =
        saved(|path| ImageBuffer::from_pixel(1, 1, Luma([257_u16 * 99])).save(path).expect("saved"));
    assert_eq!(deep_grey, [99; 3]);
}

#[test]
fn a_palette_is_looked_up() {
    let picture = read(&fixture("palette.png"), "1.png").expect("the image is sound");
    let expected =
        [[255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 8, 7], [9, 8, 7], [0, 0, 255], [0, 255, 0], [255, 0, 0]];
    assert_eq!((picture.height, picture.width), (2, 4));
    assert_eq!(picture.pixels, expected.concat());
}

#[test]
fn cyan_magenta_yellow_and_black_are_mixed_as_pillow_does() {
    for name in ["cmyk.jpg", "cmyk_without_marker.jpg"] {
        let picture = read(&fixture(name), "1.jpg").expect("the image is sound");
        let patches = [(4, 4), (12, 4), (4, 12), (12, 12)].map(|(x, y)| pixel(&picture, x, y));
        let expected = [[55, 255, 255], [195, 42, 195], [255, 255, 55], [119, 103, 87]];
        assert!(
            patches.iter().zip(expected).all(|(&found, expected)| near(found, expected)),
            "{name}: {patches:?}"
        );
    }
}

#[test]
fn a_picture_is_turned_as_its_camera_says() {
    // Stored 8 wide and 16 high with the bright half on top; turned clockwise, that half is on the right.
    let picture = read(&fixture("turned.jpg"), "1.jpg").expect("the image is sound");
    assert_eq!((picture.height, picture.width), (8, 16));
    assert!(near(pixel(&picture, 2, 4), [20; 3]) && near(pixel(&picture, 13, 4), [220; 3]));
    let root = folder();
    write(root.path().join("a/1.jpg"), fs::read(fixture("turned.jpg")).expect("the fixture is there"));
    write(root.path().join("b/1.jpg"), fs::read(fixture("turned.jpg")).expect("the fixture is there"));
    assert_eq!(opened(root.path()).size, Some((8, 16)));
}

#[test]
fn contents_matter_and_not_the_extension() {
    let root = folder();
    paint(root.path().join("1.bmp"), [9, 8, 7]);
    assert_eq!(pixel(&read(&root.path().join("1.bmp"), "1.JPG").expect("sound"), 3, 2), [9, 8, 7]);
}

#[test]
fn broken_images_are_unreadable_and_not_half_grey() {
    let root = folder();
    let noise = RgbImage::from_fn(64, 64, |x, y| Rgb([(x * y) as u8, (x * 7) as u8, (y * 13) as u8]));
    for extension in ["png", "jpg", "webp", "bmp"] {
        let path = root.path().join(format!("whole.{extension}"));
        noise.save(&path).expect("saved");
        let bytes = fs::read(&path).expect("written before");
        for part in [0, 1, bytes.len() / 10, bytes.len() / 2, bytes.len() - 40] {
            let cut = root.path().join(format!("cut.{extension}"));
            write(&cut, &bytes[..part]);
            let reason = read(&cut, &format!("1.{extension}")).expect_err("the image is cut short");
            assert!(reason.contains(&format!("a/1.{extension}: ")) && !reason.contains('\n'), "{reason}");
        }
    }
    write(root.path().join("text.png"), "this is no image");
    let reason = read(&root.path().join("text.png"), "1.png").expect_err("this is no image");
    assert!(reason.ends_with("a/1.png: not a JPEG, PNG, WebP or BMP image"), "{reason}");
}

#[test]
fn an_image_that_claims_to_be_huge_is_refused() {
    // A sound header of 60,000 × 60,000 pixels, and almost nothing else.
    let mut jpeg = Vec::new();
    JpegEncoder::new(&mut jpeg).encode_image(&RgbImage::new(8, 8)).expect("encoded");
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("a frame header");
    for (size, limit) in [(60_000_u16, "30000 pixels a side"), (25_000, "bytes allowed for one image")] {
        jpeg[frame + 5..frame + 7].copy_from_slice(&size.to_be_bytes());
        jpeg[frame + 7..frame + 9].copy_from_slice(&size.to_be_bytes());
        let root = folder();
        write(root.path().join("1.jpg"), &jpeg);
        let reason = read(&root.path().join("1.jpg"), "1.jpg").expect_err("too large");
        assert!(reason.contains(limit), "{reason}");
    }
}

#[test]
fn images_beyond_the_last_are_errors() {
    let root = folder();
    paint(root.path().join("a/1.png"), [1, 2, 3]);
    paint(root.path().join("b/1.png"), [1, 2, 3]);
    let dataset = open(root.path()).expect("sound");
    assert_eq!(dataset.read(2).expect_err("there are two").to_string(), "image 2: there are 2 images");
}
