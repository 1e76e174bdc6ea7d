//! What the same seeds gave in earlier versions: changes of structure must not change a bit of it.
//!
//! The numbers are those of processors with fused multiply-add (AVX2 and AVX-512 agree); elsewhere there is nothing to
//! hold them against. A change that is meant to change results has to write new ones here, and to say so.
#![allow(clippy::print_stderr, reason = "what was not checked must be seen")]

use std::path::Path;

use freeaugment_base::Fnv;
use freeaugment_base::simd::{InstructionSet, instruction_set};
use serde_json::Value;
use tempfile::tempdir;

use crate::command::{SMALL, succeed};

/// The hash of a policy without its provenance.
fn policy(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let end = text.find("\"provenance\"").unwrap();
    format!("{:016x}", Fnv::of(&text.as_bytes()[..end]))
}

/// The hash of all tensors of a safetensors file by name, whatever order they are stored in.
fn weights(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let (size, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (header, data) = rest.split_at(u64::from_le_bytes(*size) as usize);
    let header: std::collections::BTreeMap<String, Value> = serde_json::from_slice(header).unwrap();
    let mut hash = Fnv::default();
    for (name, tensor) in header.iter().filter(|(name, _)| *name != "__metadata__") {
        let [start, end] = [0, 1].map(|i| tensor["data_offsets"][i].as_u64().unwrap() as usize);
        hash.add(name.as_bytes());
        hash.add(&data[start..end]);
    }
    format!("{:016x}", hash.finish())
}

fn is_comparable() -> bool {
    let portable = instruction_set() == InstructionSet::Portable;
    if portable {
        eprintln!("not compared: this processor has no AVX2 with fused multiply-add");
    }
    !portable
}

#[test]
fn a_search_and_a_comparison_give_the_bits_of_earlier_versions() {
    if !is_comparable() {
        return;
    }
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &format!("search {SMALL} --quiet --out run"));
    assert_eq!(policy(&folder.join("run/policy.json")), "540dba7b9ddfa0f9");
    assert_eq!(weights(&folder.join("run/classifier.safetensors")), "67ce6ca257be6b6e");

    let budget = "--drawings-train 96 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 2";
    let policies = "standard,trivial-wide,uniform-free:2";
    succeed(folder, &format!("compare --policies {policies} {budget} --seeds 1 --quiet --out compared"));
    let cells = [
        ("standard", "a2ca181e13b67444"),
        ("trivial-wide", "9770a0c68c85e29c"),
        ("uniform-free-2", "a69564002bfd4e3e"),
    ];
    for (name, expected) in cells {
        let found = weights(&folder.join("compared").join(name).join("seed-1/weights.safetensors"));
        assert_eq!(found, expected, "{name}");
    }
}

/// Three minutes with a release build: `cargo test --release -p freeaugment-cli --test program -- --ignored default_search`
#[test]
#[ignore = "takes three minutes"]
fn the_default_search_gives_the_bits_of_earlier_versions() {
    if !is_comparable() {
        return;
    }
    let folder = tempdir().unwrap();
    succeed(folder.path(), "search --proof-epochs 0 --quiet --out run");
    assert_eq!(policy(&folder.path().join("run/policy.json")), "5719d51793205548");
    assert_eq!(weights(&folder.path().join("run/classifier.safetensors")), "f82a17d8a1d80c49");
}
