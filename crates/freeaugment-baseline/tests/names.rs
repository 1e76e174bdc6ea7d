//! Baselines by name.

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_baseline::{Augmentation, Baseline, BaselineError, Crop, Moment, Order, RandAugment};

#[test]
fn every_name_gives_its_baseline_and_every_baseline_its_name() {
    for (name, expected) in Baseline::NAMES.into_iter().zip(Baseline::all()) {
        let baseline: Baseline = name.parse().expect("a name that is listed");
        assert_eq!(baseline, expected);
        assert_eq!(baseline.family(), name);
        assert!(baseline.name().starts_with(name));
        assert_eq!(baseline.name() == name, !baseline.takes_numbers(), "{name}");
        assert_eq!(baseline.name().parse(), Ok(baseline));
        assert_eq!(baseline.to_string(), baseline.name());
        assert!(baseline.description().len() < 100, "{}", baseline.description());
    }
    assert_eq!(Baseline::all().count(), Baseline::NAMES.len());
}

#[test]
fn rand_takes_two_numbers() {
    let parsed = |name: &str| name.parse::<Baseline>().expect("sound numbers");
    assert_eq!(parsed("rand"), parsed("rand:2:9"));
    assert_ne!(parsed("rand"), parsed("rand:2:10"));
    for name in ["rand:1:30", "rand:14:0", "torchvision-rand:3:7"] {
        assert_eq!((parsed(name).name(), parsed(name).to_string()), (name.into(), name.into()));
    }
    // The numbers and the space reach what is drawn.
    for (name, rand) in [
        ("rand:3:7", RandAugment::new(3, 7)),
        ("torchvision-rand:3:7", RandAugment::new(3, 7).map(RandAugment::torchvision)),
    ] {
        let rand = rand.expect("sound numbers");
        let moment = Moment { height: 32, width: 32, progress: 0.0 };
        for index in 0..50 {
            let mut streams = [(); 2].map(|()| Stream::new(3, Purpose::named("test/names"), 0, index));
            let [own, other] = &mut streams;
            let augmentation = parsed(name).augmentation().expect("it has operations");
            assert_eq!(augmentation.actions(own, moment), rand.actions(other, moment), "{name}");
        }
    }
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
        ("torchvision-rand:2:99999999999", "as in `torchvision-rand:2:9`"),
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
        let plain = ["none", "standard"].contains(&baseline.family());
        assert_eq!(baseline.augmentation().is_none(), plain, "{baseline}");
    }
}
