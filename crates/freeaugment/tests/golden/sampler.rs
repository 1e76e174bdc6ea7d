//! The samplers and their pullbacks.

use freeaugment::Transformation;
use freeaugment::sampling::{
    Assigner, Bounds, Gaussian, Matrices, MatricesMut, Sinkhorn, Tape, assign_column_maximum, log_softmax,
    log_softmax_pullback, sample_application, sample_application_pullback, soften,
};
use freeaugment_base::random::gumbel_from_uniform;

use serde_json::Value;

use crate::fixture::{Set, Tolerance, number, report_skipped};

/// A margin below which two entries of the reference count as tied.
const TIE: f32 = 1e-3;

#[test]
fn sinkhorn_agrees_with_the_reference() {
    let Some(set) = Set::open("sinkhorn") else { return };
    let pad = set.constant("pad").and_then(Value::as_f64).expect("the index tells the padding") as f32;
    for group in set.between("sinkhorn.", ".logits") {
        let name_of = |part: &str| format!("sinkhorn.{group}.{part}");
        let Some(logits) = set.need(&name_of("logits")) else { continue };
        let Some(noise) = set.need(&name_of("noise")) else { continue };
        let [transformations, layers] = logits.shape[..] else { panic!("logits have two dimensions") };
        for case in set.between(&name_of(""), ".soft") {
            let name_of = |part: &str| format!("sinkhorn.{group}.{case}.{part}");
            let (temperature, iterations) = case.split_once("_L").expect("cases are called t…_L…");
            let sampler = Sinkhorn {
                transformations,
                layers,
                iterations: number(iterations) as usize,
                pad,
                temperature: number(temperature),
            };
            let cotangent = set.get(&format!("sinkhorn.{group}.cotangent"));
            let size = transformations * layers;
            let batch = noise.rows();
            let (mut log_soft, mut soft) = (vec![0.0; batch * size], vec![0.0; batch * size]);
            let (mut hard, mut exact) = (vec![0; batch * layers], vec![0; batch * layers]);
            let (mut gradients, mut tape) = (vec![0.0; batch * size], Tape::default());
            for first in (0..batch).step_by(Sinkhorn::GROUP) {
                let images = (batch - first).min(Sinkhorn::GROUP);
                let square = transformations * transformations;
                let noise = Matrices { data: &noise.data[first * square..], stride: square };
                let target = &mut MatricesMut { data: &mut log_soft[first * size..], stride: size };
                sampler.sample(images, &logits.data, noise, target, &mut tape, true);
                soft[first * size..].copy_from_slice(&log_soft[first * size..]);
                soften(&mut soft[first * size..]);
                if let Some(cotangent) = &cotangent {
                    let soft = Matrices { data: &soft[first * size..], stride: size };
                    let cotangent = Matrices { data: &cotangent.data[first * size..], stride: size };
                    let target = &mut MatricesMut { data: &mut gradients[first * size..], stride: size };
                    sampler.pullback(images, soft, cotangent, &mut tape, target);
                }
            }
            let mut gradient = vec![0.0; size];
            let mut assigner = Assigner::default();
            for b in 0..batch {
                let log_soft = &log_soft[b * size..][..size];
                assign_column_maximum(log_soft, &mut hard[b * layers..][..layers]);
                assigner.assign(log_soft, &mut exact[b * layers..][..layers]);
                for (sum, value) in gradient.iter_mut().zip(&gradients[b * size..]) {
                    *sum += value;
                }
            }
            set.compare(&name_of("soft"), &soft, Tolerance::Value);
            set.compare(&name_of("log_soft"), &log_soft, Tolerance::Logarithm);
            if cotangent.is_some() {
                set.compare(&name_of("grad_logits"), &gradient, Tolerance::Gradient);
            } else {
                report_skipped(&format!("sinkhorn.{group}.cotangent"));
            }
            check_hard(&set, &name_of("hard"), &hard);
            let exact_sums: Vec<f32> = (0..batch)
                .map(|b| {
                    let chosen = exact[b * layers..][..layers].iter().enumerate();
                    chosen.map(|(k, &i)| log_soft[b * size + usize::from(i) * layers + k]).sum()
                })
                .collect();
            set.compare(&name_of("exact_value"), &exact_sums, Tolerance::Logarithm);
        }
    }
    set.finish();
}

/// Compares choices where the reference's margin says that they do not hang on a rounding.
fn check_hard(set: &Set, name: &str, found: &[u8]) {
    let Some(expected) = set.need(name) else { return };
    let margin = set.get(&format!("{name}_margin")).map(|margin| margin.data);
    for (at, (&found, expected)) in found.iter().zip(expected.indices()).enumerate() {
        if found != expected && margin.as_ref().is_none_or(|margin| margin[at] > TIE) {
            set.complain(format!("{name}: entry {at} is {found} instead of {expected}"));
        }
    }
}

/// Independent types `[N, K]` and the depth `[K+1]` are both softmaxes over the first dimension of the logits.
fn check_softmax(group: &str, logits: &str, gradient: &str) {
    let Some(set) = Set::open("sinkhorn") else { return };
    let name_of = |part: &str| format!("{group}.{part}");
    let (Some(logits), Some(noise)) = (set.need(&name_of(logits)), set.need(&name_of("noise"))) else {
        return;
    };
    let Some(cotangent) = set.need(&name_of("cotangent")) else { return };
    let columns = logits.shape.get(1).copied().unwrap_or(1);
    let size = logits.data.len();
    for case in set.between(&name_of(""), ".soft") {
        let temperature = number(&case);
        let (mut soft, mut hard) = (Vec::new(), Vec::new());
        let mut to_logits = vec![0.0; size];
        for b in 0..noise.rows() {
            let (mut one, mut chosen) = (vec![0.0; size], vec![0; columns]);
            log_softmax(&logits.data, noise.row(b), columns, temperature, &mut one);
            assign_column_maximum(&one, &mut chosen);
            soften(&mut one);
            log_softmax_pullback(&one, cotangent.row(b), columns, temperature, &mut to_logits);
            soft.extend(one);
            hard.extend(chosen);
        }
        set.compare(&name_of(&format!("{case}.soft")), &soft, Tolerance::Value);
        set.compare(&name_of(&format!("{case}.{gradient}")), &to_logits, Tolerance::Gradient);
        check_hard(&set, &name_of(&format!("{case}.hard")), &hard);
    }
    set.finish();
}

#[test]
fn independent_types_agree_with_the_reference() {
    check_softmax("types_softmax", "logits", "grad_logits");
}

#[test]
fn the_depth_agrees_with_the_reference() {
    check_softmax("depth", "delta", "grad_delta");
}

#[test]
fn application_probabilities_agree_with_the_reference() {
    let Some(set) = Set::open("sinkhorn") else { return };
    let (Some(logits), Some(noise)) = (set.need("bernoulli.alpha"), set.need("bernoulli.uniform")) else {
        return;
    };
    let Some(cotangent) = set.need("bernoulli.cotangent") else { return };
    let size = logits.data.len();
    for case in set.between("bernoulli.", ".soft") {
        let temperature = number(&case);
        let mut soft = vec![0.0; noise.data.len()];
        let mut to_logits = vec![0.0; size];
        for (b, soft) in soft.chunks_exact_mut(size).enumerate() {
            sample_application(&logits.data, noise.row(b), temperature, soft);
            sample_application_pullback(soft, cotangent.row(b), temperature, &mut to_logits);
        }
        let hard: Vec<u8> = soft.iter().map(|&soft| u8::from(soft > 0.5)).collect();
        // The gradient to the probability itself: alpha is its logit.
        let to_probability: Vec<f32> = to_logits
            .iter()
            .zip(&logits.data)
            .map(|(g, alpha)| {
                let p = 1.0 / (1.0 + (-alpha).exp());
                g / (p * (1.0 - p))
            })
            .collect();
        set.compare(&format!("bernoulli.{case}.soft"), &soft, Tolerance::Value);
        set.compare(&format!("bernoulli.{case}.grad_alpha"), &to_logits, Tolerance::Gradient);
        set.compare(&format!("bernoulli.{case}.grad_p"), &to_probability, Tolerance::Gradient);
        set.compare_indices(&format!("bernoulli.{case}.hard"), &hard);
    }
    set.finish();
}

#[test]
fn uniform_magnitudes_agree_with_the_reference() {
    let Some(set) = Set::open("sinkhorn") else { return };
    let tensor = |part: &str| set.need(&format!("magnitude_uniform.{part}"));
    let (Some(lower), Some(upper)) = (tensor("lower"), tensor("upper")) else { return };
    let (Some(noise), Some(cotangent)) = (tensor("eps"), tensor("cotangent")) else { return };
    let bounds = Bounds::new(&lower.data, &upper.data);
    let size = lower.data.len();
    let (mut u, mut m) = (vec![0.0; noise.data.len()], Vec::new());
    let (mut to_lower, mut to_upper) = (vec![0.0; size], vec![0.0; size]);
    for (b, u) in u.chunks_exact_mut(size).enumerate() {
        bounds.sample(noise.row(b), u);
        bounds.pullback(noise.row(b), cotangent.row(b), &mut to_lower, &mut to_upper);
        for (u, transformation) in u.chunks_exact(lower.shape[1]).zip(Transformation::all()) {
            let (low, high) = transformation.magnitude().map_or((0.0, 1.0), |magnitude| magnitude.range);
            m.extend(u.iter().map(|u| low + u * (high - low)));
        }
    }
    set.compare("magnitude_uniform.u", &u, Tolerance::Value);
    set.compare("magnitude_uniform.m", &m, Tolerance::Value);
    set.compare("magnitude_uniform.grad_lower", &to_lower, Tolerance::Gradient);
    set.compare("magnitude_uniform.grad_upper", &to_upper, Tolerance::Gradient);
    set.finish();
}

#[test]
fn gaussian_magnitudes_agree_with_the_reference() {
    let Some(set) = Set::open("sinkhorn") else { return };
    let tensor = |part: &str| set.need(&format!("magnitude_gaussian.{part}"));
    let (Some(centre), Some(spread)) = (tensor("centre"), tensor("spread")) else { return };
    let (Some(noise), Some(cotangent)) = (tensor("z"), tensor("cotangent")) else { return };
    let gaussian = Gaussian { centre: &centre.data, spread: &spread.data };
    let size = centre.data.len();
    let mut u = vec![0.0; noise.data.len()];
    let (mut to_centre, mut to_spread) = (vec![0.0; size], vec![0.0; size]);
    for (b, u) in u.chunks_exact_mut(size).enumerate() {
        gaussian.sample(noise.row(b), u);
        gaussian.pullback(noise.row(b), cotangent.row(b), &mut to_centre, &mut to_spread);
    }
    set.compare("magnitude_gaussian.u", &u, Tolerance::Value);
    set.compare("magnitude_gaussian.grad_centre", &to_centre, Tolerance::Gradient);
    set.compare("magnitude_gaussian.grad_spread", &to_spread, Tolerance::Gradient);
    set.finish();
}

#[test]
fn gumbel_noise_agrees_with_the_reference() {
    let Some(set) = Set::open("sinkhorn") else { return };
    let Some(mut noise) = set.need("gumbel.uniform") else { return };
    gumbel_from_uniform(&mut noise.data);
    set.compare("gumbel.noise", &noise.data, Tolerance::Value);
    set.finish();
}
