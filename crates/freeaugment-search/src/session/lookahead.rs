//! A search that looks many steps ahead: a cycle of training steps under a policy that stays as it is, then back through all
//! of them with the exact derivative of the validation loss at their end, then one step of the policy.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use freeaugment::{Estimator, Groups, Sample};
use freeaugment_data::{Loader, PictureBatch};
use freeaugment_nn::Batch;
use freeaugment_nn::optimizer::SgdAdjoint;

use super::evaluation::accuracy;
use super::search::{Clock, Search, Tally};
use super::slopes::{Slopes, Tied};
use super::trail::Trail;
use super::trainer::Moment;
use super::{Setup, Step};
use crate::config::Settings;
use crate::error::Error;
use crate::run::CycleSlopes;

/// A cycle that has begun.
#[derive(Debug)]
pub(super) struct Cycle {
    steps: Range<u64>,
    /// What a state holds until the cycle is over: going on means going through it again, which ends in the same bits.
    beginning: (Moment, Tally),
    trail: Trail,
    back: Option<Back>,
}

impl Cycle {
    /// What a state holds.
    pub(super) fn beginning(&self) -> (&Moment, &Tally) {
        (&self.beginning.0, &self.beginning.1)
    }
}

/// The way back through a cycle.
#[derive(Debug)]
struct Back {
    adjoint: SgdAdjoint,
    loader: Loader<PictureBatch, Error>,
    /// The step that is next.
    next: u64,
    slopes: [Slopes; 3],
    credit: Credit,
    /// What the last step of the cycle saw, and the norm of its gradient: it is counted when all is done.
    last: (Step, f64),
}

/// What is known of every image's parts so far: their sum and how many they are. An image that is hard once is hard at
/// other steps and in other draws, whatever is done to it: what it adds anyhow is not due to the policy, and subtracting it
/// leaves less noise. What is subtracted from a draw never depends on that draw.
#[derive(Debug, Default)]
struct Credit(HashMap<u32, (f64, f64)>);

impl Credit {
    /// The parts of every draw of a batch less what was to be expected of their images; `norm` is that of the step's
    /// direction, to which parts are in proportion.
    fn take(&mut self, indices: &[u32], draws: &[(Sample, Vec<f32>)], norm: f64) -> Vec<Vec<f32>> {
        let scale = norm.max(f64::MIN_POSITIVE);
        let mut losses = vec![Vec::with_capacity(indices.len()); draws.len()];
        for (at, &index) in indices.iter().enumerate() {
            let (past, count) = self.0.entry(index).or_default();
            let own: Vec<f64> = draws.iter().map(|(_, parts)| f64::from(parts[at]) / scale).collect();
            let sum: f64 = own.iter().sum();
            for (losses, own) in losses.iter_mut().zip(&own) {
                let others = draws.len() as f64 - 1.0;
                // The best guess where half of an image's variance is its own; other draws of the same step, where there
                // are any, know it better than other steps do.
                let expected =
                    if others > 0.0 { (sum - own) / (others + 1.0) } else { *past / (*count + 1.0) };
                losses.push(((own - expected) * scale) as f32);
            }
            *past += sum / draws.len() as f64;
            *count += 1.0;
        }
        losses
    }
}

impl Search {
    /// Where a search with a horizon is told what a step means.
    pub(super) fn step_in_cycle(&mut self, steps: Range<u64>) -> Result<Step, Error> {
        let mut cycle = match self.cycle.take() {
            Some(cycle) => cycle,
            None => Cycle {
                trail: Trail::new(
                    &steps,
                    self.trainer.classifier.layout().parameters(),
                    self.settings.horizon_mib << 20,
                ),
                steps,
                beginning: (self.trainer.moment(), self.tally.clone()),
                back: None,
            },
        };
        let seen = match cycle.back.take() {
            None => self.step_forward(&mut cycle)?,
            Some(back) => {
                let seen = self.step_back(&mut cycle, back)?;
                if cycle.back.is_none() {
                    return Ok(seen);
                }
                seen
            }
        };
        self.cycle = Some(cycle);
        Ok(seen)
    }

    fn step_forward(&mut self, cycle: &mut Cycle) -> Result<Step, Error> {
        let number = self.trainer.progress().done;
        let mut clock = Clock::start();
        let pictures = self.loaders().0.next_batch()?;
        clock.mark(&mut self.tally.phases.data);
        let (_, images) = self.augment(&pictures)?;
        clock.mark(&mut self.tally.phases.policy);
        cycle.trail.keep(number, self.trainer.classifier.weights(), self.trainer.sgd());
        let (evaluation, _) = self.trainer.train(self.batch(&images, &pictures.labels), false)?;
        self.trainer.descend(&evaluation.gradient)?;
        clock.mark(&mut self.tally.phases.training);
        let seen = self.trainer.seen(evaluation.loss, accuracy(&evaluation.logits, &pictures.labels));
        let norm = evaluation.gradient.dot(&evaluation.gradient).sqrt();
        if number + 1 < cycle.steps.end {
            self.trainer.advance(&seen, norm);
            return Ok(seen);
        }
        let (adjoint, loss, right) = self.judge()?;
        clock.mark(&mut self.tally.phases.validation);
        let seen = Step { validation: Some((loss, right)), ..seen };
        cycle.back = Some(Back {
            adjoint,
            loader: reversed(&self.settings, &self.setup, &cycle.steps),
            next: number,
            slopes: Default::default(),
            credit: Credit::default(),
            last: (seen, norm),
        });
        Ok(seen)
    }

    /// The gradient of the validation loss at the end of a cycle, its loss and its accuracy, over many batches.
    fn judge(&mut self) -> Result<(SgdAdjoint, f64, f64), Error> {
        let order = Arc::clone(&self.setup.validation);
        let all = order.batches() as u64;
        let wanted = if self.settings.cycle_batches == 0 { all } else { self.settings.cycle_batches as u64 };
        let (dataset, pipeline) = (Arc::clone(&self.setup.dataset), Arc::clone(&self.setup.pipeline));
        // Another part of the validation images in every cycle, where a cycle does not see them all.
        let first = self.cycles_done * wanted;
        let mut loader =
            Loader::<_, Error>::new((first, first + wanted), self.settings.workers, move |number| {
                Ok(order.prepare(&dataset, &pipeline, number)?)
            });
        let mut total = None;
        let (mut loss, mut right) = (0.0, 0.0);
        for _ in 0..wanted {
            let pictures = loader.next_batch()?;
            let mut images = pictures.images.into_vec();
            self.setup.pipeline.normalise(&mut images);
            let found = self.trainer.classifier.gradient(self.batch(&images, &pictures.labels))?;
            self.trainer.check_loss(found.loss)?;
            loss += found.loss / wanted as f64;
            right += accuracy(&found.logits, &pictures.labels) / wanted as f64;
            match &mut total {
                None => total = Some(found.gradient),
                Some(total) => total.add_scaled(1.0, &found.gradient)?,
            }
        }
        let mut gradient = total.expect("a search has a validation batch");
        gradient.scale(1.0 / wanted as f32)?;
        self.tally.steps += 1;
        self.tally.loss += loss;
        self.tally.accuracy += right;
        Ok((SgdAdjoint::new(self.trainer.sgd(), gradient), loss, right))
    }

    fn step_back(&mut self, cycle: &mut Cycle, mut back: Back) -> Result<Step, Error> {
        let number = back.next;
        let mut clock = Clock::start();
        let pictures = back.loader.next_batch()?;
        clock.mark(&mut self.tally.phases.data);
        let (sample, images) = self.augment(&pictures)?;
        clock.mark(&mut self.tally.phases.policy);
        let weights = cycle.trail.back(number, self.trainer.sgd(), |again, weights, sgd| {
            let pictures = self.setup.training.prepare(&self.setup.dataset, &self.setup.pipeline, again)?;
            let (_, images) = self.augment(&pictures)?;
            let batch = self.batch(&images, &pictures.labels);
            let (evaluation, _) = self.trainer.classifier.gradient_at(weights, batch)?;
            Ok(sgd.step(weights, &evaluation.gradient, self.trainer.rate_at(again) as f32)?)
        })?;
        let batch = self.batch(&images, &pictures.labels);
        let (_, record) = self.trainer.classifier.gradient_at(&weights, batch)?;
        let direction = back.adjoint.direction(self.trainer.rate_at(number) as f32)?;
        let (found, product) = record.hypergradient_and_product(&direction)?;
        drop(record);
        back.adjoint.step_back(&direction, &product)?;
        clock.mark(&mut self.tally.phases.hypergradient);

        let learning = self.cycle_learning(cycle);
        let mut draws = vec![(sample, found.parts)];
        if self.settings.estimator == Estimator::Gain && (learning.depth || learning.types) {
            for draw in 1..=self.settings.draws {
                let (sample, images) = self.augment_again(&pictures, draw)?;
                let batch = self.batch(&images, &pictures.labels);
                let parts = self.trainer.classifier.parts_at(&weights, batch, &direction)?;
                draws.push((sample, parts));
            }
        }
        clock.mark(&mut self.tally.phases.hypergradient);
        let norm = direction.dot(&direction).sqrt();
        let losses = back.credit.take(&pictures.indices, &draws, norm);
        let cotangent = self.setup.pipeline.after_pullback(&found.q, &pictures.views);
        let mut total = self.pull(&pictures, &draws[0].0, &cotangent, &losses[0], learning)?;
        // Other draws are not trained on: they say something about choices, nothing about magnitudes.
        let nothing = vec![0.0; cotangent.len()];
        let choices = Groups { magnitudes: false, ..learning };
        for ((sample, _), losses) in draws.iter().zip(&losses).skip(1) {
            let [depth, types, _] = self.pull(&pictures, sample, &nothing, losses, choices)?;
            for (total, values) in total.iter_mut().zip([depth, types]) {
                total.iter_mut().zip(values).for_each(|(total, value)| *total += value);
            }
        }
        for (slopes, values) in back.slopes.iter_mut().zip(&total) {
            slopes.add(values);
        }
        let done = cycle.steps.end - number;
        let mut seen = back.last.0;
        seen.looking_back = Some((done, cycle.steps.end - cycle.steps.start));
        if number > cycle.steps.start {
            back.next = number - 1;
            cycle.back = Some(back);
        } else {
            self.learn_from(&back.slopes);
            self.trainer.advance(&seen, back.last.1);
        }
        clock.mark(&mut self.tally.phases.pullback);
        Ok(seen)
    }

    /// What a sample of a batch says about depth, types and magnitudes.
    fn pull(
        &self,
        pictures: &PictureBatch,
        sample: &Sample,
        cotangent: &[f32],
        losses: &[f32],
        learning: Groups,
    ) -> Result<[Vec<f64>; 3], Error> {
        let images = &pictures.images;
        let gradient = self.policy.pullback_with_losses(images, sample, cotangent, losses, learning)?;
        Ok(self.tied().groups(&gradient.parameters, learning))
    }

    /// One step of the policy at the end of a cycle.
    fn learn_from(&mut self, slopes: &[Slopes; 3]) {
        let rates = [self.settings.depth_rate, self.settings.type_rate, self.settings.magnitude_rate];
        let mut steps: [Vec<f64>; 3] = Default::default();
        let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let [depth, types, magnitudes] = slopes.each_ref().map(|slopes| norm(slopes.sums()));
        self.tally.depth_gradient += depth;
        self.tally.type_gradient += types;
        self.tally.magnitude_gradient += magnitudes;
        for (group, slopes) in slopes.iter().enumerate() {
            let evidence = &mut self.evidence[group];
            if !slopes.sums().is_empty() {
                evidence.add(slopes, self.settings.slope_memory);
                steps[group] = evidence.steps(rates[group], self.settings.significance);
            }
        }
        self.cycles_done += 1;
        let scores =
            |group: usize| if steps[group].is_empty() { Vec::new() } else { self.evidence[group].scores() };
        self.tally.cycle = Some(CycleSlopes {
            cycle: self.cycles_done,
            cycles: self.cycles.map_or(0, |cycles| cycles.count()),
            depth: scores(0),
            types: scores(1),
            magnitudes: scores(2),
        });
        self.tied().apply(self.policy.parameters_mut(), steps);
    }

    fn tied(&self) -> Tied {
        Tied { layers: if self.settings.tie_layers { self.policy.config().layers } else { 1 } }
    }

    /// The groups that learn from a cycle: those that do in its first epoch.
    fn cycle_learning(&self, cycle: &Cycle) -> Groups {
        self.learning(cycle.steps.start / self.trainer.progress().per_epoch)
    }

    /// The sample of a training batch, and what the network sees of it.
    pub(super) fn augment(&self, pictures: &PictureBatch) -> Result<(Sample, Vec<f32>), Error> {
        self.augment_by(pictures, self.settings.seed)
    }

    /// Another sample of the same batch, which nothing is trained on.
    fn augment_again(&self, pictures: &PictureBatch, draw: u64) -> Result<(Sample, Vec<f32>), Error> {
        self.augment_by(pictures, self.settings.seed ^ (draw << 40))
    }

    fn augment_by(&self, pictures: &PictureBatch, seed: u64) -> Result<(Sample, Vec<f32>), Error> {
        let noise = self.policy.draw(seed, pictures.epoch, &pictures.indices);
        let temperature = self.settings.temperature(u64::from(pictures.epoch)) as f32;
        let sample = self.policy.sample(noise, temperature)?;
        let augmented = self.policy.apply(&pictures.images, &sample)?;
        Ok((sample, self.setup.pipeline.after(augmented.as_slice(), &pictures.views)))
    }

    /// Images as the classifier takes them.
    pub(super) fn batch<'a>(&self, images: &'a [f32], labels: &'a [u32]) -> Batch<'a> {
        let side = self.setup.pipeline.size;
        Batch { images, labels, height: side, width: side }
    }
}

/// The batches of a cycle, from last to first.
fn reversed(settings: &Settings, setup: &Setup, steps: &Range<u64>) -> Loader<PictureBatch, Error> {
    let (dataset, pipeline) = (Arc::clone(&setup.dataset), Arc::clone(&setup.pipeline));
    let order = Arc::clone(&setup.training);
    let last = steps.end - 1;
    Loader::new((0, steps.end - steps.start), settings.workers, move |back| {
        Ok(order.prepare(&dataset, &pipeline, last - back)?)
    })
}

#[cfg(test)]
mod tests {
    use freeaugment::PolicyConfig;

    use super::*;

    /// Draws of two images whose parts are these.
    fn draws(parts: &[[f32; 2]]) -> Vec<(Sample, Vec<f32>)> {
        let policy = PolicyConfig { layers: 1, ..PolicyConfig::default() }.init().unwrap();
        let sample = || policy.sample(policy.draw(0, 0, &[7, 8]), 1.0).unwrap();
        parts.iter().map(|parts| (sample(), parts.to_vec())).collect()
    }

    #[test]
    fn what_is_subtracted_from_a_draw_does_not_depend_on_it() {
        let take =
            |own: f32| Credit::default().take(&[7, 8], &draws(&[[own, 1.0], [3.0, 2.0], [6.0, 4.0]]), 2.0);
        let (one, other) = (take(1.0), take(5.0));
        assert!((other[0][0] - one[0][0] - 4.0).abs() < 1e-6);
        // Two other draws add 9 together: a third of that is what was to be expected.
        assert!((one[0][0] - (1.0 - 3.0)).abs() < 1e-6);
        assert_eq!(one[0][1], other[0][1]);
    }

    #[test]
    fn a_single_draw_is_compared_with_the_steps_before_in_proportion_to_their_directions() {
        let mut credit = Credit::default();
        assert_eq!(credit.take(&[7, 8], &draws(&[[4.0, 1.0]]), 1.0), [[4.0, 1.0]]);
        // Half of what it was before, times a direction that is twice as long.
        assert_eq!(credit.take(&[7, 8], &draws(&[[10.0, 1.0]]), 2.0), [[6.0, 0.0]]);
    }
}
