//! Elementary functions as straight-line arithmetic, so that loops over them vectorise and every machine computes the
//! same bits. The polynomials are those of the Cephes library; errors are below two units in the last place.

/// Natural logarithm of a positive, normal number.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    // x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)).
    let bits = x.to_bits().wrapping_add(0x3f80_0000 - 0x3f35_04f3);
    let exponent = ((bits >> 23) as i32 - 127) as f32;
    let f = f32::from_bits((bits & 0x007f_ffff) + 0x3f35_04f3) - 1.0;
    let mut p = 7.037_683_6e-2;
    for c in [
        -1.151_461e-1,
        1.167_699_9e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_5e-1,
        -2.499_999_4e-1,
        3.333_333_1e-1,
    ] {
        p = p * f + c;
    }
    let square = f * f;
    let tail = p * f * square - 2.121_944_4e-4 * exponent - 0.5 * square;
    (f + tail) + 0.693_359_4 * exponent
}

/// Exponential function; below -87.3 it stays at the smallest normal number.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23: adding it rounds to an integer, in the low bits of the sum
    let x = x.clamp(-87.3, 88.3);
    let shifted = x * core::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * 0.693_359_4) + n * 2.121_944_4e-4;
    let mut p = 1.987_569_1e-4;
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p * r + c;
    }
    let value = (p * (r * r) + r) + 1.0;
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    value * scale
}

/// Logistic function, in double precision: it is evaluated once per parameter, not per image.
pub(crate) fn sigmoid(x: f32) -> f64 {
    1.0 / (1.0 + libm::exp(-f64::from(x)))
}

/// The inverse of [`sigmoid`].
pub(crate) fn logit(p: f64) -> f32 {
    libm::log(p / (1.0 - p)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_is_within_two_ulps_of_the_exact_value() {
        let mut x = f32::MIN_POSITIVE;
        while x < 1e38 {
            let exact = libm::log(f64::from(x));
            let tolerance = 2.0 * f64::from(f32::EPSILON) * exact.abs();
            assert!((f64::from(ln(x)) - exact).abs() <= tolerance, "ln({x}) = {} not {exact}", ln(x));
            x *= 1.000_37;
        }
        assert_eq!(ln(1.0).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn exp_is_within_two_ulps_of_the_exact_value() {
        let mut x = -87.0_f32;
        while x < 88.0 {
            let exact = libm::exp(f64::from(x));
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 2.0 * f64::from(f32::EPSILON), "exp({x})");
            x += 0.001_37;
        }
        assert!((0.0..2e-38).contains(&exp(-1e30)));
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn logit_undoes_sigmoid() {
        for p in [0.125, 0.5, 0.75, 0.875] {
            assert!((sigmoid(logit(p)) - p).abs() < 1e-7);
        }
    }
}
