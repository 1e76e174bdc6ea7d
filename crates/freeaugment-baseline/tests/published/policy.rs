//! Published policies as policies of FreeAugment.

use freeaugment::{DepthKind, Policy};
use freeaugment_baseline::{Kind, Published};

use super::slack::{NOTHING, checkpoint};
use super::{file, near, read};

#[test]
fn what_a_policy_cannot_hold_is_refused_with_the_reason() {
    let reasons = [
        "it has operations that no policy has: Contrast (",
        "its levels have a distribution of their own",
        "it chooses among whole sequences",
        "it chooses among whole sequences",
        "its normal magnitudes are mirrored by a coin",
        "it changes as the training goes on",
    ];
    for (policy, reason) in file::every().iter().zip(reasons) {
        let error = policy.to_policy().expect_err("it cannot be held").to_string();
        assert!(error.starts_with(&format!("cannot be turned into a policy: {reason}")), "{error}");
    }
}

#[test]
fn operations_without_a_counterpart_can_be_left_out() {
    // Rotation, brightness, cutout and identity, with the weights 1, 2, 3, 4.
    let mut logits = vec![NOTHING; 51];
    for layer in 0..3 {
        for (at, weight) in [(4, 1.0_f32), (12, 2.0), (14, 3.0), (16, 4.0)] {
            logits[17 * layer + at] = weight.ln();
        }
    }
    let slack = read(Kind::Slack, "a.ckpt", &checkpoint(&logits, &[0.5; 17]), None).expect("it is sound");
    let policy = slack.to_policy_leaving_out().expect("the rest can be held");
    assert_eq!(policy.config().depth, DepthKind::Application);
    let note = &policy.provenance()["note"];
    assert!(note.contains("Cutout (30.0 % of the choices)"), "{note}");
    assert!(note.starts_with("an approximation: "), "{note}");
    let text = policy.to_json().expect("it can be written");
    assert_eq!(Policy::from_json(text.as_bytes()).expect("it can be read"), policy);

    let place = |name: &str| {
        let is_it = |of: &freeaugment::RangedTransformation| of.transformation.name() == name;
        policy.config().transformations.iter().position(is_it).expect("it is in the policy")
    };
    let (rotate, contrast) = (place("Rotate"), place("Contrast"));
    assert_eq!(policy.config().transformations[rotate].range, (-45.0, 45.0));
    let (low, high) = policy.config().transformations[contrast].range;
    assert!((low - 0.505).abs() < 1e-6 && (high - 1.495).abs() < 1e-6);

    // The policy applies each as often as SLACK would.
    let count = 20_000;
    let images: Vec<u32> = (0..count).collect();
    let sample = policy.sample(policy.draw(1, 0, &images), 1.0).expect("it can be drawn");
    let applied = |of: usize| {
        let layer = 1;
        let is_applied = |image: &usize| {
            usize::from(sample.types(*image)[layer]) == of && sample.depth_soft(*image)[3 * of + layer] > 0.5
        };
        (0..count as usize).filter(is_applied).count()
    };
    assert!(near(applied(rotate), count, 0.1), "{}", applied(rotate));
    assert!(near(applied(contrast), count, 0.2), "{}", applied(contrast));
    let reached = |image: usize| sample.magnitudes(image)[3 * rotate];
    let (low, high) =
        (0..count as usize).map(reached).fold((1.0_f32, 0.0_f32), |(l, h), m| (l.min(m), h.max(m)));
    assert!(low < 0.001 && high > 0.999, "the whole range is used");
}

#[test]
fn a_policy_of_known_operations_has_a_fixed_depth() {
    let text = r#"{"format": "freeaugment-baseline", "version": 1, "name": "x",
        "source": {"kind": "slack", "file": "x", "bytes": 0},
        "policy": {"slack": {"operations": ["Invert", "Posterize"], "logits": [[0, 1], [2, 3]], "bounds": [1, 0.5]}}}"#;
    let policy =
        Published::from_json(text.as_bytes()).expect("it is sound").to_policy().expect("it can be held");
    assert_eq!(policy.config().depth, DepthKind::Fixed { depth: 2 });
    assert_eq!(policy.parameters().types(), [0.0, 2.0, 1.0, 3.0]);
    assert_eq!(policy.config().transformations[1].range, (5.0, 8.0));
    assert!(!policy.provenance()["note"].contains("nothing is done"));
}
