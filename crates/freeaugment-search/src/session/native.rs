//! A classifier of this library, trained on data that it reads itself.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use freeaugment::Images;
use freeaugment_data::{Loader, Order, PictureBatch};
use freeaugment_nn::optimizer::SgdAdjoint;
use freeaugment_nn::ranks::Ranks;
use freeaugment_nn::{Batch, Classifier, Hypergradient, Record, Weights};

use super::evaluation::{Score, evaluate};
use super::model::{Augment, Model, Shown, Trained};
use super::pace::Pace;
use super::shared::Shared;
use super::trail::Trail;
use super::trainer::{Moment, Trainer};
use super::{DataIdentity, Progress, Setup};
use crate::config::{HypergradientChoice, Settings};
use crate::error::Error;
use crate::run::{StateReader, StateWriter};

/// Batches prepared ahead.
type Batches = Loader<PictureBatch, Error>;

/// A classifier, its optimiser and its data.
#[derive(Debug)]
pub struct Native {
    settings: Settings,
    pub(super) setup: Setup,
    shared: Shared,
    pub(super) trainer: Trainer,
    /// The first step in which anything learns.
    first: u64,
    loaders: Option<(Batches, Batches)>,
    /// What the last training step left for the slope.
    kept: Option<(Record, Option<Weights>)>,
    /// The validation gradient, averaged over steps where it is.
    direction: Option<Weights>,
    trail: Option<Trail>,
    back: Option<Back>,
}

/// The way back through a cycle.
#[derive(Debug)]
struct Back {
    adjoint: SgdAdjoint,
    loader: Batches,
    /// The weights before the step that was gone through last, and its direction.
    at: Option<(Weights, Weights)>,
}

impl Native {
    pub(super) fn new(settings: &Settings, setup: Setup, classifier: Classifier) -> Result<Self, Error> {
        let pace = Pace::for_search(settings, setup.steps_per_epoch)?;
        let frozen = settings.policy_config()?.frozen;
        Ok(Self {
            trainer: Trainer::new(settings, classifier, pace)?,
            first: settings.first_learning(frozen) * setup.steps_per_epoch,
            shared: Shared::new(Arc::clone(&setup.ranks), settings.batch)?,
            settings: settings.clone(),
            setup,
            loaders: None,
            kept: None,
            direction: None,
            trail: None,
            back: None,
        })
    }

    /// The threads that prepare batches; started when first needed, at the step where the search stands.
    fn loaders(&mut self) -> &mut (Batches, Batches) {
        let Progress { done, total, .. } = self.trainer.pace.progress();
        let (setup, workers, first) = (&self.setup, self.settings.workers, self.first);
        let part = self.shared.own();
        self.loaders.get_or_insert_with(|| {
            let load = |order: &Arc<Order>, range| {
                let (dataset, pipeline) = (Arc::clone(&setup.dataset), Arc::clone(&setup.pipeline));
                let (order, part) = (Arc::clone(order), part.clone());
                Loader::new(range, workers, move |number| {
                    Ok(order.prepare_part(&dataset, &pipeline, number, part.clone())?)
                })
            };
            // Validation batches are counted from the first epoch in which anything learns.
            let used = done.saturating_sub(first);
            (
                load(&setup.training, (done, total)),
                load(&setup.validation, (used, total.saturating_sub(first))),
            )
        })
    }

    /// The batches of a cycle, from last to first.
    fn reversed(&self, steps: &Range<u64>) -> Batches {
        let setup = &self.setup;
        let (dataset, pipeline) = (Arc::clone(&setup.dataset), Arc::clone(&setup.pipeline));
        let order = Arc::clone(&setup.training);
        let (last, part) = (steps.end - 1, self.shared.own());
        Loader::new((0, steps.end - steps.start), self.settings.workers, move |back| {
            Ok(order.prepare_part(&dataset, &pipeline, last - back, part.clone())?)
        })
    }

    /// Images as the classifier takes them.
    fn batch<'a>(&self, images: &'a [f32], labels: &'a [u32]) -> Batch<'a> {
        let side = self.setup.pipeline.size;
        Batch { images, labels, height: side, width: side }
    }

    /// Loss, accuracy and gradient on validation images as they are.
    fn validation_gradient(&self, pictures: PictureBatch) -> Result<(f64, f64, Weights), Error> {
        let mut images = pictures.images.into_vec();
        self.setup.pipeline.normalise(&mut images);
        let found = self.trainer.classifier.gradient(self.batch(&images, &pictures.labels))?;
        self.trainer.pace.check_loss(found.loss)?;
        Ok((found.loss, self.shared.accuracy(&found.logits, &pictures.labels), found.gradient))
    }

    /// The central difference of DARTS, at the weights before the step.
    fn difference(
        classifier: &mut Classifier,
        batch: Batch,
        before: &Weights,
        direction: &Weights,
    ) -> Result<Vec<f32>, Error> {
        let radius = 0.01 / direction.dot(direction).sqrt().max(f64::MIN_POSITIVE);
        let after = classifier.weights().clone();
        let mut gradient_at = |radius: f64| {
            let moved = classifier.weights_mut().values_mut();
            for ((moved, before), direction) in moved.iter_mut().zip(before.values()).zip(direction.values())
            {
                *moved = before + radius as f32 * direction;
            }
            classifier.input_gradient(batch)
        };
        let (ahead, behind) = (gradient_at(radius)?.1, gradient_at(-radius)?.1);
        *classifier.weights_mut() = after;
        let slope = |(ahead, behind): (&f32, &f32)| (f64::from(ahead - behind) / (2.0 * radius)) as f32;
        Ok(ahead.iter().zip(&behind).map(slope).collect())
    }
}

impl Model for Native {
    type Batch = PictureBatch;
    type Input = Vec<f32>;
    type Moment = Moment;

    fn pace(&self) -> &Pace {
        &self.trainer.pace
    }

    fn pace_mut(&mut self) -> &mut Pace {
        &mut self.trainer.pace
    }

    fn data(&self) -> &DataIdentity {
        &self.setup.identity
    }

    fn ranks(&self) -> Arc<dyn Ranks> {
        Arc::clone(self.shared.ranks())
    }

    fn gather(&self, own: Vec<f32>) -> Vec<f32> {
        self.shared.gather(&own)
    }

    fn network(&self) -> String {
        self.trainer.classifier.network().name().to_owned()
    }

    fn image_size(&self) -> String {
        format!("{0}x{0}", self.setup.pipeline.size)
    }

    fn next_batch(&mut self) -> Result<PictureBatch, Error> {
        self.loaders().0.next_batch()
    }

    fn shown<'a>(&self, batch: &'a PictureBatch) -> Shown<'a> {
        let PictureBatch { images, indices, members, part, epoch, .. } = batch;
        Shown { images, indices, members, part: part.clone(), epoch: *epoch }
    }

    fn input(&self, batch: &PictureBatch, augmented: Images) -> Result<Vec<f32>, Error> {
        Ok(self.setup.pipeline.after(augmented.as_slice(), &batch.views))
    }

    fn train(&mut self, batch: &PictureBatch, input: &Vec<f32>, keep: bool) -> Result<Trained, Error> {
        if let Some(trail) = &mut self.trail {
            let step = self.trainer.pace.progress().done;
            trail.keep(step, self.trainer.classifier.weights(), self.trainer.sgd());
        }
        let images = self.batch(input, &batch.labels);
        let (evaluation, record) = self.trainer.train(images, keep)?;
        let differs = keep && self.settings.hypergradient == HypergradientChoice::Difference;
        let before = differs.then(|| self.trainer.classifier.weights().clone());
        self.kept = record.map(|record| (record, before));
        self.trainer.descend(&evaluation.gradient)?;
        Ok(Trained {
            loss: evaluation.loss,
            accuracy: self.shared.accuracy(&evaluation.logits, &batch.labels),
            gradient_norm: evaluation.gradient.dot(&evaluation.gradient).sqrt(),
        })
    }

    fn next_validation_batch(&mut self) -> Result<PictureBatch, Error> {
        self.loaders().1.next_batch()
    }

    fn validate(&mut self, batch: PictureBatch) -> Result<(f64, f64), Error> {
        let (loss, right, gradient) = self.validation_gradient(batch)?;
        let direction = average(self.direction.take(), gradient, self.settings.validation_momentum)?;
        self.direction = Some(direction);
        Ok((loss, right))
    }

    fn slope(&mut self, batch: &PictureBatch, input: &Vec<f32>) -> Result<Hypergradient, Error> {
        let (record, before) = self.kept.take().expect("a step was kept");
        let direction = self.direction.take().expect("a validation batch was seen");
        let found = match before {
            None => record.hypergradient(&direction)?,
            Some(before) => {
                let images = self.batch(input, &batch.labels);
                let q = Self::difference(&mut self.trainer.classifier, images, &before, &direction)?;
                Hypergradient { parts: Vec::new(), q }
            }
        };
        self.direction = (self.settings.validation_momentum > 0.0).then_some(direction);
        let rate = self.trainer.pace.rate();
        let by_rate =
            |values: Vec<f32>| values.into_iter().map(|value| -rate as f32 * value).collect::<Vec<_>>();
        let q = self.setup.pipeline.after_pullback(&by_rate(found.q), &batch.views);
        Ok(Hypergradient { parts: by_rate(found.parts), q })
    }

    fn begin_cycle(&mut self, steps: &Range<u64>) {
        let parameters = self.trainer.classifier.layout().parameters();
        self.trail = Some(Trail::new(steps, parameters, self.settings.horizon_mib << 20));
        self.back = None;
    }

    fn judge(&mut self, steps: &Range<u64>, cycles_done: u64) -> Result<(f64, f64), Error> {
        let order = Arc::clone(&self.setup.validation);
        let all = order.batches() as u64;
        let wanted = if self.settings.cycle_batches == 0 { all } else { self.settings.cycle_batches as u64 };
        let (dataset, pipeline) = (Arc::clone(&self.setup.dataset), Arc::clone(&self.setup.pipeline));
        // Another part of the validation images in every cycle, where a cycle does not see them all.
        let first = cycles_done * wanted;
        let part = self.shared.own();
        let mut loader =
            Loader::<_, Error>::new((first, first + wanted), self.settings.workers, move |number| {
                Ok(order.prepare_part(&dataset, &pipeline, number, part.clone())?)
            });
        let mut total: Option<Weights> = None;
        let (mut loss, mut right) = (0.0, 0.0);
        for _ in 0..wanted {
            let (own_loss, own_right, gradient) = self.validation_gradient(loader.next_batch()?)?;
            loss += own_loss / wanted as f64;
            right += own_right / wanted as f64;
            match &mut total {
                None => total = Some(gradient),
                Some(total) => total.add_scaled(1.0, &gradient)?,
            }
        }
        let mut gradient = total.expect("a search has a validation batch");
        gradient.scale(1.0 / wanted as f32)?;
        self.back = Some(Back {
            adjoint: SgdAdjoint::new(self.trainer.sgd(), gradient),
            loader: self.reversed(steps),
            at: None,
        });
        Ok((loss, right))
    }

    fn batch_again(&mut self, _step: u64) -> Result<PictureBatch, Error> {
        self.back.as_mut().expect("a cycle was judged").loader.next_batch()
    }

    fn back(
        &mut self,
        step: u64,
        batch: &PictureBatch,
        input: &Vec<f32>,
        augment: &Augment<'_, Self>,
    ) -> Result<(Hypergradient, f64), Error> {
        let mut trail = self.trail.take().expect("a cycle has begun");
        let mut back = self.back.take().expect("a cycle was judged");
        let weights = trail.back(step, self.trainer.sgd(), |again, weights, sgd| {
            let Setup { training, dataset, pipeline, .. } = &self.setup;
            let pictures = training.prepare_part(dataset, pipeline, again, self.shared.own())?;
            let images = augment(self, &pictures)?;
            let batch = self.batch(&images, &pictures.labels);
            let (evaluation, _) = self.trainer.classifier.gradient_at(weights, batch)?;
            Ok(sgd.step(weights, &evaluation.gradient, self.trainer.pace.rate_at(again) as f32)?)
        })?;
        let images = self.batch(input, &batch.labels);
        let (_, record) = self.trainer.classifier.gradient_at(&weights, images)?;
        let direction = back.adjoint.direction(self.trainer.pace.rate_at(step) as f32)?;
        let (found, product) = record.hypergradient_and_product(&direction)?;
        back.adjoint.step_back(&direction, &product)?;
        let norm = direction.dot(&direction).sqrt();
        back.at = Some((weights, direction));
        (self.trail, self.back) = (Some(trail), Some(back));
        let q = self.setup.pipeline.after_pullback(&found.q, &batch.views);
        Ok((Hypergradient { parts: found.parts, q }, norm))
    }

    fn parts(&mut self, batch: &PictureBatch, input: &Vec<f32>) -> Result<Vec<f32>, Error> {
        let back = self.back.as_ref().expect("a cycle was judged");
        let (weights, direction) = back.at.as_ref().expect("a step was gone through");
        let images = self.batch(input, &batch.labels);
        Ok(self.trainer.classifier.parts_at(weights, images, direction)?)
    }

    fn evaluate(&mut self) -> Result<Score, Error> {
        let setup = &self.setup;
        evaluate(&self.trainer.classifier, setup, setup.validation.indices(), self.settings.batch)
    }

    fn moment(&self) -> Result<Moment, Error> {
        Ok(self.trainer.moment())
    }

    fn save(&self, moment: &Moment, state: &mut StateWriter) -> Result<(), Error> {
        moment.save(state)?;
        if let Some(direction) = &self.direction {
            direction.fetch()?;
            state.singles("direction", direction.values());
        }
        Ok(())
    }

    fn restore(&mut self, state: &StateReader) -> Result<(), Error> {
        self.trainer.restore(state)?;
        self.direction = state.weights("direction", &self.trainer.classifier)?;
        Ok(())
    }

    fn leave(&self, path: &Path) -> Result<(), Error> {
        Ok(self.trainer.classifier.save(path)?)
    }
}

/// The running average of a gradient.
fn average(before: Option<Weights>, now: Weights, momentum: f64) -> Result<Weights, Error> {
    let Some(mut average) = before else { return Ok(now) };
    average.blend((1.0 - momentum) as f32, &now)?;
    Ok(average)
}
