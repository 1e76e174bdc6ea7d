//! The bilevel search: one training step of the classifier, one step of the policy, again and again.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use freeaugment::{Groups, Parameters, Policy, Sample};
use freeaugment_nn::optimizer::Adam;
use freeaugment_nn::ranks::Ranks;
use freeaugment_nn::{Classifier, Hypergradient};
use serde::{Deserialize, Serialize};

use super::cycles::Cycles;
use super::lookahead::Cycle;
use super::model::{Model, Shown};
use super::native::Native;
use super::slopes::Evidence;
use super::trainer::classifier;
use super::{DataIdentity, Progress, Session, Setup, Step};
use crate::config::{Settings, Task};
use crate::error::Error;
use crate::run::{
    CycleSlopes, Effective, GradientNorms, LayerRanges, Phases, RunFolder, SearchEpoch, Share, StateReader,
    StateWriter, make_folder,
};

/// The groups of the policy's optimiser, in the order of their learning rates, and their names in a state.
const DEPTH: usize = 0;
const TYPES: usize = 1;
const MAGNITUDES: usize = 2;
const GROUPS: [&str; 3] = ["depth", "types", "magnitudes"];

/// A step that learns costs about three that only train: one more pass for validation, a double one for the gradient.
const LEARNING_WORK: f64 = 3.0;

/// A step of a cycle is a training step, and on the way back one more and a double one for gradient and product.
const CYCLE_WORK: f64 = 4.5;

/// A policy and what it is learned with: a classifier of this library, or a [`Model`] that lives elsewhere.
#[derive(Debug)]
pub struct Search<M: Model = Native> {
    pub(super) settings: Settings,
    pub(super) model: M,
    pub(super) policy: Policy,
    adam: Adam,
    /// The cycles of a search with a horizon, how many of them are over, and the one that has begun.
    pub(super) cycles: Option<Cycles>,
    pub(super) cycles_done: u64,
    pub(super) cycle: Option<Cycle<M>>,
    /// What all cycles said about depth, types and magnitudes.
    pub(super) evidence: [Evidence; 3],
    pub(super) tally: Tally,
}

/// Sums over the steps of an epoch in which the policy learned, and seconds of all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) steps: u64,
    pub(super) loss: f64,
    pub(super) accuracy: f64,
    pub(super) depth_gradient: f64,
    pub(super) type_gradient: f64,
    pub(super) magnitude_gradient: f64,
    pub(super) phases: Phases,
    /// What the last cycle that ended in this epoch said.
    pub(super) cycle: Option<CycleSlopes>,
}

impl Search {
    /// A search at its beginning, with the network that the settings name.
    pub fn new(settings: Settings, setup: Setup) -> Result<Self, Error> {
        let classifier = classifier(&settings, &setup, settings.seed)?;
        Self::with_classifier(settings, setup, classifier)
    }

    /// A search at its beginning, with a classifier of one's own. It must take the data's images and know its classes.
    pub fn with_classifier(settings: Settings, setup: Setup, classifier: Classifier) -> Result<Self, Error> {
        settings.check()?;
        let model = Native::new(&settings, setup, classifier)?;
        let policy = settings.policy_config()?.init()?;
        Self::with_model(settings, model, policy)
    }

    /// Its data.
    pub fn setup(&self) -> &Setup {
        &self.model.setup
    }

    /// The classifier as it is now.
    pub fn classifier(&self) -> &Classifier {
        &self.model.trainer.classifier
    }
}

impl<M: Model> Search<M> {
    /// A search at its beginning, with a model that may live elsewhere, and a policy to begin with.
    pub fn with_model(settings: Settings, mut model: M, policy: Policy) -> Result<Self, Error> {
        settings.check()?;
        let parameters = policy.parameters();
        let adam = Adam::new(&[
            (settings.depth_rate, parameters.depth().len()),
            (settings.type_rate, parameters.types().len()),
            (settings.magnitude_rate, 2 * parameters.magnitudes()[0].len()),
        ])?
        .with_epsilon(DEPTH, settings.depth_epsilon)?
        .with_epsilon(TYPES, settings.type_epsilon)?;
        let Progress { total, per_epoch, .. } = model.pace().progress();
        let first = settings.first_learning(policy.config().frozen) * per_epoch;
        let cycles = Cycles::new(first, total, settings.horizon);
        model.pace_mut().set_cycles(cycles, settings.cycle_rate);
        Ok(Self {
            settings,
            model,
            policy,
            adam,
            cycles,
            cycles_done: 0,
            cycle: None,
            evidence: Default::default(),
            tally: Tally::default(),
        })
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What it learns with.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The policy as it is now.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Seconds that the steps of the current epoch spent in each phase.
    pub fn phases(&self) -> Phases {
        self.tally.phases
    }

    /// Whether the cycles that are over said nothing about the policy that noise would not say as well. Never where the
    /// search looks one step ahead: then nothing is known about noise.
    pub fn learned_nothing(&self) -> bool {
        self.cycles_done > 0 && self.evidence.iter().all(Evidence::is_noise)
    }

    /// How many cycles are over, there and back.
    pub(crate) fn cycles_done(&self) -> u64 {
        self.cycles_done
    }

    /// The groups that learn in an epoch.
    pub fn learning(&self, epoch: u64) -> Groups {
        self.settings.learning(epoch, self.policy.config().frozen)
    }

    /// The policy with where it comes from: nothing that differs between two runs of the same search.
    pub fn policy_with_provenance(&self, epoch: u64) -> Policy {
        let mut policy = self.policy.clone();
        let (settings, model) = (&self.settings, &self.model);
        let DataIdentity { title, training, validation, fingerprint, .. } = model.data();
        let entries = [
            ("program", format!("freeaugment {}", env!("CARGO_PKG_VERSION"))),
            ("data", title.clone()),
            ("data_fingerprint", fingerprint.clone()),
            ("images", format!("{training} training, {validation} validation")),
            ("image_size", model.image_size()),
            ("network", model.network()),
            ("batch", settings.batch.to_string()),
            ("seed", settings.seed.to_string()),
            ("epoch", format!("{epoch} of {}", settings.epochs)),
        ];
        policy.provenance_mut().extend(entries.map(|(key, value)| (key.to_owned(), value)));
        policy
    }

    /// The gradient to the policy's parameters of the whole batch; `losses` are those of all its images.
    pub(super) fn pull_back(
        &self,
        batch: &M::Batch,
        sample: &Sample,
        cotangent: &[f32],
        losses: &[f32],
        learning: Groups,
    ) -> Result<Parameters, Error> {
        let Shown { images, part, .. } = self.model.shown(batch);
        let own = self.policy.pullback_of_part(images, sample, cotangent, (losses, part), learning)?;
        Ok(self.policy.sum_gradients(&self.model.gather(own))?)
    }

    /// The policy's step: the gradient through the policy, then Adam.
    fn learn(
        &mut self,
        batch: &M::Batch,
        sample: &Sample,
        found: &Hypergradient,
        learning: Groups,
    ) -> Result<(), Error> {
        let losses = self.model.gather(found.parts.clone());
        let gradient = self.pull_back(batch, sample, &found.q, &losses, learning)?;
        let flat = |pair: [&[f32]; 2]| pair.concat();
        let norm = |values: &[f32]| values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
        self.tally.depth_gradient += norm(gradient.depth());
        self.tally.type_gradient += norm(gradient.types());
        self.tally.magnitude_gradient += norm(&flat(gradient.magnitudes()));
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
}

impl<M: Model> Session for Search<M> {
    type Epoch = SearchEpoch;

    fn progress(&self) -> Progress {
        self.model.pace().progress()
    }

    /// One iteration of the search.
    fn step(&mut self) -> Result<Step, Error> {
        if let Some(cycle) = self.cycles.and_then(|cycles| cycles.at(self.progress().done)) {
            return self.step_in_cycle(cycle);
        }
        let learning = self.learning(self.model.pace().epoch());
        let mut clock = Clock::start();
        let batch = self.model.next_batch()?;
        clock.mark(&mut self.tally.phases.data);
        let (sample, input) = self.augment(&batch)?;
        clock.mark(&mut self.tally.phases.policy);
        let trained = self.model.train(&batch, &input, learning != Groups::NONE)?;
        clock.mark(&mut self.tally.phases.training);

        let mut seen = self.model.pace().seen(trained.loss, trained.accuracy);
        if learning != Groups::NONE {
            let validation = self.model.next_validation_batch()?;
            clock.mark(&mut self.tally.phases.data);
            let (loss, right) = self.model.validate(validation)?;
            seen.validation = Some((loss, right));
            self.tally.steps += 1;
            self.tally.loss += loss;
            self.tally.accuracy += right;
            clock.mark(&mut self.tally.phases.validation);
            let found = self.model.slope(&batch, &input)?;
            clock.mark(&mut self.tally.phases.hypergradient);
            self.learn(&batch, &sample, &found, learning)?;
            clock.mark(&mut self.tally.phases.pullback);
        }
        self.model.pace_mut().advance(&seen, trained.gradient_norm);
        Ok(seen)
    }

    fn end_epoch(&mut self) -> Result<SearchEpoch, Error> {
        let epoch = self.model.pace().epoch() - 1;
        let tally = std::mem::take(&mut self.tally);
        let training = std::mem::take(&mut self.model.pace_mut().tally);
        let settings = &self.settings;
        let start = Instant::now();
        let score = settings.evaluates_after(epoch + 1).then(|| self.model.evaluate()).transpose()?;
        let description = self.policy.describe()?;
        let transformations = &self.policy.config().transformations;
        let names = || transformations.iter().map(|ranged| ranged.transformation.name().to_owned());
        let ranges = names().zip(&description.magnitudes).filter_map(|(name, ranges)| {
            let ranges = ranges.iter().map(|range| range.map(|range| (range.low, range.high)));
            Some(LayerRanges { name, ranges: ranges.collect::<Option<_>>()? })
        });
        let mean = |sum: f64| sum / tally.steps.max(1) as f64;
        let learned = |sum: f64| (tally.steps > 0).then(|| mean(sum));
        Ok(SearchEpoch {
            epoch: epoch + 1,
            learning_rate: self.model.pace().last_rate(),
            temperature: settings.temperature(epoch),
            learning: group_names(self.learning(epoch)),
            loss: training.loss(),
            accuracy: training.accuracy(),
            validation_loss: learned(tally.loss),
            validation_accuracy: learned(tally.accuracy),
            evaluation_loss: score.map(|score| score.loss),
            evaluation_accuracy: score.map(|score| score.accuracy),
            depth: description.depth.clone(),
            usage: names().zip(&description.usage).map(|(name, &share)| Share { name, share }).collect(),
            types: description.types.clone(),
            ranges: ranges.collect(),
            repetition: description.repetition,
            effective: Effective::of(&description.depth, &description.usage),
            cycle: tally.cycle,
            gradients: GradientNorms {
                weights: training.gradient(),
                depth: mean(tally.depth_gradient),
                types: mean(tally.type_gradient),
                magnitudes: mean(tally.magnitude_gradient),
            },
            seconds: tally.phases,
            evaluation_seconds: start.elapsed().as_secs_f64(),
        })
    }

    fn write_epoch(&self, folder: &Path, epoch: &SearchEpoch) -> Result<(), Error> {
        let folder = RunFolder::new(folder);
        let policy = self.policy_with_provenance(epoch.epoch);
        make_folder(&folder.policies())?;
        policy.save(folder.policy_of(epoch.epoch))?;
        policy.save(folder.policy())?;
        folder.log(&format!("epoch {} of {}: loss {:.4}", epoch.epoch, self.settings.epochs, epoch.loss))
    }

    fn settings(&self) -> (Task, &Settings) {
        (Task::Search, &self.settings)
    }

    fn data(&self) -> &DataIdentity {
        self.model.data()
    }

    fn ranks(&self) -> Arc<dyn Ranks> {
        self.model.ranks()
    }

    fn save(&self, state: &mut StateWriter) -> Result<(), Error> {
        // A cycle is gone through again from its beginning.
        if let Some(cycle) = &self.cycle {
            let (moment, tally) = cycle.beginning();
            self.model.save(moment, state)?;
            state.json("search_tally", tally);
        } else {
            self.model.save(&self.model.moment()?, state)?;
            state.json("search_tally", &self.tally);
        }
        let parameters = self.policy.parameters();
        state.singles("policy.depth", parameters.depth());
        state.singles("policy.types", parameters.types());
        for (name, values) in
            ["policy.magnitudes.0", "policy.magnitudes.1"].iter().zip(parameters.magnitudes())
        {
            state.singles(name, values);
        }
        state.entry("cycles", self.cycles_done.to_string());
        for (evidence, name) in self.evidence.iter().zip(GROUPS) {
            state.doubles(&format!("slopes.{name}.sums"), &evidence.sums);
            state.doubles(&format!("slopes.{name}.variances"), &evidence.variances);
        }
        for (group, name) in GROUPS.iter().enumerate() {
            let (steps, first, second) = self.adam.state(group).expect("three groups");
            state.entry(&format!("adam.{name}.steps"), steps.to_string());
            for (moment, values) in [("first", first), ("second", second)] {
                state.doubles(&format!("adam.{name}.{moment}"), values);
            }
        }
        Ok(())
    }

    fn restore(&mut self, state: &StateReader) -> Result<(), Error> {
        self.model.restore(state)?;
        self.tally = state.json("search_tally")?;
        let parameters = self.policy.parameters_mut();
        state.singles("policy.depth", parameters.depth_mut())?;
        state.singles("policy.types", parameters.types_mut())?;
        let [first, second] = parameters.magnitudes_mut();
        state.singles("policy.magnitudes.0", first)?;
        state.singles("policy.magnitudes.1", second)?;
        self.cycles_done = state.number("cycles")?;
        for (evidence, name) in self.evidence.iter_mut().zip(GROUPS) {
            evidence.sums = state.doubles(&format!("slopes.{name}.sums"))?;
            evidence.variances = state.doubles(&format!("slopes.{name}.variances"))?;
        }
        for (group, name) in GROUPS.iter().enumerate() {
            let steps = state.number(&format!("adam.{name}.steps"))?;
            let [first, second] =
                ["first", "second"].map(|moment| state.doubles(&format!("adam.{name}.{moment}")));
            self.adam.set_state(group, steps, &first?, &second?)?;
        }
        Ok(())
    }

    fn work(&self, steps: Range<u64>) -> f64 {
        let each = self.progress().per_epoch;
        let epochs = steps.start / each..steps.end.div_ceil(each);
        let of_epoch = |epoch: u64| {
            let within = steps.end.min((epoch + 1) * each) - steps.start.max(epoch * each);
            let learning = if self.cycles.is_some() { CYCLE_WORK } else { LEARNING_WORK };
            within as f64 * if self.learning(epoch) == Groups::NONE { 1.0 } else { learning }
        };
        epochs.map(of_epoch).sum()
    }
}

fn group_names(groups: Groups) -> Vec<String> {
    let named = [(groups.magnitudes, "magnitudes"), (groups.types, "types"), (groups.depth, "depth")];
    named.into_iter().filter(|(learns, _)| *learns).map(|(_, name)| name.to_owned()).collect()
}

/// Measures consecutive phases.
pub(super) struct Clock(Instant);

impl Clock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn mark(&mut self, seconds: &mut f64) {
        let now = Instant::now();
        *seconds += (now - self.0).as_secs_f64();
        self.0 = now;
    }
}
