//! Some channels of a pixel at a time.

use std::ops::{Add, Mul, Sub};

/// Neighbouring channels of one pixel, as many as a vector holds.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Lane<const W: usize>(pub(crate) [f32; W]);

impl<const W: usize> Lane<W> {
    pub(crate) const ZERO: Self = Self([0.0; W]);

    /// The first of `values`.
    #[inline(always)]
    pub(crate) fn load(values: &[f32]) -> Self {
        let mut lane = Self::ZERO;
        lane.0.copy_from_slice(&values[..W]);
        lane
    }

    /// Writes to the first of `values`.
    #[inline(always)]
    pub(crate) fn store(self, values: &mut [f32]) {
        values[..W].copy_from_slice(&self.0);
    }
}

impl<const W: usize> Add for Lane<W> {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for i in 0..W {
            self.0[i] += other.0[i];
        }
        self
    }
}

impl<const W: usize> Sub for Lane<W> {
    type Output = Self;
    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for i in 0..W {
            self.0[i] -= other.0[i];
        }
        self
    }
}

impl<const W: usize> Mul<f32> for Lane<W> {
    type Output = Self;
    #[inline(always)]
    fn mul(mut self, factor: f32) -> Self {
        for value in &mut self.0 {
            *value *= factor;
        }
        self
    }
}
