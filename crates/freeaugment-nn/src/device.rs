//! Where a network is computed: chosen at run time, by name.
#![cfg_attr(
    not(feature = "burn"),
    allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "only other devices than the CPU fail")
)]

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

#[cfg(feature = "burn")]
use crate::burn;
use crate::loss::CrossEntropy;
use crate::network::Network;
use crate::parameter::{Statistics, Weights};
use crate::ranks::Ranks;
use crate::{Batch, Error, Evaluation, Hypergradient, cpu};

/// A device that computes networks.
#[derive(Clone, Debug)]
pub struct Device {
    name: String,
    /// Burn's device; none for this crate's own kernels.
    #[cfg(feature = "burn")]
    burn: Option<burn_tensor::Device>,
}

/// Names of devices; each but the first is also the cargo feature that brings it.
const NAMES: [&str; 7] = ["cpu", "flex", "cuda", "rocm", "metal", "vulkan", "webgpu"];

impl Device {
    /// The CPU, with this crate's own kernels.
    pub fn cpu() -> Self {
        Self {
            name: "cpu".to_owned(),
            #[cfg(feature = "burn")]
            burn: None,
        }
    }

    /// The device of that name: `cpu`, or one that a cargo feature brings: `flex` (Burn's tensors on the CPU, a slow
    /// second opinion), `cuda`, `rocm`, `metal`, `vulkan`, `webgpu`. A device that cannot compute is refused here, not in
    /// the middle of a run.
    pub fn open(name: &str) -> Result<Self, Error> {
        let lower = name.to_ascii_lowercase();
        let Some(known) = NAMES.into_iter().find(|known| *known == lower) else {
            return Err(Error::UnknownDevice { name: name.to_owned(), available: Self::names() });
        };
        if known == "cpu" {
            return Ok(Self::cpu());
        }
        #[cfg(feature = "burn")]
        if let Some(burn) = burn_device(known) {
            return match burn::probe(&burn) {
                Ok(()) => Ok(Self { name: lower, burn: Some(burn) }),
                Err(reason) => {
                    Err(Error::DeviceAbsent { name: name.to_owned(), reason, available: Self::names() })
                }
            };
        }
        Err(Error::DeviceNotBuilt { name: name.to_owned(), feature: known, available: Self::names() })
    }

    /// The names that [`Self::open`] takes in this build.
    pub fn names() -> Vec<String> {
        NAMES.into_iter().filter(|name| built(name)).map(str::to_owned).collect()
    }

    /// The name it was opened by.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn engine(&self, network: Network) -> Engine {
        #[cfg(feature = "burn")]
        if let Some(burn) = &self.burn {
            return Engine::Burn(burn::Engine::new(network, burn.clone(), &self.name));
        }
        Engine::Cpu(cpu::Engine::new(network))
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::open(name)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Whether this build has the device.
fn built(name: &str) -> bool {
    match name {
        "cpu" => true,
        "flex" => cfg!(feature = "flex"),
        "cuda" => cfg!(feature = "cuda"),
        "rocm" => cfg!(feature = "rocm"),
        "metal" => cfg!(feature = "metal"),
        "vulkan" => cfg!(feature = "vulkan"),
        "webgpu" => cfg!(feature = "webgpu"),
        _ => false,
    }
}

/// Burn's first device of a kind, where this build has the kind. Nothing is started yet.
#[cfg(feature = "burn")]
fn burn_device(name: &str) -> Option<burn_tensor::Device> {
    use burn_tensor::Device;
    #[cfg(any(feature = "metal", feature = "vulkan", feature = "webgpu"))]
    use burn_tensor::DeviceKind;
    match name {
        #[cfg(feature = "flex")]
        "flex" => Some(Device::flex()),
        #[cfg(feature = "cuda")]
        "cuda" => Some(Device::cuda(0)),
        #[cfg(feature = "rocm")]
        "rocm" => Some(Device::rocm(0)),
        #[cfg(feature = "metal")]
        "metal" => Some(Device::metal(DeviceKind::DefaultDevice)),
        #[cfg(feature = "vulkan")]
        "vulkan" => Some(Device::vulkan(DeviceKind::DefaultDevice)),
        // Burn's own `webgpu` is the browser's; this is WebGPU's interface on whatever graphics driver is there.
        #[cfg(feature = "webgpu")]
        "webgpu" => Some(Device::wgpu(DeviceKind::DefaultDevice)),
        _ => None,
    }
}

/// What computes.
#[derive(Debug)]
pub(crate) enum Engine {
    Cpu(cpu::Engine),
    #[cfg(feature = "burn")]
    Burn(burn::Engine),
}

/// What a training pass leaves behind.
#[derive(Debug)]
pub(crate) enum EngineRecord {
    Cpu(Box<cpu::Record>),
    #[cfg(feature = "burn")]
    Burn(Box<burn::Record>),
}

impl Engine {
    /// From now on a batch is shared with other processes.
    pub(crate) fn set_ranks(&mut self, ranks: Arc<dyn Ranks>) -> Result<(), Error> {
        match self {
            Self::Cpu(engine) => engine.set_ranks(ranks),
            #[cfg(feature = "burn")]
            Self::Burn(_) if ranks.is_alone() => {}
            #[cfg(feature = "burn")]
            Self::Burn(engine) => return Err(Error::DeviceAlone { device: engine.name().to_owned() }),
        }
        Ok(())
    }

    pub(crate) fn gradient(
        &self,
        batch: Batch,
        weights: &Weights,
        statistics: Option<&mut Statistics>,
        loss: CrossEntropy,
        keep: bool,
    ) -> Result<(Evaluation, Option<EngineRecord>), Error> {
        match self {
            Self::Cpu(engine) => {
                let (evaluation, record) =
                    in_pool(|| engine.gradient(batch, weights, statistics, loss, keep))?;
                Ok((evaluation, record.map(|record| EngineRecord::Cpu(Box::new(record)))))
            }
            #[cfg(feature = "burn")]
            Self::Burn(engine) => {
                let (evaluation, record) = engine.gradient(batch, weights, statistics, loss, keep)?;
                Ok((evaluation, record.map(|record| EngineRecord::Burn(Box::new(record)))))
            }
        }
    }

    pub(crate) fn input_gradient(
        &self,
        batch: Batch,
        weights: &Weights,
        loss: CrossEntropy,
    ) -> Result<(f64, Vec<f32>), Error> {
        match self {
            Self::Cpu(engine) => in_pool(|| engine.input_gradient(batch, weights, loss)),
            #[cfg(feature = "burn")]
            Self::Burn(engine) => engine.input_gradient(batch, weights, loss),
        }
    }

    pub(crate) fn parts(
        &self,
        batch: Batch,
        weights: &Weights,
        direction: &Weights,
        loss: CrossEntropy,
    ) -> Result<Vec<f32>, Error> {
        match self {
            Self::Cpu(engine) => in_pool(|| engine.parts(batch, weights, direction, loss)),
            #[cfg(feature = "burn")]
            Self::Burn(engine) => engine.parts(batch, weights, direction, loss),
        }
    }

    pub(crate) fn logits(
        &self,
        batch: Batch,
        weights: &Weights,
        statistics: &Statistics,
    ) -> Result<Vec<f32>, Error> {
        match self {
            Self::Cpu(engine) => Ok(in_pool(|| engine.logits(batch, weights, statistics))),
            #[cfg(feature = "burn")]
            Self::Burn(engine) => engine.logits(batch, weights, statistics),
        }
    }
}

impl EngineRecord {
    pub(crate) fn hypergradient(
        &self,
        direction: &Weights,
        network: &Network,
        product: bool,
    ) -> Result<(Hypergradient, Option<Weights>), Error> {
        match self {
            Self::Cpu(record) => Ok(in_pool(|| record.hypergradient(direction, network, product))),
            #[cfg(feature = "burn")]
            Self::Burn(record) => record.hypergradient(direction, product),
        }
    }
}

/// Runs `work` on a thread of the pool: a pass is hundreds of short parallel loops, and starting each of them from
/// outside would cost a wake-up.
fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
