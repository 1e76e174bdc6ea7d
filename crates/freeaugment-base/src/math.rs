//! Elementary functions as straight-line arithmetic, so that loops over them vectorise and every machine computes the
//! same bits. The polynomials are those of the Cephes library; errors are below two units in the last place.

/// Natural logarithm of a positive, normal number.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
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
        3.333_333e-1,
    ] {
        p = p * f + c;
    }
    let square = f * f;
    let tail = p * f * square - 2.121_944_4e-4 * exponent - 0.5 * square;
    (f + tail) + 0.693_359_4 * exponent
}

/// Exponential function; zero below -60. Against the one that the largest term of a softmax contributes, such a term is
/// nothing, but products with it would be denormal numbers, on which processors are a hundred times slower.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23: adding it rounds to an integer, in the low bits of the sum
    let argument = x;
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
    // A mask instead of a choice: the compiler would turn a choice into a branch for every value.
    let keep = u32::from(argument >= -60.0).wrapping_neg();
    f32::from_bits((value * scale).to_bits() & keep)
}

/// Clamps; not-a-number becomes `low`. (`f32::clamp` keeps it, at the cost of more instructions.)
#[inline(always)]
pub fn clamp(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > low { x } else { low };
    if x < high { x } else { high }
}

/// The whole part of a number between 0 and `most`, which it is clamped to.
#[inline(always)]
#[allow(unsafe_code)]
pub fn truncate(x: f32, most: f32) -> i32 {
    let x = clamp(x, 0.0, if most < 1e9 { most } else { 1e9 });
    // SAFETY: x is not NaN and lies between 0 and 1e9, so that its whole part is an i32. The checked conversion would
    // take four instructions more, in loops whose time is made of this one.
    unsafe { x.to_int_unchecked() }
}

/// Logistic function, in double precision: it is evaluated once per parameter, not per image.
pub fn sigmoid(x: f32) -> f64 {
    1.0 / (1.0 + libm::exp(-f64::from(x)))
}

/// The inverse of [`sigmoid`].
pub fn logit(p: f64) -> f32 {
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
        let mut x = -60.0_f32;
        while x < 88.0 {
            let exact = libm::exp(f64::from(x));
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 2.0 * f64::from(f32::EPSILON), "exp({x})");
            x += 0.001_37;
        }
        assert_eq!([exp(-60.001), exp(-1e30)], [0.0; 2]);
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn truncate_clamps_whatever_it_gets() {
        let cases = [
            (3.7, 3),
            (0.0, 0),
            (-5.0, 0),
            (1e30, 255),
            (f32::NAN, 0),
            (f32::NEG_INFINITY, 0),
            (254.999, 254),
        ];
        for (x, expected) in cases {
            assert_eq!(truncate(x, 255.0), expected, "{x}");
        }
        assert_eq!(truncate(f32::INFINITY, f32::INFINITY), 1_000_000_000);
    }

    #[test]
    fn logit_undoes_sigmoid() {
        for p in [0.125, 0.5, 0.75, 0.875] {
            assert!((sigmoid(logit(p)) - p).abs() < 1e-7);
        }
    }
}
