//! Files that are cut short, wrong or made to do harm give errors.

use freeaugment_baseline::{Kind, Published, import_bytes};
use proptest::prelude::*;

use super::{archive, dra, file, pba, read, slack, subpolicy};

fn samples() -> Vec<(Kind, Vec<u8>, Option<&'static str>)> {
    vec![
        (Kind::Slack, slack::checkpoint(&[0.0; 51], &[0.5; 17]), None),
        (Kind::DeepAa, archive::npz(&["Rotate", "Color"], &[(0, 5), (1, 6)], &[&[0.3, 0.7]], 13), None),
        (Kind::Dada, subpolicy::GENOTYPE.into(), Some("B")),
        (Kind::FastAutoAugment, subpolicy::ARCHIVE.into(), Some("summed")),
        (Kind::Dra, dra::POLICIES.into(), Some("Net on ImageNet")),
        (Kind::Pba, pba::schedule().into(), Some("100")),
    ]
}

#[test]
fn files_that_are_cut_short_give_errors_or_less() {
    for (kind, bytes, name) in samples() {
        for length in (0..bytes.len()).step_by(7) {
            let outcome = read(kind, "file", &bytes[..length], name);
            // An archive has its end at its end; a text may lose what is not needed.
            assert!(
                outcome.is_err() || !matches!(kind, Kind::Slack | Kind::DeepAa),
                "{kind} of {length} bytes"
            );
        }
    }
}

#[test]
fn bytes_are_read_as_files_are() {
    for (kind, bytes, name) in samples() {
        let file = read(kind, "file.a", &bytes, name).expect("it is sound");
        assert_eq!(import_bytes(kind, "file.a", &bytes, name).expect("it is sound"), file);
        let error = import_bytes(kind, "file.a", &bytes[..9], name).expect_err("it is cut short");
        assert_eq!(format!("file.a: {error}"), read(kind, "file.a", &bytes[..9], name).expect_err("as well"));
    }
    let error = import_bytes(Kind::Dada, "a.py", &vec![b' '; 3 << 20], None).expect_err("it is too large");
    assert_eq!(error.to_string(), "is larger than 2097152 bytes, which no such file is");
}

#[test]
fn nested_brackets_do_not_overflow_the_stack() {
    for bracket in ["[", "(", "{", "{1:", "f(", "[[[[("] {
        let deep = format!("A = {}", bracket.repeat(100_000));
        let error = read(Kind::Dada, "a.py", deep.as_bytes(), None).expect_err("it is no policy");
        assert!(error.contains("a bracket is never closed"), "{error}");
    }
    let closed = format!("A = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let error = read(Kind::Dada, "a.py", closed.as_bytes(), Some("A")).expect_err("it is no policy");
    assert!(error.ends_with("it is nested more than 50 times"), "{error}");
    let error = read(Kind::Pba, "a.txt", &closed.as_bytes()[4..], None).expect_err("it is no schedule");
    assert!(error.ends_with("line 1: it is nested more than 50 times"), "{error}");
    let json = format!("{{\"format\": {}", "[".repeat(100_000));
    Published::from_json(json.as_bytes()).expect_err("it is no baseline");
}

#[test]
fn names_do_not_make_a_small_file_a_huge_list() {
    let doubled = (1..60).map(|at| format!("a{at} = a{0} + a{0}\n", at - 1));
    let text = format!("a0 = [[('Rotate', 1, 1)]]\n{}", doubled.collect::<String>());
    let error = read(Kind::Dada, "a.py", text.as_bytes(), Some("a59")).expect_err("it has 2^59 sub-policies");
    assert!(error.contains("it has more than 2000000 values"), "{error}");
    let many = format!("{}[{}]", "a = ".repeat(50_000), "1, ".repeat(50_000));
    let error = read(Kind::Dada, "a.py", many.as_bytes(), Some("a")).expect_err("it would take 10 GB");
    assert!(error.contains("it has more than 2000000 values"), "{error}");
}

/// Text of the words and signs that matter.
fn python() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        "=",
        "+",
        "-",
        ":",
        ".",
        "\n",
        "\n    ",
        "'",
        "\"",
        "\"\"\"",
        "\\",
        "#",
        "@",
        "def f():",
        "return ",
        "W",
        "OPS",
        "M_MEAN",
        "M_STD",
        "'Rotate'",
        "0.5",
        "1e5",
        "1e999",
        "1__",
        "é",
        "namedtuple(",
        " ",
        "[[('Rotate', 1, 1)]]",
        "\r\n",
        "'hp_policy'",
        "\0",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_python_gives_an_answer(text in python()) {
        for kind in [Kind::Dada, Kind::FastAutoAugment, Kind::Dra, Kind::Pba] {
            let _ = read(kind, "file", text.as_bytes(), Some("W"));
        }
    }

    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for kind in Kind::ALL {
            let _ = read(kind, "file", &bytes, None);
        }
        let _ = Published::from_json(&bytes);
    }

    #[test]
    fn changed_bytes_give_an_answer(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5)) {
        for (kind, mut bytes, name) in samples() {
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            if let Ok(policy) = read(kind, "file", &bytes, name) {
                super::draw(&policy, 20);
            }
        }
    }

    #[test]
    fn changed_files_of_our_own_give_an_answer(kind in 0_usize..6, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = file::every()[kind].to_json().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(policy) = Published::from_json(&bytes) {
            super::draw(&policy, 20);
        }
    }
}
