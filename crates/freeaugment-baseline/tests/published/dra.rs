//! The lists of Differentiable RandAugment.

use freeaugment_baseline::{Kind, Operation};

use super::{draw, draw_at, lowest_and_highest, near, read, values_of};

/// With the comma that the authors' file misses.
pub(crate) const POLICIES: &str = "
# Sequence of operators:
OPS = [
    'Rotate',
    'TranslateX',
    'Invert'
    'SolarizeAdd'
]

# Policy Parameters:
# Net on CIFAR-10
W = [[0.0, -60.0, 1.0986123, -60.0],
     [-60.0, 0.0, -60.0, -60.0]]
M_MEAN = [[0.5, 0.0, 0.0, 0.0], [0.0, 9.0, 0.0, 0.0]]
M_STD = [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]

# Net on ImageNet
W = [[-60.0, 0.0, -60.0, -60.0]]
M_MEAN = [[0.0, 0.5, 0.0, 0.0]]
M_STD = [[0.0, 0.1, 0.0, 0.0]]
";

#[test]
fn a_missing_comma_is_handled_and_said() {
    let several = read(Kind::Dra, "policy.py", POLICIES.as_bytes(), None).expect_err("there are two");
    assert!(several.ends_with(": Net on CIFAR-10, Net on ImageNet"), "{several}");
    let policy =
        read(Kind::Dra, "policy.py", POLICIES.as_bytes(), Some("net on cifar 10")).expect("it is sound");
    let expected =
        "a comma is missing in `OPS` between Invert and SolarizeAdd: they are read as two operations";
    assert_eq!(policy.notes()[0], expected);
    let mended = POLICIES.replace("'Invert'\n", "'Invert',\n");
    let mended =
        read(Kind::Dra, "policy.py", mended.as_bytes(), Some("Net on CIFAR-10")).expect("it is sound");
    assert_eq!(mended.notes().len(), 1);
    assert_eq!(draw(&mended, 100), draw(&policy, 100));
}

#[test]
fn layers_are_applied_half_of_the_time() {
    let policy =
        read(Kind::Dra, "policy.py", POLICIES.as_bytes(), Some("Net on CIFAR-10")).expect("it is sound");
    let images = draw_at(&policy, 20_000, 0.0);
    let all = images.concat();
    // The first layer rotates in one of four cases and inverts in three; the probability is 0.5 on average.
    assert!(near(values_of(&all, Operation::Rotate).len(), 20_000, 0.125));
    assert!(near(values_of(&all, Operation::Invert).len(), 20_000, 0.375));
    assert!(near(values_of(&all, Operation::TranslateX).len(), 20_000, 0.5));
    assert_eq!(lowest_and_highest(&values_of(&all, Operation::Rotate)), (-15.0, 15.0));
    // A mean above 1 lets levels go up to 3.
    assert_eq!(lowest_and_highest(&values_of(&all, Operation::TranslateX)), (-30.0, 30.0));
}

#[test]
fn magnitudes_are_normal_and_large_images_move_further() {
    let policy =
        read(Kind::Dra, "policy.py", POLICIES.as_bytes(), Some("Net on ImageNet")).expect("it is sound");
    let moves: Vec<f64> =
        values_of(&draw(&policy, 20_000), Operation::TranslateX).iter().map(|value| value.abs()).collect();
    let mean = moves.iter().sum::<f64>() / moves.len() as f64;
    let variance = moves.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / moves.len() as f64;
    assert!((mean - 50.0).abs() < 0.6 && (variance.sqrt() - 10.0).abs() < 0.5, "{mean} {variance}");
}

#[test]
fn levels_become_values_as_in_the_authors_code() {
    let value = |name: &str, level: f64, operation| {
        let text = format!("OPS = ['{name}']\n# x\nW = [[0.0]]\nM_MEAN = [[{level}]]\nM_STD = [[0]]\n");
        let policy = read(Kind::Dra, "policy.py", text.as_bytes(), None).expect("it is sound");
        lowest_and_highest(&values_of(&draw(&policy, 200), operation))
    };
    assert_eq!(value("ShearX", 1.0, Operation::ShearX), (-0.3, 0.3));
    assert_eq!(value("TranslateY", 1.0, Operation::TranslateY), (-10.0, 10.0));
    let (low, high) = value("Contrast", 1.0, Operation::Contrast);
    assert!((low - 0.1).abs() < 1e-9 && (high - 1.9).abs() < 1e-9);
    assert_eq!(value("Posterize", 0.0, Operation::Posterize), (8.0, 8.0));
    assert_eq!(value("Posterize", 0.9, Operation::Posterize), (5.0, 5.0));
    assert_eq!(value("Posterize", 3.0, Operation::Posterize), (0.0, 0.0));
    assert_eq!(value("Solarize", 1.0, Operation::Solarize), (0.0, 0.0));
    assert_eq!(value("Solarize", 0.001, Operation::Solarize), (256.0, 256.0));
    assert_eq!(value("SolarizeAdd", 0.999, Operation::SolarizeAdd), (109.0, 109.0));
    assert_eq!(value("Cutout", 0.99, Operation::Cutout), (7.0, 7.0));
}

#[test]
fn wrong_lists_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = POLICIES.replacen(from, to, 1);
        assert_ne!(text, POLICIES);
        read(Kind::Dra, "policy.py", text.as_bytes(), None).expect_err("it is not sound")
    };
    let error = refused("W = [[0.0,", "W = [[");
    assert!(error.ends_with("Net on CIFAR-10: `W` has a row of 3 values for 4 operations"), "{error}");
    let error = refused("M_STD = [[0.0,", "M_STD = [[-1,");
    assert!(error.ends_with("`M_STD` has the value -1, it must not be negative"), "{error}");
    let error = refused("M_MEAN", "MEAN");
    assert!(error.ends_with("`M_MEAN` is missing after `W` in line 12"), "{error}");
    let error = refused("'Rotate'", "'Rot'");
    assert!(error.ends_with("there is no operation `Rot`"), "{error}");
    let error = refused("OPS = [", "OPS = list([");
    assert!(error.ends_with("line 3: a bracket is never closed"), "{error}");
    let error = refused("[0.0, -60.0, 1.0986123, -60.0]", "1e999");
    assert!(error.ends_with("`W` is not a list of lists of numbers"), "{error}");
}
