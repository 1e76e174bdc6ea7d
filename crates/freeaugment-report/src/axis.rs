//! From numbers to places: scales, ticks, and how numbers are written beside them.

/// Numbers along a side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    /// From `low` at `start` to `high` at `end`. What has no extent is given some.
    pub(crate) fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
        let room = if high > low { 0.0 } else { (low.abs() * 0.1).max(0.5) };
        Self { low: low - room, high: high + room, start, end, logarithmic: false }
    }

    /// By powers of ten; both ends must be positive.
    pub(crate) fn logarithmic(range: (f64, f64), ends: (f64, f64)) -> Self {
        let low = range.0.max(f64::MIN_POSITIVE).log10().floor();
        let high = range.1.max(f64::MIN_POSITIVE).log10().ceil();
        Self { logarithmic: true, ..Self::new((low, high.max(low + 1.0)), ends) }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = (value - self.low) / (self.high - self.low);
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Round numbers within the scale, about so many.
    pub(crate) fn ticks(&self, about: usize) -> Vec<f64> {
        if self.logarithmic {
            let (low, high) = (self.low as i32, self.high as i32);
            let step = ((high - low) / about as i32).max(1);
            return (low..=high).step_by(step as usize).map(|power| 10.0_f64.powi(power)).collect();
        }
        let rough = (self.high - self.low) / about as f64;
        let power = 10.0_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    }
}

/// A number for people: as many digits as say something.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(0.001..100_000.0).contains(&size) {
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}{size:.0e}");
    }
    let digits = match size {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    // A minus that is as wide as a plus, and no negative zero.
    if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

/// Numbers with as many digits as tell them apart: those of an axis.
pub(crate) fn numbers(ticks: &[f64]) -> Vec<String> {
    let short: Vec<String> = ticks.iter().copied().map(number).collect();
    let step = ticks.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
    let is_right = |(text, tick): (&String, &f64)| {
        text.replace('−', "-").parse::<f64>().is_ok_and(|told| (told - tick).abs() <= 1e-3 * step)
    };
    if short.iter().zip(ticks).all(is_right) {
        return short;
    }
    let digits = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
    ticks.iter().map(|tick| format!("{tick:.digits$}").replace('-', "−")).collect()
}

/// Lowest and highest of some numbers.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = Scale::new((0.0, 0.93), (0.0, 100.0));
        let shown: Vec<String> = scale.ticks(5).into_iter().map(number).collect();
        assert_eq!(shown, ["0", "0.2", "0.4", "0.6", "0.8"]);
        let shown: Vec<String> =
            Scale::new((1.0, 300.0), (0.0, 1.0)).ticks(6).into_iter().map(number).collect();
        assert_eq!(shown, ["50", "100", "150", "200", "250", "300"]);
    }

    #[test]
    fn what_has_no_extent_is_in_the_middle() {
        assert_eq!(Scale::new((3.0, 3.0), (0.0, 10.0)).at(3.0), 5.0);
        assert_eq!(Scale::new((f64::INFINITY, f64::NEG_INFINITY), (0.0, 10.0)).at(0.5), 5.0);
    }

    #[test]
    fn powers_of_ten_have_even_distances() {
        let scale = Scale::logarithmic((0.02, 50.0), (0.0, 4.0));
        assert_eq!(scale.ticks(9).len(), 5);
        assert!((scale.at(0.1) - 1.0).abs() < 1e-9 && (scale.at(1.0) - 2.0).abs() < 1e-9);
        assert_eq!(scale.at(0.0), 0.0);
    }

    #[test]
    fn numbers_of_an_axis_differ() {
        assert_eq!(numbers(&[13.95, 14.0, 14.05]), ["13.95", "14.00", "14.05"]);
        assert_eq!(numbers(&[0.0, 0.5, 1.0]), ["0", "0.5", "1"]);
    }

    #[test]
    fn numbers_are_short() {
        let all = [0.0, -0.0001, 12.34, 0.5, -3.0, 1234.5, 2.5e-7].map(number);
        assert_eq!(all, ["0", "−1e-4", "12.3", "0.5", "−3", "1234", "2e-7"]);
    }
}
