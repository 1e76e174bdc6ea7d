//! Blending bytes in whole numbers.

use crate::math::truncate;

/// A fraction in [0, 1) in units of 2⁻¹⁵; what would round to one becomes the largest fraction there is.
#[inline(always)]
pub(super) fn fixed(fraction: f32) -> i16 {
    truncate(fraction * 32768.0 + 0.5, 32767.0) as i16
}

/// The level nearest to low + fraction·(high - low). It is written as one instruction of x86 (`pmulhrsw`) has it, which
/// works on sixteen values at once.
#[inline(always)]
pub(super) fn mix(low: u8, high: u8, fraction: i16) -> u8 {
    let difference = i16::from(high) - i16::from(low);
    let part = (((i32::from(difference) * i32::from(fraction)) >> 14) + 1) >> 1;
    (i16::from(low) + part as i16) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blend_is_the_nearest_level() {
        for fraction in [0.0_f32, 0.001, 0.25, 0.499, 0.5, 0.75, 0.999_99] {
            let fixed = fixed(fraction);
            for low in 0..=255 {
                for high in 0..=255 {
                    let exact =
                        f64::from(low) + f64::from(fixed) / 32768.0 * (f64::from(high) - f64::from(low));
                    let found = f64::from(mix(low, high, fixed));
                    assert!((found - exact).abs() <= 0.5, "{low} {high} {fraction}: {found}, not {exact}");
                }
            }
        }
    }
}
