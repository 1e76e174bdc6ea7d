//! What a candidate does to one picture, to be looked at: the picture, and what was done in words.

use freeaugment::{ImagesMut, ImagesRef, Step};
use freeaugment_base::random::Stream;
use freeaugment_baseline::{Action, Moment, Operation};
use freeaugment_data::{Picture, Pipeline};

use super::Candidate;
use super::candidate::{ACTIONS, Augmenter};
use crate::error::Error;

/// An augmented picture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Example {
    /// What it looks like.
    pub picture: Picture,
    /// What was done, step by step, such as `Rotate 21°`.
    pub steps: Vec<String>,
}

impl Candidate {
    /// What the policy alone makes of a picture, as in a training with this seed. Bytes stay bytes, so that a picture may
    /// differ by a level from what a classifier is given.
    pub fn example(&self, picture: &Picture, seed: u64, epoch: u32, index: u32) -> Result<Example, Error> {
        let mut out = picture.clone();
        let steps = match &self.augmenter {
            Augmenter::Nothing => Vec::new(),
            Augmenter::Policy(policy) => {
                let chain = policy.chain(seed, epoch, index);
                let (shape, image) =
                    (picture.shape(), ImagesRef::interleaved(&picture.pixels, picture.shape())?);
                chain.apply_into(image, ImagesMut::interleaved(&mut out.pixels, shape)?)?;
                chain.steps().iter().map(|step| step_in_words(*step)).collect()
            }
            Augmenter::Actions(augmentation) => {
                let mut stream = Stream::new(seed, ACTIONS, epoch, index);
                let moment = Moment { height: picture.height, width: picture.width, progress: 0.0 };
                let actions = augmentation.actions(&mut stream, moment);
                for action in &actions {
                    action.apply(&mut out);
                }
                let done = actions.iter().filter(|action| action.operation != Operation::Identity);
                done.map(action_in_words).collect()
            }
        };
        Ok(Example { picture: out, steps })
    }

    /// A training picture as the network sees it: cut, mirrored, augmented, with its hole; before it is normalised.
    pub fn example_as_seen(
        &self,
        usual: &Pipeline,
        picture: &Picture,
        seed: u64,
        epoch: u32,
        index: u32,
    ) -> Result<Example, Error> {
        let channels = usual.channels();
        let plain =
            Pipeline { mean: vec![0.0; channels], deviation: vec![1.0; channels], ..self.pipeline(usual) };
        let view = plain.draw(seed, epoch, index, picture);
        let size = plain.size;
        let as_picture = |planes: Vec<f32>| -> Result<Picture, Error> {
            let pixels = freeaugment::Images::new(planes, plain.shape(1))?.to_u8();
            Ok(Picture { height: size, width: size, channels, pixels })
        };
        let clamped = |planes: Vec<f32>| planes.into_iter().map(|value| value.clamp(0.0, 1.0)).collect();
        let before = as_picture(clamped(plain.before(picture, &view)))?;
        let Example { picture: augmented, steps } = self.example(&before, seed, epoch, index)?;
        let picture = as_picture(clamped(plain.after(&augmented.to_planes(), &[view])))?;
        Ok(Example { picture, steps })
    }
}

/// A step with its magnitude, in its unit.
fn step_in_words(step: Step) -> String {
    let name = step.transformation.name();
    let Some(magnitude) = step.magnitude else { return name.to_owned() };
    match step.transformation.magnitude().map(|of| of.unit) {
        Some("degrees") => format!("{name} {magnitude:.0}°"),
        Some("added") => format!("{name} {magnitude:+.2}"),
        Some("bits") => format!("{name} {magnitude:.1} bits"),
        _ => format!("{name} {magnitude:.2}"),
    }
}

fn action_in_words(action: &Action) -> String {
    let (name, value) = (action.operation.name(), action.value);
    match action.operation {
        Operation::AutoContrast
        | Operation::Equalize
        | Operation::Invert
        | Operation::Grayscale
        | Operation::Flip => name.to_owned(),
        Operation::Rotate => format!("{name} {value:.0}°"),
        Operation::TranslateX | Operation::TranslateY | Operation::Cutout => format!("{name} {value:.0} px"),
        Operation::Posterize => format!("{name} {value:.0} bits"),
        Operation::Solarize | Operation::SolarizeAdd => format!("{name} {value:.0}"),
        _ => format!("{name} {value:.2}"),
    }
}
