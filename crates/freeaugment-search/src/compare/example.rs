//! What a candidate does to one picture, to be looked at: the picture, and what was done in words.

use freeaugment_baseline::Moment;
use freeaugment_data::{Picture, Pipeline};

use super::Candidate;
use crate::error::Error;

/// An augmented picture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Example {
    /// What it looks like.
    pub picture: Picture,
    /// What was done, step by step, such as `Rotate 21.3°`.
    pub steps: Vec<String>,
}

impl Candidate {
    /// What the policy alone makes of a picture, as in a training with this seed. Bytes stay bytes, so that a picture may
    /// differ by a level from what a classifier is given.
    pub fn example(&self, picture: &Picture, seed: u64, epoch: u32, index: u32) -> Result<Example, Error> {
        let moment = Moment { height: picture.height, width: picture.width, progress: 0.0 };
        let drawn = self.augmenter().draw(seed, epoch, index, moment);
        Ok(Example { picture: drawn.apply(picture)?, steps: drawn.steps() })
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
