//! From the cotangent of the augmented images back to the parameters.
//!
//! Nothing is kept from the forward pass. The images after each layer are computed again, in memory that stays in the
//! processor's cache: that costs one transformation a layer, where the gradient to the types needs an inner product
//! with each of the N. Those transformed images are never stored.

use std::ops::Range;

use rayon::prelude::*;

use super::Policy;
use super::config::{DepthKind, Estimator, Groups, MagnitudeKind, TypesKind};
use super::parameter::Parameters;
use super::rows::{Layout, RowMut, Rows};
use super::sample::{ImageSample, Sample};
use crate::error::{Error, check_length};
use crate::image::Image;
use crate::sampling::{Bounds, MatricesMut, Sinkhorn, log_softmax_pullback, sample_application_pullback};
use crate::transformation::{add_scaled, dot};
use crate::view::ImagesRef;
use crate::work::{Scratch, Work, grown, with_work};

/// What a pullback returns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gradients {
    /// To the parameters, summed over the batch. Zero for groups that do not learn.
    pub parameters: Parameters,
    /// To the images that were augmented, `[batch, channel, height, width]`.
    pub images: Vec<f32>,
    /// To the relaxed sample of each image.
    pub sample: SampleGradients,
}

/// The gradients to the relaxed sample of each image: the steps on the way to the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleGradients(Rows);

impl SampleGradients {
    /// To the relaxed types of an image, `[N, K]`.
    pub fn types(&self, image: usize) -> &[f32] {
        self.0.row(image).types
    }

    /// To the normalised magnitudes of an image, `[N, K]`.
    pub fn magnitudes(&self, image: usize) -> &[f32] {
        self.0.row(image).magnitudes
    }

    /// To the relaxed depth of an image, `[K+1]`, or to its relaxed application, `[N, K]`.
    pub fn depth(&self, image: usize) -> &[f32] {
        self.0.row(image).depth
    }
}

impl Policy {
    /// Pulls the cotangent of [`Policy::apply`]'s result back to the parameters, the noise held fixed. Only the groups
    /// in `learn` that are not frozen are computed, and only what they need. The cotangent, and the gradient to the
    /// images, are `[batch, channel, height, width]` without gaps, however the images lie in memory.
    pub fn pullback<'a>(
        &self,
        images: impl Into<ImagesRef<'a>>,
        sample: &Sample,
        cotangent: &[f32],
        learn: Groups,
    ) -> Result<Gradients, Error> {
        self.pullback_with_losses(images, sample, cotangent, &[], learn)
    }

    /// [`Self::pullback`] where what was chosen is credited with what came of it ([`Estimator::Gain`]): `losses` are what
    /// each image adds to the loss whose gradient the cotangent is.
    pub fn pullback_with_losses<'a>(
        &self,
        images: impl Into<ImagesRef<'a>>,
        sample: &Sample,
        cotangent: &[f32],
        losses: &[f32],
        learn: Groups,
    ) -> Result<Gradients, Error> {
        let images = images.into();
        let losses = match self.config.estimator {
            Estimator::Gain => {
                check_length("the losses (one per image)", losses.len(), images.shape().count)?;
                less_mean(losses, losses)
            }
            _ => Vec::new(),
        };
        let (to_images, to_sample, rows) = self.pull_each(images, sample, cotangent, &losses, learn)?;
        let parameters = self.sum_gradients(&rows.data)?;
        Ok(Gradients { parameters, images: to_images, sample: SampleGradients(to_sample) })
    }

    /// What each image adds to the gradient to the parameters, for images that are a part of a batch: numbers that
    /// [`Self::sum_gradients`] adds up, once those of all images stand one after the other. `losses` are those of all
    /// images of the batch, from the first to the last, and `own` says which of them these images are; the rest is as in
    /// [`Self::pullback_with_losses`].
    pub fn pullback_of_part<'a>(
        &self,
        images: impl Into<ImagesRef<'a>>,
        sample: &Sample,
        cotangent: &[f32],
        (losses, own): (&[f32], Range<usize>),
        learn: Groups,
    ) -> Result<Vec<f32>, Error> {
        let images = images.into();
        let losses = match self.config.estimator {
            Estimator::Gain => {
                let own = losses.get(own).unwrap_or_default();
                check_length("the losses (one per image)", own.len(), images.shape().count)?;
                less_mean(own, losses)
            }
            _ => Vec::new(),
        };
        Ok(self.pull_each(images, sample, cotangent, &losses, learn)?.2.data)
    }

    /// The gradient to the parameters, from what [`Self::pullback_of_part`] gave for all images of a batch in order.
    pub fn sum_gradients(&self, rows: &[f32]) -> Result<Parameters, Error> {
        let layout = self.gradient_layout();
        check_length("the gradients of the images", rows.len(), rows.len().next_multiple_of(layout.len()))?;
        let mut sums = vec![0.0_f64; layout.len()];
        for row in rows.chunks_exact(layout.len()) {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum += f64::from(value);
            }
        }
        let matrix = layout.types;
        let mut gradient = self.parameters.zeros_like();
        let (types, rest) = sums.split_at(matrix);
        let (first, rest) = rest.split_at(matrix);
        let (second, depth) = rest.split_at(matrix);
        let [to_first, to_second] = gradient.magnitudes_mut();
        round_into(first, to_first);
        round_into(second, to_second);
        round_into(types, gradient.types_mut());
        round_into(depth, gradient.depth_mut());
        Ok(gradient)
    }

    /// The gradients to the images and to their relaxed samples, and what each image adds to that to the parameters.
    /// `losses` are less the mean of the batch.
    fn pull_each(
        &self,
        images: ImagesRef<'_>,
        sample: &Sample,
        cotangent: &[f32],
        losses: &[f32],
        learn: Groups,
    ) -> Result<(Vec<f32>, Rows, Rows), Error> {
        let shape = images.shape();
        self.check_sample(sample, shape.count)?;
        check_length("the cotangent", cotangent.len(), shape.checked_len()?)?;
        let learn = learn.without(self.config.frozen);
        let layout = self.sample_layout();
        let size = shape.image();
        let mut to_sample = Rows::zeros(layout, shape.count);
        let mut to_images = vec![0.0; cotangent.len()];
        (
            to_images.par_chunks_exact_mut(size),
            to_sample.data.par_chunks_exact_mut(layout.len()),
            cotangent.par_chunks_exact(size),
        )
            .into_par_iter()
            .enumerate()
            .for_each(|(b, (to_image, to_sample, cotangent))| {
                let to_sample = layout.row_mut(to_sample);
                with_work(|Work { scratch, gathered, layers, cotangents, .. }| {
                    let (image, sample) = (images.image(b, gathered), sample.image(b));
                    let loss = losses.get(b).copied().unwrap_or(0.0);
                    let pass = Pass { policy: self, image, sample, cotangent, loss, learn };
                    let layers = pass.run_forward(layers, scratch);
                    pass.run_backward(layers, cotangents, scratch, to_sample, to_image);
                });
            });
        let rows = self.pull_sample(sample, &to_sample, learn);
        Ok((to_images, to_sample, rows))
    }

    /// What each image adds to the gradient to the parameters.
    fn gradient_layout(&self) -> Layout {
        let matrix = self.parameters.types().len();
        Layout { types: matrix, magnitudes: 2 * matrix, depth: self.parameters.depth().len() }
    }

    /// From the relaxed samples to the parameters, each image on its own.
    fn pull_sample(&self, sample: &Sample, to_sample: &Rows, learn: Groups) -> Rows {
        let layout = self.gradient_layout();
        let mut rows = Rows::zeros(layout, to_sample.count);
        let bounds = self.bounds();
        let group = Sinkhorn::GROUP;
        rows.data.par_chunks_mut(group * layout.len()).enumerate().for_each(|(g, rows)| {
            if learn.types
                && let Some(sinkhorn) = self.sinkhorn(sample.temperature)
            {
                self.pull_sinkhorn(sinkhorn, sample, to_sample, g * group, rows, layout);
            }
            for (b, row) in rows.chunks_exact_mut(layout.len()).enumerate() {
                let mut row = layout.row_mut(row);
                self.pull_image_sample(sample, to_sample, g * group + b, learn, &bounds, &mut row);
            }
        });
        rows
    }

    /// The types of a few images. The tape of the forward pass is made again rather than kept for every image; what the
    /// forward pass writes besides goes where the gradient will stand.
    fn pull_sinkhorn(
        &self,
        sinkhorn: Sinkhorn,
        sample: &Sample,
        to_sample: &Rows,
        first: usize,
        rows: &mut [f32],
        layout: Layout,
    ) {
        let stride = layout.len();
        let images = rows.len() / stride;
        let own = if sample.count() == 1 { 0 } else { first };
        let noise = sample.noise.types_from(own);
        with_work(|Work { sinkhorn: tape, .. }| {
            let log_soft = &mut MatricesMut { data: rows, stride };
            sinkhorn.sample(images, self.parameters.types(), noise, log_soft, tape, true);
            for row in rows.chunks_exact_mut(stride) {
                layout.row_mut(row).types.fill(0.0);
            }
            let grad = &mut MatricesMut { data: rows, stride };
            sinkhorn.pullback(images, sample.soft.types_from(own), to_sample.types_from(first), tape, grad);
        });
    }

    /// Everything but Sinkhorn's types.
    fn pull_image_sample(
        &self,
        sample: &Sample,
        to_sample: &Rows,
        b: usize,
        learn: Groups,
        bounds: &Bounds,
        gradient: &mut RowMut<'_>,
    ) {
        let own = if sample.count() == 1 { 0 } else { b };
        let (noise, soft, cotangent) = (sample.noise.row(own), sample.soft.row(own), to_sample.row(b));
        let t = sample.temperature;
        if learn.types && self.config.types == TypesKind::Softmax {
            log_softmax_pullback(soft.types, cotangent.types, self.config.layers, t, gradient.types);
        }
        if learn.magnitudes {
            let (first, second) = gradient.magnitudes.split_at_mut(soft.magnitudes.len());
            match self.config.magnitudes {
                MagnitudeKind::Uniform => {
                    bounds.pullback(noise.magnitudes, cotangent.magnitudes, first, second);
                }
                MagnitudeKind::Gaussian => {
                    self.gaussian().pullback(noise.magnitudes, cotangent.magnitudes, first, second);
                }
            }
        }
        if learn.depth {
            match self.config.depth {
                DepthKind::Learned => log_softmax_pullback(soft.depth, cotangent.depth, 1, t, gradient.depth),
                DepthKind::Application => {
                    sample_application_pullback(soft.depth, cotangent.depth, t, gradient.depth);
                }
                DepthKind::Fixed { .. } => {}
            }
        }
    }
}

/// Losses of images less the mean of all losses of their batch.
fn less_mean(own: &[f32], all: &[f32]) -> Vec<f32> {
    let mean = all.iter().sum::<f32>() / all.len().max(1) as f32;
    own.iter().map(|loss| loss - mean).collect()
}

fn round_into(sums: &[f64], values: &mut [f32]) {
    for (value, &sum) in values.iter_mut().zip(sums) {
        *value = sum as f32;
    }
}

/// The way of one image through the policy and back.
#[derive(Clone, Copy)]
struct Pass<'a> {
    policy: &'a Policy,
    image: Image<'a>,
    sample: ImageSample<'a>,
    cotangent: &'a [f32],
    /// What the image adds to the loss, less the mean of the batch.
    loss: f32,
    learn: Groups,
}

impl Pass<'_> {
    /// The layer from which cotangents flow down: the sampled depth, or all where every depth has its soft share.
    fn top(self) -> usize {
        let config = &self.policy.config;
        match (config.depth, config.estimator) {
            (DepthKind::Learned, Estimator::SoftBackward) => config.layers,
            _ => self.sample.depth,
        }
    }

    fn learns_depth(self) -> bool {
        self.learn.depth && self.policy.config.depth == DepthKind::Learned
    }

    fn learns_application(self) -> bool {
        self.learn.depth && self.policy.config.depth == DepthKind::Application
    }

    /// X_1, X_2, … one after the other, as many as are needed. A depth beyond the sampled one needs its image too: the
    /// gradient to its soft value is an inner product with it.
    fn run_forward<'b>(self, buffer: &'b mut Vec<f32>, scratch: &mut Scratch) -> &'b [f32] {
        let sees_all = self.learns_depth() && self.policy.config.estimator != Estimator::Gain;
        let count = if sees_all { self.policy.config.layers } else { self.top() };
        let size = self.image.data.len();
        let layers = grown(buffer, count * size);
        for layer in 0..count {
            let (done, rest) = layers.split_at_mut(layer * size);
            let source = self.source(done, layer);
            let out = &mut rest[..size];
            if self.policy.is_applied(self.sample, layer) {
                let chosen = usize::from(self.sample.chosen[layer]);
                self.policy.transform(source, self.sample, layer, chosen, out, scratch);
            } else {
                out.copy_from_slice(source.data);
            }
        }
        layers
    }

    /// The image that a layer (counted from 0) transforms.
    fn source<'b>(self, layers: &'b [f32], layer: usize) -> Image<'b>
    where
        Self: 'b,
    {
        let size = self.image.data.len();
        match layer.checked_sub(1) {
            None => self.image,
            Some(below) => self.image.with(&layers[below * size..][..size]),
        }
    }

    fn run_backward(
        self,
        layers: &[f32],
        [current, below]: &mut [Vec<f32>; 2],
        scratch: &mut Scratch,
        mut to_sample: RowMut<'_>,
        to_image: &mut [f32],
    ) {
        let config = &self.policy.config;
        if self.learns_depth() && config.estimator == Estimator::Gain {
            to_sample.depth[self.sample.depth] = self.loss;
        } else if self.learns_depth() {
            for (depth, to_depth) in to_sample.depth.iter_mut().enumerate() {
                *to_depth = dot(self.cotangent, self.source(layers, depth).data);
            }
        }
        let size = self.image.data.len();
        let (mut current, mut below) = (grown(current, size), grown(below, size));
        let soft_depth = match (config.depth, config.estimator) {
            (DepthKind::Learned, Estimator::SoftBackward) => Some(self.sample.soft.depth),
            _ => None,
        };
        current.fill(0.0);
        add_scaled(self.cotangent, soft_depth.map_or(1.0, |soft| soft[self.top()]), current);
        for layer in (0..self.top()).rev() {
            below.fill(0.0);
            let step = Step {
                pass: self,
                layer,
                source: self.source(layers, layer),
                result: self.source(layers, layer + 1).data,
                cotangent: current,
            };
            match config.estimator {
                Estimator::StraightThrough => step.pull_straight_through(&mut to_sample, below, scratch),
                Estimator::Gain => step.pull_gain(&mut to_sample, below, scratch),
                Estimator::SoftBackward => step.pull_soft(&mut to_sample, below, scratch),
            }
            if let Some(soft) = soft_depth {
                add_scaled(self.cotangent, soft[layer], below);
            }
            std::mem::swap(&mut current, &mut below);
        }
        to_image.copy_from_slice(current);
    }
}

/// One layer, on the way back.
struct Step<'a> {
    pass: Pass<'a>,
    layer: usize,
    source: Image<'a>,
    result: &'a [f32],
    cotangent: &'a [f32],
}

impl Step<'_> {
    fn chosen(&self) -> usize {
        usize::from(self.pass.sample.chosen[self.layer])
    }

    fn is_applied(&self, transformation: usize) -> bool {
        self.pass.policy.is_transformation_applied(self.pass.sample, self.layer, transformation)
    }

    /// The place of a transformation of this layer in a matrix `[N, K]`.
    fn at(&self, transformation: usize) -> usize {
        transformation * self.pass.policy.config.layers + self.layer
    }

    /// The inner product of the cotangent with a transformed image.
    fn inner(&self, transformation: usize, scratch: &mut Scratch) -> f32 {
        if transformation == self.chosen() && self.is_applied(transformation) {
            return dot(self.cotangent, self.result);
        }
        let Pass { policy, sample, .. } = self.pass;
        let m = policy.magnitude(sample, self.layer, transformation);
        let kernel = policy.config.transformations[transformation].transformation.kernel();
        kernel.inner(self.source, m, self.cotangent, scratch)
    }

    /// Adds `weight` times the gradient to the layer's input; returns the gradient to the normalised magnitude.
    fn pull(&self, transformation: usize, weight: f32, below: &mut [f32], scratch: &mut Scratch) -> f32 {
        let Pass { policy, sample, .. } = self.pass;
        let m = policy.magnitude(sample, self.layer, transformation);
        let ranged = policy.config.transformations[transformation];
        let kernel = ranged.transformation.kernel();
        kernel.pullback(self.source, m, self.cotangent, weight, below, scratch) * ranged.unit_scale()
    }

    /// The image and the magnitude see the chosen transformation alone; the types see all of them.
    fn pull_straight_through(&self, to_sample: &mut RowMut<'_>, below: &mut [f32], scratch: &mut Scratch) {
        let chosen = self.chosen();
        let count = self.pass.policy.config.transformations.len();
        let passed_on = self.inner_passed_on();
        if self.pass.learn.types {
            for i in 0..count {
                to_sample.types[self.at(i)] =
                    if self.is_applied(i) { self.inner(i, scratch) } else { passed_on };
            }
        }
        if self.pass.learns_application() {
            to_sample.depth[self.at(chosen)] = self.inner(chosen, scratch) - passed_on;
        }
        self.pull_chosen(to_sample, below, scratch);
    }

    /// The image and the magnitude see the chosen transformation alone, and so do the types: it has the image's loss, and
    /// the others that of the batch.
    fn pull_gain(&self, to_sample: &mut RowMut<'_>, below: &mut [f32], scratch: &mut Scratch) {
        let (at, applied) = (self.at(self.chosen()), self.is_applied(self.chosen()));
        if self.pass.learn.types && applied {
            to_sample.types[at] = self.pass.loss;
        }
        if self.pass.learns_application() {
            to_sample.depth[at] = if applied { self.pass.loss } else { -self.pass.loss };
        }
        self.pull_chosen(to_sample, below, scratch);
    }

    fn pull_chosen(&self, to_sample: &mut RowMut<'_>, below: &mut [f32], scratch: &mut Scratch) {
        let chosen = self.chosen();
        if self.is_applied(chosen) {
            to_sample.magnitudes[self.at(chosen)] = self.pull(chosen, 1.0, below, scratch);
        } else {
            below.copy_from_slice(self.cotangent);
        }
    }

    /// Every transformation counts by its soft value, for the image, the magnitudes and the types.
    fn pull_soft(&self, to_sample: &mut RowMut<'_>, below: &mut [f32], scratch: &mut Scratch) {
        let Pass { policy, sample, learn, .. } = self.pass;
        let by_application = policy.config.depth == DepthKind::Application;
        let passed_on = self.inner_passed_on();
        let mut passed_on_weight = 0.0;
        for i in 0..policy.config.transformations.len() {
            let at = self.at(i);
            let share = sample.soft.types[at];
            let applied = if by_application { sample.soft.depth[at] } else { 1.0 };
            if learn.types || self.pass.learns_application() {
                let inner = self.inner(i, scratch);
                to_sample.types[at] = if self.is_applied(i) { inner } else { passed_on };
                if by_application {
                    to_sample.depth[at] = share * (inner - passed_on);
                }
            }
            let weight = share * applied;
            to_sample.magnitudes[at] = weight * self.pull(i, weight, below, scratch);
            passed_on_weight += share * (1.0 - applied);
        }
        if by_application {
            add_scaled(self.cotangent, passed_on_weight, below);
        }
    }

    /// The inner product of the cotangent with an input that is passed on, where that can happen.
    fn inner_passed_on(&self) -> f32 {
        match self.pass.policy.config.depth {
            DepthKind::Application => dot(self.cotangent, self.source.data),
            DepthKind::Learned | DepthKind::Fixed { .. } => 0.0,
        }
    }
}
