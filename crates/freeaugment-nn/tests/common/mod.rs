//! Small problems, and how to compare arrays.
#![allow(dead_code, unreachable_pub, reason = "every test uses its own part")]

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_nn::pass::{Activation, Convolution, Pass, Window};
use freeaugment_nn::{Batch, Classifier, Device, Network, Weights};

pub fn noise(seed: u64, len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    Stream::new(seed, Purpose::named("test/noise"), 0, 0).normal(&mut values);
    values
}

/// The largest difference, relative to the largest wanted value.
pub fn largest_error(found: &[f32], wanted: &[f32]) -> f32 {
    assert_eq!(found.len(), wanted.len());
    let scale = wanted.iter().fold(f32::MIN_POSITIVE, |scale, value| scale.max(value.abs()));
    let errors = found.iter().zip(wanted).map(|(found, wanted)| (found - wanted).abs() / scale);
    errors.fold(0.0, |worst, error| if error > worst || error.is_nan() { error } else { worst })
}

pub fn assert_close(found: &[f32], wanted: &[f32], tolerance: f32, what: &str) {
    let error = largest_error(found, wanted);
    assert!(error <= tolerance, "{what}: error {error:.1e}, allowed {tolerance:.1e}");
}

/// A network and a batch of random images.
pub struct Problem {
    pub network: Network,
    pub images: Vec<f32>,
    pub labels: Vec<u32>,
    pub size: usize,
}

impl Problem {
    pub fn new(name: &str, channels: usize, size: usize, batch: usize, activation: Activation) -> Self {
        let network = Network::new(name.parse().unwrap(), 5, channels).unwrap();
        Self::of(network.with_activation(activation), size, batch)
    }

    /// A network for five classes.
    pub fn of(network: Network, size: usize, batch: usize) -> Self {
        let images = noise(1, batch * network.channels() * size * size);
        Self { network, images, labels: (0..batch as u32).map(|i| i * 3 % 5).collect(), size }
    }

    pub fn batch(&self) -> Batch<'_> {
        Batch { images: &self.images, labels: &self.labels, height: self.size, width: self.size }
    }

    /// Weights away from a fresh network's, so that no scale is exactly 1 and no shift exactly 0.
    pub fn classifier(&self, device: &Device) -> Classifier {
        let mut classifier = Classifier::new(self.network.clone(), device, 3);
        let extra = noise(4, classifier.weights().values().len());
        for (weight, extra) in classifier.weights_mut().values_mut().iter_mut().zip(extra) {
            *weight += 0.05 * extra;
        }
        classifier
    }

    /// A direction of the weights, of the weights' own size.
    pub fn direction(classifier: &Classifier) -> Weights {
        let mut direction = Weights::zeros(classifier.layout().clone());
        let values = noise(5, direction.values().len());
        for entry in classifier.layout().entries() {
            let weights = &classifier.weights().values()[entry.range()];
            let size = (weights.iter().map(|w| w * w).sum::<f32>() / weights.len() as f32).sqrt();
            for (out, value) in direction.values_mut()[entry.range()].iter_mut().zip(&values[entry.range()]) {
                *out = size * value;
            }
        }
        direction
    }
}

const SMOOTH: Option<Activation> = Some(Activation::Softplus);

pub fn convolution(inputs: usize, outputs: usize, window: Window) -> Convolution {
    Convolution { inputs, outputs, window }
}

/// Everything that the built-in networks do not do: images that are normalised, added and averaged themselves, a value
/// with four readers, a convolution whose value is read besides its sum, a value added to itself, windows of even side
/// and without padding, a norm on single pixels, and a head of two layers.
fn odd<P: Pass>(pass: &mut P, images: &P::Value) -> P::Value {
    let x = pass.normalize(images, "first", None);
    let x = pass.add(&x, images, SMOOTH);
    let c = pass.convolve(&x, "even", convolution(3, 4, Window { kernel: 2, stride: 1, padding: 1 }));
    let d = pass.convolve(&x, "twin", convolution(3, 4, Window { kernel: 2, stride: 1, padding: 1 }));
    let sum = pass.add(&d, &c, None);
    let sum = pass.add(&sum, &d, None);
    let sum = pass.add(&sum, &sum, SMOOTH);
    let e = pass.convolve(&sum, "bare", convolution(4, 8, Window { kernel: 3, stride: 2, padding: 0 }));
    let e = pass.normalize(&e, "norm", SMOOTH);
    let shortcut =
        pass.convolve(&sum, "shortcut", convolution(4, 8, Window { kernel: 3, stride: 2, padding: 0 }));
    let e = pass.add(&e, &shortcut, None);
    let pixels = pass.mean_pixels(&e);
    let pixels = pass.normalize(&pixels, "pixels", SMOOTH);
    let hidden = pass.linear(&pixels, "hidden", 6);
    let direct = pass.mean_pixels(images);
    let direct = pass.linear(&direct, "direct", 6);
    let both = pass.add(&hidden, &direct, None);
    pass.linear(&both, "head", 5)
}

/// A plain convolutional network with pooling, whose logits come from a convolution.
pub fn all_convolutional<P: Pass>(pass: &mut P, images: &P::Value) -> P::Value {
    let h = pass.convolve(images, "one", convolution(3, 16, Window::centred(3, 1)));
    let h = pass.normalize(&h, "one.norm", Some(Activation::Relu));
    let h = pass.max_pool(&h, Window { kernel: 2, stride: 2, padding: 0 });
    let h = pass.convolve(&h, "two", convolution(16, 16, Window::centred(5, 1)));
    let h = pass.normalize(&h, "two.norm", Some(Activation::Relu));
    let h = pass.convolve(&h, "three", convolution(16, 5, Window::centred(1, 1)));
    pass.mean_pixels(&h)
}

pub fn own_problems() -> [Problem; 2] {
    let odd = Network::record("odd", 5, 3, odd).unwrap();
    let pooled = Network::record("all convolutional", 5, 3, all_convolutional).unwrap();
    [Problem::of(odd, 9, 6), Problem::of(pooled.with_activation(Activation::Softplus), 12, 6)]
}

/// Evaluates at weights `start + step · direction`.
pub fn perturb<T>(
    classifier: &mut Classifier,
    start: &Weights,
    direction: &Weights,
    step: f32,
    at: impl FnOnce(&Classifier) -> T,
) -> T {
    let moved = start.values().iter().zip(direction.values()).map(|(w, d)| w + step * d);
    let moved: Vec<f32> = moved.collect();
    classifier.weights_mut().values_mut().copy_from_slice(&moved);
    at(classifier)
}

/// Everything a step computes, by name.
fn run_step(problem: &Problem, device: &Device) -> Vec<(String, Vec<f32>)> {
    let mut classifier = problem.classifier(device);
    let direction = Problem::direction(&classifier);
    let (evaluation, record) = classifier.train_and_keep(problem.batch()).unwrap();
    let (found, product) = record.hypergradient_and_product(&direction).unwrap();
    assert_eq!(found, record.hypergradient(&direction).unwrap(), "the product changes nothing else");
    let (loss, input) = classifier.input_gradient(problem.batch()).unwrap();
    let mut results = vec![
        ("loss".to_owned(), vec![evaluation.loss as f32]),
        ("loss of the input gradient".to_owned(), vec![loss as f32]),
        ("logits".to_owned(), evaluation.logits),
        ("inner".to_owned(), vec![found.inner() as f32]),
        ("parts of the inner product".to_owned(), found.parts),
        ("q".to_owned(), found.q),
        ("input gradient".to_owned(), input),
        ("inference".to_owned(), classifier.logits(problem.batch()).unwrap()),
        ("running mean".to_owned(), classifier.statistics().mean().to_vec()),
        ("running variance".to_owned(), classifier.statistics().variance().to_vec()),
    ];
    for entry in classifier.layout().entries() {
        results.push((entry.name().to_owned(), evaluation.gradient.values()[entry.range()].to_vec()));
    }
    results.push(("the product with the Hessian".to_owned(), product.values().to_vec()));
    results
}

/// Everything a step computes on a device against the CPU's: within 1e-3 of the largest entry.
pub fn assert_devices_agree(problem: &Problem, device: &Device) {
    let (own, other) = (run_step(problem, &Device::cpu()), run_step(problem, device));
    for ((name, own), (_, other)) in own.iter().zip(&other) {
        assert_close(other, own, 1e-3, &format!("{:?} on {device}: {name}", problem.network));
    }
}

/// The central difference of a gradient along a direction of the weights.
pub fn difference<T>(
    classifier: &mut Classifier,
    direction: &Weights,
    step: f32,
    mut at: impl FnMut(&Classifier) -> T,
) -> (T, T) {
    let start = classifier.weights().clone();
    let ahead = perturb(classifier, &start, direction, step, &mut at);
    let behind = perturb(classifier, &start, direction, -step, &mut at);
    classifier.weights_mut().values_mut().copy_from_slice(start.values());
    (ahead, behind)
}

/// The tangent pass, the inner product with the gradient, and the difference of the loss are three ways to one number.
pub fn assert_tangent_is_difference(problem: &Problem) {
    let name = problem.network.name();
    let mut classifier = problem.classifier(&Device::cpu());
    let direction = Problem::direction(&classifier);
    let (evaluation, record) = classifier.train_and_keep(problem.batch()).unwrap();
    let inner = record.hypergradient(&direction).unwrap().inner();
    let step = 1e-2 / direction.dot(&direction).sqrt() as f32;
    let (ahead, behind) =
        difference(&mut classifier, &direction, step, |c| c.gradient(problem.batch()).unwrap().loss);
    let wanted = (ahead - behind) / (2.0 * f64::from(step));
    let scale = (evaluation.gradient.dot(&evaluation.gradient) * direction.dot(&direction)).sqrt();
    assert!((inner - wanted).abs() < 1e-3 * scale, "{name}: {inner} in place of {wanted} of {scale}");
    let product = evaluation.gradient.dot(&direction);
    assert!((inner - product).abs() < 1e-4 * scale, "{name}: {inner} in place of {product} of {scale}");
}

/// On a smooth network `q` is the central difference of the input gradient.
pub fn assert_q_is_difference(problem: &Problem) {
    let name = problem.network.name();
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

/// On a smooth network the input gradient is the difference of the loss.
pub fn assert_input_gradient_is_difference(problem: &Problem) {
    let name = problem.network.name();
    let classifier = problem.classifier(&Device::cpu());
    let (_, gradient) = classifier.input_gradient(problem.batch()).unwrap();
    let way = noise(77, problem.images.len());
    let at = |step: f32| {
        let images: Vec<f32> = problem.images.iter().zip(&way).map(|(x, w)| x + step * w).collect();
        classifier.gradient(Batch { images: &images, ..problem.batch() }).unwrap().loss
    };
    let wanted = (at(1e-3) - at(-1e-3)) / 2e-3;
    let found: f64 = gradient.iter().zip(&way).map(|(g, w)| f64::from(g * w)).sum();
    let scale = gradient.iter().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
    assert!((found - wanted).abs() < 1e-2 * scale, "{name}: {found} in place of {wanted} of {scale}");
}

/// The Hessian is symmetric: with v = Hu, u·Hv and v·Hu are one number, the square of v's length.
pub fn assert_hessian_is_symmetric(problem: &Problem) {
    let mut classifier = problem.classifier(&Device::cpu());
    let u = Problem::direction(&classifier);
    let (_, record) = classifier.train_and_keep(problem.batch()).unwrap();
    let product = |direction: &Weights| record.hypergradient_and_product(direction).unwrap().1;
    let v = product(&u);
    let (first, second) = (u.dot(&product(&v)), v.dot(&v));
    assert!((first / second - 1.0).abs() < 1e-4, "{}: {first} and {second}", problem.network.name());
}

/// H·direction is how the gradient moves along the direction.
pub fn assert_product_is_difference(problem: &Problem) {
    let mut classifier = problem.classifier(&Device::cpu());
    let direction = Problem::direction(&classifier);
    let (_, record) = classifier.train_and_keep(problem.batch()).unwrap();
    let product = record.hypergradient_and_product(&direction).unwrap().1;
    let step = 1e-3;
    let gradient = |classifier: &Classifier| classifier.gradient(problem.batch()).unwrap().gradient;
    let (ahead, behind) = difference(&mut classifier, &direction, step, gradient);
    let slope =
        ahead.values().iter().zip(behind.values()).map(|(ahead, behind)| (ahead - behind) / (2.0 * step));
    let slope: Vec<f32> = slope.collect();
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let cosine = dot(product.values(), &slope)
        / (dot(product.values(), product.values()) * dot(&slope, &slope)).sqrt();
    assert!(cosine > 0.9999, "{}: cosine {cosine}", problem.network.name());
    let length = (dot(product.values(), product.values()) / dot(&slope, &slope)).sqrt();
    assert!((length - 1.0).abs() < 5e-3, "{}: length {length}", problem.network.name());
}
