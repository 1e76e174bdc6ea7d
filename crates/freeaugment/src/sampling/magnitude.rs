//! How strong: normalised magnitudes u in [0, 1], one per transformation and layer.

use crate::math::sigmoid;
use crate::transformation::{clamp01, clamp01_pullback};

/// Uniform magnitudes between two learned bounds: u = (σ(upper) - σ(lower))·ε + σ(lower). The lower bound may lie above
/// the upper one.
#[derive(Clone, Debug)]
pub struct Bounds {
    low: Vec<f32>,
    high: Vec<f32>,
}

impl Bounds {
    /// The bounds, from their logits.
    pub fn new(lower: &[f32], upper: &[f32]) -> Self {
        let bounds = |logits: &[f32]| logits.iter().map(|&logit| sigmoid(logit) as f32).collect();
        Self { low: bounds(lower), high: bounds(upper) }
    }

    /// Writes u, given `noise` uniform in [0, 1).
    pub fn sample(&self, noise: &[f32], u: &mut [f32]) {
        for (((u, &noise), &low), &high) in u.iter_mut().zip(noise).zip(&self.low).zip(&self.high) {
            *u = between(low, high, noise);
        }
    }

    /// One u, from the logits of its bounds.
    pub(crate) fn sample_one(lower: f32, upper: f32, noise: f32) -> f32 {
        between(sigmoid(lower) as f32, sigmoid(upper) as f32, noise)
    }

    /// Adds the gradients to the logits of the lower and of the upper bounds, given the cotangent of u.
    pub fn pullback(&self, noise: &[f32], cotangent: &[f32], lower: &mut [f32], upper: &mut [f32]) {
        for (i, (&noise, &g)) in noise.iter().zip(cotangent).enumerate() {
            lower[i] += g * (1.0 - noise) * self.low[i] * (1.0 - self.low[i]);
            upper[i] += g * noise * self.high[i] * (1.0 - self.high[i]);
        }
    }
}

#[inline(always)]
fn between(low: f32, high: f32, noise: f32) -> f32 {
    (high - low) * noise + low
}

/// Gaussian magnitudes: u = clamp(spread·z + centre).
#[derive(Clone, Copy, Debug)]
pub struct Gaussian<'a> {
    /// The centres c.
    pub centre: &'a [f32],
    /// The spreads s.
    pub spread: &'a [f32],
}

impl Gaussian<'_> {
    /// Writes u, given standard normal `noise`.
    pub fn sample(&self, noise: &[f32], u: &mut [f32]) {
        for (i, (u, &noise)) in u.iter_mut().zip(noise).enumerate() {
            *u = clamp01(self.spread[i] * noise + self.centre[i]);
        }
    }

    /// Adds the gradients to the centres and to the spreads, given the cotangent of u.
    pub fn pullback(&self, noise: &[f32], cotangent: &[f32], centre: &mut [f32], spread: &mut [f32]) {
        for (i, (&noise, &g)) in noise.iter().zip(cotangent).enumerate() {
            let g = clamp01_pullback(self.spread[i] * noise + self.centre[i], g);
            centre[i] += g;
            spread[i] += g * noise;
        }
    }
}
