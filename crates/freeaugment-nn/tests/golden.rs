//! One search step against the float64 reference, and the networks' parameter counts.
//!
//! The files are those in `tests/fixtures`, or of the folder that `FREEAUGMENT_FIXTURES` names. Sizes, names and
//! constants come from the files; a tensor that is missing is skipped by name, and the count of what was compared must
//! not be zero.
#![allow(clippy::print_stdout, reason = "what was skipped must be seen")]

use std::io::Write as _;
use std::path::PathBuf;

use freeaugment::{
    Estimator, Groups, Images, Parameters as PolicyParameters, Policy, PolicyConfig, Shape, Transformation,
    TypesKind,
};
use freeaugment_nn::optimizer::{Sgd, SgdAdjoint};
use freeaugment_nn::{Batch, Classifier, Device, Layout, Network, Weights};
use safetensors::SafeTensors;
use serde_json::Value;

fn folder() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    match std::env::var_os("FREEAUGMENT_FIXTURES").map(PathBuf::from) {
        // Tests run in the folder of their crate; people name folders from the workspace's root.
        Some(given) if given.is_dir() => given,
        Some(given) => here.join("../..").join(given),
        None => here.join("tests/fixtures"),
    }
}

/// Whether the set holds a file. Another set than the project's own may leave it out, and so does the published crate,
/// for its size; that is told. In the repository it has to be there.
fn has(name: &str) -> bool {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test").exists();
    let own = repository && std::env::var_os("FREEAUGMENT_FIXTURES").is_none();
    let found = own || folder().join(name).exists();
    if !found {
        report_skipped(name);
    }
    found
}

/// Tells what was not compared. Goes around the test harness, which would swallow it.
fn report_skipped(name: &str) {
    let _ = writeln!(std::io::stderr(), "golden: skipped, not in this set: {name}");
}

fn read_json(name: &str) -> Value {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn number(value: &Value, key: &str) -> f64 {
    value.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("constant {key} is missing"))
}

fn count_at(value: &Value, key: &str) -> usize {
    value.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("constant {key} is missing")) as usize
}

/// The tensors of the fixture and what has been compared with them.
struct Golden<'a> {
    index: Value,
    file: SafeTensors<'a>,
    compared: usize,
    /// The largest share of what is allowed, and where.
    worst: (f64, String),
    skipped: Vec<String>,
}

impl<'a> Golden<'a> {
    /// The tensors of `<name>.safetensors`, whose index is `<name>.json`.
    fn named(name: &str, bytes: &'a [u8]) -> Self {
        let file = SafeTensors::deserialize(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self {
            index: read_json(&format!("{name}.json")),
            file,
            compared: 0,
            worst: (0.0, String::new()),
            skipped: Vec::new(),
        }
    }

    fn words(&self, name: &str) -> Option<Vec<[u8; 4]>> {
        Some(self.file.tensor(name).ok()?.data().as_chunks::<4>().0.to_vec())
    }

    fn floats(&self, name: &str) -> Option<Vec<f32>> {
        Some(self.words(name)?.into_iter().map(f32::from_le_bytes).collect())
    }

    /// An input, without which there is nothing to test.
    fn input(&self, name: &str) -> Vec<f32> {
        self.floats(name).unwrap_or_else(|| panic!("input {name} is missing"))
    }

    fn labels(&self, name: &str) -> Vec<u32> {
        let words = self.words(name).unwrap_or_else(|| panic!("input {name} is missing"));
        words.into_iter().map(u32::from_le_bytes).collect()
    }

    fn shape(&self, name: &str) -> Vec<usize> {
        self.file.tensor(name).unwrap_or_else(|_| panic!("input {name} is missing")).shape().to_vec()
    }

    /// Compares with the stored tensor: within 1e-3 of its largest entry, or three times its own error in f32.
    fn compare(&mut self, name: &str, found: &[f32]) {
        let Some(wanted) = self.floats(name) else {
            self.skipped.push(name.to_owned());
            return;
        };
        assert_eq!(found.len(), wanted.len(), "{name}");
        let scale = wanted.iter().fold(0.0_f64, |scale, value| scale.max(f64::from(value.abs())));
        let gap = self.index["tensors"][name]["f32_gap"].as_f64().unwrap_or(0.0);
        let allowed = (1e-3 * scale).max(3.0 * gap);
        let error = found
            .iter()
            .zip(&wanted)
            .map(|(found, wanted)| (f64::from(*found) - f64::from(*wanted)).abs())
            .fold(0.0, |worst: f64, error| if error > worst || error.is_nan() { error } else { worst });
        assert!(
            error <= allowed,
            "{name}: error {error:.2e}, allowed {allowed:.2e}, largest entry {scale:.2e}"
        );
        self.compared += 1;
        if error / allowed > self.worst.0 {
            self.worst = (error / allowed, name.to_owned());
        }
    }

    /// Tells what was compared, which must not be nothing.
    fn finish(self) {
        let (share, name) = &self.worst;
        println!(
            "{} tensors compared; the furthest, {name}, uses {share:.2} of what is allowed",
            self.compared
        );
        for name in &self.skipped {
            report_skipped(name);
        }
        assert!(self.compared > 0, "nothing was compared");
    }

    /// [`Self::compare`] for every parameter, under a prefix.
    fn compare_all(&mut self, prefix: &str, found: &Weights, order: &[String]) {
        for name in order {
            let values = found.get(name).unwrap_or_else(|| panic!("the network has no {name}"));
            self.compare(&format!("{prefix}.{name}"), values);
        }
    }
}

/// The network's input and what a pixel's gradient has to be multiplied with on the way back to x'.
fn prepare(images: &[f32], shape: &[usize], mask: Option<&[f32]>, constants: &Value) -> (Vec<f32>, Vec<f32>) {
    let list = |key: &str| -> Vec<f32> {
        let values = constants[key].as_array().unwrap_or_else(|| panic!("constant {key} is missing"));
        values.iter().map(|value| value.as_f64().expect("a number") as f32).collect()
    };
    let (mean, deviation) = (list("mean"), list("std"));
    let (channels, pixels) = (shape[1], shape[2] * shape[3]);
    let at = |index: usize| {
        let (image, channel, pixel) =
            (index / (channels * pixels), index / pixels % channels, index % pixels);
        (channel, mask.map_or(1.0, |mask| mask[image * pixels + pixel]))
    };
    let value = |(index, x): (usize, &f32)| {
        let (channel, mask) = at(index);
        (x * mask - mean[channel]) / deviation[channel]
    };
    let factors = (0..images.len()).map(|index| at(index).1 / deviation[at(index).0]).collect();
    (images.iter().enumerate().map(value).collect(), factors)
}

/// The rest of the way: the policy's output, and its pullback of the cotangent -eta q.
fn compare_policy(golden: &mut Golden, constants: &Value, q: &[f32]) {
    const INPUTS: [&str; 7] =
        ["phi.delta", "phi.pi", "phi.lower", "phi.upper", "noise.types", "noise.eps", "noise.depth"];
    let inputs = INPUTS.map(|name| format!("policy.{name}"));
    let missing: Vec<_> = inputs.iter().filter(|name| golden.floats(name).is_none()).cloned().collect();
    if !missing.is_empty() {
        golden.skipped.extend(missing);
        return;
    }
    let [delta, pi, lower, upper, types, eps, depth] = inputs.each_ref().map(|name| golden.input(name));
    let order = constants["policy"]["order"].as_array().expect("constants.policy.order");
    let named = |name: &Value| Transformation::named(name.as_str().expect("a name")).unwrap().into();
    let [count, channels, height, width] = golden.shape("x")[..] else { panic!("x has four dimensions") };
    let images = Images::new(golden.input("x"), Shape { count, channels, height, width }).unwrap();
    let default = PolicyConfig::default();
    let TypesKind::Sinkhorn { pad, .. } = default.types else { panic!("Sinkhorn is the default") };
    let iterations = count_at(constants, "/policy/sinkhorn_iterations");
    let cotangent: Vec<f32> = q.iter().map(|q| -(number(constants, "/eta") as f32) * q).collect();
    for (name, estimator) in
        [("straight_through", Estimator::StraightThrough), ("soft_backward", Estimator::SoftBackward)]
    {
        let config = PolicyConfig {
            transformations: order.iter().take(count_at(constants, "/policy/N")).map(named).collect(),
            layers: count_at(constants, "/policy/K"),
            types: TypesKind::Sinkhorn { iterations, pad },
            estimator,
            ..default.clone()
        };
        let parameters =
            PolicyParameters::new(&config, delta.clone(), pi.clone(), [lower.clone(), upper.clone()])
                .unwrap();
        let policy = Policy::new(config, parameters).unwrap();
        let noise = policy.noise(count, &types, &eps, &depth).unwrap();
        let sample = policy.sample(noise, number(constants, "/policy/temperature") as f32).unwrap();
        golden.compare("x_aug", policy.apply(&images, &sample).unwrap().as_slice());
        let found = policy.pullback(&images, &sample, &cotangent, Groups::ALL).unwrap().parameters;
        let [to_lower, to_upper] = found.magnitudes();
        let groups =
            [("delta", found.depth()), ("pi", found.types()), ("lower", to_lower), ("upper", to_upper)];
        for (group, values) in groups {
            golden.compare(&format!("delta_phi.{name}.{group}"), values);
        }
    }
}

/// The names of the parameters, in the order of the reference.
fn order(constants: &Value) -> Vec<String> {
    let names = constants["network"]["order"].as_array().expect("constants.network.order");
    names.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// The reference's network with fresh weights.
fn classifier(constants: &Value, channels: usize) -> Classifier {
    let size = |key: &str| count_at(constants, &format!("/network/{key}"));
    let name = format!("WRN-{}-{}", size("depth"), size("widen"));
    let network = Network::new(name.parse().unwrap(), size("classes"), channels).unwrap();
    Classifier::new(network, &Device::cpu(), 0)
}

#[test]
fn a_search_step_agrees_with_the_reference() {
    if !has("hypergradient.safetensors") {
        return;
    }
    let bytes = std::fs::read(folder().join("hypergradient.safetensors")).expect("hypergradient.safetensors");
    let mut golden = Golden::named("hypergradient", &bytes);
    let constants = golden.index["constants"].clone();
    let order = order(&constants);
    for (key, built_in) in [("bn_eps", 1e-5), ("bn_momentum", 0.1)] {
        if let Some(value) = constants["network"][key].as_f64() {
            assert!((value - built_in).abs() < 1e-12, "{key} is {value}, but this engine's is {built_in}");
        }
    }
    let shape = golden.shape("x_aug");
    let mut classifier = classifier(&constants, shape[1]);
    let names: Vec<_> = classifier.layout().entries().iter().map(|entry| entry.name().to_owned()).collect();
    assert_eq!(names, order, "parameters stand in the order of the forward pass");
    let mut buffer = Weights::zeros(classifier.layout().clone());
    for name in &order {
        let theta = golden.input(&format!("theta.{name}"));
        classifier.weights_mut().get_mut(name).unwrap().copy_from_slice(&theta);
        buffer.get_mut(name).unwrap().copy_from_slice(&golden.input(&format!("buffer.{name}")));
    }

    // 1. The training pass on augmented images, and one step of the optimiser.
    let (images, factors) =
        prepare(&golden.input("x_aug"), &shape, golden.floats("mask").as_deref(), &constants);
    let labels = golden.labels("y");
    let batch = Batch { images: &images, labels: &labels, height: shape[2], width: shape[3] };
    let (step, record) = classifier.train_and_keep(batch).unwrap();
    golden.compare("loss", &[step.loss as f32]);
    golden.compare_all("g", &step.gradient, &order);
    for norm in classifier.layout().clone().norms() {
        let statistics = classifier.statistics();
        golden.compare(&format!("running_mean.{}", norm.name()), &statistics.mean()[norm.range()]);
        golden.compare(&format!("running_var.{}", norm.name()), &statistics.variance()[norm.range()]);
    }
    let before = classifier.statistics().clone();
    let constant = |key: &str| number(&constants, key) as f32;
    let mut sgd = Sgd::new(constant("/momentum"), true, constant("/weight_decay")).unwrap();
    sgd.set_buffer(buffer);
    sgd.step(classifier.weights_mut(), &step.gradient, constant("/eta")).unwrap();
    golden.compare_all("theta_next", classifier.weights(), &order);

    // 2. The validation gradient at the new weights.
    let shape = golden.shape("x_val");
    let (images, _) = prepare(&golden.input("x_val"), &shape, None, &constants);
    let labels = golden.labels("y_val");
    let batch = Batch { images: &images, labels: &labels, height: shape[2], width: shape[3] };
    let validation = classifier.gradient(batch).unwrap();
    golden.compare("val_loss", &[validation.loss as f32]);
    golden.compare_all("v", &validation.gradient, &order);

    // 3. q, at the weights before the step.
    let found = record.hypergradient(&validation.gradient).unwrap();
    golden.compare("inner", &[found.inner() as f32]);
    let q: Vec<f32> = found.q.iter().zip(&factors).map(|(q, factor)| q * factor).collect();
    golden.compare("q", &q);
    compare_policy(&mut golden, &constants, &q);
    assert_eq!(classifier.statistics(), &before, "running statistics change in the training pass only");

    golden.finish();
}

/// The gradient of a validation loss through several real training steps, carried backwards by Hessian-vector products.
#[test]
fn unrolled_steps_agree_with_the_reference() {
    if !has("unroll.safetensors") {
        return;
    }
    let bytes = std::fs::read(folder().join("unroll.safetensors")).expect("unroll.safetensors");
    let mut golden = Golden::named("unroll", &bytes);
    let constants = golden.index["constants"].clone();
    let order = order(&constants);
    let [steps, count, channels, height, width] = golden.shape("images")[..] else {
        panic!("images have five dimensions")
    };
    assert_eq!(steps, count_at(&constants, "/steps"));
    let mut classifier = classifier(&constants, channels);
    let layout = classifier.layout().clone();
    let read = |prefix: &str| {
        let mut weights = Weights::zeros(layout.clone());
        for name in &order {
            weights.get_mut(name).unwrap().copy_from_slice(&golden.input(&format!("{prefix}.{name}")));
        }
        weights
    };
    let (theta, buffer, direction) = (read("theta"), read("buffer"), read("direction"));
    *classifier.weights_mut() = theta;
    let (images, labels) = (golden.input("images"), golden.labels("labels"));
    let batch = |step: usize| Batch {
        images: &images[step * count * channels * height * width..][..count * channels * height * width],
        labels: &labels[step * count..][..count],
        height,
        width,
    };
    let rates: Vec<f32> = constants["rates"]
        .as_array()
        .expect("constants.rates")
        .iter()
        .map(|rate| rate.as_f64().expect("a number") as f32)
        .collect();
    let (momentum, decay) =
        (number(&constants, "/momentum") as f32, number(&constants, "/weight_decay") as f32);

    // Forward, keeping what each step computed.
    let mut sgd = Sgd::new(momentum, true, decay).unwrap();
    sgd.set_buffer(buffer);
    let (mut records, mut losses) = (Vec::new(), Vec::new());
    for (step, &rate) in rates.iter().enumerate() {
        let (evaluation, record) = classifier.train_and_keep(batch(step)).unwrap();
        sgd.step(classifier.weights_mut(), &evaluation.gradient, rate).unwrap();
        losses.push(evaluation.loss as f32);
        records.push(record);
    }
    golden.compare("losses", &losses);
    let (x, y) = (golden.input("x_val"), golden.labels("y_val"));
    let [_, _, height, width] = golden.shape("x_val")[..] else { panic!("x_val has four dimensions") };
    let validation = classifier.gradient(Batch { images: &x, labels: &y, height, width }).unwrap();
    golden.compare("val_loss", &[validation.loss as f32]);
    golden.compare_all("v", &validation.gradient, &order);

    // Backward: how the final loss depends on weights (lambda) and momentum (nu) before every step.
    let mut adjoint = SgdAdjoint::new(&sgd, validation.gradient);
    let (mut to_images, mut parts) = (vec![Vec::new(); rates.len()], vec![Vec::new(); rates.len()]);
    for (step, &rate) in rates.iter().enumerate().rev() {
        let gamma = adjoint.direction(rate).unwrap();
        let (found, product) = records[step].hypergradient_and_product(&gamma).unwrap();
        adjoint.step_back(&gamma, &product).unwrap();
        (to_images[step], parts[step]) = (found.q, found.parts);
    }
    golden.compare_all("lambda", adjoint.weights(), &order);
    golden.compare_all("nu", adjoint.buffer(), &order);
    golden.compare("to_images", &to_images.concat());
    golden.compare("parts", &parts.concat());
    let (found, product) = records[0].hypergradient_and_product(&direction).unwrap();
    golden.compare("q", &found.q);
    golden.compare_all("hvp", &product, &order);
    golden.finish();
}

#[test]
fn networks_have_the_published_number_of_parameters() {
    if !has("nets.json") {
        return;
    }
    let nets = read_json("nets.json");
    let nets = nets["nets"].as_object().expect("nets");
    assert!(!nets.is_empty());
    for (name, net) in nets {
        let (architecture, classes) = name.split_once('/').expect("<network>/<classes>");
        let network =
            Network::new(architecture.parse().unwrap(), classes.parse().unwrap(), count_at(net, "/input/1"))
                .unwrap();
        assert_eq!(Layout::of(&network).parameters(), count_at(net, "/parameters"), "{name}");
    }
}
