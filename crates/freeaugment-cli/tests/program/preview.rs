//! What a policy does to images, as one picture.

use std::path::Path;

use tempfile::tempdir;

use crate::command::{SMALL, run, succeed};

/// Columns and rows of a PNG file.
fn size(path: &Path) -> (u32, u32) {
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn every_kind_of_policy_has_a_preview_and_the_seed_decides_it() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &format!("search {SMALL} --quiet --out learned --no-report"));
    for (policy, file) in [
        ("trivial-wide", "preview-trivial-wide.png"),
        ("rand:2:9", "preview-rand-2-9.png"),
        ("none", "preview-none.png"),
        ("learned", "preview-learned.png"),
        ("learned/policy.json", "preview-policy.png"),
    ] {
        let ended = succeed(folder, &format!("preview {policy} --grid 2x3"));
        assert_eq!(ended.stdout, format!("{file}\n"));
        assert_eq!(size(&folder.join(file)).0, 4 * (192 + 12) + 12, "an original and three samples");
    }
    let drawn = |more: &str| {
        succeed(folder, &format!("preview trivial-wide --grid 2x3 --out a.png {more}"));
        std::fs::read(folder.join("a.png")).unwrap()
    };
    assert_eq!(drawn(""), drawn("--seed 0"));
    assert_ne!(drawn(""), drawn("--seed 1"));
    let (_, plain) = size(&folder.join("preview-learned.png"));
    succeed(folder, "preview learned --grid 2x3 --strips --out strips.png");
    assert!(size(&folder.join("strips.png")).1 > plain + 3 * 64, "a strip for each of three transformations");
}

#[test]
fn own_images_are_shown_and_never_written_over() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, "preview none --grid 1x1 --out image.png");
    let before = std::fs::read(folder.join("image.png")).unwrap();
    succeed(folder, "preview trivial-wide --image image.png image.png --out out.png --size 64");
    assert_eq!(size(&folder.join("out.png")).0, 7 * (192 + 12) + 12);
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    for (arguments, code, says) in [
        ("preview trivial-wide --image image.png --out image.png", 6, "is one of the images to be shown"),
        ("preview trivial-wide --out notes.txt", 6, "exists and is no PNG file"),
        ("preview trivial-wide --image notes.txt", 4, "notes.txt"),
        ("preview trivial-wide --image absent.png", 4, "absent.png"),
        ("preview trivial-wide --data absent", 4, "absent"),
        ("preview trivail-wide", 3, "did you mean `trivial-wide`?"),
        ("preview trivial-wide --strips", 3, "has no learned ranges"),
        ("preview trivial-wide --grid 0x3", 2, "write rows and columns as in `4x6`"),
    ] {
        let ended = run(folder, arguments);
        assert_eq!(ended.code, Some(code), "{arguments}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{arguments}: {}", ended.stderr);
        assert!(code == 2 || ended.stderr.lines().count() == 1, "{arguments}: {}", ended.stderr);
    }
    assert_eq!(std::fs::read(folder.join("image.png")).unwrap(), before);
    assert_eq!(std::fs::read(folder.join("notes.txt")).unwrap(), b"mine");
}
