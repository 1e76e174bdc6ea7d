//! What a policy does to one image, as a chain that can be read.

use super::Policy;
use super::config::{Assignment, DepthKind, MagnitudeKind};
use super::sample::{DEPTH, MAGNITUDES, Sample, TYPES};
use crate::chain::{Chain, Step};
use crate::error::{Error, check_value};
use crate::random::Stream;
use crate::sampling::{Bounds, Gaussian, largest, log_softmax, sample_application};
use crate::work::{Work, grown, with_work};

impl Policy {
    /// Draws what evaluation does to one image: the chain of the sample that [`Self::draw`] and [`Self::sample`] give for
    /// this seed, epoch and index at the evaluation temperature, without the sample. (Where a batch shares a sample, the
    /// index is that of its first image.) The calling thread alone works on it.
    pub fn chain(&self, seed: u64, epoch: u32, index: u32) -> Chain {
        let stream = |purpose| Stream::new(seed, purpose, epoch, index);
        with_work(|work| {
            let depth = self.draw_depth(stream(DEPTH), work);
            if depth == 0 {
                return Chain::default();
            }
            self.draw_types(stream(TYPES), depth, work);
            let steps = work.chosen.iter().take(depth).enumerate().filter_map(|(layer, &chosen)| {
                let at = usize::from(chosen) * self.config.layers + layer;
                self.draw_application(stream(DEPTH), at).then(|| {
                    let ranged = self.config.transformations[usize::from(chosen)];
                    let m = ranged
                        .transformation
                        .magnitude()
                        .map(|_| ranged.to_units(self.draw_magnitude(stream(MAGNITUDES), at)));
                    Step { transformation: ranged.transformation, magnitude: m }
                })
            });
            Chain::trusted(steps.collect())
        })
    }

    fn draw_depth(&self, mut stream: Stream, work: &mut Work) -> usize {
        match self.config.depth {
            DepthKind::Fixed { depth } => depth,
            DepthKind::Application => self.config.layers,
            DepthKind::Learned => {
                let logits = self.parameters.depth();
                let (noise, soft) =
                    (grown(&mut work.noise, logits.len()), grown(&mut work.soft, logits.len()));
                stream.gumbel(noise);
                log_softmax(logits, noise, 1, self.config.evaluation_temperature, soft);
                largest(soft.iter().copied())
            }
        }
    }

    /// Leaves the choices of the first layers, at least, in the working memory.
    fn draw_types(&self, mut stream: Stream, depth: usize, work: &mut Work) {
        let (logits, temperature) = (self.parameters.types(), self.config.evaluation_temperature);
        let noise = grown(&mut work.noise, self.noise_layout().types);
        let soft = grown(&mut work.soft, logits.len());
        stream.gumbel(noise);
        work.chosen.resize(self.config.layers, 0);
        match self.sinkhorn(temperature) {
            Some(sinkhorn) => {
                let is_maximum = self.config.assignment == Assignment::ColumnMaximum;
                if is_maximum && sinkhorn.choose(logits, noise, &mut work.chosen[..depth]) {
                    return;
                }
                sinkhorn.sample_one(logits, noise, soft, &mut work.sinkhorn);
            }
            None => log_softmax(logits, noise, self.config.layers, temperature, soft),
        }
        self.harden(soft, &mut work.chosen, &mut work.assigner);
    }

    /// Whether a transformation is applied in a layer, which are one place in `[N, K]`.
    fn draw_application(&self, mut stream: Stream, at: usize) -> bool {
        if self.config.depth != DepthKind::Application {
            return true;
        }
        let (mut noise, mut soft) = ([0.0], [0.0]);
        stream.skip(at as u32);
        stream.uniform_open(&mut noise);
        let logits = &self.parameters.depth()[at..=at];
        sample_application(logits, &noise, self.config.evaluation_temperature, &mut soft);
        soft[0] > 0.5
    }

    /// The normalised magnitude of one place in `[N, K]`.
    fn draw_magnitude(&self, mut stream: Stream, at: usize) -> f32 {
        let [first, second] = self.parameters.magnitudes();
        match self.config.magnitudes {
            MagnitudeKind::Uniform => {
                let mut noise = [0.0];
                stream.skip(at as u32);
                stream.uniform(&mut noise);
                Bounds::sample_one(first[at], second[at], noise[0])
            }
            MagnitudeKind::Gaussian => {
                // Normal numbers are made in pairs.
                let (mut pair, mut u) = ([0.0; 2], [0.0]);
                stream.skip(at as u32 / 2 * 2);
                stream.normal(&mut pair);
                let gaussian = Gaussian { centre: &first[at..=at], spread: &second[at..=at] };
                gaussian.sample(&pair[at % 2..][..1], &mut u);
                u[0]
            }
        }
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
