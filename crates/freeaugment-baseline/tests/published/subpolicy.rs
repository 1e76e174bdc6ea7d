//! Python lists of DADA and Fast AutoAugment.

use freeaugment_baseline::{Kind, Operation};

use super::{draw, draw_at, lowest_and_highest, near, read, values_of};

pub(crate) const GENOTYPE: &str = "
# the best one
A = long_name_of_a = [[('Rotate', 1.0, 1.2), ('Invert', 0.25, 0.5)]]
B = [[('Color', 0.5, 0.0), ('Color', 1.0, 1.0)],   # twice
     [('Equalize', .75, 5e-1), ('Equalize', 0.0, -0.1)]]
# C = [[('Color', 0.5, 0.0)]]
size = 25
";

pub(crate) const ARCHIVE: &str = r#"
from collections import defaultdict, namedtuple
Step = namedtuple('Step', ['operation', 'probability', 'level'])

def summed():
    """Two lists: [[('Nothing', 1, 1)]]"""
    first = [[["ShearX", 1.0, 0.0]]]
    second = [
        [["Posterize", 1.0, 0.99]],
    ]

    return first + second


@changed
def decorated():
    return [[('Rotate', 0.7, 2)]]

def computed():
    p = [[('Rotate', 0.7, 0.2)]]
    p.append([('Rotate', 0.7, 0.3)])
    return p

tuples = [[Step('Cutout', probability=1.0, level=1.0)]]
"#;

#[test]
fn one_of_the_sequences_is_chosen_and_its_steps_have_probabilities() {
    let policy = read(Kind::Dada, "g.py", GENOTYPE.as_bytes(), Some("B")).expect("it is sound");
    assert_eq!(policy.name(), "dada B");
    let images = draw_at(&policy, 20_000, 0.0);
    let have = |operation, count| {
        let of = |actions: &Vec<_>| values_of(actions, operation).len() == count;
        images.iter().filter(|actions| of(actions)).count()
    };
    assert!(near(have(Operation::Color, 2), 20_000, 0.25));
    assert!(near(have(Operation::Color, 1), 20_000, 0.25));
    assert!(near(have(Operation::Equalize, 1), 20_000, 0.375));
    assert_eq!(have(Operation::Equalize, 2), 0);
    // Order: the weaker one is first.
    let both = images.iter().find(|actions| actions.len() == 2).expect("there are some");
    assert!(both[0].value < 0.11 && both[1].value > 1.89);
}

#[test]
fn levels_of_dada_end_at_one_and_those_of_fast_autoaugment_must() {
    let policy = read(Kind::Dada, "g.py", GENOTYPE.as_bytes(), Some("A")).expect("it is sound");
    let rotations = values_of(&draw(&policy, 500), Operation::Rotate);
    assert_eq!(rotations.len(), 500);
    assert_eq!(lowest_and_highest(&rotations), (-30.0, 30.0));
    let error =
        read(Kind::FastAutoAugment, "g.py", GENOTYPE.as_bytes(), Some("A")).expect_err("1.2 is too high");
    assert!(error.ends_with("sub-policy 0: the level 1.2 is not between 0 and 1"), "{error}");
}

#[test]
fn levels_become_values_as_in_the_authors_code() {
    let value = |name: &str, level: f64, operation| {
        let text = format!("P = [[('{name}', 1, {level})]]");
        let policy = read(Kind::FastAutoAugment, "a.py", text.as_bytes(), None).expect("it is sound");
        lowest_and_highest(&values_of(&draw(&policy, 200), operation))
    };
    assert_eq!(value("ShearY", 1.0, Operation::ShearY), (-0.3, 0.3));
    assert_eq!(value("TranslateX", 0.0, Operation::TranslateX), (-18.0, 18.0));
    assert_eq!(value("TranslateY", 0.0, Operation::TranslateY), (-9.0, 9.0));
    assert_eq!(value("TranslateXAbs", 1.0, Operation::TranslateX), (-10.0, 10.0));
    assert_eq!(value("Solarize", 0.5, Operation::Solarize), (128.0, 128.0));
    assert_eq!(value("Posterize", 1.0, Operation::Posterize), (8.0, 8.0));
    assert_eq!(value("Posterize2", 0.99, Operation::Posterize), (3.0, 3.0));
    assert_eq!(value("Brightness", 0.0, Operation::Brightness), (0.1, 0.1));
    assert_eq!(value("Sharpness", 1.0, Operation::Sharpness), (1.9, 1.9));
    assert_eq!(value("Cutout", 1.0, Operation::Cutout), (8.0, 8.0));
    assert_eq!(value("Cutout", 0.0, Operation::Cutout), (f64::MAX, f64::MIN), "nothing is cut out");
}

#[test]
fn the_names_of_a_file_are_said() {
    let several = read(Kind::Dada, "g.py", GENOTYPE.as_bytes(), None).expect_err("there are two");
    assert_eq!(several, "g.py: holds several policies, one must be chosen by its name: A, B");
    let unknown = read(Kind::Dada, "g.py", GENOTYPE.as_bytes(), Some("C")).expect_err("C is a comment");
    assert_eq!(unknown, "g.py: holds no policy `C`: it must be one of A, B");
    let other = read(Kind::Dada, "g.py", GENOTYPE.as_bytes(), Some("size")).expect_err("a size is no policy");
    assert!(other.ends_with("(it is not a list of sub-policies)"), "{other}");
    let alias =
        read(Kind::Dada, "g.py", GENOTYPE.as_bytes(), Some("long_name_of_a")).expect("it is another name");
    assert_eq!(alias.name(), "dada A");
}

#[test]
fn functions_that_return_data_are_policies_and_others_are_not() {
    let read = |name| read(Kind::FastAutoAugment, "archive.py", ARCHIVE.as_bytes(), name);
    let several = read(None).expect_err("there are two");
    assert!(several.ends_with(": summed, tuples"), "{several}");
    let drawn = draw(&read(Some("summed")).expect("it is sound"), 1000);
    assert!(near(values_of(&drawn, Operation::ShearX).len(), 1000, 0.5));
    assert_eq!(lowest_and_highest(&values_of(&drawn, Operation::Posterize)), (7.0, 7.0));
    assert_eq!(values_of(&draw(&read(Some("tuples")).expect("it is sound"), 1), Operation::Cutout), [8.0]);
    let error = read(Some("decorated")).expect_err("it may be changed");
    assert!(error.ends_with("(it is decorated with `changed`, which may change what it returns)"), "{error}");
    let error = read(Some("computed")).expect_err("it is computed");
    assert!(error.ends_with("(`p`: it is changed in line 21)"), "{error}");
}
