//! Baselines by name.

use freeaugment_baseline::{Baseline, BaselineError, Crop, Order, RandAugment};

#[test]
fn every_name_gives_its_baseline_and_every_baseline_its_name() {
    for (name, expected) in Baseline::NAMES.into_iter().zip(Baseline::all()) {
        let baseline: Baseline = name.parse().expect("a name that is listed");
        assert_eq!(baseline, expected);
        assert!(baseline.name().starts_with(name));
        assert_eq!(baseline.name().parse(), Ok(baseline));
        assert_eq!(baseline.to_string(), baseline.name());
        assert!(baseline.description().len() < 100, "{}", baseline.description());
    }
    assert_eq!(Baseline::all().count(), Baseline::NAMES.len());
}

#[test]
fn rand_takes_two_numbers() {
    let rand = |operations, level| RandAugment::new(operations, level).map(Baseline::Rand);
    assert_eq!("rand".parse(), rand(2, 9));
    assert_eq!("rand:1:30".parse(), rand(1, 30));
    assert_eq!("rand:14:0".parse(), rand(14, 0));
    let torchvision = RandAugment::new(3, 7).map(|rand| Baseline::Rand(rand.torchvision()));
    assert_eq!("torchvision-rand:3:7".parse(), torchvision);
    assert_eq!(
        "torchvision-rand:3:7".parse::<Baseline>().map(|b| b.name()).as_deref(),
        Ok("torchvision-rand:3:7")
    );
}

#[test]
fn what_is_wrong_is_said() {
    for (name, part) in [
        ("trival", "there is no baseline `trival` (did you mean `trivial`?); there are none, standard,"),
        ("TrivialWide", "did you mean `trivial-wide`?"),
        ("auto-cifar100", "did you mean `auto-cifar10`?"),
        ("randd:2:9", "did you mean `rand`?"),
        ("", "there is no baseline ``; there are"),
        ("rand:0:9", "the number of operations is 0, but must lie in 1..=14"),
        ("rand:15:9", "the number of operations is 15, but"),
        ("rand:2:31", "the level is 31, but must lie in 0..=30"),
        ("rand:2", "`rand:2`: write the number of operations and the level"),
        ("rand:2:", "`rand:2:`: write"),
        ("rand:2:9:1", "`rand:2:9:1`: write"),
        ("rand:-1:9", "`rand:-1:9`: write"),
        ("torchvision-rand:2:99999999999", "write"),
        ("trivial:3", "`trivial:3`: this baseline takes no numbers"),
    ] {
        let error = name.parse::<Baseline>().expect_err(name).to_string();
        assert!(error.contains(part), "{name}: {error}");
    }
    assert_eq!(RandAugment::new(2, 31), Err(BaselineError::Level { found: 31 }));
}

#[test]
fn recipes_say_what_the_pipeline_does_and_when() {
    let recipe = |name: &str| name.parse::<Baseline>().expect("a name that is listed").recipe();
    assert_eq!((recipe("none").crop, recipe("none").flip), (Crop::None, false));
    assert_eq!((recipe("standard").crop, recipe("standard").flip), (Crop::Standard, true));
    assert_eq!(recipe("domainbed").crop, Crop::Resized { scale: [0.7, 1.0] });
    for name in ["trivial", "trivial-wide", "rand", "uniform", "auto-cifar10", "auto-svhn", "auto-imagenet"] {
        assert_eq!(recipe(name).order, Order::Before, "{name}");
    }
    for name in ["domainbed", "torchvision-rand", "torchvision-trivial-wide", "torchvision-auto-imagenet"] {
        assert_eq!(recipe(name).order, Order::After, "{name}");
    }
    for baseline in Baseline::all() {
        let plain = matches!(baseline, Baseline::None | Baseline::Standard);
        assert_eq!(baseline.augmentation().is_none(), plain, "{baseline}");
    }
}
