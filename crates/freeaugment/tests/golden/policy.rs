//! Whole policies: samples, augmented images, and gradients under both estimators.

use freeaugment::{
    Assignment, DepthKind, Estimator, Groups, Images, Parameters, Policy, PolicyConfig, RangedTransformation,
    Shape, Transformation, TypesKind,
};

use crate::fixture::{Set, Tensor, Tolerance, number};

/// What all cases of a group share.
struct Group {
    name: String,
    images: Images,
    cotangent: Option<Tensor>,
    parameters: [Tensor; 3],
    noise_types: Tensor,
    noise_magnitudes: Tensor,
}

impl Group {
    fn read(set: &Set, name: &str) -> Option<Self> {
        let tensor = |part: &str| set.need(&format!("{name}.{part}"));
        let images = tensor("images")?;
        let [count, channels, height, width] = images.shape[..] else {
            panic!("images have four dimensions")
        };
        Some(Self {
            name: name.to_owned(),
            images: Images::new(images.data, Shape { count, channels, height, width }).unwrap(),
            cotangent: tensor("cotangent"),
            parameters: [tensor("phi.pi")?, tensor("phi.lower")?, tensor("phi.upper")?],
            noise_types: tensor("noise.types")?,
            noise_magnitudes: tensor("noise.eps")?,
        })
    }

    /// The policy of the group, with a depth (or application) of its own.
    fn policy(&self, set: &Set, depth: DepthKind, logits: &[f32], estimator: Estimator) -> Policy {
        let [types, lower, upper] = &self.parameters;
        let order =
            set.constant("order").and_then(|order| order.as_array()).expect("the index tells the order");
        let ranges = set.constant("ranges");
        let transformations = order[..types.shape[0]].iter().map(|name| {
            let name = name.as_str().expect("names are texts");
            let mut ranged = RangedTransformation::from(Transformation::named(name).unwrap());
            if let Some(range) = ranges.map(|ranges| &ranges[name]).filter(|range| range.is_array()) {
                let end = |at: usize| range[at].as_f64().expect("ranges are numbers") as f32;
                ranged.range = (end(0), end(1));
            }
            ranged
        });
        let iterations = set.constant("sinkhorn_iterations").and_then(|value| value.as_u64());
        let pad = set.constant("pad").and_then(|pad| pad.as_f64());
        let config = PolicyConfig {
            transformations: transformations.collect(),
            layers: types.shape[1],
            depth,
            types: TypesKind::Sinkhorn {
                iterations: iterations.expect("the index tells the iterations") as usize,
                pad: pad.expect("the index tells the padding") as f32,
            },
            assignment: Assignment::ColumnMaximum,
            estimator,
            ..PolicyConfig::default()
        };
        let magnitudes = [lower.data.clone(), upper.data.clone()];
        let parameters = Parameters::new(&config, logits.to_vec(), types.data.clone(), magnitudes).unwrap();
        Policy::new(config, parameters).unwrap()
    }
}

const ESTIMATORS: [(&str, Estimator); 2] =
    [("straight_through", Estimator::StraightThrough), ("soft_backward", Estimator::SoftBackward)];

/// One value per image, for all images.
fn all<'a, T: Copy + 'a>(count: usize, of: impl Fn(usize) -> &'a [T]) -> Vec<T> {
    (0..count).flat_map(|b| of(b).iter().copied()).collect()
}

#[test]
fn policies_agree_with_the_reference() {
    let Some(set) = Set::open("policy") else { return };
    for name in set.between("", ".phi.delta") {
        let Some(group) = Group::read(&set, &name) else { continue };
        let tensor = |part: &str| set.need(&format!("{name}.{part}"));
        let (Some(delta), Some(noise_depth)) = (tensor("phi.delta"), tensor("noise.depth")) else { continue };
        for case in set.between(&format!("{name}."), ".out") {
            for (estimator_name, estimator) in ESTIMATORS {
                let policy = group.policy(&set, DepthKind::Learned, &delta.data, estimator);
                check_case(&set, &group, &policy, &noise_depth, &case, estimator_name);
            }
        }
    }
    set.finish();
}

fn check_case(set: &Set, group: &Group, policy: &Policy, noise_depth: &Tensor, case: &str, estimator: &str) {
    let count = group.images.shape().count;
    let name_of = |part: &str| format!("{}.{case}.{part}", group.name);
    let noise = policy
        .noise(count, &group.noise_types.data, &group.noise_magnitudes.data, &noise_depth.data)
        .expect("the noise fits the policy");
    let sample = policy.sample(noise, number(case)).unwrap();
    let u = all(count, |b| sample.magnitudes(b));
    set.compare(&format!("{}.u", group.name), &u, Tolerance::Value);
    set.compare(&name_of("types_soft"), &all(count, |b| sample.types_soft(b)), Tolerance::Value);
    set.compare(&name_of("depth_soft"), &all(count, |b| sample.depth_soft(b)), Tolerance::Value);
    set.compare_indices(&name_of("types_hard"), &all(count, |b| sample.types(b)));
    let depths: Vec<u8> = (0..count).map(|b| sample.depth(b) as u8).collect();
    set.compare_indices(&name_of("depth_hard"), &depths);
    let out = policy.apply(&group.images, &sample).unwrap();
    set.compare(&name_of("out"), out.as_slice(), Tolerance::Value);
    check_layers(set, group, policy, noise_depth, case);

    let Some(cotangent) = &group.cotangent else { return };
    let gradients = policy.pullback(&group.images, &sample, &cotangent.data, Groups::ALL).unwrap();
    let name_of = |part: &str| format!("{}.{case}.{estimator}.{part}", group.name);
    let compare = |part: &str, found: &[f32]| set.compare(&name_of(part), found, Tolerance::Gradient);
    compare("grad_delta", gradients.parameters.depth());
    compare("grad_pi", gradients.parameters.types());
    compare("grad_lower", gradients.parameters.magnitudes()[0]);
    compare("grad_upper", gradients.parameters.magnitudes()[1]);
    compare("grad_types_soft", &all(count, |b| gradients.sample.types(b)));
    compare("grad_depth_soft", &all(count, |b| gradients.sample.depth(b)));
    compare("grad_u", &all(count, |b| gradients.sample.magnitudes(b)));
    // The gradient to the images is stored for some cases only.
    if set.names().any(|name| name == name_of("grad_image")) {
        compare("grad_image", &gradients.images);
    }
}

/// The images after each layer, by policies whose depth is fixed there.
fn check_layers(set: &Set, group: &Group, learned: &Policy, noise_depth: &Tensor, case: &str) {
    let shape = group.images.shape();
    let layers = learned.config().layers;
    let full = format!("{}.{case}.X", group.name);
    let changed = format!("{}.{case}.X_changed", group.name);
    let mut after = Vec::new();
    for depth in 1..=layers {
        let policy = group.policy(set, DepthKind::Fixed { depth }, &[], learned.config().estimator);
        let noise = policy
            .noise(shape.count, &group.noise_types.data, &group.noise_magnitudes.data, &[])
            .expect("the noise fits the policy");
        assert_eq!(noise_depth.rows(), shape.count);
        let sample = policy.sample(noise, number(case)).unwrap();
        after.extend(policy.apply(&group.images, &sample).unwrap().into_vec());
    }
    if set.names().any(|name| name == full) {
        set.compare(&full, &after, Tolerance::Value);
    }
    if set.names().any(|name| name == changed)
        && let Some(places) = set.need(&format!("{changed}_at"))
    {
        let image = |layer: f32, image: f32| {
            let at = (layer as usize * shape.count + image as usize) * shape.image();
            &after[at..][..shape.image()]
        };
        let found = all(places.rows(), |row| image(places.row(row)[0], places.row(row)[1]));
        set.compare(&changed, &found, Tolerance::Value);
    }
}

#[test]
fn application_probabilities_in_place_of_a_depth_agree_with_the_reference() {
    let Some(set) = Set::open("policy") else { return };
    let Some(logits) = set.need("bernoulli.alpha") else { return };
    let Some(noise_application) = set.need("bernoulli.uniform") else { return };
    // They use the inputs of the group whose logits have their shape.
    let is_like =
        |name: &String| set.get(&format!("{name}.phi.pi")).is_some_and(|pi| pi.shape == logits.shape);
    let Some(name) = set.between("", ".phi.pi").into_iter().find(is_like) else {
        panic!("no group has the shape {:?} of bernoulli.alpha", logits.shape)
    };
    let Some(group) = Group::read(&set, &name) else { return };
    let count = group.images.shape().count;
    for (estimator_name, estimator) in ESTIMATORS {
        let estimated = format!("bernoulli.{estimator_name}.");
        if !set.names().any(|name| name.starts_with(&estimated)) {
            continue;
        }
        let policy = group.policy(&set, DepthKind::Application, &logits.data, estimator);
        let noise = policy
            .noise(count, &group.noise_types.data, &group.noise_magnitudes.data, &noise_application.data)
            .expect("the noise fits the policy");
        let sample = policy.sample(noise, 1.0).unwrap();
        let applied: Vec<u8> =
            all(count, |b| sample.depth_soft(b)).iter().map(|&s| u8::from(s > 0.5)).collect();
        set.compare_indices("bernoulli.hard", &applied);
        let out = policy.apply(&group.images, &sample).unwrap();
        set.compare("bernoulli.out", out.as_slice(), Tolerance::Value);
        let Some(cotangent) = &group.cotangent else { continue };
        let gradients =
            policy.pullback(&group.images, &sample, &cotangent.data, Groups::ALL).unwrap().parameters;
        let compare = |part: &str, found: &[f32]| {
            set.compare(&format!("{estimated}{part}"), found, Tolerance::Gradient);
        };
        compare("grad_alpha", gradients.depth());
        compare("grad_pi", gradients.types());
        compare("grad_lower", gradients.magnitudes()[0]);
        compare("grad_upper", gradients.magnitudes()[1]);
    }
    set.finish();
}
