//! The sum of two values followed by an activation: value, gradient, tangent, and the tangent of the gradient.
//! z = a + b is added again wherever it is needed, in place of being kept.

use rayon::prelude::*;

use super::activation::{Curve, with_curve};
use crate::pass::Activation;
use freeaugment_base::versions;

const CHUNK: usize = 16_384;

/// f(a + b).
pub(crate) fn forward(a: &[f32], b: &[f32], activation: Option<Activation>, out: &mut [f32]) {
    out.par_chunks_mut(CHUNK).zip(a.par_chunks(CHUNK)).zip(b.par_chunks(CHUNK)).for_each(|((out, a), b)| {
        with_curve!(activation, forward_chunk(a, b, out));
    });
}

/// `out = change · f'(a + b)`: the cotangent of a and b, or, with the sum of their tangents as `change`, the tangent.
pub(crate) fn linearize(
    a: &[f32],
    b: &[f32],
    activation: Option<Activation>,
    change: &[f32],
    out: &mut [f32],
) {
    let inputs = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).zip(change.par_chunks(CHUNK));
    out.par_chunks_mut(CHUNK).zip(inputs).for_each(|(out, ((a, b), change))| {
        with_curve!(activation, linearize_chunk(a, b, change, out));
    });
}

/// Adds `cotangent · f''(a + b) · tangent` to `out`: what a moving slope does to the cotangent.
pub(crate) fn add_bend(
    a: &[f32],
    b: &[f32],
    activation: Option<Activation>,
    cotangent: &[f32],
    tangent: &[f32],
    out: &mut [f32],
) {
    let inputs = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
    let changes = cotangent.par_chunks(CHUNK).zip(tangent.par_chunks(CHUNK));
    out.par_chunks_mut(CHUNK).zip(inputs).zip(changes).for_each(|((out, (a, b)), (cotangent, tangent))| {
        with_curve!(activation, bend_chunk(a, b, cotangent, tangent, out));
    });
}

versions! {
    fn forward_chunk<type C: Curve>(a: &[f32], b: &[f32], out: &mut [f32]) {
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = C::value(a + b);
        }
    }

    fn linearize_chunk<type C: Curve>(a: &[f32], b: &[f32], change: &[f32], out: &mut [f32]) {
        for (((out, a), b), change) in out.iter_mut().zip(a).zip(b).zip(change) {
            *out = change * C::slope(a + b);
        }
    }

    fn bend_chunk<type C: Curve>(a: &[f32], b: &[f32], cotangent: &[f32], tangent: &[f32], out: &mut [f32]) {
        for ((((out, a), b), cotangent), tangent) in out.iter_mut().zip(a).zip(b).zip(cotangent).zip(tangent) {
            *out += cotangent * C::bend(a + b) * tangent;
        }
    }
}
