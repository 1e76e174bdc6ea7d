//! Means, their confidence intervals and paired tests over a handful of seeds.

/// The mean of some values and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Half the width of the 95 % confidence interval (Student's t); none for a single value.
    pub interval: Option<f64>,
}

/// The mean of values that vary from seed to seed. Not-a-number for none.
pub fn mean(values: &[f64]) -> Mean {
    let count = values.len() as f64;
    let value = values.iter().sum::<f64>() / count;
    let interval =
        (values.len() > 1).then(|| t_quantile(0.975, count - 1.0) * (variance(values, value) / count).sqrt());
    Mean { value, interval }
}

/// How probable differences at least as large as these are where there is none on average: a two-sided paired t-test.
/// None where it cannot be told: fewer than two pairs.
pub fn paired_test(differences: &[f64]) -> Option<f64> {
    let count = differences.len() as f64;
    if differences.len() < 2 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / count;
    let error = (variance(differences, mean) / count).sqrt();
    if error == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    Some(2.0 * (1.0 - t_distribution((mean / error).abs(), count - 1.0)))
}

/// What [`paired_test`] finds, as tables have it: `0.004`, or `< 0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// The same in a sentence: `p = 0.004`, or `p < 0.001`.
pub fn p_in_words(p: f64) -> String {
    let value = p_value(p);
    if value.starts_with('<') { format!("p {value}") } else { format!("p = {value}") }
}

fn variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// Student's t: the probability of a value up to `t`.
fn t_distribution(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The value up to which Student's t lies with this probability, which is above a half.
fn t_quantile(probability: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while t_distribution(high, freedom) < probability {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if t_distribution(middle, freedom) < probability { low = middle } else { high = middle }
    }
    high
}

/// The regularised incomplete beta function by its continued fraction, evaluated from the far end.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The fraction converges fast below this point; the other side follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let coefficient = |k: u32| {
        let m = f64::from(k / 2);
        if k.is_multiple_of(2) {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        }
    };
    let fraction = (1..=300).rev().fold(1.0, |inner, k| 1.0 + coefficient(k) / inner);
    let front =
        (libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    front / (a * fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in
            [(1.0, 12.7062), (2.0, 4.30265), (4.0, 2.77645), (9.0, 2.26216), (30.0, 2.04227), (1e4, 1.96020)]
        {
            assert!((t_quantile(0.975, freedom) - expected).abs() < 1e-4, "{freedom}");
        }
        // With one degree of freedom it is Cauchy's distribution.
        for t in [0.1, 0.5, 1.0, 3.0, 50.0_f64] {
            let cauchy = 0.5 + t.atan() / std::f64::consts::PI;
            assert!((t_distribution(t, 1.0) - cauchy).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_nearly_sure_is_not_told_as_nought() {
        assert_eq!([0.0361, 0.0004].map(p_value), ["0.036", "< 0.001"]);
        assert_eq!([0.0361, 0.0004].map(p_in_words), ["p = 0.036", "p < 0.001"]);
    }

    #[test]
    fn a_mean_has_the_interval_of_its_spread() {
        let found = mean(&[0.90, 0.92, 0.94]);
        assert!((found.value - 0.92).abs() < 1e-12);
        // 4.30265 times 0.02 divided by the root of 3.
        assert!((found.interval.unwrap() - 0.049_683).abs() < 1e-5);
        assert_eq!(mean(&[0.5]), Mean { value: 0.5, interval: None });
    }

    #[test]
    fn a_paired_test_tells_a_difference_from_noise() {
        // t = 3 with four degrees of freedom: p = 0.0399.
        let root = 2.5_f64.sqrt();
        let differences = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x| x + 3.0 * root / 5.0_f64.sqrt());
        assert!((paired_test(&differences).unwrap() - 0.039_94).abs() < 1e-4);
        assert!((paired_test(&[1.0, -1.0]).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(paired_test(&[0.1, 0.1]), Some(0.0));
        assert_eq!(paired_test(&[0.0, 0.0]), Some(1.0));
        assert_eq!(paired_test(&[0.1]), None);
    }
}
