//! Nonlinearities with their first and second derivatives.

/// An elementwise function and its derivatives.
pub(crate) trait Curve: Sync {
    fn value(z: f32) -> f32;
    fn slope(z: f32) -> f32;
    fn bend(z: f32) -> f32;
}

/// z itself.
pub(crate) struct Identity;

impl Curve for Identity {
    #[inline(always)]
    fn value(z: f32) -> f32 {
        z
    }
    #[inline(always)]
    fn slope(_: f32) -> f32 {
        1.0
    }
    #[inline(always)]
    fn bend(_: f32) -> f32 {
        0.0
    }
}

/// max(z, 0).
pub(crate) struct Relu;

impl Curve for Relu {
    #[inline(always)]
    fn value(z: f32) -> f32 {
        // Not f32::max: a NaN must not be silently turned into 0.
        if z < 0.0 { 0.0 } else { z }
    }
    #[inline(always)]
    fn slope(z: f32) -> f32 {
        if z > 0.0 { 1.0 } else { 0.0 }
    }
    #[inline(always)]
    fn bend(_: f32) -> f32 {
        0.0
    }
}

/// ln(1 + e^z).
pub(crate) struct Softplus;

impl Curve for Softplus {
    fn value(z: f32) -> f32 {
        z.max(0.0) + (-z.abs()).exp().ln_1p()
    }
    fn slope(z: f32) -> f32 {
        1.0 / (1.0 + (-z).exp())
    }
    fn bend(z: f32) -> f32 {
        let slope = Self::slope(z);
        slope * (1.0 - slope)
    }
}

/// Calls a function that is generic over a [`Curve`] with the one that `activation` names.
macro_rules! with_curve {
    ($activation:expr, $function:ident($($arg:expr),* $(,)?)) => {
        match $activation {
            None => $function::<$crate::cpu::activation::Identity>($($arg),*),
            Some($crate::pass::Activation::Relu) => $function::<$crate::cpu::activation::Relu>($($arg),*),
            Some($crate::pass::Activation::Softplus) => $function::<$crate::cpu::activation::Softplus>($($arg),*),
        }
    };
}
pub(crate) use with_curve;

#[cfg(test)]
mod tests {
    use super::*;

    fn check<C: Curve>() {
        for z in [-3.0_f32, -0.7, 0.2, 2.5] {
            let h = 1e-2;
            let slope = (C::value(z + h) - C::value(z - h)) / (2.0 * h);
            let bend = (C::slope(z + h) - C::slope(z - h)) / (2.0 * h);
            assert!((slope - C::slope(z)).abs() < 1e-3, "slope at {z}");
            assert!((bend - C::bend(z)).abs() < 1e-3, "bend at {z}");
        }
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        check::<Identity>();
        check::<Relu>();
        check::<Softplus>();
    }
}
