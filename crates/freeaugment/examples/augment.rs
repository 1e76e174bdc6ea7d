//! Augments one picture by an untrained policy, and shows every transformation at work.
//!
//! `cargo run --release -p freeaugment --example augment [PICTURE.png]` writes `policy.json` (the policy),
//! `augmented.png` (64 samples of it) and `transformations.png` (each transformation from its lowest magnitude to its
//! highest) into the folder it is called in, and prints the policy. Without a picture it draws one.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::f32::consts::TAU;
use std::process::ExitCode;

use freeaugment::{Images, PolicyConfig, Shape, Transformation};

const SIZE: usize = 64;
const GAP: usize = 4;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("augment: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let shape = Shape { count: 1, channels: 3, height: SIZE, width: SIZE };
    let picture = match std::env::args().nth(1) {
        Some(path) => {
            let size = SIZE as u32;
            let picture = image::open(&path).map_err(|error| format!("{path}: {error}"))?;
            picture.resize_to_fill(size, size, image::imageops::FilterType::Triangle).to_rgb8().into_raw()
        }
        None => draw(),
    };

    let policy = PolicyConfig::default().init()?;
    let copies = Images::from_u8(&picture.repeat(64), Shape { count: 64, ..shape })?;
    let indices: Vec<u32> = (0..64).collect();
    let sample = policy.sample(policy.draw(0, 0, &indices), policy.config().evaluation_temperature)?;
    write_sheet("augmented.png", &policy.apply(&copies, &sample)?, 8)?;

    let steps = 9;
    let copies = Images::from_u8(&picture.repeat(steps), Shape { count: steps, ..shape })?;
    let mut rows = Vec::new();
    for transformation in Transformation::all() {
        let magnitudes: Vec<f32> = transformation.magnitude().map_or(Vec::new(), |magnitude| {
            let (low, high) = magnitude.range;
            (0..steps).map(|step| low + (high - low) * step as f32 / (steps - 1) as f32).collect()
        });
        rows.extend(transformation.apply(&copies, &magnitudes)?.into_vec());
    }
    let rows = Images::new(rows, Shape { count: steps * Transformation::all().len(), ..shape })?;
    write_sheet("transformations.png", &rows, steps)?;

    policy.save("policy.json")?;
    println!("{}\n\nwrote policy.json, augmented.png and transformations.png", policy.describe()?);
    Ok(())
}

/// A bright arrow on a background that fades from blue to orange.
fn draw() -> Vec<u8> {
    let mut pixels = Vec::new();
    for at in 0..SIZE * SIZE {
        let (y, x) = ((at / SIZE) as f32 / SIZE as f32, (at % SIZE) as f32 / SIZE as f32);
        let is_shaft = (0.44..0.56).contains(&x) && (0.4..0.85).contains(&y);
        let is_head = (0.15..0.45).contains(&y) && (x - 0.5).abs() < (y - 0.15) * 0.9;
        let stripes = 0.08 * (y * 6.0 * TAU).sin();
        let background = [0.2 + 0.6 * x + stripes, 0.3 + 0.2 * y + stripes, 0.75 - 0.6 * x + stripes];
        let pixel = if is_shaft || is_head { [0.95, 0.9, 0.35] } else { background };
        pixels.extend(pixel.map(|value| (value * 255.0) as u8));
    }
    pixels
}

/// Puts a batch of pictures side by side.
fn write_sheet(path: &str, images: &Images, columns: usize) -> Result<(), image::ImageError> {
    let shape = images.shape();
    let rows = shape.count.div_ceil(columns);
    let cell = |index: usize| index * (SIZE + GAP) + GAP;
    let mut sheet =
        image::RgbImage::from_pixel(cell(columns) as u32, cell(rows) as u32, image::Rgb([255; 3]));
    for (b, pixels) in images.to_u8().chunks_exact(shape.image()).enumerate() {
        let (left, top) = (cell(b % columns), cell(b / columns));
        for (at, pixel) in pixels.as_chunks::<3>().0.iter().enumerate() {
            sheet.put_pixel((left + at % SIZE) as u32, (top + at / SIZE) as u32, image::Rgb(*pixel));
        }
    }
    sheet.save(path)
}
