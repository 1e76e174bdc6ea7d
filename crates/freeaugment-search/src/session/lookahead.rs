//! A search that looks many steps ahead: a cycle of training steps under a policy that stays as it is, then back through all
//! of them with the exact derivative of the validation loss at their end, then one step of the policy.

use std::collections::HashMap;
use std::ops::Range;

use freeaugment::{Estimator, Groups, Policy, Sample, Sharing};

use super::model::{Model, Shown};
use super::search::{Clock, Search, Tally};
use super::slopes::{Slopes, Tied};
use super::{Session as _, Step};
use crate::config::Settings;
use crate::error::Error;
use crate::run::CycleSlopes;

/// A cycle that has begun.
#[derive(Debug)]
pub(super) struct Cycle<M: Model> {
    steps: Range<u64>,
    /// What a state holds until the cycle is over: going on means going through it again, which ends in the same bits.
    beginning: (M::Moment, Tally),
    back: Option<Back>,
}

impl<M: Model> Cycle<M> {
    /// What a state holds.
    pub(super) fn beginning(&self) -> (&M::Moment, &Tally) {
        (&self.beginning.0, &self.beginning.1)
    }
}

/// The way back through a cycle.
#[derive(Debug)]
struct Back {
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

impl<M: Model> Search<M> {
    /// Where a search with a horizon is told what a step means.
    pub(super) fn step_in_cycle(&mut self, steps: Range<u64>) -> Result<Step, Error> {
        let mut cycle = if let Some(cycle) = self.cycle.take() {
            cycle
        } else {
            let beginning = (self.model.moment()?, self.tally.clone());
            self.model.begin_cycle(&steps);
            Cycle { steps, beginning, back: None }
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

    fn step_forward(&mut self, cycle: &mut Cycle<M>) -> Result<Step, Error> {
        let number = self.progress().done;
        let mut clock = Clock::start();
        let batch = self.model.next_batch()?;
        clock.mark(&mut self.tally.phases.data);
        let (_, input) = self.augment(&batch)?;
        clock.mark(&mut self.tally.phases.policy);
        let trained = self.model.train(&batch, &input, false)?;
        clock.mark(&mut self.tally.phases.training);
        let seen = self.model.pace().seen(trained.loss, trained.accuracy);
        if number + 1 < cycle.steps.end {
            self.model.pace_mut().advance(&seen, trained.gradient_norm);
            return Ok(seen);
        }
        let (loss, right) = self.model.judge(&cycle.steps, self.cycles_done)?;
        self.tally.steps += 1;
        self.tally.loss += loss;
        self.tally.accuracy += right;
        clock.mark(&mut self.tally.phases.validation);
        let seen = Step { validation: Some((loss, right)), ..seen };
        cycle.back = Some(Back {
            next: number,
            slopes: Default::default(),
            credit: Credit::default(),
            last: (seen, trained.gradient_norm),
        });
        Ok(seen)
    }

    fn step_back(&mut self, cycle: &mut Cycle<M>, mut back: Back) -> Result<Step, Error> {
        let number = back.next;
        let mut clock = Clock::start();
        let batch = self.model.batch_again(number)?;
        clock.mark(&mut self.tally.phases.data);
        let (sample, input) = self.augment(&batch)?;
        clock.mark(&mut self.tally.phases.policy);
        let (policy, settings) = (&self.policy, &self.settings);
        let again =
            |model: &M, batch: &M::Batch| Ok(augment(policy, settings, model, batch, settings.seed)?.1);
        let (found, norm) = self.model.back(number, &batch, &input, &again)?;
        clock.mark(&mut self.tally.phases.hypergradient);

        let learning = self.cycle_learning(cycle);
        let mut draws = vec![(sample, self.model.gather(found.parts))];
        if self.settings.estimator == Estimator::Gain && (learning.depth || learning.types) {
            for draw in 1..=self.settings.draws {
                let (sample, input) = self.augment_again(&batch, draw)?;
                let parts = self.model.parts(&batch, &input)?;
                draws.push((sample, self.model.gather(parts)));
            }
        }
        clock.mark(&mut self.tally.phases.hypergradient);
        let Shown { members, .. } = self.model.shown(&batch);
        let losses = back.credit.take(members, &draws, norm);
        // What a sample of the batch says about depth, types and magnitudes.
        let pull = |sample: &Sample, cotangent: &[f32], losses: &[f32], learning: Groups| {
            let gradient = self.pull_back(&batch, sample, cotangent, losses, learning)?;
            Ok::<_, Error>(self.tied().groups(&gradient, learning))
        };
        let mut total = pull(&draws[0].0, &found.q, &losses[0], learning)?;
        // Other draws are not trained on: they say something about choices, nothing about magnitudes.
        let nothing = vec![0.0; found.q.len()];
        let choices = Groups { magnitudes: false, ..learning };
        for ((sample, _), losses) in draws.iter().zip(&losses).skip(1) {
            let [depth, types, _] = pull(sample, &nothing, losses, choices)?;
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
            self.model.pace_mut().advance(&seen, back.last.1);
        }
        clock.mark(&mut self.tally.phases.pullback);
        Ok(seen)
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
    fn cycle_learning(&self, cycle: &Cycle<M>) -> Groups {
        self.learning(cycle.steps.start / self.progress().per_epoch)
    }

    /// The sample of a training batch, and what the network sees of it.
    pub(super) fn augment(&self, batch: &M::Batch) -> Result<(Sample, M::Input), Error> {
        augment(&self.policy, &self.settings, &self.model, batch, self.settings.seed)
    }

    /// Another sample of the same batch, which nothing is trained on.
    fn augment_again(&self, batch: &M::Batch, draw: u64) -> Result<(Sample, M::Input), Error> {
        augment(&self.policy, &self.settings, &self.model, batch, self.settings.seed ^ (draw << 40))
    }
}

/// A sample of a batch, and what the network sees of it.
fn augment<M: Model>(
    policy: &Policy,
    settings: &Settings,
    model: &M,
    batch: &M::Batch,
    seed: u64,
) -> Result<(Sample, M::Input), Error> {
    let Shown { images, indices, members, epoch, .. } = model.shown(batch);
    let temperature = settings.temperature(u64::from(epoch)) as f32;
    // What a whole batch shares is drawn by its first image.
    let drawn = if policy.config().sharing == Sharing::PerBatch { members } else { indices };
    let sample = policy.sample(policy.draw(seed, epoch, drawn), temperature)?;
    let augmented = policy.apply(images, &sample)?;
    Ok((sample, model.input(batch, augmented)?))
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
