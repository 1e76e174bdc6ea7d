//! How often the baselines do what, counted with fixed seeds. Limits are five standard deviations.

use std::collections::BTreeMap;

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_baseline::Operation::{
    AutoContrast, Brightness, Color, Contrast, Cutout, Equalize, Grayscale, Hue, Identity, Invert, Posterize,
    Rotate, Sharpness, ShearX, ShearY, Solarize, TranslateX, TranslateY,
};
use freeaugment_baseline::{
    Action, Augmentation, AutoAugment, AutoAugmentTable, Baseline, DomainBed, Moment, Operation, RandAugment,
    TrivialAugment, UniformAugment,
};

const MOMENT: Moment = Moment { height: 40, width: 32, progress: 0.0 };
const DRAWS: u32 = 60_000;

fn draws(augmentation: &dyn Augmentation) -> Vec<Vec<Action>> {
    let draw =
        |index| augmentation.actions(&mut Stream::new(1, Purpose::named("test/draws"), 0, index), MOMENT);
    (0..DRAWS).map(draw).collect()
}

/// A count of events that each happen with this probability.
#[track_caller]
fn assert_share(count: usize, of: usize, probability: f64, what: impl std::fmt::Debug) {
    let expected = of as f64 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt();
    assert!(
        (count as f64 - expected).abs() <= 5.0 * deviation,
        "{what:?}: {count} of {of}, not {expected:.0}"
    );
}

fn by_operation(actions: &[Action]) -> BTreeMap<&'static str, Vec<f64>> {
    let mut values = BTreeMap::<_, Vec<f64>>::new();
    for action in actions {
        values.entry(action.operation.name()).or_default().push(action.value);
    }
    values
}

fn signed(operation: Operation) -> bool {
    matches!(operation, ShearX | ShearY | TranslateX | TranslateY | Rotate)
}

#[test]
fn trivial_augment_draws_operations_levels_and_signs_uniformly() {
    for (augmentation, shear, enhancer) in
        [(TrivialAugment::new(), 0.3, [0.1, 1.9]), (TrivialAugment::wide(), 0.99, [0.01, 2.0])]
    {
        let drawn = draws(&augmentation);
        assert!(drawn.iter().all(|actions| actions.len() == 1));
        let actions = drawn.concat();
        let values = by_operation(&actions);
        assert_eq!(values.len(), 14);
        for (name, values) in &values {
            assert_share(values.len(), actions.len(), 1.0 / 14.0, name);
        }
        for name in ["Brightness", "Color", "Contrast", "Sharpness"] {
            for level in 0..31 {
                let expected = enhancer[0] + f64::from(level) * (enhancer[1] - enhancer[0]) / 30.0;
                let count = values[name].iter().filter(|&value| (value - expected).abs() < 1e-9).count();
                assert_share(count, values[name].len(), 1.0 / 31.0, (name, level));
            }
        }
        for name in ["ShearX", "ShearY"] {
            for level in -30..=30 {
                let expected = f64::from(level) * shear / 30.0;
                let count = values[name].iter().filter(|&value| (value - expected).abs() < 1e-9).count();
                // Level 0 has one value, all others two.
                let share = if level == 0 { 1.0 / 31.0 } else { 1.0 / 62.0 };
                assert_share(count, values[name].len(), share, (name, level));
            }
        }
    }
}

#[test]
fn rand_augment_always_does_its_number_of_operations_at_its_level() {
    for (operations, level) in [(1, 0), (2, 9), (3, 30)] {
        let drawn = draws(&RandAugment::new(operations, level).expect("numbers in range"));
        assert!(drawn.iter().all(|actions| actions.len() == operations as usize));
        let actions = drawn.concat();
        let values = by_operation(&actions);
        assert_eq!(values.len(), 14);
        for (name, values) in &values {
            assert_share(values.len(), actions.len(), 1.0 / 14.0, name);
        }
        for action in &actions {
            let expected = match action.operation {
                ShearX | ShearY => f64::from(level) * 0.3 / 30.0,
                TranslateX | TranslateY => f64::from(level * 10 / 30),
                Rotate => f64::from(level),
                Brightness | Color | Contrast | Sharpness => 0.1 + f64::from(level) * 1.8 / 30.0,
                Posterize => f64::from(8 - level * 4 / 30),
                Solarize => f64::from(256 - level * 256 / 30),
                _ => 0.0,
            };
            let found = if signed(action.operation) { action.value.abs() } else { action.value };
            assert!((found - expected).abs() < 1e-9, "{action:?}");
        }
        if level > 0 {
            let turned: Vec<&Action> = actions.iter().filter(|action| signed(action.operation)).collect();
            let negative = turned.iter().filter(|action| action.value.is_sign_negative()).count();
            let still = turned.iter().filter(|action| action.value == 0.0).count();
            assert_share(negative, turned.len() - still, 0.5, "negative");
        }
    }
}

#[test]
fn rand_augment_draws_with_replacement() {
    let drawn = draws(&RandAugment::default());
    let twice = drawn.iter().filter(|actions| actions[0].operation == actions[1].operation).count();
    assert_share(twice, drawn.len(), 1.0 / 14.0, "the same twice");
}

#[test]
fn uniform_augment_applies_each_of_two_operations_every_other_time() {
    let drawn = draws(&UniformAugment);
    for (number, probability) in [(0, 0.25), (1, 0.5), (2, 0.25)] {
        let count = drawn.iter().filter(|actions| actions.len() == number).count();
        assert_share(count, drawn.len(), probability, number);
    }
    let actions = drawn.concat();
    let values = by_operation(&actions);
    assert_eq!(values.len(), 16);
    for (name, values) in &values {
        assert_share(values.len(), actions.len(), 1.0 / 16.0, name);
    }
    let ranges = [
        (ShearX, -0.3, 0.3),
        (ShearY, -0.3, 0.3),
        (TranslateX, -14.4, 14.4),
        (TranslateY, -18.0, 18.0),
        (Rotate, -30.0, 30.0),
        (Solarize, 0.0, 256.0),
        (Posterize, 4.0, 8.0),
        (Contrast, 0.1, 1.9),
        (Color, 0.1, 1.9),
        (Brightness, 0.1, 1.9),
        (Sharpness, 0.1, 1.9),
        (Cutout, 0.0, 6.4),
    ];
    for (operation, low, high) in ranges {
        uniform_between(&values[operation.name()], low, high);
    }
    let places: Vec<f64> =
        actions.iter().filter(|action| action.operation == Cutout).flat_map(|action| action.centre).collect();
    uniform_between(&places, 0.0, 1.0);
}

/// In range, and each tenth of it as often as the others.
fn uniform_between(values: &[f64], low: f64, high: f64) {
    let mut tenths = [0; 10];
    for value in values {
        let share = (value - low) / (high - low);
        assert!((-1e-9..=1.0 + 1e-9).contains(&share), "{value} is not in {low}..{high}");
        tenths[((share * 10.0) as usize).min(9)] += 1;
    }
    for tenth in tenths {
        assert_share(tenth, values.len(), 0.1, (low, high, tenths));
    }
}

#[test]
fn auto_augment_draws_one_of_25_sub_policies_and_their_probabilities() {
    // The only sub-policies of the CIFAR-10 table with these operations.
    let drawn = draws(&AutoAugment::new(AutoAugmentTable::Cifar10));
    assert!(drawn.iter().all(|actions| actions.len() <= 2));
    let actions = drawn.concat();
    let count = |operation: Operation| actions.iter().filter(|action| action.operation == operation).count();
    let draws = drawn.len();
    for (operation, sum) in [
        (Rotate, 0.7),
        (TranslateX, 0.3 + 0.5),
        (ShearY, 0.5 + 0.2),
        (Posterize, 0.3),
        (Invert, 0.1 + 0.0 + 0.1),
        (Contrast, 0.2 + 0.6),
        (Equalize, 0.9 + 0.6 + 0.5 + 0.3 + 0.2 + 0.2 + 0.6 + 0.6 + 0.8),
        (AutoContrast, 0.5 + 0.4 + 0.6 + 0.8 + 0.9 + 0.9 + 0.9),
    ] {
        // Sums of independent events vary at most as much as one event of this probability does.
        let expected = draws as f64 * sum / 25.0;
        let found = count(operation) as f64;
        assert!(
            (found - expected).abs() < 5.0 * expected.sqrt() + 1.0,
            "{operation:?}: {found}, not {expected}"
        );
    }
    let rotations: Vec<f64> =
        actions.iter().filter(|action| action.operation == Rotate).map(|a| a.value).collect();
    assert!(rotations.iter().all(|value| (value.abs() - 30.0 * 2.0 / 9.0).abs() < 1e-9));
    assert_share(rotations.iter().filter(|value| **value < 0.0).count(), rotations.len(), 0.5, "negative");
    // Rotate 0.7 and TranslateX 0.3 share a sub-policy and are independent within it.
    let both = drawn.iter().filter(|a| a.len() == 2 && a[0].operation == Rotate).count();
    assert_share(both, draws, 0.7 * 0.3 / 25.0, "both");
}

#[test]
fn domain_bed_jitters_four_times_in_any_order_and_makes_a_tenth_grey() {
    let drawn = draws(&DomainBed);
    let grey = drawn.iter().filter(|actions| actions.len() == 5).count();
    assert_share(grey, drawn.len(), 0.1, "grey");
    let mut orders = BTreeMap::<Vec<&str>, usize>::new();
    for actions in &drawn {
        if let Some(last) = actions.get(4) {
            assert_eq!(last.operation, Grayscale);
        }
        *orders.entry(actions[..4].iter().map(|action| action.operation.name()).collect()).or_default() += 1;
    }
    assert_eq!(orders.len(), 24);
    for (order, count) in orders {
        assert_share(count, drawn.len(), 1.0 / 24.0, order);
    }
    let values = by_operation(&drawn.concat());
    for operation in [Brightness, Contrast, Color] {
        uniform_between(&values[operation.name()], 0.7, 1.3);
    }
    uniform_between(&values[Hue.name()], -0.3, 0.3);
}

#[test]
fn torchvisions_enhancers_lie_on_both_sides_of_one() {
    let rand = RandAugment::new(1, 30).expect("numbers in range").torchvision();
    let values = by_operation(&draws(&rand).concat());
    for operation in [Brightness, Contrast, Color, Sharpness] {
        let values = &values[operation.name()];
        let above = values.iter().filter(|value| (**value - 1.9).abs() < 1e-6).count();
        let below = values.iter().filter(|value| (**value - 0.1).abs() < 1e-6).count();
        assert_eq!(above + below, values.len());
        assert_share(above, values.len(), 0.5, operation);
    }
    assert!(values[Solarize.name()].iter().all(|&value| value == 0.0));
    assert!(values.contains_key(Identity.name()) && !values.contains_key(Invert.name()));
}

#[test]
fn the_same_stream_gives_the_same_actions_and_another_gives_others() {
    for baseline in Baseline::all() {
        let Some(augmentation) = baseline.augmentation() else { continue };
        let drawn = |epoch| -> Vec<Vec<Action>> {
            let stream = |index| Stream::new(1, Purpose::named("test/draws"), epoch, index);
            (0..50).map(|index| augmentation.actions(&mut stream(index), MOMENT)).collect()
        };
        assert_eq!(drawn(0), drawn(0), "{baseline}");
        assert_ne!(drawn(0), drawn(1), "{baseline}");
    }
}
