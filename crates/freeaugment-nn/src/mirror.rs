//! An array of numbers on the host, on a device of Burn's, or on both: moved when it is asked for, and not before.
#![cfg_attr(
    not(feature = "burn"),
    allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "without devices all is on the host")
)]

use std::sync::OnceLock;

use crate::Error;
#[cfg(feature = "burn")]
use crate::burn::{Array, Place};

/// Numbers that have at least one home. Copies of a device's are cheap.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    host: OnceLock<Vec<f32>>,
    #[cfg(feature = "burn")]
    device: OnceLock<Array>,
}

impl Mirror {
    /// On the host.
    pub(crate) fn new(values: Vec<f32>) -> Self {
        Self {
            host: OnceLock::from(values),
            #[cfg(feature = "burn")]
            device: OnceLock::new(),
        }
    }

    /// The numbers on the host; the device's are brought there once.
    pub(crate) fn host(&self) -> Result<&[f32], Error> {
        if let Some(values) = self.host.get() {
            return Ok(values);
        }
        let values = self.download()?;
        Ok(self.host.get_or_init(|| values))
    }

    /// The numbers on the host, to be changed: a device's copy is forgotten.
    pub(crate) fn host_mut(&mut self) -> Result<&mut [f32], Error> {
        let values = match self.host.take() {
            Some(values) => values,
            None => self.download()?,
        };
        *self = Self::new(values);
        Ok(self.host.get_mut().expect("it was set in the line above"))
    }

    /// `self ← own · self + factor · other`, on the device where one of the two is on one. On the host the caller's
    /// `change` does it, number by number, in its own order of rounding.
    pub(crate) fn combine(
        &mut self,
        own: f32,
        factor: f32,
        other: &Self,
        change: impl Fn(&mut f32, f32),
    ) -> Result<(), Error> {
        #[cfg(feature = "burn")]
        if let Some(place) = self.place().or(other.place()) {
            let (x, y) = (self.on(place)?, other.on(place)?);
            *self = Self::from(x.combine(own, factor, &y)?);
            return Ok(());
        }
        let _ = (own, factor);
        for (value, other) in self.host_mut()?.iter_mut().zip(other.host()?) {
            change(value, *other);
        }
        Ok(())
    }

    /// Multiplies all numbers.
    pub(crate) fn scale(&mut self, factor: f32) -> Result<(), Error> {
        #[cfg(feature = "burn")]
        if let Some(array) = self.device.get() {
            *self = Self::from(array.scale(factor)?);
            return Ok(());
        }
        for value in self.host_mut()? {
            *value *= factor;
        }
        Ok(())
    }

    /// The inner product: summed in double precision on the host, by the device where one of the two is on one.
    pub(crate) fn dot(&self, other: &Self) -> Result<f64, Error> {
        #[cfg(feature = "burn")]
        if let Some(place) = self.place().or(other.place()) {
            return self.on(place)?.dot(&other.on(place)?);
        }
        Ok(self.host()?.iter().zip(other.host()?).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum())
    }

    /// Whether a device has the numbers.
    pub(crate) fn is_on_device(&self) -> bool {
        #[cfg(feature = "burn")]
        return self.device.get().is_some();
        #[cfg(not(feature = "burn"))]
        false
    }

    #[cfg(not(feature = "burn"))]
    fn download(&self) -> Result<Vec<f32>, Error> {
        unreachable!("without devices all numbers are on the host")
    }
}

#[cfg(feature = "burn")]
impl Mirror {
    fn download(&self) -> Result<Vec<f32>, Error> {
        self.device.get().expect("numbers have a home").download()
    }

    /// The device that has the numbers.
    fn place(&self) -> Option<&Place> {
        self.device.get().map(Array::place)
    }

    /// The numbers on a device: sent there once, and kept there until they change on the host.
    pub(crate) fn on(&self, place: &Place) -> Result<Array, Error> {
        match self.device.get() {
            Some(array) if array.place() == place => Ok(array.clone()),
            // The numbers are at home on another device: this one's copy is for once.
            Some(_) => place.send(self.host()?),
            None => {
                let array = place.send(self.host()?)?;
                Ok(self.device.get_or_init(|| array).clone())
            }
        }
    }
}

#[cfg(feature = "burn")]
impl From<Array> for Mirror {
    fn from(array: Array) -> Self {
        Self { host: OnceLock::new(), device: OnceLock::from(array) }
    }
}
