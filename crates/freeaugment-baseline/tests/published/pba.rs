//! Schedules of Population Based Augmentation.

use freeaugment_baseline::{Kind, Operation};

use super::{draw_at, lowest_and_highest, near, read, values_of};

/// 60 numbers: zeros, but for (place of the operation, probability, level).
fn policy(entries: &[(usize, u8, u8)]) -> String {
    let mut numbers = [0; 60];
    for &(at, probability, level) in entries {
        (numbers[2 * at], numbers[2 * at + 1]) = (probability, level);
    }
    format!("{numbers:?}")
}

/// Rotation for 20 epochs, then inversion for 30, then cutout and posterisation up to the end.
pub(crate) fn schedule() -> String {
    let [rotate, invert, both] =
        [policy(&[(0, 10, 10)]), policy(&[(5, 5, 3), (20, 5, 3)]), policy(&[(13, 10, 9), (7, 10, 10)])];
    format!(
        "['3', '9', 1, 7, {both}, {both}]\n['1', '0', 22, 20, {rotate}, {invert}]\n\n\
         [\"2\", \"1\", 50, 50, {{\"hp_policy\": {invert}, \"a\": null}}, {{\"hp_policy\": {both}, \"b\": true}}]\n"
    )
}

#[test]
fn stages_follow_the_progress_of_the_training() {
    let policy = read(Kind::Pba, "a.txt", schedule().as_bytes(), Some("100")).expect("it is sound");
    // The first line belongs to another chain.
    assert!(
        policy.description().contains("a schedule of 3 stages over 100 epochs"),
        "{}",
        policy.description()
    );
    let kinds = |progress: f64| {
        let mut kinds: Vec<Operation> =
            draw_at(&policy, 200, progress).concat().iter().map(|action| action.operation).collect();
        kinds.sort_by_key(|operation| format!("{operation:?}"));
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds(0.0), [Operation::Rotate]);
    assert_eq!(kinds(0.199), [Operation::Rotate]);
    assert_eq!(kinds(0.201), [Operation::Invert]);
    assert_eq!(kinds(0.499), [Operation::Invert]);
    assert_eq!(kinds(0.501), [Operation::Cutout, Operation::Posterize]);
    assert_eq!(kinds(1.0), [Operation::Cutout, Operation::Posterize]);
}

#[test]
fn none_one_or_two_operations_in_any_order() {
    let policy = read(Kind::Pba, "a.txt", schedule().as_bytes(), Some("100")).expect("it is sound");
    let images = draw_at(&policy, 20_000, 0.9);
    let have = |count: usize| images.iter().filter(|actions| actions.len() == count).count();
    assert!(near(have(0), 20_000, 0.2) && near(have(1), 20_000, 0.3) && near(have(2), 20_000, 0.5));
    let first = images.iter().filter(|a| a.first().is_some_and(|a| a.operation == Operation::Cutout)).count();
    assert!(near(first, 20_000, 0.4));
    // Twice the same operation, with a probability of one half each.
    let images = draw_at(&policy, 20_000, 0.3);
    let have = |count: usize| images.iter().filter(|actions| actions.len() == count).count();
    assert!(near(have(2), 20_000, 0.5 * 0.25) && near(have(1), 20_000, 0.3 * 0.75 + 0.5 * 0.5));
    let rotated = draw_at(&policy, 20_000, 0.1).concat();
    let left = rotated.iter().filter(|action| action.value == 30.0).count();
    assert!(near(left, rotated.len() as u32, 0.5));
}

#[test]
fn levels_become_values_as_in_the_authors_code() {
    let values = |at: usize, level: u8, operation| {
        let text = format!("['1', '0', 1, 1, {0}, {0}]", policy(&[(at, 10, level)]));
        let policy = read(Kind::Pba, "a.txt", text.as_bytes(), None).expect("it is sound");
        lowest_and_highest(&values_of(&draw_at(&policy, 300, 0.5).concat(), operation))
    };
    assert_eq!(values(0, 7, Operation::Rotate), (-21.0, 21.0));
    assert_eq!(values(1, 3, Operation::TranslateX), (-3.0, 3.0));
    assert_eq!(values(17, 9, Operation::TranslateY), (-9.0, 9.0));
    let (low, high) = values(3, 10, Operation::Brightness);
    assert!((low - 1.9).abs() < 1e-9 && low == high);
    assert_eq!(values(4, 0, Operation::Color), (0.1, 0.1));
    assert_eq!(values(7, 10, Operation::Posterize), (0.0, 0.0));
    assert_eq!(values(7, 2, Operation::Posterize), (4.0, 4.0));
    assert_eq!(values(8, 10, Operation::ShearX), (-0.3, 0.3));
    assert_eq!(values(9, 10, Operation::Solarize), (0.0, 0.0));
    assert_eq!(values(9, 1, Operation::Solarize), (231.0, 231.0));
    assert_eq!(values(13, 10, Operation::Cutout), (20.0, 20.0));
    assert_eq!(values(28, 5, Operation::Cutout), (10.0, 10.0));
}

#[test]
fn the_length_of_the_search_is_guessed_and_said() {
    let epochs = |file: &str| {
        let policy = read(Kind::Pba, file, schedule().as_bytes(), None).expect("it is sound");
        policy.notes()[0].clone()
    };
    assert_eq!(epochs("rcifar10.txt"), "the search is taken to have had 200 epochs");
    assert_eq!(epochs("rsvhn.txt"), "the search is taken to have had 160 epochs");
}

#[test]
fn wrong_schedules_are_refused() {
    let refused =
        |text: &str, name| read(Kind::Pba, "a.txt", text.as_bytes(), name).expect_err("it is not sound");
    let error = refused(&schedule(), Some("40"));
    assert!(
        error.ends_with("a stage begins at epoch 50 and ends at 40; the search had 40 epochs"),
        "{error}"
    );
    assert!(refused(&schedule(), Some("-1")).contains("by the number of epochs of its search, such as 200"));
    assert!(refused("", None).ends_with("it is empty"));
    assert!(refused("\n[1, 2]\n", None).contains("line 2: it is not a list of two names, two epochs"));
    let error = refused("['1', '0', 1, 1, [1, 2, 3], [1, 2, 3]]", None);
    assert!(error.ends_with("a policy has 3 numbers, it must have 60"), "{error}");
    let text = format!("['1', '0', 1, 1, {0}, {0}]", policy(&[(0, 11, 0)]));
    assert!(refused(&text, None).ends_with("stage 0: the probability 11 is not between 0 and 10"));
    let text = format!("['1', '0', 1, -1, {0}, {0}]", policy(&[]));
    assert!(refused(&text, None).ends_with("stage 0 has -1 epochs"));
}
