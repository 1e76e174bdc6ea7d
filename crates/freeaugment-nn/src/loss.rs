//! Cross entropy with label smoothing on logits `[batch, class]`: value, gradient, and the gradient's tangent.

use crate::Error;

/// The mean cross entropy of a batch against labels smoothed by `smoothing`: the target is 1 - s + s/classes for the
/// label and s/classes for every other class, as in PyTorch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossEntropy {
    smoothing: f32,
}

impl CrossEntropy {
    /// With label smoothing in [0, 1).
    pub fn new(smoothing: f32) -> Result<Self, Error> {
        if (0.0..1.0).contains(&smoothing) {
            Ok(Self { smoothing })
        } else {
            Err(Error::BadSmoothing { smoothing })
        }
    }

    /// The label smoothing.
    pub fn smoothing(self) -> f32 {
        self.smoothing
    }

    /// The loss of every image, from logits `[batch, class]`: its sum over the batch, divided by the batch, is the loss that
    /// is trained. Computed in double precision.
    pub fn losses(self, logits: &[f32], labels: &[u32]) -> Result<Vec<f64>, Error> {
        let classes = logits.len() / labels.len().max(1);
        if logits.len() != classes * labels.len() || (classes == 0 && !labels.is_empty()) {
            return Err(Error::LogitsShape { logits: logits.len(), labels: labels.len() });
        }
        let wrong = |(_, label): &(usize, &u32)| **label as usize >= classes;
        if let Some((image, &label)) = labels.iter().enumerate().find(wrong) {
            return Err(Error::BadLabel { image, label, classes });
        }
        let loss = |(row, &label): (&[f32], &u32)| {
            let (_, normaliser) = softmax(row);
            let term = |class: usize| normaliser - f64::from(row[class]);
            if self.smoothing == 0.0 {
                // Not as a sum over classes: an infinite logit of another class would make it NaN.
                return term(label as usize);
            }
            (0..classes).map(|class| self.target(class, label, classes) * term(class)).sum()
        };
        Ok(logits.chunks_exact(classes.max(1)).zip(labels).map(loss).collect())
    }

    /// The target of `class` for an image with `label`.
    pub(crate) fn target(self, class: usize, label: u32, classes: usize) -> f64 {
        let smoothing = f64::from(self.smoothing);
        let share = smoothing / classes as f64;
        if class == label as usize { 1.0 - smoothing + share } else { share }
    }

    /// The sum of the losses, and the cotangent of the logits `[image, class]`, of some images of a batch of `total`.
    pub(crate) fn sum_and_gradient(
        self,
        logits: &[f32],
        labels: &[u32],
        classes: usize,
        total: usize,
    ) -> (f64, Vec<f32>) {
        let mut loss = 0.0;
        let mut gradient = Vec::with_capacity(logits.len());
        for (row, &label) in logits.chunks_exact(classes).zip(labels) {
            let (probabilities, normaliser) = softmax(row);
            for (class, (&logit, probability)) in row.iter().zip(&probabilities).enumerate() {
                let target = self.target(class, label, classes);
                loss += target * (normaliser - f64::from(logit));
                gradient.push(((probability - target) / total as f64) as f32);
            }
        }
        (loss, gradient)
    }

    /// How that cotangent moves when the logits move along `tangent`; the targets do not matter.
    pub(crate) fn gradient_tangent(
        logits: &[f32],
        tangent: &[f32],
        classes: usize,
        total: usize,
    ) -> Vec<f32> {
        let batch = total as f64;
        let mut moved = Vec::with_capacity(logits.len());
        for (row, tangent) in logits.chunks_exact(classes).zip(tangent.chunks_exact(classes)) {
            let (probabilities, _) = softmax(row);
            let mean: f64 = probabilities.iter().zip(tangent).map(|(p, t)| p * f64::from(*t)).sum();
            moved.extend(
                probabilities.iter().zip(tangent).map(|(p, t)| (p * (f64::from(*t) - mean) / batch) as f32),
            );
        }
        moved
    }
}

/// Probabilities, and the logarithm of the sum of exponentials.
fn softmax(logits: &[f32]) -> (Vec<f64>, f64) {
    let largest = logits.iter().fold(f64::NEG_INFINITY, |largest, &logit| largest.max(f64::from(logit)));
    let mut values: Vec<f64> = logits.iter().map(|&logit| (f64::from(logit) - largest).exp()).collect();
    let sum: f64 = values.iter().sum();
    for value in &mut values {
        *value /= sum;
    }
    (values, largest + sum.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 8] = [0.5, -1.0, 2.0, 0.1, 3.0, -2.0, 0.0, 1.0];
    const LABELS: [u32; 2] = [2, 1];

    #[test]
    fn the_loss_is_pytorchs_with_and_without_smoothing() {
        // torch.nn.functional.cross_entropy(logits, labels, label_smoothing=s)
        for (smoothing, wanted) in [(0.0, WANTED_PLAIN), (0.1, WANTED_SMOOTH)] {
            let (loss, _) = value_and_gradient(CrossEntropy::new(smoothing).unwrap(), &LOGITS);
            assert!((loss - wanted).abs() < 1e-6, "{loss} in place of {wanted}");
        }
    }

    fn value_and_gradient(loss: CrossEntropy, logits: &[f32]) -> (f64, Vec<f32>) {
        let (sum, gradient) = loss.sum_and_gradient(logits, &LABELS, 4, 2);
        (sum / 2.0, gradient)
    }

    const WANTED_PLAIN: f64 = 2.763_960_650_360_072;
    const WANTED_SMOOTH: f64 = 2.718_960_650_360_072;

    #[test]
    fn gradient_and_its_tangent_agree_with_finite_differences() {
        let loss = CrossEntropy::new(0.1).unwrap();
        let (_, gradient) = value_and_gradient(loss, &LOGITS);
        let tangent = [0.3, -0.2, 0.5, 1.0, -0.7, 0.4, 0.9, -0.1];
        let moved = CrossEntropy::gradient_tangent(&LOGITS, &tangent, 4, 2);
        let at = |step: f32| {
            let logits: Vec<f32> = LOGITS.iter().zip(&tangent).map(|(l, t)| l + step * t).collect();
            value_and_gradient(loss, &logits)
        };
        let (ahead, behind) = (at(1e-2), at(-1e-2));
        let slope: f64 = gradient.iter().zip(&tangent).map(|(g, t)| f64::from(g * t)).sum();
        assert!(((ahead.0 - behind.0) / 2e-2 - slope).abs() < 1e-4);
        for ((ahead, behind), moved) in ahead.1.iter().zip(&behind.1).zip(&moved) {
            assert!(((ahead - behind) / 2e-2 - moved).abs() < 1e-4);
        }
    }

    /// Largest + ln Σ exp - logit, as evaluation has always computed it: to the last bit.
    #[test]
    fn losses_are_those_of_the_plain_formula_and_of_training() {
        let plain = |row: &[f32], label: u32| {
            let largest = row.iter().fold(f64::NEG_INFINITY, |largest, &logit| largest.max(f64::from(logit)));
            let sum: f64 = row.iter().map(|&logit| (f64::from(logit) - largest).exp()).sum();
            largest + sum.ln() - f64::from(row[label as usize])
        };
        let wanted: Vec<f64> = LOGITS.chunks(4).zip(LABELS).map(|(row, label)| plain(row, label)).collect();
        assert_eq!(CrossEntropy::default().losses(&LOGITS, &LABELS).unwrap(), wanted);
        for smoothing in [0.0, 0.1] {
            let loss = CrossEntropy::new(smoothing).unwrap();
            let mean = loss.losses(&LOGITS, &LABELS).unwrap().iter().sum::<f64>() / 2.0;
            assert!((mean - value_and_gradient(loss, &LOGITS).0).abs() < 1e-12);
        }
        let infinite = [f32::NEG_INFINITY, 0.0];
        assert_eq!(CrossEntropy::default().losses(&infinite, &[1]).unwrap(), [0.0]);
        assert_eq!(CrossEntropy::default().losses(&[], &[]).unwrap(), [0.0; 0]);
    }

    #[test]
    fn logits_and_labels_that_do_not_fit_are_refused() {
        let refuse = |logits: &[f32], labels: &[u32]| {
            CrossEntropy::default().losses(logits, labels).unwrap_err().to_string()
        };
        assert_eq!(refuse(&LOGITS, &[0, 1, 2]), "8 logits cannot be shared out among 3 labels");
        assert_eq!(refuse(&[], &[0]), "0 logits cannot be shared out among 1 labels");
        assert_eq!(refuse(&LOGITS, &[]), "8 logits cannot be shared out among 0 labels");
        assert_eq!(refuse(&LOGITS, &[0, 4]), "label 4 of image 1 is not below the number of classes, 4");
    }

    #[test]
    fn smoothing_outside_its_range_is_refused() {
        assert!(CrossEntropy::new(1.0).is_err());
        assert!(CrossEntropy::new(f32::NAN).is_err());
    }
}
