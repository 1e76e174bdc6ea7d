//! Whether a chosen transformation is applied at all: a relaxed Bernoulli variable per transformation and layer.

use crate::math::{exp, ln};

freeaugment_base::versions! {
    /// soft = σ((logit + ln r - ln(1-r)) / temperature), given `noise` r uniform in (0, 1). It is applied where soft > 1/2.
    pub fn sample_application(logits: &[f32], noise: &[f32], temperature: f32, soft: &mut [f32]) {
        for ((soft, &logit), &r) in soft.iter_mut().zip(logits).zip(noise) {
            *soft = 1.0 / (1.0 + exp(-(logit + ln(r) - ln(1.0 - r)) / temperature));
        }
    }

    /// Adds the gradient to the logits, given the sample and its cotangent.
    pub fn sample_application_pullback(soft: &[f32], cotangent: &[f32], temperature: f32, grad_logits: &mut [f32]) {
        for ((grad, &soft), &g) in grad_logits.iter_mut().zip(soft).zip(cotangent) {
            *grad += g * soft * (1.0 - soft) / temperature;
        }
    }
}
