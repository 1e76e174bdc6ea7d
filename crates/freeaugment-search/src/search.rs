//! The bilevel search: one training step of the classifier, one step of the policy, again and again.

use std::sync::Arc;
use std::time::Instant;

use freeaugment::{Groups, Policy, Sample};
use freeaugment_data::{Batch as Pictures, Loader, Order};
use freeaugment_nn::optimizer::{Adam, Cosine, Sgd};
use freeaugment_nn::{
    Batch, Classifier, CrossEntropy, Device, Hypergradient, Network, Parameters as Weights, Record,
};

use crate::error::Error;
use crate::metric::{Phases, Tally};
use crate::plan::Plan;
use crate::settings::{HypergradientChoice, Settings};

/// The groups of the policy's optimiser, in the order of their learning rates.
const DEPTH: usize = 0;
const TYPES: usize = 1;
const MAGNITUDES: usize = 2;

/// Batches prepared ahead.
type Batches = Loader<Pictures, Error>;

/// Everything that changes while a search runs, and what it works with.
#[derive(Debug)]
pub struct Search {
    pub(crate) settings: Settings,
    pub(crate) plan: Plan,
    pub(crate) classifier: Classifier,
    pub(crate) sgd: Sgd,
    pub(crate) policy: Policy,
    pub(crate) adam: Adam,
    /// The validation gradient, averaged over steps, where it is.
    pub(crate) direction: Option<Weights>,
    /// Steps taken since the beginning of the run.
    pub(crate) step: u64,
    /// What the current epoch has seen so far.
    pub(crate) tally: Tally,
    schedule: Cosine,
    loaders: Option<(Batches, Batches)>,
}

/// What one step saw.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The step within the epoch, from 0.
    pub step: u64,
    /// The training loss.
    pub loss: f64,
    /// The share of training images that were classified rightly.
    pub accuracy: f64,
    /// The validation loss and accuracy, where the policy learned.
    pub validation: Option<(f64, f64)>,
}

impl Search {
    /// A search at its beginning.
    pub fn new(settings: Settings, plan: Plan) -> Result<Self, Error> {
        settings.check()?;
        let device = Device::open(&settings.device)?;
        let network =
            Network::new(settings.network.parse()?, plan.dataset.classes.len(), plan.dataset.channels)?;
        let loss = CrossEntropy::new(settings.label_smoothing as f32)?;
        let classifier = Classifier::new(network, &device, settings.seed).with_loss(loss);
        let policy = settings.policy_config()?.init()?;
        let parameters = policy.parameters();
        let adam = Adam::new(&[
            (settings.depth_rate, parameters.depth().len()),
            (settings.type_rate, parameters.types().len()),
            (settings.magnitude_rate, 2 * parameters.magnitudes()[0].len()),
        ])?
        .with_epsilon(DEPTH, settings.depth_epsilon)?
        .with_epsilon(TYPES, settings.type_epsilon)?;
        let sgd = Sgd::new(settings.momentum as f32, true, settings.weight_decay as f32)?;
        let last_rate = settings.learning_rate_floor * settings.learning_rate;
        let schedule = Cosine::new(settings.learning_rate, last_rate, settings.epochs * plan.steps)?;
        Ok(Self {
            settings,
            plan,
            classifier,
            sgd,
            policy,
            adam,
            direction: None,
            step: 0,
            tally: Tally::default(),
            schedule,
            loaders: None,
        })
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its data.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The policy as it is now.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The classifier as it is now.
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// Steps taken.
    pub fn steps_done(&self) -> u64 {
        self.step
    }

    /// Steps of the whole run.
    pub fn steps_total(&self) -> u64 {
        self.settings.epochs * self.plan.steps
    }

    /// Seconds that the steps of the current epoch spent in each phase.
    pub fn phases(&self) -> Phases {
        self.tally.phases
    }

    /// The epoch that the next step belongs to, from 0.
    pub fn epoch(&self) -> u64 {
        self.step / self.plan.steps
    }

    /// The groups that learn in an epoch.
    pub fn learning(&self, epoch: u64) -> Groups {
        self.settings.learning(epoch, self.policy.config().frozen)
    }

    /// The classifier's learning rate at a step.
    pub(crate) fn schedule_rate(&self, step: u64) -> f64 {
        self.schedule.rate(step)
    }

    /// One iteration of the search.
    pub fn step(&mut self) -> Result<Step, Error> {
        let epoch = self.epoch();
        let mut clock = Clock::start();
        let pictures = self.next_training()?;
        clock.mark(&mut self.tally.phases.data);

        let noise = self.policy.draw(self.settings.seed, epoch as u32, &pictures.indices);
        let sample = self.policy.sample(noise, self.settings.temperature(epoch) as f32)?;
        let augmented = self.policy.apply(&pictures.images, &sample)?;
        let images = self.plan.pipeline.after(augmented.as_slice(), &pictures.views);
        clock.mark(&mut self.tally.phases.policy);

        let rate = self.schedule.rate(self.step);
        let learning = self.learning(epoch);
        let side = self.plan.pipeline.size;
        let batch = Batch { images: &images, labels: &pictures.labels, height: side, width: side };
        let keep = learning != Groups::NONE;
        let (evaluation, record) = if keep {
            let (evaluation, record) = self.classifier.train_and_keep(batch)?;
            (evaluation, Some(record))
        } else {
            (self.classifier.train(batch)?, None)
        };
        self.check_loss(evaluation.loss)?;
        let before = (self.settings.hypergradient == HypergradientChoice::Difference)
            .then(|| self.classifier.weights().clone());
        self.sgd.step(self.classifier.weights_mut(), &evaluation.gradient, rate as f32)?;
        clock.mark(&mut self.tally.phases.training);

        let mut seen = Step {
            epoch,
            step: self.step % self.plan.steps,
            loss: evaluation.loss,
            accuracy: accuracy(&evaluation.logits, &pictures.labels),
            validation: None,
        };
        self.tally.training(&seen, evaluation.gradient.dot(&evaluation.gradient).sqrt());
        if let Some(record) = record {
            let validation = self.next_validation()?;
            let mut images = validation.images.into_vec();
            self.plan.pipeline.normalise(&mut images);
            clock.mark(&mut self.tally.phases.data);
            let held_out = Batch { images: &images, labels: &validation.labels, height: side, width: side };
            let found = self.classifier.gradient(held_out)?;
            self.check_loss(found.loss)?;
            seen.validation = Some((found.loss, accuracy(&found.logits, &validation.labels)));
            clock.mark(&mut self.tally.phases.validation);

            let direction = average(self.direction.take(), found.gradient, self.settings.validation_momentum);
            let found = match before {
                None => record.hypergradient(&direction)?,
                Some(before) => {
                    let q = self.difference(batch, &before, &direction)?;
                    Hypergradient { parts: Vec::new(), q }
                }
            };
            self.direction = (self.settings.validation_momentum > 0.0).then_some(direction);
            drop::<Record>(record);
            clock.mark(&mut self.tally.phases.hypergradient);
            self.learn(&pictures, &sample, found, rate, learning)?;
            self.tally.validation(&seen);
            clock.mark(&mut self.tally.phases.pullback);
        }
        self.step += 1;
        Ok(seen)
    }

    /// The policy's step: the gradient through cutout, normalisation and policy, then Adam.
    fn learn(
        &mut self,
        pictures: &Pictures,
        sample: &Sample,
        found: Hypergradient,
        rate: f64,
        learning: Groups,
    ) -> Result<(), Error> {
        let by_rate =
            |values: Vec<f32>| values.into_iter().map(|value| -rate as f32 * value).collect::<Vec<_>>();
        let (q, losses) = (by_rate(found.q), by_rate(found.parts));
        let cotangent = self.plan.pipeline.after_pullback(&q, &pictures.views);
        let policy = &self.policy;
        let gradient =
            policy.pullback_with_losses(&pictures.images, sample, &cotangent, &losses, learning)?.parameters;
        let flat = |pair: [&[f32]; 2]| pair.concat();
        self.tally.gradients(gradient.depth(), gradient.types(), &flat(gradient.magnitudes()));
        let parameters = self.policy.parameters_mut();
        if learning.depth {
            self.adam.step(DEPTH, parameters.depth_mut(), gradient.depth())?;
        }
        if learning.types {
            self.adam.step(TYPES, parameters.types_mut(), gradient.types())?;
        }
        if learning.magnitudes {
            // Both bounds are one group: one call, so that they share a count of steps.
            let mut both = flat(parameters.magnitudes());
            self.adam.step(MAGNITUDES, &mut both, &flat(gradient.magnitudes()))?;
            let (first, second) = both.split_at(both.len() / 2);
            let [lower, upper] = parameters.magnitudes_mut();
            lower.copy_from_slice(first);
            upper.copy_from_slice(second);
        }
        Ok(())
    }

    /// The central difference of DARTS, at the weights before the step.
    fn difference(&mut self, batch: Batch, before: &Weights, direction: &Weights) -> Result<Vec<f32>, Error> {
        let radius = 0.01 / direction.dot(direction).sqrt().max(f64::MIN_POSITIVE);
        let after = self.classifier.weights().clone();
        let mut gradient_at = |radius: f64| {
            let moved = self.classifier.weights_mut().values_mut();
            for ((moved, before), direction) in moved.iter_mut().zip(before.values()).zip(direction.values())
            {
                *moved = before + radius as f32 * direction;
            }
            self.classifier.input_gradient(batch)
        };
        let (ahead, behind) = (gradient_at(radius)?.1, gradient_at(-radius)?.1);
        *self.classifier.weights_mut() = after;
        let slope = |(ahead, behind): (&f32, &f32)| (f64::from(ahead - behind) / (2.0 * radius)) as f32;
        Ok(ahead.iter().zip(&behind).map(slope).collect())
    }

    fn check_loss(&self, loss: f64) -> Result<(), Error> {
        if loss.is_finite() {
            return Ok(());
        }
        Err(Error::Diverged { loss, epoch: self.epoch() + 1, step: self.step % self.plan.steps + 1 })
    }

    fn next_training(&mut self) -> Result<Pictures, Error> {
        self.loaders().0.next_batch()
    }

    fn next_validation(&mut self) -> Result<Pictures, Error> {
        self.loaders().1.next_batch()
    }

    /// The threads that prepare batches; started when first needed, at the step where the search stands.
    fn loaders(&mut self) -> &mut (Batches, Batches) {
        let (plan, step, end) = (&self.plan, self.step, self.steps_total());
        // Validation batches are counted from the first epoch in which anything learns.
        let first = (0..self.settings.epochs).find(|&epoch| self.learning(epoch) != Groups::NONE);
        let first = first.unwrap_or(self.settings.epochs) * plan.steps;
        let used = step.saturating_sub(first);
        let workers = self.settings.workers;
        self.loaders.get_or_insert_with(|| {
            let load = |order: &Arc<Order>, range| {
                let (dataset, pipeline) = (Arc::clone(&plan.dataset), Arc::clone(&plan.pipeline));
                let order = Arc::clone(order);
                Loader::new(range, workers, move |number| Ok(order.prepare(&dataset, &pipeline, number)?))
            };
            (load(&plan.training, (step, end)), load(&plan.validation, (used, end.saturating_sub(first))))
        })
    }
}

/// The running average of a gradient.
fn average(before: Option<Weights>, now: Weights, momentum: f64) -> Weights {
    let Some(mut average) = before else { return now };
    let share = (1.0 - momentum) as f32;
    for (average, now) in average.values_mut().iter_mut().zip(now.values()) {
        *average += share * (now - *average);
    }
    average
}

/// Measures consecutive phases.
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(Instant::now())
    }

    fn mark(&mut self, seconds: &mut f64) {
        let now = Instant::now();
        *seconds += (now - self.0).as_secs_f64();
        self.0 = now;
    }
}

/// The share of images whose label has the largest logit.
pub(crate) fn accuracy(logits: &[f32], labels: &[u32]) -> f64 {
    right(logits, labels) as f64 / labels.len().max(1) as f64
}

/// How many images have the largest logit at their label.
pub(crate) fn right(logits: &[f32], labels: &[u32]) -> usize {
    let classes = logits.len() / labels.len().max(1);
    let is_right = |(row, label): &(&[f32], &u32)| {
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
        best == Some(**label as usize)
    };
    logits.chunks_exact(classes.max(1)).zip(labels).filter(is_right).count()
}

impl Phases {
    /// All of them together.
    pub fn total(&self) -> f64 {
        self.data + self.policy + self.training + self.validation + self.hypergradient + self.pullback
    }
}
