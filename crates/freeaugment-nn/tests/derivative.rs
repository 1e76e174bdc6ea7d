//! Gradients, tangents and `q` against finite differences, and the devices against each other.

mod common;

use common::{Problem, assert_close, largest_error, perturb};
use freeaugment_nn::pass::Activation;
use freeaugment_nn::{Classifier, Device, Parameters};

/// Networks small enough to differentiate by hand, of every architecture.
const NETWORKS: [(&str, usize, usize); 4] =
    [("WRN-10-1", 3, 12), ("WRN-16-2", 1, 9), ("ResNet-18", 3, 33), ("ResNet-50", 1, 33)];

/// The central difference of a gradient along a direction of the weights.
fn difference<T>(
    classifier: &mut Classifier,
    direction: &Parameters,
    step: f32,
    mut at: impl FnMut(&Classifier) -> T,
) -> (T, T) {
    let start = classifier.weights().clone();
    let ahead = perturb(classifier, &start, direction, step, &mut at);
    let behind = perturb(classifier, &start, direction, -step, &mut at);
    classifier.weights_mut().values_mut().copy_from_slice(start.values());
    (ahead, behind)
}

#[test]
fn the_tangent_of_the_loss_is_its_directional_difference_on_every_network() {
    for (name, channels, size) in NETWORKS {
        let problem = Problem::new(name, channels, size, 6, Activation::Softplus);
        let mut classifier = problem.classifier(&Device::cpu());
        let direction = Problem::direction(&classifier);
        let (evaluation, record) = classifier.train_and_keep(problem.batch()).unwrap();
        let inner = record.hypergradient(&direction).unwrap().inner();
        let step = 1e-2 / direction.dot(&direction).sqrt() as f32;
        let (ahead, behind) =
            difference(&mut classifier, &direction, step, |c| c.gradient(problem.batch()).unwrap().loss);
        let wanted = (ahead - behind) / (2.0 * f64::from(step));
        // The tangent pass, the inner product with the gradient, and the difference are three ways to one number.
        let scale = (evaluation.gradient.dot(&evaluation.gradient) * direction.dot(&direction)).sqrt();
        assert!((inner - wanted).abs() < 1e-3 * scale, "{name}: {inner} in place of {wanted} of {scale}");
        let product = evaluation.gradient.dot(&direction);
        assert!((inner - product).abs() < 1e-4 * scale, "{name}: {inner} in place of {product} of {scale}");
    }
}

/// Max pooling changes its winners under a step, so a `ResNet` is not smooth whatever its activation; its `q` is
/// held against Burn's autodiff instead.
#[test]
fn on_a_smooth_network_q_is_the_central_difference_of_the_input_gradient() {
    for (name, channels, size) in NETWORKS.into_iter().filter(|(name, ..)| name.starts_with("WRN")) {
        let problem = Problem::new(name, channels, size, 6, Activation::Softplus);
        let mut classifier = problem.classifier(&Device::cpu());
        let direction = Problem::direction(&classifier);
        let (_, record) = classifier.train_and_keep(problem.batch()).unwrap();
        let q = record.hypergradient(&direction).unwrap().q;
        let step = 1e-2 / direction.dot(&direction).sqrt() as f32;
        let (ahead, behind) =
            difference(&mut classifier, &direction, step, |c| c.input_gradient(problem.batch()).unwrap().1);
        let wanted: Vec<f32> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * step)).collect();
        let error = largest_error(&q, &wanted);
        assert!(error < 2e-2, "{name}: error {error:.1e}");
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let cosine = dot(&q, &wanted) / (dot(&q, &q) * dot(&wanted, &wanted)).sqrt();
        assert!(cosine > 0.999, "{name}: cosine {cosine}");
    }
}

#[test]
fn on_a_smooth_network_the_input_gradient_is_the_difference_of_the_loss() {
    for (name, channels, size) in NETWORKS.into_iter().filter(|(name, ..)| name.starts_with("WRN")) {
        let problem = Problem::new(name, channels, size, 6, Activation::Softplus);
        let classifier = problem.classifier(&Device::cpu());
        let (_, gradient) = classifier.input_gradient(problem.batch()).unwrap();
        let way = common::noise(77, problem.images.len());
        let at = |step: f32| {
            let images: Vec<f32> = problem.images.iter().zip(&way).map(|(x, w)| x + step * w).collect();
            let batch = freeaugment_nn::Batch { images: &images, ..problem.batch() };
            classifier.gradient(batch).unwrap().loss
        };
        let wanted = (at(1e-3) - at(-1e-3)) / 2e-3;
        let found: f64 = gradient.iter().zip(&way).map(|(g, w)| f64::from(g * w)).sum();
        let scale = gradient.iter().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
        assert!((found - wanted).abs() < 1e-2 * scale, "{name}: {found} in place of {wanted} of {scale}");
    }
}

/// Burn's own autodiff on Burn's own CPU backend shares no line of arithmetic with the kernels.
///
/// A fresh `ResNet-50` on four small images is chaotic with rectifiers (a change of the images in the sixth digit moves
/// gradients by more than 3 %: rounding decides on which side of zero an activation falls), so it is smooth here.
#[test]
fn burn_on_flex_computes_the_same_as_the_kernels() {
    let flex = Device::open("flex").unwrap();
    for (name, channels, size) in NETWORKS {
        for activation in [Activation::Softplus, Activation::Relu] {
            if name == "ResNet-50" && activation == Activation::Relu {
                continue;
            }
            common::assert_devices_agree(&Problem::new(name, channels, size, 4, activation), &flex);
        }
    }
}

/// Run where a driver is, with `--features webgpu -- --ignored`: Mesa's software driver is enough.
#[cfg(feature = "webgpu")]
#[test]
#[ignore = "needs a driver for WebGPU"]
fn burn_on_webgpu_computes_the_same_as_the_kernels() {
    let webgpu = Device::open("webgpu").unwrap();
    for (name, channels, size) in [("WRN-10-1", 3, 12), ("ResNet-18", 3, 33)] {
        common::assert_devices_agree(&Problem::new(name, channels, size, 4, Activation::Relu), &webgpu);
    }
}

#[test]
fn label_smoothing_reaches_gradients_and_q() {
    let loss = freeaugment_nn::CrossEntropy::new(0.2).unwrap();
    let problem = Problem::new("WRN-10-1", 3, 12, 6, Activation::Softplus);
    let results = [Device::cpu(), Device::open("flex").unwrap()].map(|device| {
        let mut classifier = problem.classifier(&device).with_loss(loss);
        let direction = Problem::direction(&classifier);
        let (evaluation, record) = classifier.train_and_keep(problem.batch()).unwrap();
        (evaluation, record.hypergradient(&direction).unwrap())
    });
    let [(a, found_a), (b, found_b)] = results;
    let (inner_a, inner_b) = (found_a.inner(), found_b.inner());
    assert!((a.loss - b.loss).abs() < 1e-5 && (inner_a - inner_b).abs() < 1e-3 * inner_b.abs().max(1.0));
    assert_close(a.gradient.values(), b.gradient.values(), 1e-3, "gradient");
    assert_close(&found_a.q, &found_b.q, 1e-3, "q");
    let plain = problem.classifier(&Device::cpu()).train(problem.batch()).unwrap();
    assert!((plain.loss - a.loss).abs() > 1e-3, "smoothing changes the loss");
}

#[test]
fn the_number_of_threads_does_not_change_a_bit_of_a_step() {
    for (name, channels, size) in NETWORKS {
        let problem = Problem::new(name, channels, size, 5, Activation::Relu);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut classifier = problem.classifier(&Device::cpu());
                let direction = Problem::direction(&classifier);
                let (evaluation, record) = classifier.train_and_keep(problem.batch()).unwrap();
                (
                    evaluation.loss.to_bits(),
                    evaluation.gradient,
                    record.hypergradient(&direction).unwrap(),
                    classifier.statistics().clone(),
                )
            })
        };
        assert_eq!(run(1), run(3), "{name}");
    }
}
