//! Our own file of a baseline.

use freeaugment_baseline::{BaselineFile, Kind, Published};

use super::{archive, dra, draw, pba, read, slack, subpolicy, write};

/// One policy of every kind.
pub(crate) fn every() -> Vec<Published> {
    let logits: Vec<f32> = (0..54).map(|at| at as f32 / 7.0).collect();
    let bounds: Vec<f32> = (0..18).map(|at| at as f32 / 18.0).collect();
    let deep = archive::npz(&["Rotate", "RandCrop"], &[(0, 5), (1, 6)], &[&[0.3, 0.7]], 13);
    let files: [(Kind, Vec<u8>, Option<&str>); 6] = [
        (Kind::Slack, slack::checkpoint(&logits, &bounds), None),
        (Kind::DeepAa, deep, None),
        (Kind::Dada, subpolicy::GENOTYPE.into(), Some("B")),
        (Kind::FastAutoAugment, subpolicy::ARCHIVE.into(), Some("summed")),
        (Kind::Dra, dra::POLICIES.into(), Some("Net on ImageNet")),
        (Kind::Pba, pba::schedule().into(), None),
    ];
    let read = |(kind, bytes, name): &(Kind, Vec<u8>, Option<&str>)| read(*kind, "file", bytes, *name);
    files.iter().map(read).collect::<Result<_, _>>().expect("all are sound")
}

#[test]
fn every_kind_is_written_and_read_again() {
    for policy in every() {
        let again = Published::from_json(policy.to_json().as_bytes()).expect("it was just written");
        assert_eq!(again, policy);
        assert_eq!(draw(&again, 200), draw(&policy, 200));
        assert_eq!(again.to_json(), policy.to_json());
        let (_folder, path) = write("policy.json", b"");
        policy.save(&path).expect("it can be written");
        assert_eq!(Published::load(&path).expect("it can be read"), policy);
        assert_eq!(BaselineFile::load(&path).expect("it can be read"), BaselineFile::Published(policy));
    }
}

#[test]
fn the_file_can_be_read_by_people() {
    let policy =
        read(Kind::Dada, "genotype.py", subpolicy::GENOTYPE.as_bytes(), Some("A")).expect("it is sound");
    let expected = r#"{
  "format": "freeaugment-baseline",
  "version": 1,
  "name": "dada A",
  "source": {
    "kind": "dada",
    "file": "genotype.py",
    "bytes": 284
  },
  "notes": [],
  "policy": {
    "sub-policies": {
      "sub_policies": [
        [
          ["Rotate",1.0,1.0],
          ["Invert",0.25,0.5]
        ]
      ]
    }
  }
}
"#;
    let bytes = format!("\"bytes\": {}", subpolicy::GENOTYPE.len());
    assert_eq!(policy.to_json(), expected.replace("\"bytes\": 284", &bytes));
}

#[test]
fn wrong_files_are_refused() {
    let text = every()[2].to_json();
    let refused = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        let error = Published::from_json(changed.as_bytes()).expect_err("it is not sound").to_string();
        let any = BaselineFile::from_json(changed.as_bytes()).expect_err("it is not sound").to_string();
        assert_eq!(any, error, "whoever takes every baseline says the same");
        error
    };
    let error = refused("freeaugment-baseline", "freeaugment-policy");
    assert_eq!(error, "is not a baseline of FreeAugment: its `format` must be \"freeaugment-baseline\"");
    assert_eq!(
        refused("\"version\": 1", "\"version\": 2, \"more\": 1"),
        "has version 2, but this program reads version 1"
    );
    let error = refused("\"name\"", "\"nam\"");
    assert!(error.starts_with("at `nam`: unknown field `nam`, expected one of"), "{error}");
    let error = refused("\"bytes\"", "\"size\": 1, \"bytes\"");
    assert!(error.starts_with("at `source.size`: unknown field `size`"), "{error}");
    let error = refused("\"Color\",0.5", "\"Color\",1.5");
    assert_eq!(error, "at `policy`: sub-policy 0: the probability 1.5 is not between 0 and 1");
    let error = refused("\"Color\"", "\"Colour\"");
    assert!(error.contains("policy") && error.contains("unknown variant `Colour`"), "{error}");
    let error = refused("\"Color\"", "\"Hue\"");
    assert_eq!(error, "at `policy`: sub-policy 0: Hue is not an operation of this system");
    let error = refused("\"kind\": \"dada\"", "\"kind\": \"pba\"");
    assert_eq!(error, "at `policy`: it is not a policy of the kind `pba` that `source` names");
    let cut = Published::from_json(&text.as_bytes()[..text.len() / 2]).expect_err("it is cut short");
    assert!(cut.to_string().starts_with("is not valid JSON: EOF while parsing"), "{cut}");
    let (_folder, path) = write("policy.json", b"[]");
    let error = Published::load(&path).expect_err("a list is no policy").to_string();
    assert!(error.ends_with(
        "policy.json: is not a baseline of FreeAugment: its `format` must be \"freeaugment-baseline\""
    ));
}

#[test]
fn kinds_have_names() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    let error = "autoaugment".parse::<Kind>().expect_err("it has no search of its own here").to_string();
    let expected = "there is no kind `autoaugment` of published policies: it must be one of slack, deepaa, dada, \
                    fast-autoaugment, dra, pba";
    assert_eq!(error, expected);
}
