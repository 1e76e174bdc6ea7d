//! A published policy as a policy of FreeAugment, where that can hold it.

use freeaugment::{
    Assignment, DepthKind, Groups, MagnitudeKind, Policy, PolicyConfig, RangedTransformation, Transformation,
    TypesKind,
};

use super::error::Problem;
use super::name::Name;
use super::slack::Slack;
use super::{Published, Scheme};

/// Where σ is 0 and 1 in single precision: the range says how far a magnitude goes.
const ENDS: [f32; 2] = [-30.0, 30.0];
/// The logit of a transformation that is always applied.
const ALWAYS: f64 = 30.0;
/// The share of choices below which an operation is not missed.
const NEGLIGIBLE: f64 = 1e-6;

/// `leave_out`: operations that no policy has are left out, and nothing is done in their place.
pub(super) fn to_policy(published: &Published, leave_out: bool) -> Result<Policy, Problem> {
    let refuse = |reason: &str| Err(Problem::NoPolicy { reason: reason.to_owned() });
    let slack = match &published.scheme {
        Scheme::Slack(slack) => slack,
        Scheme::DeepAa(_) => {
            return refuse("its levels have a distribution of their own, a policy's are uniform or normal");
        }
        Scheme::SubPolicies(_) => {
            return refuse("it chooses among whole sequences, a policy among operations");
        }
        Scheme::Dra(_) => return refuse("its normal magnitudes are mirrored by a coin, a policy's are not"),
        Scheme::Pba(_) => return refuse("it changes as the training goes on, a policy does not"),
    };
    let (mut policy, left_out) = convert(slack, leave_out).map_err(|reason| Problem::NoPolicy { reason })?;
    let provenance = policy.provenance_mut();
    let mut say = |key: &str, value: String| drop(provenance.insert(key.to_owned(), value));
    say("source", format!("{} ({})", published.name, published.source.file));
    let mut notes = vec![
        "an approximation: the smoothing of the magnitudes (normal, deviation 0.1) is left out".to_owned(),
        "pixels are blended where PIL takes the nearest".to_owned(),
        "the brightness of PIL is the contrast of the policy".to_owned(),
    ];
    if !left_out.is_empty() {
        notes.push(format!("nothing is done in the place of {}", left_out.join(", ")));
    }
    say("note", notes.join("; "));
    Ok(policy)
}

/// The policy, and the operations that were left out.
fn convert(slack: &Slack, leave_out: bool) -> Result<(Policy, Vec<String>), String> {
    let layers = slack.logits.len();
    let probabilities: Vec<Vec<f64>> = slack.logits.iter().map(|row| Slack::probabilities(row)).collect();
    let mut idle = vec![0.0; layers];
    let (mut transformations, mut columns, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (&name, &bound)) in slack.operations.iter().zip(&slack.bounds).enumerate() {
        if let Some((own, range)) = counterpart(name, bound) {
            let transformation = Transformation::named(own).map_err(|error| error.to_string())?;
            transformations.push(RangedTransformation { transformation, range });
            columns.push(at);
        } else {
            idle.iter_mut().zip(&probabilities).for_each(|(idle, row)| *idle += row[at]);
            let share = probabilities.iter().map(|row| row[at]).sum::<f64>() / layers as f64;
            if name != Name::Identity && share > NEGLIGIBLE {
                left_out.push(format!("{name:?} ({:.1} % of the choices)", 100.0 * share));
            }
        }
    }
    if !left_out.is_empty() && !leave_out {
        return Err(format!("it has operations that no policy has: {}", left_out.join(", ")));
    }
    // To choose and then do nothing is to apply what is chosen with less than certainty.
    let always = idle.iter().all(|&idle| idle < NEGLIGIBLE);
    let config = PolicyConfig {
        transformations,
        layers,
        depth: if always { DepthKind::Fixed { depth: layers } } else { DepthKind::Application },
        types: TypesKind::Softmax,
        assignment: Assignment::ColumnMaximum,
        magnitudes: MagnitudeKind::Uniform,
        frozen: Groups::ALL,
        ..PolicyConfig::default()
    };
    // Matrices of policies have a row for each transformation.
    let matrix = |value: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
        columns.iter().flat_map(|&column| (0..layers).map(move |layer| value(layer, column))).collect()
    };
    let types = matrix(&|layer, column| slack.logits[layer][column]);
    let applied = |layer: usize| ((1.0 - idle[layer]) / idle[layer]).ln().clamp(-ALWAYS, ALWAYS) as f32;
    let depth = if always { Vec::new() } else { matrix(&|layer, _| applied(layer)) };
    let mut policy = config.init().map_err(|error| error.to_string())?;
    let has_magnitude: Vec<bool> =
        policy.config().transformations.iter().map(|of| of.transformation.magnitude().is_some()).collect();
    let parameters = policy.parameters_mut();
    parameters.types_mut().copy_from_slice(&types);
    parameters.depth_mut().copy_from_slice(&depth);
    // Where there is no magnitude, bounds stay what they are without a meaning.
    for (bounds, end) in parameters.magnitudes_mut().into_iter().zip(ENDS) {
        let rows = bounds.chunks_exact_mut(layers).zip(&has_magnitude);
        rows.filter(|(_, has)| **has).for_each(|(row, _)| row.fill(end));
    }
    Ok((policy, left_out))
}

/// The transformation that does the same, and the magnitudes at both ends, for levels up to a bound.
fn counterpart(name: Name, bound: f32) -> Option<(&'static str, (f32, f32))> {
    let around = |centre: f32, most: f32| (centre - most * bound, centre + most * bound);
    Some(match name {
        Name::ShearX => ("ShearX", around(0.0, 1.0)),
        Name::ShearY => ("ShearY", around(0.0, 1.0)),
        Name::TranslateX => ("TranslateX", around(0.0, 0.75)),
        Name::TranslateY => ("TranslateY", around(0.0, 0.75)),
        Name::Rotate => ("Rotate", around(0.0, 90.0)),
        Name::Solarize => ("Solarize", (1.0 - bound, 1.0)),
        Name::Posterize => ("Posterize", (8.0 - 6.0 * bound, 8.0)),
        Name::Color => ("Color", around(1.0, 0.99)),
        Name::Sharpness => ("Sharpness", around(1.0, 0.99)),
        // Both multiply every value. PIL's Contrast, about the mean of the image, is no transformation of ours.
        Name::Brightness => ("Contrast", around(1.0, 0.99)),
        Name::AutoContrast => ("AutoContrast", (0.0, 1.0)),
        Name::Invert => ("Invert", (0.0, 1.0)),
        Name::Equalize => ("Equalize", (0.0, 1.0)),
        _ => return None,
    })
}
