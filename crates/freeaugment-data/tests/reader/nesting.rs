//! Image folders whose images lie two levels deep.

use std::path::Path;

use crate::common::{folder, opened, paint};

fn notes(root: &Path) -> Vec<String> {
    let shown = |note: String| {
        assert!(!note.contains('\n'), "{note}");
        note.replace(&root.display().to_string(), "ROOT")
    };
    opened(root).notes.into_iter().map(shown).collect()
}

fn notes_of(files: &[&str]) -> Vec<String> {
    let root = folder();
    for file in files {
        paint(root.path().join(file), [1, 2, 3]);
    }
    notes(root.path())
}

#[test]
fn domains_are_taken_for_classes_and_that_is_said() {
    let root = folder();
    for domain in ["art", "clipart", "photo", "sketch"] {
        for class in ["cat", "dog", "elephant", "horse"] {
            paint(root.path().join(domain).join(class).join("1.png"), [1, 2, 3]);
        }
    }
    assert_eq!(opened(root.path()).classes, ["art", "clipart", "photo", "sketch"]);
    assert_eq!(
        notes(root.path()),
        [
            "the classes are the 4 top folders (`art`, `clipart`, `photo`, …), but these hold folders with the same names \
          (`cat`, `dog`, `elephant`, …): if those are the classes, open one of the top folders instead (ROOT/art), or \
          swap the two levels to have all (ROOT/cat/art)"
        ]
    );
    // Both that is offered is understood as it was meant.
    let one = opened(root.path().join("art"));
    assert_eq!((one.classes.len(), one.notes), (4, vec![]));
    let swapped = folder();
    for class in ["cat", "dog"] {
        paint(swapped.path().join(class).join("art/1.png"), [1, 2, 3]);
        paint(swapped.path().join(class).join("photo/1.png"), [1, 2, 3]);
    }
    assert_eq!(opened(swapped.path()).classes, ["cat", "dog"]);
}

#[test]
fn domains_that_lack_classes_or_hold_a_picture_of_their_own_are_still_domains() {
    let mut files: Vec<String> = (0..30).map(|at| format!("art/cat/{at}.png")).collect();
    files.extend(
        ["art/cover.png", "art/dog/1.png", "photo/cat/1.png", "photo/dog/deep/1.png", "photo/bird/1.png"]
            .map(Into::into),
    );
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let notes = notes_of(&files);
    assert!(notes.len() == 1 && notes[0].contains("(`cat`, `dog`)"), "{notes:?}");
}

#[test]
fn domains_inside_of_splits_are_said_with_what_helps_there() {
    let files =
        ["train/art/cat/1.png", "train/art/dog/1.png", "train/photo/cat/1.png", "train/photo/dog/1.png"];
    assert_eq!(
        notes_of(&files),
        [
            "the classes are the 2 top folders (`art`, `photo`), but these hold folders with the same names (`cat`, `dog`): \
          if those are the classes, swap the two levels in every split (ROOT/train/cat/art)"
        ]
    );
}

#[test]
fn splits_inside_of_classes_are_said_to_be_read_as_one() {
    let files = ["cat/test/1.png", "cat/train/1.png", "dog/test/1.png", "dog/train/1.png"];
    assert_eq!(
        notes_of(&files),
        [
            "the folders `test`, `train` inside the 2 classes (`cat`, `dog`) are read as one: to keep them apart, move them \
          above the classes (ROOT/test/cat)"
        ]
    );
}

#[test]
fn folders_in_classes_that_are_no_domains_are_nothing_to_mention() {
    for files in [
        // No folders in folders.
        &["cat/1.png", "dog/1.png"][..],
        // Names of their own.
        &["cat/tom/1.png", "cat/felix/1.png", "dog/rex/1.png", "dog/bello/1.png"],
        // One name that recurs by chance among others.
        &[
            "cat/tom/1.png",
            "cat/max/1.png",
            "cat/kitty/1.png",
            "dog/rex/1.png",
            "dog/max/1.png",
            "dog/leo/1.png",
        ],
        // The same one folder in every class.
        &["cat/images/1.png", "dog/images/1.png", "fox/images/1.png"],
        // Most of the images lie where those of classes do.
        &["cat/1.png", "cat/old/1.png", "cat/new/1.png", "dog/1.png", "dog/old/1.png", "dog/new/1.png"],
    ] {
        assert_eq!(notes_of(files), Vec::<String>::new(), "{files:?}");
    }
}
