//! Eight channels of a pixel at a time.

use std::ops::{Add, Mul, Sub};

/// Eight neighbouring channels of one pixel.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Lane(pub(crate) [f32; Lane::WIDTH]);

impl Lane {
    pub(crate) const WIDTH: usize = 8;
    pub(crate) const ZERO: Self = Self([0.0; Self::WIDTH]);

    /// The first eight of `values`.
    #[inline(always)]
    pub(crate) fn load(values: &[f32]) -> Self {
        let mut lane = Self::ZERO;
        lane.0.copy_from_slice(&values[..Self::WIDTH]);
        lane
    }

    /// Writes to the first eight of `values`.
    #[inline(always)]
    pub(crate) fn store(self, values: &mut [f32]) {
        values[..Self::WIDTH].copy_from_slice(&self.0);
    }
}

impl Add for Lane {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for i in 0..Self::WIDTH {
            self.0[i] += other.0[i];
        }
        self
    }
}

impl Sub for Lane {
    type Output = Self;
    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for i in 0..Self::WIDTH {
            self.0[i] -= other.0[i];
        }
        self
    }
}

impl Mul<f32> for Lane {
    type Output = Self;
    #[inline(always)]
    fn mul(mut self, factor: f32) -> Self {
        for value in &mut self.0 {
            *value *= factor;
        }
        self
    }
}
