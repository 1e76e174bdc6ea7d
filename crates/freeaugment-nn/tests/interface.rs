//! Weights files, devices and wrong inputs: what a user meets first.

use std::path::Path;

use freeaugment_nn::{Architecture, Batch, Classifier, Device, Error, Layout, Network, Weights};
use safetensors::tensor::{Dtype, TensorView};

fn small() -> Classifier {
    let network = Network::new("WRN-10-1".parse().unwrap(), 3, 1).unwrap();
    Classifier::new(network, &Device::cpu(), 1)
}

/// Rewrites a weights file tensor by tensor; `change` gets name, shape and bytes and may drop the tensor.
fn rewrite(path: &Path, mut change: impl FnMut(&str, &mut Vec<usize>, &mut Vec<u8>) -> bool) {
    let bytes = std::fs::read(path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors = Vec::new();
    for (name, view) in file.tensors() {
        let (mut shape, mut data) = (view.shape().to_vec(), view.data().to_vec());
        if change(&name, &mut shape, &mut data) {
            tensors.push((name, shape, data));
        }
    }
    let views = tensors
        .iter()
        .map(|(name, shape, data)| (name.clone(), TensorView::new(Dtype::F32, shape.clone(), data).unwrap()));
    std::fs::write(path, safetensors::serialize(views.collect::<Vec<_>>(), None).unwrap()).unwrap();
}

#[cfg(feature = "flex")]
#[test]
fn a_device_that_cannot_share_batches_says_so() {
    let flex = Device::open("flex").unwrap();
    let said = freeaugment_nn::ranks::in_threads(2, |ranks| {
        let network = Network::new("WRN-10-1".parse().unwrap(), 3, 1).unwrap();
        Classifier::new(network, &flex, 1).with_ranks(ranks).unwrap_err().to_string()
    });
    assert_eq!(said, ["device \"flex\" cannot share a batch with other processes: `cpu` can"; 2]);
}

#[test]
fn weights_and_statistics_survive_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    let mut classifier = small();
    let batch = Batch { images: &[0.5; 2 * 64], labels: &[0, 2], height: 8, width: 8 };
    classifier.train(batch).unwrap();
    classifier.save(&path).unwrap();
    let mut other = Classifier::new(classifier.network().clone(), &Device::cpu(), 2);
    assert_ne!(other.weights(), classifier.weights());
    other.load(&path).unwrap();
    assert_eq!(other.weights(), classifier.weights());
    assert_eq!(other.statistics(), classifier.statistics());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
}

#[test]
fn a_wrong_weights_file_is_refused_by_name_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    let mut classifier = small();
    let before = classifier.weights().clone();
    let mut refuse = |expected: &str| {
        let message = classifier.load(&path).unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()) && message.contains(expected), "{message}");
        assert_eq!(classifier.weights(), &before);
    };
    refuse("No such file");
    std::fs::write(&path, b"not weights").unwrap();
    refuse("not a safetensors file");
    let fresh = || small().save(&path).unwrap();
    fresh();
    rewrite(&path, |name, _, _| name != "group1.block0.bn2.running_var");
    refuse("tensor \"group1.block0.bn2.running_var\" is missing");
    fresh();
    rewrite(&path, |name, shape, _| {
        if name == "stem.weight" {
            shape.swap(0, 1);
        }
        true
    });
    refuse("tensor \"stem.weight\" is F32 [1, 16, 3, 3], expected F32 [16, 1, 3, 3]");
    let other = Network::new("WRN-16-1".parse().unwrap(), 3, 1).unwrap();
    Classifier::new(other, &Device::cpu(), 1).save(&path).unwrap();
    refuse("tensor \"group0.block1.bn1.bias\" does not belong to this network");
}

#[test]
fn a_backbone_loads_from_a_network_with_other_classes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    let donor = Classifier::new(Network::new("WRN-10-1".parse().unwrap(), 7, 1).unwrap(), &Device::cpu(), 9);
    donor.save(&path).unwrap();
    let mut classifier = small();
    let head = classifier.weights().get("fc.weight").unwrap().to_vec();
    assert!(matches!(classifier.load(&path), Err(Error::WrongTensor { .. })));
    classifier.load_backbone(&path).unwrap();
    assert_eq!(classifier.weights().get("stem.weight"), donor.weights().get("stem.weight"));
    assert_eq!(classifier.weights().get("fc.weight").unwrap(), head);
}

#[test]
fn resnets_have_torchvisions_names_and_shapes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/torchvision_names.json");
    let names: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for architecture in [Architecture::ResNet18, Architecture::ResNet50] {
        let wanted = names[architecture.to_string().replace('-', "").to_lowercase()].as_object().unwrap();
        let layout = Layout::of(&Network::new(architecture, 1000, 3).unwrap());
        let mut found = serde_json::Map::new();
        for entry in layout.entries() {
            found.insert(entry.name().to_owned(), entry.shape().into());
        }
        for norm in layout.norms() {
            for kind in ["running_mean", "running_var"] {
                found.insert(format!("{}.{kind}", norm.name()), vec![norm.range().len()].into());
            }
        }
        assert_eq!(&found, wanted, "{architecture}");
    }
}

#[test]
fn names_of_networks_are_read_and_wrong_ones_refused() {
    for name in ["WRN-40-2", "WRN-28-10", "ResNet-18", "ResNet-50"] {
        assert_eq!(name.parse::<Architecture>().unwrap().to_string(), name);
    }
    for name in [
        "",
        "WRN",
        "WRN-40",
        "WRN-41-2",
        "WRN-4-2",
        "WRN-40-0",
        "WRN-40-2-1",
        "ResNet-34",
        "WRN-99999999999999-1",
    ] {
        let message = name.parse::<Architecture>().unwrap_err().to_string();
        assert!(message.contains(&format!("{name:?}")) && message.contains("WRN-40-2"), "{message}");
    }
    assert!(Network::new(Architecture::WideResNet { depth: 11, width: 1 }, 10, 3).is_err());
    assert!(Network::new(Architecture::ResNet18, 0, 3).is_err());
    assert!(Network::new(Architecture::ResNet18, 10, 2).is_err());
}

#[test]
fn wrong_batches_are_refused_in_words() {
    let mut classifier = small();
    let good = Batch { images: &[0.5; 2 * 64], labels: &[0, 2], height: 8, width: 8 };
    let refuse = |classifier: &mut Classifier, batch: Batch, expected: &str| {
        assert_eq!(classifier.train(batch).unwrap_err().to_string(), expected);
    };
    let shape = "a batch of 2 images of 1x8x7 has 112 numbers, not 128";
    refuse(&mut classifier, Batch { width: 7, ..good }, shape);
    let label = "label 3 of image 1 is not below the number of classes, 3";
    refuse(&mut classifier, Batch { labels: &[0, 3], ..good }, label);
    refuse(&mut classifier, Batch { images: &[], labels: &[], ..good }, "the batch has no images");
    let one = Batch { images: &[0.5], labels: &[0], height: 1, width: 1 };
    let small = "group0.block0.bn1 sees one number per channel in this batch: batch norm needs more images or larger \
                 ones to train";
    refuse(&mut classifier, one, small);
    assert!(classifier.logits(one).is_ok(), "inference needs no batch statistics");
    assert!(classifier.logits(Batch { images: &[0.5; 65], ..good }).is_err());
    let (_, record) = classifier.train_and_keep(good).unwrap();
    let other = Layout::of(&Network::new("WRN-16-1".parse().unwrap(), 3, 1).unwrap());
    assert!(record.hypergradient(&Weights::zeros(other.into())).is_err());
}

#[test]
fn devices_are_found_by_name_and_wrong_ones_refused_in_one_line() {
    assert_eq!(Device::open("CPU").unwrap().name(), "cpu");
    let available = Device::names().join(", ");
    assert!(available.starts_with("cpu"), "{available}");
    let message = Device::open("tpu").unwrap_err().to_string();
    assert_eq!(message, format!("unknown device \"tpu\": this program has {available}"));
}

/// Devices that this build has not are refused by the name of what would bring them.
#[test]
fn a_device_that_was_not_compiled_in_names_its_cargo_feature() {
    let available = Device::names();
    for name in ["flex", "cuda"] {
        if available.iter().any(|known| known == name) {
            continue;
        }
        let wanted = format!(
            "device {name:?} needs a build with the cargo feature `{name}`: this program has {}",
            available.join(", ")
        );
        assert_eq!(Device::open(name).unwrap_err().to_string(), wanted);
    }
}

#[cfg(feature = "flex")]
#[test]
fn flex_is_there_where_its_feature_is() {
    assert_eq!(Device::open("Flex").unwrap().name(), "flex");
    assert!(Device::names().contains(&"flex".to_owned()));
}

/// Run with `--features webgpu -- --ignored` where no driver is to be found, such as with `VK_DRIVER_FILES=/dev/null`.
#[cfg(feature = "webgpu")]
#[test]
#[ignore = "needs a machine without a driver for WebGPU"]
fn an_absent_driver_is_one_line_that_lists_what_is_there() {
    let message = Device::open("webgpu").unwrap_err().to_string();
    assert!(message.starts_with("device \"webgpu\" cannot be used here ("), "{message}");
    assert!(message.ends_with(&Device::names().join(", ")) && !message.contains('\n'), "{message}");
}
