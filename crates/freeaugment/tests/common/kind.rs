//! One policy of every kind there is, and what can be wrong with its file. `checks/schema` reads this file too.

use freeaugment::{
    Assignment, DepthKind, Estimator, Groups, MagnitudeKind, Place, Policy, PolicyConfig,
    RangedTransformation, Sharing, Transformation, TypesKind,
};
use serde_json::{Value, json};

use super::common::random_parameters;

pub(crate) fn ranged(name: &str) -> RangedTransformation {
    Transformation::named(name).unwrap().into()
}

/// One policy of every kind there is.
pub(crate) fn policies() -> Vec<Policy> {
    let default = PolicyConfig::default();
    let configs = [
        default.clone(),
        PolicyConfig { depth: DepthKind::Fixed { depth: 2 }, types: TypesKind::Softmax, ..default.clone() },
        PolicyConfig { depth: DepthKind::Application, assignment: Assignment::Exact, ..default.clone() },
        PolicyConfig {
            transformations: vec![
                RangedTransformation { range: (-90.0, 45.0), ..ranged("Rotate") },
                ranged("Invert"),
                RangedTransformation { range: (0.9, 0.2), ..ranged("Solarize") },
            ],
            layers: 2,
            magnitudes: MagnitudeKind::Gaussian,
            estimator: Estimator::SoftBackward,
            sharing: Sharing::PerBatch,
            frozen: Groups { types: true, ..Groups::NONE },
            place: Place::First,
            ..default
        },
    ];
    let made = configs.into_iter().enumerate().map(|(seed, config)| {
        let mut parameters = random_parameters(seed as u64, &config);
        // Magnitudes that have no effect are not in the file, so they stay where they start.
        let initial = config.clone().init().unwrap();
        let (layers, initial) = (config.layers, initial.parameters().magnitudes().map(<[f32]>::to_vec));
        for (i, ranged) in config.transformations.iter().enumerate() {
            if ranged.transformation.magnitude().is_none() {
                for (values, initial) in parameters.magnitudes_mut().into_iter().zip(&initial) {
                    values[i * layers..][..layers].copy_from_slice(&initial[i * layers..][..layers]);
                }
            }
        }
        let mut policy = Policy::new(config, parameters).unwrap();
        policy.provenance_mut().insert("data".to_owned(), "a \"quoted\" folder\n".to_owned());
        policy
    });
    made.collect()
}

/// A valid file with one thing changed.
pub(crate) fn changed(change: fn(&mut Value)) -> Value {
    let mut value: Value =
        serde_json::from_str(&PolicyConfig::default().init().unwrap().to_json().unwrap()).unwrap();
    change(&mut value);
    value
}

/// What is wrong, and how to make it so.
pub(crate) type Change = (&'static str, fn(&mut Value));

/// What can be wrong with a file that is JSON.
pub(crate) fn changes() -> Vec<Change> {
    vec![
        ("an unknown key", |file| file["colour"] = json!(1)),
        ("an unknown key in a transformation", |file| file["transformations"][2]["strength"] = json!(1)),
        ("a missing key", |file| drop(file.as_object_mut().unwrap().remove("layers"))),
        ("a missing list", |file| {
            drop(file["transformations"][4].as_object_mut().unwrap().remove("upper_logits"));
        }),
        ("an unknown kind", |file| file["depth"]["kind"] = json!("deep")),
        ("a wrong type", |file| file["layers"] = json!("seven")),
        ("a negative count", |file| file["layers"] = json!(-1)),
        ("no layers", |file| file["layers"] = json!(0)),
        ("more layers than lists have values", |file| file["layers"] = json!(8)),
        ("a huge number of layers", |file| file["layers"] = json!(u64::MAX)),
        ("a huge number of iterations", |file| file["types"]["iterations"] = json!(1_000_000_000)),
        ("a temperature of zero", |file| file["sampling"]["evaluation_temperature"] = json!(0.0)),
        ("a number beyond 32 bits", |file| file["depth"]["logits"][3] = json!(1e39)),
        ("a list that is too long", |file| {
            file["transformations"][0]["type_logits"].as_array_mut().unwrap().push(json!(0.0));
        }),
        ("a range beyond its limits", |file| file["transformations"][4]["range"] = json!([-30, 1000])),
        ("a range for what takes no magnitude", |file| file["transformations"][12]["range"] = json!([0, 1])),
        ("a list of another kind of policy", |file| file["transformations"][0]["centre"] = json!([0.5])),
        ("a misspelt transformation", |file| file["transformations"][3]["name"] = json!("translate_y")),
        ("a transformation that does not exist", |file| file["transformations"][3]["name"] = json!("Blur")),
        ("a transformation twice", |file| file["transformations"][1] = file["transformations"][0].clone()),
        ("no transformations", |file| file["transformations"] = json!([])),
        ("a later version", |file| file["version"] = json!(2)),
        ("a version that is not a number", |file| file["version"] = json!("one")),
        ("another format", |file| file["format"] = json!("onnx")),
        ("a list instead of an object", |file| *file = json!([1, 2, 3])),
    ]
}
