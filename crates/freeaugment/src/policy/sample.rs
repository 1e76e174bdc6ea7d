//! Drawing noise, and turning noise into what happens to each image: how many transformations, which, how strong.

use rayon::prelude::*;

use super::Policy;
use super::config::{Assignment, DepthKind, MagnitudeKind, Sharing, TypesKind, check_temperature};
use super::rows::{Layout, Row, Rows};
use crate::error::{Error, check_length};
use crate::random::{Purpose, Stream};
use crate::sampling::{
    Assigner, Bounds, Gaussian, Matrices, MatricesMut, Sinkhorn, assign_column_maximum, largest, log_softmax,
    sample_application, soften,
};
use crate::work::{Work, with_work};

pub(super) const TYPES: Purpose = Purpose::named("policy/types");
pub(super) const MAGNITUDES: Purpose = Purpose::named("policy/magnitudes");
pub(super) const DEPTH: Purpose = Purpose::named("policy/depth");

/// The noise of a batch: all that is random about a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise(pub(crate) Rows);

/// What happens to each image of a batch: the relaxed sample, and the choices made from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub(crate) noise: Rows,
    pub(crate) temperature: f32,
    /// Types soft, normalised magnitudes, and depth (or application) soft.
    pub(crate) soft: Rows,
    /// Per image, the transformation of each layer and then the depth.
    pub(crate) hard: Vec<u8>,
}

/// The sample of one image.
#[derive(Clone, Copy)]
pub(crate) struct ImageSample<'a> {
    pub(crate) soft: Row<'a>,
    pub(crate) chosen: &'a [u8],
    pub(crate) depth: usize,
}

impl Sample {
    /// How many images have a sample of their own: one where a sample is shared.
    pub fn count(&self) -> usize {
        self.soft.count
    }

    /// The temperature at which it was drawn.
    pub fn temperature(&self) -> f32 {
        self.temperature
    }

    /// The relaxed types of an image, `[N, K]`.
    pub fn types_soft(&self, image: usize) -> &[f32] {
        self.soft.row(image).types
    }

    /// The transformation that each layer of an image chose, as an index into the policy's list.
    pub fn types(&self, image: usize) -> &[u8] {
        self.image(image).chosen
    }

    /// The relaxed depth of an image, `[K+1]`; its relaxed application, `[N, K]`, where that stands in its place.
    pub fn depth_soft(&self, image: usize) -> &[f32] {
        self.soft.row(image).depth
    }

    /// How many layers are applied to an image.
    pub fn depth(&self, image: usize) -> usize {
        self.image(image).depth
    }

    /// The normalised magnitudes of an image, `[N, K]`, each in [0, 1].
    pub fn magnitudes(&self, image: usize) -> &[f32] {
        self.soft.row(image).magnitudes
    }

    /// The sample that image `b` of a batch uses.
    pub(crate) fn image(&self, b: usize) -> ImageSample<'_> {
        let b = if self.count() == 1 { 0 } else { b };
        let len = self.hard.len() / self.count();
        let (depth, chosen) = self.hard[b * len..][..len].split_last().expect("a row ends with the depth");
        ImageSample { soft: self.soft.row(b), chosen, depth: usize::from(*depth) }
    }
}

impl Policy {
    /// Draws the noise for images with these indices (or batches, where a batch shares a sample: then the first index
    /// counts). Numbers depend on seed, epoch and index alone.
    pub fn draw(&self, seed: u64, epoch: u32, indices: &[u32]) -> Noise {
        let indices = match self.config.sharing {
            Sharing::PerImage => indices,
            Sharing::PerBatch => &indices[..indices.len().min(1)],
        };
        let mut rows = Rows::zeros(self.noise_layout(), indices.len());
        let layout = rows.layout;
        rows.data.par_chunks_mut(layout.len()).zip(indices).for_each(|(row, &index)| {
            let row = layout.row_mut(row);
            let stream = |purpose| Stream::new(seed, purpose, epoch, index);
            stream(TYPES).gumbel(row.types);
            match self.config.magnitudes {
                MagnitudeKind::Uniform => stream(MAGNITUDES).uniform(row.magnitudes),
                MagnitudeKind::Gaussian => stream(MAGNITUDES).normal(row.magnitudes),
            }
            match self.config.depth {
                DepthKind::Application => stream(DEPTH).uniform_open(row.depth),
                DepthKind::Learned | DepthKind::Fixed { .. } => stream(DEPTH).gumbel(row.depth),
            }
        });
        Noise(rows)
    }

    /// Noise with given values, image after image: Gumbel noise of the types (`[N, N]`, or `[N, K]` for independent
    /// ones), noise of the magnitudes `[N, K]` (uniform in [0, 1), or standard normal), and noise of the depth: Gumbel
    /// `[K+1]`, nothing where it is fixed, or uniform in (0, 1) `[N, K]` where applications stand in its place.
    pub fn noise(
        &self,
        images: usize,
        types: &[f32],
        magnitudes: &[f32],
        depth: &[f32],
    ) -> Result<Noise, Error> {
        let layout = self.noise_layout();
        check_length("the noise of the types", types.len(), layout.types * images)?;
        check_length("the noise of the magnitudes", magnitudes.len(), layout.magnitudes * images)?;
        check_length("the noise of the depth", depth.len(), layout.depth * images)?;
        let mut rows = Rows::zeros(layout, images);
        for (b, row) in rows.data.chunks_exact_mut(layout.len()).enumerate() {
            let row = layout.row_mut(row);
            row.types.copy_from_slice(&types[b * layout.types..][..layout.types]);
            row.magnitudes.copy_from_slice(&magnitudes[b * layout.magnitudes..][..layout.magnitudes]);
            row.depth.copy_from_slice(&depth[b * layout.depth..][..layout.depth]);
        }
        Ok(Noise(rows))
    }

    /// Turns noise into samples, at temperature t.
    pub fn sample(&self, noise: Noise, temperature: f32) -> Result<Sample, Error> {
        check_temperature(temperature)?;
        let noise = noise.0;
        let layout = self.sample_layout();
        noise.check_layout(self.noise_layout())?;
        let mut soft = Rows::zeros(layout, noise.count);
        let per_image = self.config.layers + 1;
        let mut hard = vec![0; per_image * noise.count];
        let bounds = self.bounds();
        // Types are drawn for a group of images at a time, the rest for each image on its own.
        let group = Sinkhorn::GROUP;
        (soft.data.par_chunks_mut(group * layout.len()), hard.par_chunks_mut(group * per_image))
            .into_par_iter()
            .enumerate()
            .for_each(|(g, (soft, hard))| {
                with_work(|work| {
                    self.sample_types(noise.types_from(g * group), temperature, soft, work);
                    let images = soft.chunks_exact_mut(layout.len()).zip(hard.chunks_exact_mut(per_image));
                    for (b, (soft, hard)) in images.enumerate() {
                        self.sample_image(noise.row(g * group + b), temperature, &bounds, soft, hard, work);
                    }
                });
            });
        Ok(Sample { noise, temperature, soft, hard })
    }

    /// Writes the logarithm of the relaxed types of a few images into their rows.
    fn sample_types(&self, noise: Matrices<'_>, temperature: f32, soft: &mut [f32], work: &mut Work) {
        let logits = self.parameters.types();
        let stride = self.sample_layout().len();
        let images = soft.len() / stride;
        if let Some(sinkhorn) = self.sinkhorn(temperature) {
            let log_soft = &mut MatricesMut { data: soft, stride };
            sinkhorn.sample(images, logits, noise, log_soft, &mut work.sinkhorn, false);
            return;
        }
        for (b, soft) in soft.chunks_exact_mut(stride).enumerate() {
            let noise = &noise.data[b * noise.stride..][..logits.len()];
            log_softmax(logits, noise, self.config.layers, temperature, &mut soft[..logits.len()]);
        }
    }

    /// Everything but the relaxed types, whose logarithm is there already.
    fn sample_image(
        &self,
        noise: Row<'_>,
        temperature: f32,
        bounds: &Bounds,
        soft: &mut [f32],
        hard: &mut [u8],
        work: &mut Work,
    ) {
        let soft = self.sample_layout().row_mut(soft);
        let (depth, chosen) = hard.split_last_mut().expect("a row ends with the depth");
        self.harden(soft.types, chosen, &mut work.assigner);
        soften(soft.types);
        match self.config.magnitudes {
            MagnitudeKind::Uniform => bounds.sample(noise.magnitudes, soft.magnitudes),
            MagnitudeKind::Gaussian => self.gaussian().sample(noise.magnitudes, soft.magnitudes),
        }
        let logits = self.parameters.depth();
        *depth = match self.config.depth {
            DepthKind::Learned => {
                log_softmax(logits, noise.depth, 1, temperature, soft.depth);
                let depth = largest(soft.depth.iter().copied());
                soften(soft.depth);
                depth as u8
            }
            DepthKind::Fixed { depth } => depth as u8,
            DepthKind::Application => {
                sample_application(logits, noise.depth, temperature, soft.depth);
                self.config.layers as u8
            }
        };
    }

    /// Chooses a transformation for each layer.
    pub(super) fn harden(&self, log_soft: &[f32], chosen: &mut [u8], assigner: &mut Assigner) {
        match self.config.assignment {
            Assignment::ColumnMaximum => assign_column_maximum(log_soft, chosen),
            Assignment::Exact => assigner.assign(log_soft, chosen),
        }
    }

    /// None where types are independent.
    pub(super) fn sinkhorn(&self, temperature: f32) -> Option<Sinkhorn> {
        match self.config.types {
            TypesKind::Sinkhorn { iterations, pad } => Some(Sinkhorn {
                transformations: self.config.transformations.len(),
                layers: self.config.layers,
                iterations,
                pad,
                temperature,
            }),
            TypesKind::Softmax => None,
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        let [lower, upper] = self.parameters.magnitudes();
        Bounds::new(lower, upper)
    }

    pub(super) fn gaussian(&self) -> Gaussian<'_> {
        let [centre, spread] = self.parameters.magnitudes();
        Gaussian { centre, spread }
    }

    /// Whether a sample is of this policy and can be used for so many images.
    pub(super) fn check_sample(&self, sample: &Sample, images: usize) -> Result<(), Error> {
        sample.noise.check_layout(self.noise_layout())?;
        sample.soft.check_layout(self.sample_layout())?;
        let choices = (self.config.layers + 1) * sample.count();
        check_length("the list of choices in the sample", sample.hard.len(), choices)?;
        if sample.count() == 1 {
            return Ok(());
        }
        check_length("the sample (one per image)", sample.count(), images)
    }

    pub(super) fn noise_layout(&self) -> Layout {
        let (n, matrix) = (self.config.transformations.len(), self.parameters.types().len());
        let types = match self.config.types {
            TypesKind::Sinkhorn { .. } => n * n,
            TypesKind::Softmax => matrix,
        };
        Layout { types, ..self.sample_layout() }
    }

    pub(super) fn sample_layout(&self) -> Layout {
        let matrix = self.parameters.types().len();
        Layout { types: matrix, magnitudes: matrix, depth: self.parameters.depth().len() }
    }
}
