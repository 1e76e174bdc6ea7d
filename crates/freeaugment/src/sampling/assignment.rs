//! Hardening: from a relaxed sample to one transformation per layer.

use super::largest;

/// Per layer, the transformation with the largest entry of `log_soft` `[N, K]`. One may be chosen by several layers.
pub fn assign_column_maximum(log_soft: &[f32], chosen: &mut [u8]) {
    let layers = chosen.len();
    for (layer, chosen) in chosen.iter_mut().enumerate() {
        *chosen = largest(log_soft.iter().skip(layer).step_by(layers).copied()) as u8;
    }
}

/// Hardening by exact assignment: layers get distinct transformations so that the sum of log soft is the largest there
/// is (the Hungarian method). It keeps its working memory for the next call.
#[derive(Clone, Debug, Default)]
pub struct Assigner {
    price_of_layer: Vec<f64>,
    price: Vec<f64>,
    holder: Vec<usize>,
    came_from: Vec<usize>,
    slack: Vec<f64>,
    done: Vec<bool>,
}

impl Assigner {
    /// Chooses for `log_soft` `[N, K]`; K is the length of `chosen` and at most N.
    pub fn assign(&mut self, log_soft: &[f32], chosen: &mut [u8]) {
        let layers = chosen.len();
        let count = log_soft.len() / layers;
        let cost = |layer: usize, i: usize| -f64::from(log_soft[i * layers + layer]);
        // Transformation `count` is a stand-in that the layer being placed holds at first.
        self.reset(layers, count);
        for layer in 0..layers {
            self.slack.fill(f64::INFINITY);
            self.done.fill(false);
            self.holder[count] = layer;
            // Dijkstra over transformations until a free one is reached.
            let mut at = count;
            while self.holder[at] != NOBODY {
                self.done[at] = true;
                let holder = self.holder[at];
                let (mut next, mut step) = (count, f64::INFINITY);
                for i in (0..count).filter(|&i| !self.done[i]) {
                    let reduced = cost(holder, i) - self.price_of_layer[holder] - self.price[i];
                    if reduced < self.slack[i] {
                        self.slack[i] = reduced;
                        self.came_from[i] = at;
                    }
                    if self.slack[i] < step {
                        (next, step) = (i, self.slack[i]);
                    }
                }
                for i in 0..=count {
                    if self.done[i] {
                        self.price_of_layer[self.holder[i]] += step;
                        self.price[i] -= step;
                    } else {
                        self.slack[i] -= step;
                    }
                }
                at = next;
            }
            while at != count {
                let from = self.came_from[at];
                self.holder[at] = self.holder[from];
                at = from;
            }
            self.holder[count] = NOBODY;
        }
        for (i, &holder) in self.holder.iter().enumerate() {
            if holder != NOBODY {
                chosen[holder] = i as u8;
            }
        }
    }

    fn reset(&mut self, layers: usize, count: usize) {
        refill(&mut self.price_of_layer, layers, 0.0);
        refill(&mut self.price, count + 1, 0.0);
        refill(&mut self.holder, count + 1, NOBODY);
        refill(&mut self.came_from, count + 1, count);
        refill(&mut self.slack, count + 1, 0.0);
        refill(&mut self.done, count + 1, false);
    }
}

/// No layer holds the transformation.
const NOBODY: usize = usize::MAX;

fn refill<T: Clone>(buffer: &mut Vec<T>, len: usize, value: T) {
    buffer.clear();
    buffer.resize(len, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// The best sum over all injective choices, by trying them all.
    fn best_sum(log_soft: &[f32], layers: usize, layer: usize, used: u32) -> f64 {
        if layer == layers {
            return 0.0;
        }
        (0..log_soft.len() / layers)
            .filter(|i| used & (1 << i) == 0)
            .map(|i| {
                f64::from(log_soft[i * layers + layer])
                    + best_sum(log_soft, layers, layer + 1, used | (1 << i))
            })
            .fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn the_exact_assignment_reaches_the_best_sum_of_all_and_never_repeats() {
        let mut assigner = Assigner::default();
        for trial in 0..300 {
            let mut stream = Stream::new(trial, Purpose::named("assignment"), 0, 0);
            let count = 1 + stream.below(6) as usize;
            let layers = 1 + stream.below(count as u32) as usize;
            let mut log_soft = vec![0.0; count * layers];
            stream.normal(&mut log_soft);
            let mut chosen = vec![0; layers];
            assigner.assign(&log_soft, &mut chosen);
            let sum: f64 = chosen
                .iter()
                .enumerate()
                .map(|(k, &i)| f64::from(log_soft[usize::from(i) * layers + k]))
                .sum();
            assert!((sum - best_sum(&log_soft, layers, 0, 0)).abs() < 1e-6, "trial {trial}");
            let mut distinct = chosen.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), layers, "trial {trial}: {chosen:?}");
        }
    }

    #[test]
    fn the_column_maximum_takes_the_largest_of_each_layer() {
        let mut chosen = [0; 2];
        assign_column_maximum(&[-3.0, -1.0, -2.0, -5.0, -9.0, -0.5], &mut chosen);
        assert_eq!(chosen, [1, 2]);
    }
}
