//! Single transformations: values, gradients to the image and to the magnitude, and the ends and ties of their ranges.

use freeaugment::{Images, Shape, Transformation};

use crate::fixture::{Set, Tensor, Tolerance, is_own};

fn images(tensor: &Tensor) -> Images {
    let [count, channels, height, width] = tensor.shape[..] else { panic!("images have four dimensions") };
    Images::new(tensor.data.clone(), Shape { count, channels, height, width }).unwrap()
}

#[test]
fn transformations_agree_with_the_reference() {
    let Some(set) = Set::open("ops") else { return };
    for group in set.between("", ".images") {
        let Some(source) = set.need(&format!("{group}.images")) else { continue };
        // A group without a cotangent holds edge cases: all magnitudes are applied to its first image.
        let cotangent = set.get(&format!("{group}.cotangent"));
        for name in set.between(&format!("{group}."), ".output") {
            let name_of = |part: &str| format!("{group}.{name}.{part}");
            let transformation = Transformation::named(&name).unwrap();
            let takes_magnitude = transformation.magnitude().is_some();
            let magnitude = if takes_magnitude {
                let Some(tensor) = set.need(&name_of("magnitude")) else { continue };
                tensor.data
            } else {
                Vec::new()
            };
            let batch = match &cotangent {
                None if takes_magnitude => images(&Tensor {
                    shape: [&[magnitude.len()], &source.shape[1..]].concat(),
                    data: source.row(0).repeat(magnitude.len()),
                }),
                _ => images(&source),
            };
            let output = transformation.apply(&batch, &magnitude).unwrap();
            set.compare(&name_of("output"), output.as_slice(), Tolerance::Value);
            if let Some(cotangent) = &cotangent {
                let (to_image, to_magnitude) =
                    transformation.pullback(&batch, &magnitude, &cotangent.data).unwrap();
                set.compare(&name_of("grad_image"), &to_image, Tolerance::Gradient);
                if takes_magnitude {
                    set.compare(&name_of("grad_magnitude"), &to_magnitude, Tolerance::Gradient);
                }
            }
        }
    }
    set.finish();
}

#[test]
fn order_ranges_and_identities_are_those_of_the_paper() {
    if !is_own() {
        return;
    }
    let set = Set::open("ops").unwrap();
    let order: Vec<_> = Transformation::all().iter().map(|t| t.name()).collect();
    assert_eq!(serde_json::json!(order), *set.constant("order").unwrap());
    let ranges = set.constant("ranges").unwrap();
    for transformation in Transformation::all() {
        let expected = &ranges[transformation.name()];
        let Some(magnitude) = transformation.magnitude() else {
            assert!(expected[2].is_null(), "{transformation:?}");
            continue;
        };
        let found = [magnitude.range.0, magnitude.range.1, magnitude.identity];
        for (found, expected) in found.iter().zip(expected.as_array().unwrap()) {
            assert_eq!(*found, expected.as_f64().unwrap() as f32, "{transformation:?}");
        }
    }
}
