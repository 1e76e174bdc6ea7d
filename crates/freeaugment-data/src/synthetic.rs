//! The built-in data set: drawn shapes and textures whose right policy is known.
//!
//! Training images show their class in canonical pose and light. Validation and test images are drawn in the same way
//! and have then undergone the *planted* transformations, each with a magnitude drawn from its range, in the order of
//! the list. So the policy that turns the one distribution into the other is known, and a search can be judged by it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use freeaugment::{Images, Shape, Transformation};
use freeaugment_base::random::{Purpose, Stream};

use crate::dataset::{DataKind, Dataset, Source, Splits};
use crate::error::Error;
use crate::picture::Picture;

/// A transformation that validation and test images undergo, and the range of its magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plant {
    /// The transformation.
    pub transformation: Transformation,
    /// Lowest and highest magnitude, in own units; none where it takes none.
    pub range: Option<(f32, f32)>,
}

impl FromStr for Plant {
    type Err = Error;

    /// `Rotate` (in the paper's range) or `Rotate:-20..30`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Setting { key: "plant", reason };
        let (name, range) = text.split_once(':').map_or((text, None), |(name, range)| (name, Some(range)));
        let transformation = Transformation::named(name.trim()).map_err(|error| wrong(error.to_string()))?;
        let Some(magnitude) = transformation.magnitude() else {
            return match range {
                None => Ok(Self { transformation, range: None }),
                Some(_) => Err(wrong(format!("{name} takes no magnitude, so `{text}` can have no range"))),
            };
        };
        let Some(range) = range else {
            return Ok(Self { transformation, range: Some(magnitude.range) });
        };
        let ends = range.split_once("..").and_then(|(low, high)| {
            Some((low.trim().parse::<f32>().ok()?, high.trim().parse::<f32>().ok()?))
        });
        let (low, high) =
            ends.ok_or_else(|| wrong(format!("`{text}` is not of the form `{name}:LOW..HIGH`")))?;
        let limits = magnitude.limits;
        if !(limits.0 <= low && low <= high && high <= limits.1) {
            let reason = format!(
                "the range of {name} is {low}..{high}, but must rise and lie within {}..{}",
                limits.0, limits.1
            );
            return Err(wrong(reason));
        }
        Ok(Self { transformation, range: Some((low, high)) })
    }
}

impl fmt::Display for Plant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.transformation.name())?;
        self.range.map_or(Ok(()), |(low, high)| write!(f, ":{low}..{high}"))
    }
}

/// How to draw the data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// Training images.
    pub train: usize,
    /// Validation images; as many again are for testing.
    pub validation: usize,
    /// What validation and test images undergo, in this order.
    pub plants: Vec<Plant>,
    /// The seed of all drawings.
    pub seed: u64,
}

/// Rows and columns of a drawing.
const SIZE: usize = 32;
/// Samples per pixel and side when edges are drawn.
const FINE: usize = 4;
const DRAWING: Purpose = Purpose::named("synthetic/drawing");
const PLANTING: Purpose = Purpose::named("synthetic/plant");

/// The classes: a name, and whether a point of the square [-1, 1] × [-1, 1] (x right, y down) is ink. Most of them come
/// in pairs that differ in an angle alone, of the upright or of the level lines, so that neither shear is a substitute
/// for a rotation.
type Ink = fn(f32, f32) -> bool;
const CLASSES: [(&str, Ink); 10] = [
    ("square", |x, y| x.abs().max(y.abs()) <= 0.6),
    ("rhomboid", |x, y| y.abs() <= 0.6 && (x + LEAN * y).abs() <= 0.6),
    ("cross", |x, y| x.abs().max(y.abs()) <= 0.8 && x.abs().min(y.abs()) <= 0.2),
    ("skew cross", |x, y| {
        x.abs() <= 0.8 && (y + LEAN * x).abs() <= 0.8 && (y + LEAN * x).abs().min(x.abs()) <= 0.2
    }),
    ("ell", |x, y| x.abs() <= 0.6 && y.abs() <= 0.8 && (x <= -0.2 || y >= 0.4)),
    ("skew ell", |x, y| (x + LEAN * y).abs() <= 0.6 && y.abs() <= 0.8 && (x + LEAN * y <= -0.2 || y >= 0.4)),
    ("checks", |x, y| x.abs().max(y.abs()) <= 0.8 && (stripe(x, 0.4) != stripe(y, 0.4))),
    ("bars", |x, y| x.abs().max(y.abs()) <= 0.8 && stripe(y, 0.32)),
    ("ring", |x, y| (0.25..=0.6).contains(&(x * x + y * y))),
    ("triangle", |x, y| y <= 0.6 && x.abs() <= 0.55 * (y + 0.75)),
];

/// How far a leaning class leans.
const LEAN: f32 = 0.6;

/// Whether a point lies on an odd stripe of this width; a stripe begins at the edge of the drawing.
fn stripe(at: f32, width: f32) -> bool {
    ((at + 0.8) / width) as i32 % 2 == 0
}

impl Synthetic {
    /// The data set, drawn when it is read.
    pub fn dataset(self) -> Dataset {
        let (train, other) = (self.train as u32, self.validation as u32);
        let total = train + 2 * other;
        let title = if self.plants.is_empty() {
            "built-in drawings, nothing planted".to_owned()
        } else {
            let plants: Vec<String> = self.plants.iter().map(Plant::to_string).collect();
            format!("built-in drawings, planted: {}", plants.join(", "))
        };
        Dataset {
            kind: DataKind::Synthetic,
            title,
            classes: CLASSES.iter().map(|(name, _)| (*name).to_owned()).collect(),
            labels: (0..total).map(|index| index % CLASSES.len() as u32).collect(),
            channels: 3,
            size: Some((SIZE, SIZE)),
            splits: Splits {
                train: (0..train).collect(),
                validation: Some((train..train + other).collect()),
                test: Some((train + other..total).collect()),
            },
            notes: Vec::new(),
            source: Arc::new(self),
        }
    }

    /// An image in canonical pose and light, `[channel, height, width]`: a drawing on a sheet whose corners are often cut
    /// off. The black beyond them is there because rotations and translations bring black into an image: if training
    /// images had none, any transformation that brings some would be worth learning for that alone.
    fn draw(&self, index: u32) -> Vec<f32> {
        let ink = CLASSES[index as usize % CLASSES.len()].1;
        let mut stream = Stream::new(self.seed, DRAWING, 0, index);
        let mut next = |low: f32, high: f32| {
            let mut value = [0.0];
            stream.uniform(&mut value);
            low + (high - low) * value[0]
        };
        // Small differences of place and size, so that no two drawings are the same.
        let (scale, x0, y0) = (next(0.72, 0.9), next(-0.08, 0.08), next(-0.08, 0.08));
        // Canonical light: dark ink on a paper of middling lightness, each with a slight tint. Were there all colours, a
        // classifier would learn from the training images alone to ignore light. Paper so light that strong Contrast
        // drives it to white would leave pale ink on white, which is just what Brightness makes: then either could stand
        // in for the other, and no answer would be the right one.
        let lightness = next(0.44, 0.52);
        let contrast = next(0.1, 0.18);
        let ink_tint = [(); 3].map(|()| next(-0.06, 0.06));
        let ground_tint = [(); 3].map(|()| next(-0.06, 0.06));
        // The ground is a slope in some direction with a wave across it.
        let (slope_x, slope_y) = (next(-0.06, 0.06), next(-0.06, 0.06));
        let (wave, wave_x, wave_y, phase) =
            (next(0.0, 0.05), next(-9.0, 9.0), next(-9.0, 9.0), next(0.0, 6.3));
        // Black beyond two lines at random angles, which often miss the image.
        let cuts = [(); 2].map(|()| {
            let angle = next(0.0, 6.3);
            (wave_at(angle + std::f32::consts::FRAC_PI_2), wave_at(angle), next(0.7, 1.3))
        });
        let mut grain = vec![0.0; 3 * SIZE * SIZE];
        stream.normal(&mut grain);

        let step = 2.0 / (SIZE * FINE) as f32;
        let mut data = grain;
        for y in 0..SIZE {
            for x in 0..SIZE {
                let (mut covered, mut inside) = (0_u8, 0_u8);
                for fine in 0..FINE * FINE {
                    let at = |pixel: usize, part: usize| ((pixel * FINE + part) as f32 + 0.5) * step - 1.0;
                    let (fx, fy) = (at(x, fine % FINE), at(y, fine / FINE));
                    covered += u8::from(ink((fx - x0) / scale, (fy - y0) / scale));
                    inside += u8::from(cuts.iter().all(|(nx, ny, distance)| fx * nx + fy * ny <= *distance));
                }
                let share = |count: u8| f32::from(count) / (FINE * FINE) as f32;
                let (alpha, window) = (share(covered), share(inside));
                let (u, v) = (at_centre(x), at_centre(y));
                let ground = slope_x * u + slope_y * v + wave * wave_at(wave_x * u + wave_y * v + phase);
                for channel in 0..3 {
                    let paper = lightness + contrast / 2.0 + ground_tint[channel] + ground;
                    let paint = lightness - contrast + ink_tint[channel];
                    let value = &mut data[(channel * SIZE + y) * SIZE + x];
                    *value = (window * (paper + alpha * (paint - paper) + 0.06 * *value)).clamp(0.0, 1.0);
                }
            }
        }
        data
    }

    fn plant(&self, index: u32, data: Vec<f32>) -> Result<Images, freeaugment::Error> {
        let shape = Shape { count: 1, channels: 3, height: SIZE, width: SIZE };
        let mut images = Images::new(data, shape)?;
        for (at, plant) in self.plants.iter().enumerate() {
            let mut u = [0.0];
            Stream::new(self.seed, PLANTING, at as u32, index).uniform(&mut u);
            let magnitude = plant.range.map(|(low, high)| low + (high - low) * u[0]);
            images = plant.transformation.apply(&images, magnitude.as_slice())?;
        }
        Ok(images)
    }
}

/// Where a pixel's centre lies in [-1, 1].
fn at_centre(pixel: usize) -> f32 {
    (2.0 * pixel as f32 + 1.0) / SIZE as f32 - 1.0
}

/// A sine whose bits do not depend on the system's library: Bhaskara's formula is as good a wave as any.
fn wave_at(angle: f32) -> f32 {
    let turns = angle / std::f32::consts::TAU;
    let half = 2.0 * (turns - turns.floor()); // in half turns, 0..2
    let (sign, t) = if half < 1.0 { (1.0, half) } else { (-1.0, half - 1.0) };
    let product = t * (1.0 - t);
    sign * 16.0 * product / (5.0 - 4.0 * product)
}

impl Source for Synthetic {
    fn read(&self, index: u32) -> Result<Picture, Error> {
        let data = self.draw(index);
        let shape = Shape { count: 1, channels: 3, height: SIZE, width: SIZE };
        let is_training = (index as usize) < self.train;
        let images = if is_training { Images::new(data, shape) } else { self.plant(index, data) };
        let images =
            images.map_err(|error| Error::BadImage { name: self.name(index), reason: error.to_string() })?;
        Ok(Picture { height: SIZE, width: SIZE, channels: 3, pixels: images.to_u8() })
    }

    fn name(&self, index: u32) -> String {
        format!("drawing {index}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synthetic(plants: &[&str]) -> Synthetic {
        let plants = plants.iter().map(|plant| plant.parse().unwrap()).collect();
        Synthetic { train: 40, validation: 20, plants, seed: 1 }
    }

    #[test]
    fn plants_are_read_and_wrong_ones_are_named() {
        let plant: Plant = "Rotate:-20..30".parse().unwrap();
        assert_eq!((plant.transformation.name(), plant.range), ("Rotate", Some((-20.0, 30.0))));
        assert_eq!("Invert".parse::<Plant>().unwrap().range, None);
        for (text, part) in [
            ("Rotat", "did you mean `Rotate`?"),
            ("Rotate:5", "not of the form"),
            ("Rotate:30..-30", "must rise"),
            ("Invert:0..1", "takes no magnitude"),
        ] {
            let message = text.parse::<Plant>().unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn only_validation_and_test_images_are_planted() {
        let (plain, planted) = (synthetic(&[]).dataset(), synthetic(&["Rotate:20..30", "Invert"]).dataset());
        assert_eq!(plain.read(7).unwrap(), planted.read(7).unwrap());
        assert_ne!(plain.read(41).unwrap(), planted.read(41).unwrap());
        assert_eq!(plain.splits.validation.as_ref().unwrap().len(), 20);
        assert_eq!(plain.labels.len(), 80);
    }

    #[test]
    fn every_drawing_has_ink_and_ground_and_is_its_own() {
        let dataset = synthetic(&[]).dataset();
        let mut seen = std::collections::BTreeSet::new();
        for index in 0..40 {
            let picture = dataset.read(index).unwrap();
            let (low, high) = (picture.pixels.iter().min().unwrap(), picture.pixels.iter().max().unwrap());
            assert!(high - low > 50, "drawing {index} has contrast");
            assert!(seen.insert(picture.pixels));
        }
    }

    #[test]
    fn the_wave_is_a_sine() {
        for i in -50_i16..50 {
            let angle = f32::from(i) * 0.3;
            assert!((wave_at(angle) - angle.sin()).abs() < 2e-3);
        }
    }
}
