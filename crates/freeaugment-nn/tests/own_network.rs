//! Networks of one's own: every operation in every place, and what is refused.

mod common;

use common::{all_convolutional, convolution, own_problems};
use freeaugment_nn::network::{Fault, Handle, Recorder};
use freeaugment_nn::pass::{Activation, Pass, Window};
use freeaugment_nn::{Batch, Classifier, Device, Error, Layout, Network};

#[test]
fn the_gradient_of_an_own_network_is_the_difference_of_its_loss() {
    for problem in own_problems() {
        common::assert_tangent_is_difference(&problem);
    }
    common::assert_input_gradient_is_difference(&own_problems()[0]);
}

/// The other one has max pooling, which is not smooth.
#[test]
fn q_of_an_own_network_is_the_difference_of_its_input_gradient() {
    common::assert_q_is_difference(&own_problems()[0]);
}

#[cfg(feature = "flex")]
#[test]
fn flex_computes_the_same_for_own_networks() {
    let flex = Device::open("flex").unwrap();
    for problem in own_problems() {
        common::assert_devices_agree(&problem, &flex);
    }
}

#[test]
fn a_recorded_network_is_the_built_in_one_if_it_computes_the_same() {
    let built_in = Network::new("WRN-16-1".parse().unwrap(), 7, 3).unwrap();
    let recorded = Network::record("WRN-16-1", 7, 3, |pass, images| built_in.forward(pass, images)).unwrap();
    assert_eq!(built_in, recorded);
    assert_eq!(Layout::of(&built_in), Layout::of(&recorded));
    assert_ne!(built_in, recorded.with_activation(Activation::Softplus));
}

#[test]
fn parameters_stand_in_the_order_of_the_operations() {
    let network = Network::record("mine", 5, 3, all_convolutional).unwrap();
    let names: Vec<_> = network.layout().entries().iter().map(freeaugment_nn::Entry::name).collect();
    let wanted = [
        "one.weight",
        "one.norm.weight",
        "one.norm.bias",
        "two.weight",
        "two.norm.weight",
        "two.norm.bias",
        "three.weight",
    ];
    assert_eq!(names, wanted);
    assert_eq!((network.name(), network.classes(), network.channels()), ("mine", 5, 3));
}

/// The backbone is everything but the last layer, whatever its name.
#[test]
fn the_backbone_of_an_own_network_loads_without_its_head() {
    fn forward<P: Pass>(pass: &mut P, images: &P::Value, classes: usize) -> P::Value {
        let h = pass.convolve(images, "body", convolution(1, 4, Window::centred(3, 1)));
        let h = pass.mean_pixels(&h);
        pass.linear(&h, "answer", classes)
    }
    let network =
        |classes| Network::record("mine", classes, 1, |pass, images| forward(pass, images, classes)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    let donor = Classifier::new(network(7), &Device::cpu(), 9);
    donor.save(&path).unwrap();
    let mut classifier = Classifier::new(network(3), &Device::cpu(), 1);
    let head = classifier.weights().get("answer.weight").unwrap().to_vec();
    classifier.load_backbone(&path).unwrap();
    assert_eq!(classifier.weights().get("body.weight"), donor.weights().get("body.weight"));
    assert_eq!(classifier.weights().get("answer.weight").unwrap(), head);
}

/// The message of a network for two classes that must be refused.
fn refusal(forward: impl FnOnce(&mut Recorder, &Handle) -> Handle) -> String {
    match Network::record("mine", 2, 3, forward) {
        Err(error @ Error::BadNetwork { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nonsense_is_refused_by_the_name_of_the_operation() {
    let same = Window::centred(3, 1);
    let head = |pass: &mut Recorder, x: &Handle| {
        let x = pass.mean_pixels(x);
        pass.linear(&x, "head", 2)
    };
    let message = refusal(|pass, x| {
        let a = pass.convolve(x, "a", convolution(3, 4, same));
        let b = pass.normalize(&a, "a", None);
        head(pass, &b)
    });
    assert_eq!(
        message,
        "network \"mine\": operation 2, normalize \"a\": there is a parameter \"a.weight\" already"
    );
    let message = refusal(|pass, x| pass.linear(x, "head", 2));
    let wanted = "operation 1, linear \"head\": it takes [batch, channel, 1, 1], so its input has to come from \
                  mean_pixels";
    assert_eq!(message, format!("network \"mine\": {wanted}"));
    let message = refusal(|pass, x| {
        let a = pass.convolve(x, "a", convolution(1, 4, same));
        head(pass, &a)
    });
    assert!(message.ends_with("convolve \"a\": it takes 1 channels, and its input has 3"), "{message}");
    let message = refusal(|pass, x| {
        let x = pass.mean_pixels(x);
        pass.linear(&x, "head", 3)
    });
    assert!(message.ends_with("the result has to be [batch, 2, 1, 1], but it has 3 channels"), "{message}");
    let message = refusal(|pass, x| pass.convolve(x, "a", convolution(3, 2, same)));
    assert!(message.ends_with("but its height and width depend on the images"), "{message}");
    let message = refusal(|pass, x| {
        pass.convolve(x, "dead", convolution(3, 2, same));
        head(pass, x)
    });
    assert!(message.ends_with("operation 1, convolve \"dead\": nothing reads its value"), "{message}");
    let message = refusal(|pass, x| {
        let a = pass.convolve(x, "a", convolution(3, 3, Window::centred(3, 2)));
        let b = pass.add(&a, x, None);
        head(pass, &b)
    });
    assert!(message.ends_with("operation 2, add: the two values differ in height and width"), "{message}");
    let message = refusal(|pass, x| {
        let a = pass.convolve(x, "a", convolution(3, 4, same));
        let b = pass.add(&a, x, None);
        head(pass, &b)
    });
    assert!(message.ends_with("operation 2, add: the two values differ in channels"), "{message}");
    for window in [Window { stride: 0, ..same }, Window { kernel: 0, ..same }, Window { padding: 3, ..same }]
    {
        let message = refusal(|pass, x| {
            let a = pass.convolve(x, "a", convolution(3, 4, window));
            head(pass, &a)
        });
        assert!(
            message.contains("allowed are sides and strides from 1 to 1024 and a padding below"),
            "{message}"
        );
    }
    let message = refusal(|pass, x| {
        let a = pass.max_pool(x, Window { kernel: 3, stride: 1, padding: 2 });
        head(pass, &a)
    });
    assert!(
        message.contains("operation 1, max_pool") && message.contains("up to half the side"),
        "{message}"
    );
    let message = refusal(|pass, x| {
        let a = pass.mean_pixels(x);
        let a = pass.convolve(&a, "a", convolution(3, 2, Window { kernel: 2, stride: 1, padding: 0 }));
        head(pass, &a)
    });
    assert!(
        message.ends_with("its input is one pixel, and the window makes other than one of it"),
        "{message}"
    );
    for outputs in [0, 1 << 21] {
        let message = refusal(|pass, x| {
            let a = pass.convolve(x, "a", convolution(3, outputs, same));
            head(pass, &a)
        });
        assert!(message.ends_with("allowed are 1 to 1048576"), "{message}");
    }
    let message = refusal(|pass, x| {
        let a = pass.normalize(x, "", None);
        head(pass, &a)
    });
    assert!(message.contains("the name is empty"), "{message}");
}

#[test]
fn values_of_another_network_are_refused() {
    let mut stolen = None;
    let _ = Network::record("lender", 2, 3, |pass, x| {
        stolen = Some(*x);
        let x = pass.mean_pixels(x);
        pass.linear(&x, "head", 2)
    });
    let stolen = stolen.unwrap();
    let message = refusal(|pass, _| pass.mean_pixels(&stolen));
    assert!(message.ends_with("operation 1, mean_pixels: it reads a value of another network"), "{message}");
    let result = Network::record("mine", 2, 3, |_, _| stolen);
    assert!(matches!(result, Err(Error::BadNetwork { fault: Fault::Result { .. }, .. })), "{result:?}");
    assert!(matches!(Network::record("mine", 2, 3, |_, x| *x), Err(Error::BadNetwork { .. })));
}

#[test]
fn images_that_are_too_small_are_refused_by_the_operation_they_vanish_at() {
    let network = Network::record("valid", 2, 1, |pass, x| {
        let h = pass.convolve(x, "a", convolution(1, 4, Window { kernel: 3, stride: 1, padding: 0 }));
        let h = pass.convolve(&h, "b", convolution(4, 4, Window { kernel: 3, stride: 1, padding: 0 }));
        let h = pass.mean_pixels(&h);
        pass.linear(&h, "head", 2)
    });
    let mut classifier = Classifier::new(network.unwrap(), &Device::cpu(), 1);
    let small = Batch { images: &[0.5; 2 * 4 * 5], labels: &[0, 1], height: 4, width: 5 };
    let wanted = "images of 4x5 are too small: nothing is left of them at operation 2, convolve \"b\"";
    assert_eq!(classifier.train(small).unwrap_err().to_string(), wanted);
    assert_eq!(classifier.logits(small).unwrap_err().to_string(), wanted);
    let large = Batch { images: &[0.5; 2 * 5 * 5], labels: &[0, 1], height: 5, width: 5 };
    assert!(classifier.train(large).is_ok());
}
