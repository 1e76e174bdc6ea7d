//! The policy file: what is written is read again, and hostile files get an answer and not a panic.

mod common;
#[path = "common/kind.rs"]
mod kind;

use std::fmt::Write as _;
use std::fs;

use freeaugment::{FileError, FileProblem, Policy, PolicyConfig, Transformation};
use kind::{changed, changes, policies, ranged};
use proptest::prelude::*;
use serde_json::{Value, json};

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
fn the_schema_names_every_transformation_and_every_key_that_is_written() {
    let schema: Value = serde_json::from_str(include_str!("../schema/policy-1.schema.json")).unwrap();
    let names: Vec<_> = Transformation::all().iter().map(|t| t.name()).collect();
    assert_eq!(schema["$defs"]["transformation"]["properties"]["name"]["enum"], json!(names));
    let properties = &schema["properties"];
    let limits = [
        &properties["layers"]["maximum"],
        &properties["transformations"]["maxItems"],
        &properties["depth"]["oneOf"][1]["properties"]["depth"]["maximum"],
    ];
    assert_eq!(limits, [&json!(names.len()); 3]);
    assert_eq!(schema["$defs"]["numbers"]["maxItems"], json!(names.len() + 1));
    for policy in policies() {
        let file: Value = serde_json::from_str(&policy.to_json().unwrap()).unwrap();
        assert_eq!(unnamed("", &file, &schema, &schema), Vec::<String>::new());
    }
    // The check finds what it is there to find, at every level.
    let all: Vec<String> = changes()
        .into_iter()
        .filter(|(what, _)| what.starts_with("an unknown key"))
        .flat_map(|(_, change)| unnamed("", &changed(change), &schema, &schema))
        .collect();
    assert_eq!(all, [".colour", ".transformations[2].strength"]);
}

/// The keys of a value that its schema does not name. Whether the values fit too is for `scripts/check-schema`.
fn unnamed(path: &str, value: &Value, schema: &Value, root: &Value) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).expect(reference);
        return unnamed(path, value, target, root);
    }
    if let Some(kinds) = schema["oneOf"].as_array() {
        let kind = kinds.iter().find(|kind| kind["properties"]["kind"]["const"] == value["kind"]);
        return unnamed(path, value, kind.expect(path), root);
    }
    match value {
        Value::Object(entries) if schema["additionalProperties"] == false => entries
            .iter()
            .flat_map(|(key, value)| {
                let path = format!("{path}.{key}");
                match schema["properties"].get(key) {
                    Some(schema) => unnamed(&path, value, schema, root),
                    None => vec![path],
                }
            })
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(at, item)| unnamed(&format!("{path}[{at}]"), item, &schema["items"], root))
            .collect(),
        _ => Vec::new(),
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

#[test]
fn what_is_wrong_is_named_and_placed() {
    let mut messages = String::new();
    let mut note = |what: &str, error: FileError| writeln!(messages, "{what}:\n    {error}").unwrap();
    for (what, change) in changes() {
        let error = Policy::from_json(changed(change).to_string().as_bytes()).expect_err(what);
        note(what, error);
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
        note(what, error);
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
