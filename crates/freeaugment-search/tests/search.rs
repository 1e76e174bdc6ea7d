//! Steps, variants, and that nothing but the settings decides what comes out.

use std::sync::atomic::AtomicBool;

use freeaugment::{Groups, Policy, Sharing};
use freeaugment_data::Order;
use freeaugment_nn::optimizer::{Adam, Cosine, Sgd, SgdAdjoint};
use freeaugment_nn::{Batch, Classifier, Device, Network};
use freeaugment_search::{
    Halt, HypergradientChoice, Observer, Patch, Run, RunState, RunWriter, Search, Session as _, Settings,
    Setup, Step, Task, resolve,
};

/// A search of a few seconds, with more settings on top.
fn settings(more: &str) -> Settings {
    let text = "drawings_train = 96\ndrawings_validation = 40\nbatch = 16\nepochs = 2\nlayers = 2\nmagnitude_start = 0\n\
         type_start = 0\ndepth_start = 0\ncrop = 'pad'\ncutout = 8\nproof_epochs = 0\n\
         transformations = ['Rotate', 'Brightness', 'Invert']\nestimator = 'straight-through'\nvalidation_momentum = 0.0";
    let patch = |text: &str| Patch { place: "a test".to_owned(), values: text.parse().unwrap() };
    resolve(Task::Search, "drawings", &[patch(text), patch(more)]).unwrap()
}

fn search(settings: &Settings) -> Search {
    Search::new(settings.clone(), Setup::for_search(settings, &()).unwrap()).unwrap()
}

/// The folder of a new run for a search.
fn create(folder: &std::path::Path, search: &Search) -> RunWriter {
    RunWriter::create(folder, Task::Search, search.settings(), &search.setup().identity, &[]).unwrap()
}

fn finish(search: &mut Search) -> Policy {
    while !search.progress().is_finished() {
        search.step().unwrap();
    }
    search.policy().clone()
}

#[test]
fn a_step_is_made_of_the_published_parts_in_the_published_order() {
    check_step("straight-through");
}

#[test]
fn a_step_by_gain_credits_what_was_chosen_with_the_images_part_of_the_inner_product() {
    check_step("gain");
}

fn check_step(estimator: &str) {
    let settings = settings(&format!(
        "seed = 5\nlearning_rate = 0.05\ntype_epsilon = 0.001\ndepth_epsilon = 0.002\nestimator = '{estimator}'"
    ));
    let mut search = search(&settings);
    search.step().unwrap();

    let setup = Setup::for_search(&settings, &()).unwrap();
    let first = |order: &Order| order.prepare(&setup.dataset, &setup.pipeline, 0).unwrap();
    let (training, validation) = (first(&setup.training), first(&setup.validation));
    let network = Network::new(settings.network.parse().unwrap(), setup.dataset.classes.len(), 3).unwrap();
    let mut classifier = Classifier::new(network, &Device::cpu(), 5);
    let mut policy = settings.policy_config().unwrap().init().unwrap();
    let sample = policy.sample(policy.draw(5, 0, &training.indices), 1.0).unwrap();
    let augmented = policy.apply(&training.images, &sample).unwrap();
    let images = setup.pipeline.after(augmented.as_slice(), &training.views);
    let batch = Batch { images: &images, labels: &training.labels, height: 32, width: 32 };
    let (evaluation, record) = classifier.train_and_keep(batch).unwrap();
    let mut sgd = Sgd::new(0.9, true, 5e-4).unwrap();
    sgd.step(classifier.weights_mut(), &evaluation.gradient, 0.05).unwrap();
    let mut images = validation.images.into_vec();
    setup.pipeline.normalise(&mut images);
    let batch = Batch { images: &images, labels: &validation.labels, height: 32, width: 32 };
    let direction = classifier.gradient(batch).unwrap().gradient;
    let found = record.hypergradient(&direction).unwrap();
    let scaled = |values: &[f32]| values.iter().map(|value| -0.05 * value).collect::<Vec<f32>>();
    let cotangent = setup.pipeline.after_pullback(&scaled(&found.q), &training.views);
    let gradient = if estimator == "gain" {
        let losses = scaled(&found.parts);
        policy.pullback_with_losses(&training.images, &sample, &cotangent, &losses, Groups::ALL)
    } else {
        policy.pullback(&training.images, &sample, &cotangent, Groups::ALL)
    };
    let gradient = gradient.unwrap().parameters;
    let (depth, types) = (gradient.depth(), gradient.types());
    let adam = Adam::new(&[(settings.depth_rate, depth.len()), (settings.type_rate, types.len())]).unwrap();
    let mut adam = adam.with_epsilon(0, 0.002).unwrap().with_epsilon(1, 0.001).unwrap();
    adam.step(0, policy.parameters_mut().depth_mut(), depth).unwrap();
    adam.step(1, policy.parameters_mut().types_mut(), types).unwrap();

    assert_eq!(search.classifier().weights(), classifier.weights());
    let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    let initial = settings.policy_config().unwrap().init().unwrap();
    let [found, expected, initial] = [search.policy(), &policy, &initial].map(Policy::parameters);
    assert!(close(found.depth(), expected.depth()));
    assert!(close(found.types(), expected.types()));
    assert_ne!(expected.depth(), initial.depth());
    assert_ne!(expected.types(), initial.types());
}

#[test]
fn the_number_of_loading_threads_and_the_cache_change_nothing() {
    let policy = finish(&mut search(&settings("workers = 1")));
    assert_eq!(policy, finish(&mut search(&settings("workers = 3"))));
    assert_eq!(policy, finish(&mut search(&settings("cache_mib = 0"))));
    assert_ne!(policy, finish(&mut search(&settings("seed = 9"))));
}

/// Stops after so many steps.
struct StopAfter<'a> {
    steps: u64,
    stop: &'a AtomicBool,
}

impl Observer<Search> for StopAfter<'_> {
    fn step(&mut self, search: &Search, _: &Step) {
        self.stop.store(search.progress().done >= self.steps, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_search_that_was_stopped_anywhere_continues_bit_for_bit() {
    check_resume("seed = 3\nmagnitude_start = 1");
}

#[test]
fn a_stopped_search_remembers_the_averaged_validation_gradient() {
    check_resume("estimator = 'gain'\nvalidation_momentum = 0.9");
}

fn check_resume(more: &str) {
    let settings = settings(more);
    let folder = tempfile::tempdir().unwrap();
    let mut whole = search(&settings);
    let whole_run = create(&folder.path().join("whole"), &whole);
    whole_run.search(&mut whole, &mut (), &AtomicBool::new(false)).unwrap();
    for steps in [1, 6, 8] {
        let path = folder.path().join(format!("stopped-{steps}"));
        let mut stopped = search(&settings);
        let run = create(&path, &stopped);
        let stop = AtomicBool::new(false);
        let halt = run.search(&mut stopped, &mut StopAfter { steps, stop: &stop }, &stop).unwrap();
        assert_eq!(halt, Halt::Stopped);
        assert_eq!(run.state().unwrap(), RunState::Search { done: steps, total: Some(12) });
        drop(run);
        let run = RunWriter::open(&path).unwrap();
        let read = run.settings().unwrap();
        assert_eq!(read, settings);
        let mut again = search(&read);
        run.restore(&mut again).unwrap();
        assert_eq!(again.progress().done, steps);
        run.search(&mut again, &mut (), &AtomicBool::new(false)).unwrap();
        assert_eq!(
            std::fs::read(run.policy_path()).unwrap(),
            std::fs::read(whole_run.policy_path()).unwrap()
        );
        assert_eq!(again.classifier().weights(), whole.classifier().weights());
        assert!(run.state().unwrap().is_finished());
    }
}

#[test]
fn every_variant_of_the_paper_is_a_setting_away() {
    for more in [
        "types = 'softmax'",
        "depth = 'fixed'\nfixed_depth = 2",
        "depth = 'application'",
        "depth = 'application'\ntypes = 'softmax'",
        "magnitudes = 'gaussian'",
        "sharing = 'per-batch'",
        "estimator = 'soft-backward'",
        "estimator = 'gain'",
        "estimator = 'gain'\ndepth = 'application'",
        "assignment = 'exact'",
        "hypergradient = 'difference'",
        "place = 'first'",
        "warm_up = false\ntype_start = 9",
        "label_smoothing = 0.1",
    ] {
        let settings = settings(more);
        let mut search = search(&settings);
        let before = search.policy().parameters().clone();
        search.step().unwrap();
        let after = search.policy().parameters();
        assert_ne!(before.types(), after.types(), "{more}");
        assert_ne!(before.magnitudes(), after.magnitudes(), "{more}");
        assert_eq!(before.depth() == after.depth(), more.contains("fixed"), "{more}");
    }
}

#[test]
fn frozen_groups_and_groups_that_wait_stay_as_they_are() {
    for (more, [depth, types, magnitudes]) in [
        ("frozen = ['depth']", [false, true, true]),
        ("frozen = ['types', 'magnitudes']", [true, false, false]),
        ("type_start = 1", [true, false, true]),
        ("depth_start = 2\nmagnitude_start = 2\ntype_start = 2", [false; 3]),
    ] {
        let mut search = search(&settings(more));
        let before = search.policy().parameters().clone();
        let step = search.step().unwrap();
        let after = search.policy().parameters();
        assert_eq!(before.depth() != after.depth(), depth, "{more}");
        assert_eq!(before.types() != after.types(), types, "{more}");
        assert_eq!(before.magnitudes() != after.magnitudes(), magnitudes, "{more}");
        assert_eq!(step.validation.is_some(), depth || types || magnitudes, "{more}");
    }
}

#[test]
fn a_validation_gradient_with_momentum_is_another_one_from_the_second_step_on() {
    let (mut plain, mut averaged) = (search(&settings("")), search(&settings("validation_momentum = 0.9")));
    let mut step = || {
        [&mut plain, &mut averaged].map(|search| {
            search.step().unwrap();
            search.policy().parameters().clone()
        })
    };
    let [first, same] = step();
    assert_eq!(first, same);
    let [second, other] = step();
    assert_ne!(second, other);
}

#[test]
fn the_learning_rate_falls_to_its_floor() {
    let settings = settings("learning_rate = 0.05\nlearning_rate_floor = 0.4");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut search = search(&settings);
    let run = create(&path, &search);
    run.search(&mut search, &mut (), &AtomicBool::new(false)).unwrap();
    let last = Run::open(&path).unwrap().epochs().unwrap().pop().unwrap();
    // The rate of the last of the steps, one before the end of the cosine.
    let turn = std::f64::consts::PI * (1.0 - 1.0 / search.progress().total as f64);
    let wanted = 0.02 + 0.03 * (1.0 + turn.cos()) / 2.0;
    let found = last.learning_rate;
    assert!((found - wanted).abs() < 1e-9, "{found} in place of {wanted}");
}

#[test]
fn gain_is_refused_where_it_cannot_be_computed() {
    let gain = settings("estimator = 'gain'");
    for settings in [
        Settings { sharing: Sharing::PerBatch, ..gain.clone() },
        Settings { hypergradient: HypergradientChoice::Difference, ..gain.clone() },
    ] {
        let message = settings.check().unwrap_err().to_string();
        assert!(message.contains("estimator") && message.contains("straight-through"), "{message}");
    }
}

#[test]
fn a_checkpoint_of_another_configuration_or_of_other_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings("type_rate = 0.05");
    let mut first = search(&settings);
    let run = create(&folder.path().join("run"), &first);
    let stop = AtomicBool::new(false);
    run.search(&mut first, &mut StopAfter { steps: 2, stop: &stop }, &stop).unwrap();
    let refused = |more: Settings| run.restore(&mut search(&more)).unwrap_err().to_string();
    let message = refused(Settings { type_rate: 0.5, ..settings.clone() });
    assert!(message.contains("`type_rate` is 0.5 in the run's configuration, but 0.05 here"), "{message}");
    let message = refused(Settings { drawings_validation: 48, ..settings.clone() });
    assert!(message.contains("`drawings_validation` is 48"), "{message}");
    let path = folder.path().join("run/checkpoint.safetensors");
    let whole = std::fs::read(&path).unwrap();
    for cut in [0, 7, 200, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(refused(settings.clone()).contains("is not a checkpoint of this program"));
    }
}

#[test]
fn too_few_images_for_a_batch_are_counted() {
    let settings = settings("batch = 64");
    let message = Setup::for_search(&settings, &()).unwrap_err().to_string();
    assert_eq!(
        message,
        "the validation split has 40 images, but 64 are needed for one batch (`batch`, `images`, `validation_share`)"
    );
}

/// A search of twelve steps that looks four steps ahead, three times.
const FAR: &str = "horizon = 4\nestimator = 'gain'\ndepth_rate = 0.4\ntype_rate = 0.25\nmagnitude_rate = 0.1\ncycle_rate = 0.03";

#[test]
fn a_cycle_moves_the_policy_against_the_exact_derivative_through_all_of_its_steps() {
    let far = FAR.replace("horizon = 4", "horizon = 12");
    let settings = settings(&format!(
        "{far}\nseed = 5\nsignificance = 0.0\ntie_layers = false\nepochs = 2\ncycle_batches = 1\n\
         transformations = ['Rotate', 'Brightness']\nlayers = 1"
    ));
    let mut search = search(&settings);
    finish(&mut search);

    // The same by hand: twelve steps forward, and back through all of them.
    let setup = Setup::for_search(&settings, &()).unwrap();
    let network = Network::new(settings.network.parse().unwrap(), setup.dataset.classes.len(), 3).unwrap();
    let mut classifier = Classifier::new(network, &Device::cpu(), 5);
    let policy = settings.policy_config().unwrap().init().unwrap();
    let mut sgd = Sgd::new(0.9, true, 5e-4).unwrap();
    let cosine = Cosine::new(0.03, 0.0, 12).unwrap();
    let mut steps = Vec::new();
    for number in 0..12 {
        let pictures = setup.training.prepare(&setup.dataset, &setup.pipeline, number).unwrap();
        let temperature = settings.temperature(number / 6) as f32;
        let noise = policy.draw(5, pictures.epoch, &pictures.indices);
        let sample = policy.sample(noise, temperature).unwrap();
        let augmented = policy.apply(&pictures.images, &sample).unwrap();
        let images = setup.pipeline.after(augmented.as_slice(), &pictures.views);
        let batch = Batch { images: &images, labels: &pictures.labels, height: 32, width: 32 };
        let (evaluation, record) = classifier.train_and_keep(batch).unwrap();
        let rate = cosine.rate(number) as f32;
        sgd.step(classifier.weights_mut(), &evaluation.gradient, rate).unwrap();
        steps.push((pictures, sample, record, rate));
    }
    let validation = setup.validation.prepare(&setup.dataset, &setup.pipeline, 0).unwrap();
    let mut images = validation.images.into_vec();
    setup.pipeline.normalise(&mut images);
    let batch = Batch { images: &images, labels: &validation.labels, height: 32, width: 32 };
    let mut adjoint = SgdAdjoint::new(&sgd, classifier.gradient(batch).unwrap().gradient);
    let mut magnitudes = [0.0_f64; 4];
    for (pictures, sample, record, rate) in steps.iter().rev() {
        let direction = adjoint.direction(*rate).unwrap();
        let (found, product) = record.hypergradient_and_product(&direction).unwrap();
        adjoint.step_back(&direction, &product).unwrap();
        let cotangent = setup.pipeline.after_pullback(&found.q, &pictures.views);
        let gradient =
            policy.pullback_with_losses(&pictures.images, sample, &cotangent, &found.parts, Groups::ALL);
        let gradient = gradient.unwrap().parameters;
        for (sum, value) in magnitudes.iter_mut().zip(gradient.magnitudes().concat()) {
            *sum += f64::from(value);
        }
    }
    assert_eq!(search.classifier().weights(), classifier.weights());
    let moved = search.policy().parameters().magnitudes().concat();
    let before = policy.parameters().magnitudes().concat();
    for ((moved, before), slope) in moved.iter().zip(before).zip(magnitudes) {
        assert!((moved - before + 0.1 * slope.signum() as f32).abs() < 1e-6, "{moved} {before} {slope}");
    }
    // Depth and types are credited with less noise than plain parts have, but move by their rates too.
    let depth = search.policy().parameters().depth();
    assert!(depth.iter().all(|logit| (logit.abs() - 0.4).abs() < 1e-6), "{depth:?}");
}

#[test]
fn a_cycle_whose_weights_do_not_fit_into_memory_ends_in_the_same_bits() {
    let all = finish(&mut search(&settings(FAR)));
    assert_eq!(all, finish(&mut search(&settings(&format!("{FAR}\nhorizon_mib = 0")))));
    assert_ne!(all.parameters(), settings(FAR).policy_config().unwrap().init().unwrap().parameters());
}

/// Stops after so many turns of the loop, those of the way back included.
struct StopAfterTurns<'a> {
    left: u64,
    stop: &'a AtomicBool,
}

impl Observer<Search> for StopAfterTurns<'_> {
    fn step(&mut self, _: &Search, _: &Step) {
        self.left -= 1;
        self.stop.store(self.left == 0, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_search_that_looks_far_ahead_continues_bit_for_bit_from_anywhere_in_a_cycle() {
    let settings = settings(&format!("{FAR}\nepochs = 2\nmagnitude_start = 0"));
    let folder = tempfile::tempdir().unwrap();
    let mut whole = search(&settings);
    let whole_run = create(&folder.path().join("whole"), &whole);
    whole_run.search(&mut whole, &mut (), &AtomicBool::new(false)).unwrap();
    let epochs = whole_run.epochs().unwrap();
    // Cycles end after steps 4, 8 and 12: in the first epoch, in the second, and with it.
    assert_eq!(epochs.iter().map(|epoch| epoch.cycle.as_ref().unwrap().cycle).collect::<Vec<_>>(), [1, 3]);
    // In the first cycle on the way there and back, between two cycles, and at the end of an epoch.
    for turns in [2, 6, 8, 10, 14, 23] {
        let path = folder.path().join(format!("stopped-{turns}"));
        let mut stopped = search(&settings);
        let run = create(&path, &stopped);
        let stop = AtomicBool::new(false);
        let halt = run.search(&mut stopped, &mut StopAfterTurns { left: turns, stop: &stop }, &stop).unwrap();
        assert_eq!(halt, Halt::Stopped);
        let mut again = search(&settings);
        run.restore(&mut again).unwrap();
        assert!(again.progress().done.is_multiple_of(4), "a cycle is gone through again from its beginning");
        run.search(&mut again, &mut (), &AtomicBool::new(false)).unwrap();
        assert_eq!(again.policy(), whole.policy());
        assert_eq!(again.classifier().weights(), whole.classifier().weights());
        let without_time = |run: &RunWriter| {
            let epochs = run.epochs().unwrap();
            epochs
                .into_iter()
                .map(|epoch| (epoch.epoch, epoch.loss, epoch.cycle, epoch.depth))
                .collect::<Vec<_>>()
        };
        assert_eq!(without_time(&run), without_time(&whole_run));
    }
}

#[test]
fn a_horizon_cannot_be_had_with_the_difference() {
    let more = Patch {
        place: "a test".to_owned(),
        values: "horizon = 9\nhypergradient = 'difference'".parse().unwrap(),
    };
    let message = resolve(Task::Search, "one-step", &[more]).unwrap_err().to_string();
    assert_eq!(
        message,
        "a test: `hypergradient`: the difference looks one step ahead; a horizon needs `exact`"
    );
}
