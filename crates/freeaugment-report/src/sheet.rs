//! Rows of pictures in a page: originals and what becomes of them.

use std::fmt::Write as _;

use freeaugment::{Chain, ImagesMut, ImagesRef, Policy, Step};
use freeaugment_data::Picture;
use freeaugment_search::{Candidate, Error, Example, Gallery, Learned, Specimen};
use image::{RgbImage, imageops};

use crate::escape::{escape, shortened};
use crate::picture::{fitted, inline, is_small, rgb, source};

/// Letters of a class under a picture.
const CLASS: usize = 40;
/// Pictures of a strip, their side and what is between them.
const STRIP: usize = 9;
const SIDE: u32 = 64;
const GAP: u32 = 3;

/// How pictures are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// By the policy alone.
    Alone,
    /// As the network sees them: cut, mirrored, augmented, with their hole.
    Seen,
}

/// A row for each training image: the original and samples, with what was done.
pub(crate) fn rows(
    gallery: &Gallery,
    candidate: &Candidate,
    seed: u64,
    manner: Manner,
    images: usize,
    samples: u32,
) -> Result<String, Error> {
    let mut html = String::new();
    for specimen in gallery.specimens.iter().take(images) {
        let examples = (0..samples).map(|sample| example(gallery, candidate, specimen, seed, sample, manner));
        let examples = examples.collect::<Result<Vec<_>, _>>()?;
        html.push_str(&row(&shortened(&specimen.class, CLASS), &specimen.picture, &examples));
    }
    Ok(html)
}

fn example(
    gallery: &Gallery,
    candidate: &Candidate,
    specimen: &Specimen,
    seed: u64,
    sample: u32,
    manner: Manner,
) -> Result<Example, Error> {
    match manner {
        Manner::Alone => candidate.example(&specimen.picture, seed, sample, specimen.index),
        Manner::Seen => {
            candidate.example_as_seen(&gallery.pipeline, &specimen.picture, seed, sample, specimen.index)
        }
    }
}

/// A picture and what became of it.
pub(crate) fn row(name: &str, original: &Picture, examples: &[Example]) -> String {
    let mut html = format!("<div class=\"row{}\">", if is_small(original) { " pixels" } else { "" });
    figure(&mut html, " class=\"first\"", original, name, &format!("original: {name}"));
    for example in examples {
        let words = match &example.steps[..] {
            [] => "no transformation".to_owned(),
            // Names have no hyphens.
            steps => steps.join(", ").replace('-', "−"),
        };
        figure(&mut html, "", &example.picture, &words, &format!("{name}: {words}"));
    }
    html + "</div>\n"
}

fn figure(html: &mut String, class: &str, picture: &Picture, caption: &str, heard: &str) {
    let (source, caption, heard) = (source(picture), escape(caption), escape(heard));
    let _ = write!(
        html,
        "<figure{class}><img src=\"{source}\" alt=\"{heard}\" width=\"{}\" height=\"{}\"><figcaption>{caption}</figcaption></figure>",
        picture.width, picture.height
    );
}

/// For each transformation in use, one picture from the lower to the upper learned magnitude.
pub(crate) fn strips(policy: &Policy, learned: &Learned, picture: &Picture) -> Result<String, Error> {
    let mut html = String::new();
    for (words, strip) in strip_of_each(policy, learned, picture)? {
        let (words, source) = (escape(&words), inline(&strip, false));
        let _ = write!(
            html,
            "<figure><img class=\"strip\" src=\"{source}\" alt=\"{words}, from the lowest to the highest\" width=\"{}\" \
             height=\"{}\"><figcaption>{words}</figcaption></figure>",
            strip.width(),
            strip.height()
        );
    }
    Ok(format!("<div class=\"figures\">{html}</div>\n"))
}

/// The strips, and what they show.
pub(crate) fn strip_of_each(
    policy: &Policy,
    learned: &Learned,
    picture: &Picture,
) -> Result<Vec<(String, RgbImage)>, Error> {
    let mut strips = Vec::new();
    for of in &learned.transformations {
        let transformation =
            policy.config().transformations.iter().find(|known| known.transformation.name() == of.name);
        let Some(transformation) = transformation.map(|known| known.transformation) else { continue };
        let magnitudes: Vec<Option<f32>> = match of.range {
            Some(range) => {
                let place = |at: usize| range.0 + (range.1 - range.0) * at as f32 / (STRIP - 1) as f32;
                (0..STRIP).map(|at| Some(place(at))).collect()
            }
            None => vec![None],
        };
        let mut strip =
            RgbImage::from_pixel(magnitudes.len() as u32 * (SIDE + GAP) - GAP, SIDE, image::Rgb([128; 3]));
        for (at, magnitude) in magnitudes.iter().enumerate() {
            let mut out = picture.clone();
            let step = Step { transformation, magnitude: *magnitude };
            // Bounds are within the limits of the transformation, up to rounding; what is beyond is left out.
            let Ok(chain) = Chain::new(vec![step]) else { continue };
            let image = ImagesRef::interleaved(&picture.pixels, picture.shape())?;
            chain.apply_into(image, ImagesMut::interleaved(&mut out.pixels, picture.shape())?)?;
            imageops::replace(&mut strip, &fitted(&rgb(&out), SIDE), (at as u32 * (SIDE + GAP)).into(), 0);
        }
        let range =
            of.range.map(|range| format!(" {range} {}", of.unit.unwrap_or_default())).unwrap_or_default();
        strips.push((format!("{}{range}", of.name), strip));
    }
    Ok(strips)
}
