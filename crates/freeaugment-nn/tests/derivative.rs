//! Gradients, tangents and `q` against finite differences, and the devices against each other.

mod common;

use common::{Problem, assert_close, largest_error};
use freeaugment_nn::pass::Activation;
use freeaugment_nn::{Device, Evaluation, Hypergradient};

/// Networks small enough to differentiate by hand, of every architecture.
const NETWORKS: [(&str, usize, usize); 4] =
    [("WRN-10-1", 3, 12), ("WRN-16-2", 1, 9), ("ResNet-18", 3, 33), ("ResNet-50", 1, 33)];

#[test]
fn the_tangent_of_the_loss_is_its_directional_difference_on_every_network() {
    for (name, channels, size) in NETWORKS {
        common::assert_tangent_is_difference(&Problem::new(name, channels, size, 6, Activation::Softplus));
    }
}

/// Max pooling changes its winners under a step, so a `ResNet` is not smooth whatever its activation; its `q` is
/// held against Burn's autodiff instead.
#[test]
fn on_a_smooth_network_q_and_the_input_gradient_are_differences() {
    for (name, channels, size) in NETWORKS.into_iter().filter(|(name, ..)| name.starts_with("WRN")) {
        let problem = Problem::new(name, channels, size, 6, Activation::Softplus);
        common::assert_q_is_difference(&problem);
        common::assert_input_gradient_is_difference(&problem);
    }
}

/// With rectifiers differences cannot check a Hessian (a step crosses kinks), but it is symmetric: u·Hv = v·Hu.
#[test]
fn the_hessian_of_every_network_is_symmetric() {
    for (name, channels, size) in NETWORKS {
        for activation in [Activation::Softplus, Activation::Relu] {
            common::assert_hessian_is_symmetric(&Problem::new(name, channels, size, 6, activation));
        }
    }
}

#[test]
fn on_a_smooth_network_the_product_with_the_hessian_is_a_difference() {
    for (name, channels, size) in NETWORKS.into_iter().filter(|(name, ..)| name.starts_with("WRN")) {
        common::assert_product_is_difference(&Problem::new(name, channels, size, 6, Activation::Softplus));
    }
}

/// Burn's own autodiff on Burn's own CPU backend shares no line of arithmetic with the kernels.
///
/// A fresh `ResNet-50` on four small images is chaotic with rectifiers (a change of the images in the sixth digit moves
/// gradients by more than 3 %: rounding decides on which side of zero an activation falls), so it is smooth here.
#[cfg(feature = "flex")]
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

fn step_with_smoothing(problem: &Problem, device: &Device) -> (Evaluation, Hypergradient) {
    let loss = freeaugment_nn::CrossEntropy::new(0.2).unwrap();
    let mut classifier = problem.classifier(device).with_loss(loss);
    let direction = Problem::direction(&classifier);
    let (evaluation, record) = classifier.train_and_keep(problem.batch()).unwrap();
    let found = record.hypergradient(&direction).unwrap();
    // The parts alone, at the weights of the pass, are the same.
    let weights = classifier.weights().clone();
    classifier.weights_mut().scale(2.0).unwrap();
    let parts = classifier.parts_at(&weights, problem.batch(), &direction).unwrap();
    assert_close(&parts, &found.parts, 1e-5, "parts");
    (evaluation, found)
}

#[test]
fn label_smoothing_reaches_loss_gradient_and_q() {
    let problem = Problem::new("WRN-10-1", 3, 12, 6, Activation::Softplus);
    let (smoothed, found) = step_with_smoothing(&problem, &Device::cpu());
    let mut classifier = problem.classifier(&Device::cpu());
    let direction = Problem::direction(&classifier);
    let (plain, record) = classifier.train_and_keep(problem.batch()).unwrap();
    let plain_found = record.hypergradient(&direction).unwrap();
    assert!((plain.loss - smoothed.loss).abs() > 1e-3, "smoothing changes the loss");
    let product = smoothed.gradient.dot(&direction);
    assert!((found.inner() - product).abs() < 1e-4 * product.abs().max(1.0), "the tangent has it too");
    assert!(largest_error(smoothed.gradient.values(), plain.gradient.values()) > 1e-3);
    assert!(largest_error(&found.q, &plain_found.q) > 1e-3);
}

#[cfg(feature = "flex")]
#[test]
fn label_smoothing_is_the_same_on_flex() {
    let problem = Problem::new("WRN-10-1", 3, 12, 6, Activation::Softplus);
    let (a, found_a) = step_with_smoothing(&problem, &Device::cpu());
    let (b, found_b) = step_with_smoothing(&problem, &Device::open("flex").unwrap());
    let (inner_a, inner_b) = (found_a.inner(), found_b.inner());
    assert!((a.loss - b.loss).abs() < 1e-5 && (inner_a - inner_b).abs() < 1e-3 * inner_b.abs().max(1.0));
    assert_close(a.gradient.values(), b.gradient.values(), 1e-3, "gradient");
    assert_close(&found_a.q, &found_b.q, 1e-3, "q");
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
