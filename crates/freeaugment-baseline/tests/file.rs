//! The file of a baseline of the table.

use freeaugment_baseline::{Baseline, BaselineFile, NamedBaseline, PublishedProblem};

fn named(name: &str) -> NamedBaseline {
    NamedBaseline::from(name.parse::<Baseline>().expect("a baseline of the table"))
}

fn refused(text: &str) -> String {
    BaselineFile::from_json(text.as_bytes()).expect_err("it is not sound").to_string()
}

#[test]
fn every_baseline_is_written_and_read_again() {
    let numbered = ["rand:1:0", "rand:14:30", "torchvision-rand:3:7"].map(|name| named(name).baseline);
    for baseline in Baseline::all().chain(numbered) {
        let mut named = NamedBaseline::from(baseline);
        named.provenance.insert("data".to_owned(), "photos \"of\" flowers".to_owned());
        let text = named.to_json();
        assert!(BaselineFile::recognises(text.as_bytes()));
        let again = BaselineFile::from_json(text.as_bytes()).expect("it was just written");
        assert_eq!((again.name(), again.provenance()), (baseline.name(), named.provenance.clone()));
        assert_eq!(again, BaselineFile::Named(named));
    }
}

#[test]
fn the_file_can_be_read_by_people() {
    let mut named = named("rand");
    named.provenance.insert("data".to_owned(), "flowers".to_owned());
    let expected = r#"{
  "format": "freeaugment-baseline",
  "version": 1,
  "baseline": "rand:2:9",
  "provenance": {
    "data": "flowers"
  }
}
"#;
    assert_eq!(named.to_json(), expected);
}

#[test]
fn it_is_written_to_a_file_and_read_from_there() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("policy.json");
    named("none").save(&path).expect("it can be written");
    assert_eq!(BaselineFile::load(&path).expect("it can be read"), BaselineFile::Named(named("none")));
    std::fs::write(&path, "{}").expect("a file can be written");
    let error = BaselineFile::load(&path).expect_err("there is nothing in it").to_string();
    assert_eq!(
        error,
        format!(
            "{}: is not a baseline of FreeAugment: its `format` must be \"freeaugment-baseline\"",
            path.display()
        )
    );
    let error = BaselineFile::load(folder.path().join("missing.json")).expect_err("there is no file");
    assert!(matches!(error.problem, PublishedProblem::Read(_)), "{error}");
}

#[test]
fn what_is_left_out_is_empty_and_the_usual_numbers_need_not_be_said() {
    let text = r#"{"baseline": "rand", "version": 1, "format": "freeaugment-baseline"}"#;
    let file = BaselineFile::from_json(text.as_bytes()).expect("nothing is missing");
    assert_eq!(file, BaselineFile::Named(named("rand:2:9")));
}

#[test]
fn wrong_files_are_refused() {
    let mut named = named("trivial-wide");
    named.provenance.insert("data".to_owned(), "flowers".to_owned());
    let text = named.to_json();
    let changed = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        refused(&changed)
    };
    let names = Baseline::NAMES.join(", ");
    let spelt = format!(
        "at `baseline`: there is no baseline `trival-wide` (did you mean `trivial-wide`?); there are {names}"
    );
    for (from, to, expected) in [
        ("trivial-wide", "trival-wide", &*spelt),
        ("trivial-wide", "rand:2:31", "at `baseline`: the level is 31, but must lie in 0..=30"),
        ("trivial-wide", "trivial:3", "at `baseline`: `trivial:3`: this baseline takes no numbers"),
        ("\"trivial-wide\"", "3", "at `baseline`: invalid type: integer `3`, expected a string"),
        ("\"trivial-wide\"", "null", "at `baseline`: invalid type: null, expected a string"),
        ("version\": 1", "version\": 2, \"more\": 1", "has version 2, but this program reads version 1"),
        ("\"baseline\": \"trivial-wide\",", "", "at `the top level`: missing field `baseline`"),
        (
            "\"baseline\"",
            "\"level\": 3, \"baseline\"",
            "at `level`: unknown field `level`, expected one of `format`, `version`, `baseline`, `provenance`",
        ),
        // Whoever writes a policy out cannot name a baseline as well.
        (
            "\"trivial-wide\",",
            "\"trivial-wide\", \"policy\": {},",
            "at `baseline`: unknown field `baseline`, expected one of `format`, `version`, `name`, `source`, \
             `notes`, `policy`",
        ),
        ("\"flowers\"", "3", "at `provenance.data`: invalid type: integer `3`, expected a string"),
    ] {
        assert_eq!(changed(from, to), expected, "{to}");
    }
    let error = changed("freeaugment-baseline", "freeaugment-policy");
    assert_eq!(error, "is not a baseline of FreeAugment: its `format` must be \"freeaugment-baseline\"");
    assert!(refused(&text[..text.len() / 2]).starts_with("is not valid JSON: EOF while parsing"));
}

#[test]
fn a_file_says_what_it_does() {
    let explained = |name: &str| BaselineFile::Named(named(name)).explanation();
    for (name, expected) in [
        ("none", "images as they are: no crop, no flip, no cutout"),
        ("standard", "crop, flip and cutout as the settings have them"),
        (
            "trivial-wide",
            "TrivialAugment in its wide space: one of 14 operations\n\
             the operations, then crop, flip and cutout as the settings have them; large images are cropped first",
        ),
        (
            "domainbed",
            "DomainBed's augmentation, with its own crop\n\
             crop (70 to 100 % of the area, resized) and flip as the settings have them, then the operations, then cutout",
        ),
        (
            "torchvision-rand:1:5",
            "RandAugment as torchvision has it: 1 operation at level 5 of 30\n\
             crop and flip as the settings have them, then the operations, then cutout",
        ),
    ] {
        assert_eq!(explained(name), expected);
    }
}
