//! What a policy does to one image, as a chain that can be read.

use super::Policy;
use super::sample::Sample;
use crate::chain::{Chain, Step};
use crate::error::{Error, check_value};

impl Policy {
    /// Draws what evaluation does to one image: the chain of the sample that [`Self::draw`] and [`Self::sample`] give for
    /// this seed, epoch and index at the evaluation temperature, without the sample. (Where a batch shares a sample, the
    /// index is that of its first image.) The calling thread alone works on it.
    pub fn chain(&self, seed: u64, epoch: u32, index: u32) -> Chain {
        let noise = self.draw(seed, epoch, &[index]);
        let sample =
            self.sample(noise, self.config.evaluation_temperature).expect("the temperature was checked");
        self.chain_of(&sample, 0).expect("the sample is of this policy")
    }

    /// The chain of one image of a sample of this policy: the transformations of the layers up to its depth, without
    /// those that are not applied.
    pub fn chain_of(&self, sample: &Sample, image: usize) -> Result<Chain, Error> {
        self.check_sample(sample, sample.count())?;
        if sample.count() != 1 {
            check_value("the number of the image", image as f64, 0.0, sample.count() as f64 - 1.0)?;
        }
        let sample = sample.image(image);
        let layers = (0..sample.depth).filter(|&layer| self.is_applied(sample, layer));
        let steps = layers.map(|layer| {
            let chosen = usize::from(sample.chosen[layer]);
            let transformation = self.config.transformations[chosen].transformation;
            let m = self.magnitude(sample, layer, chosen);
            Step { transformation, magnitude: transformation.magnitude().map(|_| m) }
        });
        Ok(Chain::trusted(steps.collect()))
    }
}
