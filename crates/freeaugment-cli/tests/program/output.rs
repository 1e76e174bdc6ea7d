//! What the other commands print.

use std::path::Path;
use std::process::Stdio;

use freeaugment::{Policy, PolicyConfig, Transformation};
use freeaugment_baseline::{Baseline, NamedBaseline};
use tempfile::tempdir;

use crate::command::{SMALL, command, run, succeed, without_numbers};

/// A policy with some taste, the same on every machine.
fn policy() -> Policy {
    let names = ["Rotate", "Solarize", "Brightness", "Invert"];
    let transformations = names.map(|name| Transformation::named(name).unwrap().into()).to_vec();
    let mut policy = PolicyConfig { transformations, layers: 3, ..PolicyConfig::default() }.init().unwrap();
    let parameters = policy.parameters_mut();
    parameters.depth_mut().copy_from_slice(&[-2.0, 0.0, 1.5, 0.5]);
    parameters.types_mut()[..3].copy_from_slice(&[2.0, 1.0, 0.0]);
    parameters.magnitudes_mut()[0][..3].copy_from_slice(&[-1.0, -1.5, -3.0]);
    policy.provenance_mut().insert("data".to_owned(), "photos \u{1b}[31m".to_owned());
    policy
}

fn shown(folder: &Path, arguments: &str) -> String {
    policy().save(folder.join("policy.json")).unwrap();
    succeed(folder, arguments).stdout
}

#[test]
fn a_policy_is_shown_as_people_want_to_read_it() {
    let folder = tempdir().unwrap();
    insta::assert_snapshot!(shown(folder.path(), "show policy.json"));
    insta::assert_snapshot!("a_policy_in_full", shown(folder.path(), "show policy.json --full"));
    insta::assert_snapshot!("a_policy_as_json", shown(folder.path(), "show policy.json --json"));
    // A folder with a policy is as good.
    assert_eq!(shown(folder.path(), "show . --full"), shown(folder.path(), "show policy.json --full"));
}

#[test]
fn a_baseline_is_shown_in_words() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let mut named = NamedBaseline::from("rand:1:14".parse::<Baseline>().unwrap());
    named.provenance.insert("data".to_owned(), "photos \u{1b}[31m".to_owned());
    named.save(folder.join("policy.json")).unwrap();
    let schedule = format!("['1', '0', 22, 20, {0:?}, {0:?}]\n", [5_u8; 60]);
    std::fs::write(folder.join("schedule.txt"), schedule).unwrap();
    run(folder, "import pba schedule.txt --out pba.json");
    let cases = ["show policy.json", "show policy.json --json", "show pba.json", "show pba.json --json"];
    let shown = |arguments: &str| succeed(folder, arguments).stdout;
    let each = cases.map(|arguments| format!("$ freeaugment {arguments}\n{}\n", shown(arguments)));
    insta::assert_snapshot!(each.concat());
    // There is no more to tell, and a folder with the file is as good.
    assert_eq!(shown("show policy.json --full"), shown("show policy.json"));
    assert_eq!(shown("show . --json"), shown("show policy.json --json"));
}

#[test]
fn the_built_in_drawings_are_described() {
    let folder = tempdir().unwrap();
    // How many there are is the preset's affair.
    insta::assert_snapshot!(without_numbers(&succeed(folder.path(), "data").stdout));
    let json: serde_json::Value =
        serde_json::from_str(&succeed(folder.path(), "data --json").stdout).unwrap();
    let classes = json["classes"].as_array().unwrap();
    assert_eq!(classes.len(), 10);
    for split in ["training", "validation", "test"] {
        let sum: u64 = classes.iter().map(|class| class[split].as_u64().unwrap()).sum();
        assert_eq!(json[split], sum, "{split}");
    }
}

#[test]
fn a_folder_of_images_is_described_with_what_cannot_be_read() {
    let folder = tempdir().unwrap();
    for (class, colour) in [("dark", 40), ("light", 200)] {
        let path = folder.path().join("photos").join(class);
        std::fs::create_dir_all(&path).unwrap();
        for number in 0..4_u8 {
            std::fs::write(
                path.join(format!("{number}.bmp")),
                bitmap(8 + u32::from(number), colour + number),
            )
            .unwrap();
        }
    }
    std::fs::write(folder.path().join("photos/dark/cut.bmp"), &bitmap(8, 0)[..70]).unwrap();
    insta::assert_snapshot!(succeed(folder.path(), "data photos").stdout);
    let search = "search --data photos --validation-share 0.5 --batch 2 --network WRN-10-1 --size 16 --epochs 1 --layers 1 --quiet --warm-up false";
    succeed(folder.path(), &format!("{search} --out run"));
    let configuration = std::fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    let data = configuration.lines().find_map(|line| line.strip_prefix("data = ")).unwrap();
    assert!(Path::new(data.trim_matches(|quote| quote == '"' || quote == '\'')).is_absolute(), "{data}");
}

#[test]
fn folders_of_domains_that_are_taken_for_classes_are_pointed_out() {
    let folder = tempdir().unwrap();
    for domain in ["art", "photo"] {
        for class in ["cat", "dog"] {
            let path = folder.path().join("pets").join(domain).join(class);
            std::fs::create_dir_all(&path).unwrap();
            for number in 0..4_u8 {
                std::fs::write(path.join(format!("{number}.bmp")), bitmap(8, 40 * number)).unwrap();
            }
        }
    }
    let described = succeed(folder.path(), "data pets").stdout;
    assert!(
        described.contains("\nnote: ") && described.contains("art") && described.contains("cat"),
        "{described}"
    );
    let search = "search --data pets --batch 2 --network WRN-10-1 --size 8 --epochs 1 --layers 1 --out run";
    assert!(succeed(folder.path(), search).stderr.contains("\nnote: "));
}

/// A grey square as a Windows bitmap.
fn bitmap(side: u32, grey: u8) -> Vec<u8> {
    let row = (3 * side).next_multiple_of(4);
    let numbers = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let header =
        [numbers(&[54 + row * side, 0, 54, 40, side, side]), vec![1, 0, 24, 0], numbers(&[0; 6])].concat();
    [b"BM".to_vec(), header, vec![grey; (row * side) as usize]].concat()
}

#[test]
fn a_dry_run_says_what_would_be_done_and_how_long_it_takes() {
    let folder = tempdir().unwrap();
    let ended = succeed(folder.path(), &format!("search {SMALL} --dry-run --proof-epochs 1"));
    insta::assert_snapshot!(without_numbers(&ended.stdout));
    assert!(ended.stdout.contains("24 steps: 8 of warm-up, "), "{}", ended.stdout);
    let json = succeed(folder.path(), &format!("search {SMALL} --dry-run --json")).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["plan"]["steps"], &json["estimate"]["learning_steps"]), (&24.into(), &16.into()));
    assert!(json["estimate"]["search_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn help_teaches() {
    let folder = tempdir().unwrap();
    insta::assert_snapshot!("help", succeed(folder.path(), "--help").stdout);
    for name in [
        "find", "search", "train", "compare", "import", "export", "resume", "show", "preview", "report",
        "data",
    ] {
        insta::assert_snapshot!(
            format!("help_{name}"),
            succeed(folder.path(), &format!("{name} --help")).stdout
        );
    }
    insta::assert_snapshot!("help_search_short", succeed(folder.path(), "search -h").stdout);
    assert_eq!(
        succeed(folder.path(), "--version").stdout,
        format!("freeaugment {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(run(folder.path(), "").code, Some(2));
}

#[test]
fn a_reader_who_goes_away_is_no_error() {
    let folder = tempdir().unwrap();
    policy().save(folder.path().join("policy.json")).unwrap();
    for arguments in ["show policy.json".to_owned(), format!("search {SMALL} --json --quiet --out run")] {
        let mut child =
            command(folder.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
    assert!(folder.path().join("run/policies/epoch-0003.json").is_file(), "the search went on");
}
