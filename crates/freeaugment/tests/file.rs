//! The policy file: what is written is read again, and hostile files get an answer and not a panic.

mod common;

use std::fs;

use common::random_parameters;
use freeaugment::{
    Assignment, DepthKind, Estimator, FileProblem, Groups, MagnitudeKind, Place, Policy, PolicyConfig,
    RangedTransformation, Sharing, Transformation, TypesKind,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn ranged(name: &str) -> RangedTransformation {
    Transformation::named(name).unwrap().into()
}

/// One policy of every kind there is.
fn policies() -> Vec<Policy> {
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

#[test]
fn every_kind_of_policy_survives_the_way_to_the_file_and_back() {
    let folder = tempfile::tempdir().unwrap();
    for (i, policy) in policies().into_iter().enumerate() {
        let path = folder.path().join(format!("{i}.json"));
        policy.save(&path).unwrap();
        let again = Policy::load(&path).unwrap();
        assert_eq!(again, policy);
        // The same policy gives the same bytes.
        assert_eq!(again.to_json().unwrap(), fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn every_kind_of_policy_fits_the_published_schema() {
    let schema: Value = serde_json::from_str(include_str!("../schema/policy-1.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for policy in policies() {
        let value: Value = serde_json::from_str(&policy.to_json().unwrap()).unwrap();
        let problems: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{problems:?}");
    }
    // The schema names every transformation, and refuses what the reader refuses.
    let names: Vec<_> = Transformation::all().iter().map(|t| t.name()).collect();
    assert_eq!(schema["$defs"]["transformation"]["properties"]["name"]["enum"], json!(names));
    for (what, change) in changes() {
        let refused_by_shape =
            matches!(what, "an unknown key" | "a missing key" | "an unknown kind" | "a wrong type");
        if refused_by_shape {
            assert!(!validator.is_valid(&changed(change)), "{what}");
        }
    }
}

#[test]
fn the_file_reads_well() {
    let config = PolicyConfig {
        transformations: vec![ranged("Rotate"), ranged("Invert")],
        layers: 2,
        ..PolicyConfig::default()
    };
    let mut policy = config.init().unwrap();
    policy.provenance_mut().insert("data".to_owned(), "flowers".to_owned());
    insta::assert_snapshot!(policy.to_json().unwrap());
}

#[test]
fn the_description_reads_well() {
    let description =
        PolicyConfig { layers: 3, ..PolicyConfig::default() }.init().unwrap().describe().unwrap();
    insta::assert_snapshot!(description);
}

#[test]
fn the_description_tells_what_the_parameters_say() {
    let config = PolicyConfig {
        transformations: vec![ranged("Rotate"), ranged("Brightness"), ranged("Invert")],
        layers: 2,
        ..PolicyConfig::default()
    };
    let mut policy = config.init().unwrap();
    let parameters = policy.parameters_mut();
    parameters.depth_mut().copy_from_slice(&[0.0, 0.0, 3.0_f32.ln()]);
    // Rotate first, then Brightness.
    parameters.types_mut().copy_from_slice(&[9.0, -9.0, -9.0, 9.0, -9.0, -9.0]);
    let description = policy.describe().unwrap();
    assert_eq!(description.depth.iter().map(|p| (p * 100.0).round()).collect::<Vec<_>>(), [20.0, 20.0, 60.0]);
    assert!(description.types[0][0] > 0.99 && description.types[1][1] > 0.99);
    // Between 1/8 and 7/8 of the range.
    let rotate = description.magnitudes[0][0].unwrap();
    assert!((rotate.low + 22.5).abs() < 1e-4 && (rotate.high - 22.5).abs() < 1e-4);
    assert!(description.magnitudes[2][0].is_none());
    assert!(description.repetition < 0.01);
}

#[test]
fn saving_leaves_nothing_half_written_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut policy = PolicyConfig::default().init().unwrap();
    let path = folder.path().join("policy.json");
    policy.save(&path).unwrap();
    let before = fs::read(&path).unwrap();
    // A policy that cannot be written leaves the file that is there alone.
    policy.parameters_mut().types_mut()[0] = f32::NAN;
    let error = policy.save(&path).unwrap_err();
    assert!(error.to_string().contains("policy.json"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = folder.path().join("no/such/folder/policy.json");
    policy.parameters_mut().types_mut()[0] = 0.0;
    assert!(matches!(policy.save(&nowhere).unwrap_err().problem, FileProblem::Write(_)));
    assert!(matches!(Policy::load(&nowhere).unwrap_err().problem, FileProblem::Read(_)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&other), "a policy is as readable as any other new file");
    }
}

/// A valid file with one thing changed.
fn changed(change: fn(&mut Value)) -> Value {
    let mut value: Value =
        serde_json::from_str(&PolicyConfig::default().init().unwrap().to_json().unwrap()).unwrap();
    change(&mut value);
    value
}

/// What can be wrong with a file that is JSON.
fn changes() -> Vec<(&'static str, fn(&mut Value))> {
    vec![
        ("an unknown key", |file| file["colour"] = json!(1)),
        ("an unknown key in a transformation", |file| file["transformations"][2]["strength"] = json!(1)),
        ("a missing key", |file| drop(file.as_object_mut().unwrap().remove("layers"))),
        ("a missing list", |file| {
            drop(file["transformations"][4].as_object_mut().unwrap().remove("upper_logits"))
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

#[test]
fn what_is_wrong_is_named_and_placed() {
    let mut messages = String::new();
    for (what, change) in changes() {
        let error = Policy::from_json(changed(change).to_string().as_bytes()).expect_err(what);
        messages += &format!("{what}:\n    {error}\n");
    }
    let whole = PolicyConfig::default().init().unwrap().to_json().unwrap();
    let nested = "[".repeat(100_000);
    let texts = [
        ("nothing", ""),
        ("half a file", &whole[..whole.len() / 2]),
        ("a file and a half", &format!("{whole}{{")),
        ("not a number", &whole.replacen("0.0", "NaN", 1)),
        ("a number beyond all", &whole.replacen("0.0", "1e999", 1)),
        ("deep nesting", &nested),
        ("a key twice", &whole.replacen("\"layers\": 7,", "\"layers\": 7, \"layers\": 7,", 1)),
        ("not text", "\u{0}\u{1}\u{2}"),
        ("too much", &" ".repeat((1 << 20) + 1)),
    ];
    for (what, text) in texts {
        let error = Policy::from_json(text.as_bytes()).expect_err(what);
        messages += &format!("{what}:\n    {error}\n");
    }
    insta::assert_snapshot!(messages);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_with_changed_bytes_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = PolicyConfig::default().init().unwrap().to_json().unwrap().into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        if let Ok(policy) = Policy::from_json(&text) {
            prop_assert!(Policy::from_json(policy.to_json().unwrap().as_bytes()).is_ok());
        }
    }

    #[test]
    fn a_file_cut_short_is_refused(at in any::<prop::sample::Index>()) {
        let text = PolicyConfig::default().init().unwrap().to_json().unwrap().into_bytes();
        let cut = &text[..at.index(text.len() - 2)];
        prop_assert!(Policy::from_json(cut).is_err());
    }

    #[test]
    fn every_number_survives_exactly(bits in any::<u32>()) {
        let value = f32::from_bits(bits);
        prop_assume!(value.is_finite());
        let mut policy = PolicyConfig::default().init().unwrap();
        policy.parameters_mut().types_mut()[5] = value;
        let again = Policy::from_json(policy.to_json().unwrap().as_bytes()).unwrap();
        prop_assert_eq!(again.parameters().types()[5].to_bits(), value.to_bits());
    }
}
