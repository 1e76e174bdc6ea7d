//! Augmented copies of a folder of images.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use freeaugment_data::{Format, Picture, Stored};
use tempfile::tempdir;

use crate::command::{run, start, succeed, wait_until};

/// Writes an image that no other number gives.
fn image(path: &Path, number: usize, side: usize, format: Format, channels: usize, alpha: bool) {
    let value = |at: usize| (at * at * 7 + at * (number + 3) + at / side) % 256;
    let pixels = (0..side * side * channels).map(|at| value(at) as u8).collect();
    let picture = Picture { height: side, width: side, channels, pixels };
    let alpha = alpha.then(|| (0..side * side).map(|at| value(at + 1) as u8).collect());
    let stored = Stored { format, picture, alpha, profile: None, was_deeper: false };
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, stored.encode(95).unwrap().bytes).unwrap();
}

/// Images of several kinds, in folders and folders of folders.
fn several(folder: &Path) {
    image(&folder.join("photos/cat/1.jpg"), 1, 24, Format::Jpeg, 3, false);
    image(&folder.join("photos/cat/2.JPEG"), 2, 31, Format::Jpeg, 1, false);
    image(&folder.join("photos/dog/wet, \"shaggy\"/1.png"), 3, 17, Format::Png, 3, true);
    image(&folder.join("photos/dog/3.webp"), 4, 9, Format::WebP, 3, false);
    image(&folder.join("photos/4.bmp"), 5, 1, Format::Bmp, 3, false);
}

/// Enough images that one can be quick enough to interrupt.
fn many(folder: &Path) {
    for number in 0..60 {
        let path = folder.join(format!("photos/{}/{number}.png", number % 3));
        image(&path, number, 160, Format::Png, 3, false);
    }
}

/// All visible files with their bytes.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if path.is_dir() {
                pending.push(path);
            } else if !path.file_name().unwrap().as_encoded_bytes().starts_with(b".") {
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn copies_keep_folders_names_formats_and_sizes() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    several(folder);
    std::fs::write(folder.join("photos/labels.txt"), "cats and dogs").unwrap();
    let before = tree(&folder.join("photos"));
    let ended = succeed(folder, "apply uniform-free photos out --copies 2 --include-originals");
    assert_eq!(tree(&folder.join("photos")), before, "what is read stays as it is");
    assert_eq!(
        ended.stderr,
        "note: left out, for they are no JPEG, PNG, WebP or BMP images by their names: 1\n"
    );
    let after = tree(&folder.join("out"));
    let names: Vec<&str> = after.keys().map(String::as_str).collect();
    insta::assert_snapshot!(names.join("\n"));
    for (name, bytes) in &before {
        if name == "labels.txt" {
            continue;
        }
        assert_eq!(after[name], *bytes, "originals are copied byte for byte");
        let (stem, extension) = name.rsplit_once('.').unwrap();
        let decode = |bytes: &[u8]| Stored::decode(Path::new(name), bytes).unwrap();
        let original = decode(bytes);
        let copies = [1, 2].map(|copy| decode(&after[&format!("{stem}.aug{copy}.{extension}")]));
        for copy in &copies {
            assert_eq!(copy.format, original.format);
            assert_eq!(copy.picture.shape(), original.picture.shape());
            assert_eq!(copy.alpha.is_some(), original.alpha.is_some());
        }
        if original.picture.height > 1 {
            assert_ne!(copies[0], copies[1], "{name}");
        }
    }
    let manifest = String::from_utf8(after["manifest.csv"].clone()).unwrap();
    insta::assert_snapshot!(manifest);
}

#[test]
fn baselines_and_quality_are_heeded() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    several(folder);
    succeed(folder, "apply rand:2:9 photos fine --quiet");
    succeed(folder, "apply rand:2:9 photos coarse --quiet --quality 20");
    let (fine, coarse) = (tree(&folder.join("fine")), tree(&folder.join("coarse")));
    assert!(coarse["cat/1.aug1.jpg"].len() < fine["cat/1.aug1.jpg"].len());
    assert_eq!(coarse["manifest.csv"], fine["manifest.csv"]);
    // Two operations are drawn for each image; that one of them is the identity is not worth a word.
    let manifest = String::from_utf8(fine["manifest.csv"].clone()).unwrap();
    let more: Vec<usize> = manifest.lines().skip(1).map(|line| line.matches(';').count()).collect();
    assert_eq!(more, [0, 1, 1, 1, 1], "{manifest}");
}

#[test]
fn files_depend_on_seed_and_name_and_on_nothing_else() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    several(folder);
    let made = |out: &str, more: &str| {
        succeed(folder, &format!("apply uniform-free photos {out} --quiet --copies 3 {more}"));
        let mut files = tree(&folder.join(out));
        files.remove("apply.json");
        files
    };
    let reference = made("one", "--threads 1");
    assert_eq!(made("two", "--threads 2"), reference);
    assert_ne!(made("other", "--seed 1")["manifest.csv"], reference["manifest.csv"]);
    // One image more changes none of the others.
    image(&folder.join("photos/cat/0.jpg"), 9, 8, Format::Jpeg, 3, false);
    let more = made("more", "");
    for (name, bytes) in reference.iter().filter(|(name, _)| *name != "manifest.csv") {
        assert_eq!(more[name], *bytes, "{name}");
    }
}

#[test]
fn killed_and_gone_on_with_it_ends_the_same() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    many(folder);
    let apply = "apply uniform-free photos out --quiet --copies 4 --threads 2";
    succeed(folder, "apply uniform-free photos whole --quiet --copies 4 --threads 2");
    let mut child = start(folder, apply);
    wait_until("a copy is there", || folder.join("out/0/0.aug1.png").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let before = tree(&folder.join("out"));
    assert!(!before.contains_key("manifest.csv"), "it was killed before its end");
    // What a process leaves that is killed while it writes.
    std::fs::write(folder.join("out/0/.unfinished-a1b2c3"), "half").unwrap();
    // What a failure of power leaves of a file.
    std::fs::write(folder.join("out/0/0.aug1.png"), "").unwrap();
    let ended = succeed(folder, &apply.replace("--quiet", ""));
    let copies = before.len() - 2;
    let told = format!("  files     {} written, {copies} there from before\n", 240 - copies);
    assert!(ended.stdout.contains(&told), "{}", ended.stdout);
    assert_eq!(tree(&folder.join("out")), tree(&folder.join("whole")));
    assert!(!folder.join("out/0/.unfinished-a1b2c3").exists());
    let ended = succeed(folder, &apply.replace("--quiet", ""));
    assert!(ended.stdout.contains("  files     0 written, 240 there from before\n"), "{}", ended.stdout);
}

#[cfg(unix)]
#[test]
fn ctrl_c_finishes_what_is_under_way_and_says_how_to_go_on() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    many(folder);
    let child = start(folder, "apply uniform-free photos out --copies 4 --threads 1");
    wait_until("a copy is there", || folder.join("out/0/0.aug1.png").exists());
    let (code, said) = crate::interruption::interrupt(child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("\ninterrupted: "), "{said}");
    assert!(said.contains(" of 240 files are there\n"), "{said}");
    let typed = "apply uniform-free photos out --copies 4 --threads 1";
    assert!(said.ends_with(&format!("\nto go on: freeaugment {typed}\n")), "{said}");
    let copies = tree(&folder.join("out"));
    assert!(!copies.contains_key("manifest.csv"));
    assert!((copies.len() - 1).is_multiple_of(4), "all copies of the images under way are there");
    succeed(folder, typed);
    assert_eq!(tree(&folder.join("out")).len(), 242);
}

#[test]
fn unreadable_images_are_named_and_skipped_up_to_a_limit() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    several(folder);
    std::fs::write(folder.join("photos/cat/bad.jpg"), "no image").unwrap();
    std::fs::write(folder.join("photos/cat/cut.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let ended = succeed(folder, "apply uniform-free photos out --include-originals");
    insta::assert_snapshot!(ended.stderr);
    assert!(ended.stdout.contains("  images    7, 2 of them unreadable\n"), "{}", ended.stdout);
    assert!(!folder.join("out/cat/bad.jpg").exists());
    let ended = run(folder, "apply uniform-free photos strict --max-unreadable 1 --threads 1");
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    insta::assert_snapshot!(ended.stderr);
}

#[test]
fn what_cannot_be_applied_or_written_is_refused_in_a_line() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    several(folder);
    std::fs::create_dir(folder.join("empty")).unwrap();
    std::fs::create_dir(folder.join("theirs")).unwrap();
    std::fs::write(folder.join("theirs/thesis.txt"), "years of work").unwrap();
    succeed(folder, "apply uniform-free photos done --quiet");
    succeed(folder, "apply uniform-free photos mixed --quiet");
    std::fs::write(folder.join("mixed/cat/mine.jpg"), "mine").unwrap();
    succeed(folder, "apply uniform-free photos broken --quiet");
    std::fs::write(folder.join("broken/apply.json"), "{").unwrap();
    image(&folder.join("twice/1.png"), 1, 4, Format::Png, 3, false);
    image(&folder.join("twice/1.aug1.png"), 2, 4, Format::Png, 3, false);
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.join("photos/cat"), folder.join("link")).unwrap();
    let mut seen = String::new();
    for arguments in [
        "apply none photos out",
        "apply standard photos out",
        "apply trivial-wid photos out",
        "apply missing.json photos out",
        "apply uniform-free missing out",
        "apply uniform-free empty out",
        "apply uniform-free photos/4.bmp out",
        "apply uniform-free photos photos",
        "apply uniform-free photos photos/out",
        "apply uniform-free photos/cat photos",
        #[cfg(unix)]
        "apply uniform-free photos link/out",
        "apply uniform-free photos theirs",
        "apply uniform-free photos theirs/thesis.txt",
        "apply uniform-free photos done --seed 1",
        "apply uniform-free photos done --copies 2",
        "apply trivial-wide photos done",
        "apply uniform-free photos/cat done",
        "apply uniform-free photos mixed",
        "apply uniform-free photos broken",
        "apply uniform-free twice out --include-originals",
        "apply uniform-free photos out --copies 0",
        "apply uniform-free photos out --quality 101",
    ] {
        let ended = run(folder, arguments);
        assert_eq!(ended.stdout, "", "{arguments}");
        let message = ended.stderr.replace(&folder.display().to_string(), "FOLDER");
        let _ = write!(seen, "$ freeaugment {arguments}\n{message}[{}]\n\n", ended.code.unwrap());
    }
    insta::assert_snapshot!(seen);
    assert!(!folder.join("out").exists(), "nothing is left behind");
    assert_eq!(std::fs::read_dir(folder.join("theirs")).unwrap().count(), 1);
}
