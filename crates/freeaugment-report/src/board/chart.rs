//! What TensorBoard shows of an epoch.

use freeaugment_search::{SearchEpoch, TrainingEpoch};

use super::Charts;

/// An epoch of which there is something to see.
pub(super) trait Chart {
    /// The epoch, from 1.
    fn number(&self) -> u64;
    /// Tells all its numbers.
    fn chart(&self, charts: &mut Charts);
}

impl Chart for SearchEpoch {
    fn number(&self) -> u64 {
        self.epoch
    }

    fn chart(&self, charts: &mut Charts) {
        charts.scalar("training/loss", self.loss);
        charts.scalar("training/accuracy", self.accuracy);
        charts.maybe("validation batches/loss", self.validation_loss);
        charts.maybe("validation batches/accuracy", self.validation_accuracy);
        charts.maybe("validation images/loss", self.evaluation_loss);
        charts.maybe("validation images/accuracy", self.evaluation_accuracy);
        charts.scalar("schedule/learning rate", self.learning_rate);
        charts.scalar("schedule/temperature", self.temperature);
        for group in ["depth", "types", "magnitudes"] {
            let learns = self.learning.iter().any(|learning| learning == group);
            charts.scalar(&format!("schedule/{group} learn"), f64::from(u8::from(learns)));
        }
        for (depth, share) in self.depth.iter().enumerate() {
            charts.scalar(&format!("depth/{depth}"), *share);
        }
        charts.distribution("depth", &self.depth);
        for usage in &self.usage {
            charts.scalar(&format!("share/{}", usage.name), usage.share);
        }
        // In the order of the policy file; the shares by name are above.
        let shares: Vec<f64> = self.usage.iter().map(|usage| usage.share).collect();
        charts.distribution("types/all layers", &shares);
        for (layer, types) in self.types.iter().enumerate() {
            charts.distribution(&format!("types/layer {}", layer + 1), types);
        }
        for ranges in &self.ranges {
            for (layer, (low, high)) in ranges.ranges.iter().enumerate() {
                let tag = format!("range {}/layer {}", ranges.name, layer + 1);
                charts.scalar(&format!("{tag} low"), f64::from(*low));
                charts.scalar(&format!("{tag} high"), f64::from(*high));
            }
        }
        charts.scalar("policy/repetition", self.repetition);
        charts.scalar("policy/effective depths", self.effective.depths);
        charts.scalar("policy/effective types", self.effective.types);
        if let Some(cycle) = &self.cycle {
            charts.scalar("cycle/number", cycle.cycle as f64);
            for (name, slopes) in
                [("depth", &cycle.depth), ("types", &cycle.types), ("magnitudes", &cycle.magnitudes)]
            {
                for (at, slope) in slopes.iter().enumerate() {
                    charts.scalar(&format!("slope of {name}/{at}"), *slope);
                }
            }
        }
        for (name, norm) in [
            ("weights", self.gradients.weights),
            ("depth", self.gradients.depth),
            ("types", self.gradients.types),
            ("magnitudes", self.gradients.magnitudes),
        ] {
            charts.scalar(&format!("gradient norm/{name}"), norm);
        }
        for (name, seconds) in [
            ("data", self.seconds.data),
            ("policy", self.seconds.policy),
            ("training", self.seconds.training),
            ("validation", self.seconds.validation),
            ("hypergradient", self.seconds.hypergradient),
            ("pullback", self.seconds.pullback),
            ("evaluation", self.evaluation_seconds),
        ] {
            charts.scalar(&format!("seconds/{name}"), seconds);
        }
    }
}

impl Chart for TrainingEpoch {
    fn number(&self) -> u64 {
        self.epoch
    }

    fn chart(&self, charts: &mut Charts) {
        charts.scalar("training/loss", self.loss);
        charts.scalar("training/accuracy", self.accuracy);
        charts.maybe("test/loss", self.test_loss);
        charts.maybe("test/accuracy", self.test_accuracy);
        charts.scalar("schedule/learning rate", self.learning_rate);
        charts.scalar("seconds/waiting", self.waiting_seconds);
        charts.scalar("seconds/training", self.training_seconds);
        charts.scalar("seconds/evaluation", self.evaluation_seconds);
    }
}
