//! Where a network is computed: chosen at run time, by name.

use std::fmt;
use std::str::FromStr;

use crate::loss::CrossEntropy;
use crate::network::Network;
use crate::parameter::{Parameters, Statistics};
use crate::{Batch, Error, Evaluation, Hypergradient, accelerator, cpu};

/// A device that computes networks.
#[derive(Clone, Debug)]
pub struct Device {
    name: String,
    /// Burn's device; none for this crate's own kernels.
    burn: Option<burn::tensor::Device>,
}

/// Names of devices and the cargo features that bring them.
const NAMES: [(&str, Option<&str>); 7] = [
    ("cpu", None),
    ("flex", None),
    ("cuda", Some("cuda")),
    ("rocm", Some("rocm")),
    ("metal", Some("metal")),
    ("vulkan", Some("vulkan")),
    ("webgpu", Some("webgpu")),
];

impl Device {
    /// The CPU, with this crate's own kernels.
    pub fn cpu() -> Self {
        Self { name: "cpu".to_owned(), burn: None }
    }

    /// The device of that name: `cpu`, `flex` (Burn's tensors on the CPU, a slow second opinion), or one that a cargo
    /// feature brings: `cuda`, `rocm`, `metal`, `vulkan`, `webgpu`. A device that cannot compute is refused here, not
    /// in the middle of a run.
    pub fn open(name: &str) -> Result<Self, Error> {
        let lower = name.to_ascii_lowercase();
        let Some((known, feature)) = NAMES.iter().find(|(known, _)| *known == lower) else {
            return Err(Error::UnknownDevice { name: name.to_owned(), available: Self::names() });
        };
        if *known == "cpu" {
            return Ok(Self::cpu());
        }
        let Some(burn) = burn_device(known) else {
            let feature = feature.unwrap_or(known);
            return Err(Error::DeviceNotBuilt { name: name.to_owned(), feature, available: Self::names() });
        };
        match accelerator::probe(&burn) {
            Ok(()) => Ok(Self { name: lower, burn: Some(burn) }),
            Err(reason) => {
                Err(Error::DeviceAbsent { name: name.to_owned(), reason, available: Self::names() })
            }
        }
    }

    /// The names that [`Self::open`] takes in this build.
    pub fn names() -> Vec<String> {
        NAMES.iter().map(|(name, _)| *name).filter(|name| built(name)).map(str::to_owned).collect()
    }

    /// The name it was opened by.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn engine(&self, network: Network) -> Engine {
        match &self.burn {
            None => Engine::Cpu(cpu::Engine::new(network)),
            Some(burn) => Engine::Burn(accelerator::Engine::new(network, burn.clone(), self.name.clone())),
        }
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
        "cpu" | "flex" => true,
        "cuda" => cfg!(feature = "cuda"),
        "rocm" => cfg!(feature = "rocm"),
        "metal" => cfg!(feature = "metal"),
        "vulkan" => cfg!(feature = "vulkan"),
        "webgpu" => cfg!(feature = "webgpu"),
        _ => false,
    }
}

/// Burn's first device of a kind, where this build has the kind. Nothing is started yet.
fn burn_device(name: &str) -> Option<burn::tensor::Device> {
    use burn::tensor::Device;
    #[cfg(any(feature = "metal", feature = "vulkan", feature = "webgpu"))]
    use burn::tensor::DeviceKind;
    match name {
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
    Burn(accelerator::Engine),
}

/// What a training pass leaves behind.
#[derive(Debug)]
pub(crate) enum EngineRecord {
    Cpu(Box<cpu::Record>),
    Burn(Box<accelerator::Record>),
}

impl Engine {
    pub(crate) fn gradient(
        &self,
        batch: Batch,
        weights: &Parameters,
        statistics: Option<&mut Statistics>,
        loss: CrossEntropy,
        keep: bool,
    ) -> Result<(Evaluation, Option<EngineRecord>), Error> {
        match self {
            Self::Cpu(engine) => {
                let (evaluation, record) =
                    in_pool(|| engine.gradient(batch, weights, statistics, loss, keep));
                Ok((evaluation, record.map(|record| EngineRecord::Cpu(Box::new(record)))))
            }
            Self::Burn(engine) => {
                let (evaluation, record) = engine.gradient(batch, weights, statistics, loss, keep)?;
                Ok((evaluation, record.map(|record| EngineRecord::Burn(Box::new(record)))))
            }
        }
    }

    pub(crate) fn input_gradient(
        &self,
        batch: Batch,
        weights: &Parameters,
        loss: CrossEntropy,
    ) -> Result<(f64, Vec<f32>), Error> {
        match self {
            Self::Cpu(engine) => Ok(in_pool(|| engine.input_gradient(batch, weights, loss))),
            Self::Burn(engine) => engine.input_gradient(batch, weights, loss),
        }
    }

    pub(crate) fn logits(
        &self,
        batch: Batch,
        weights: &Parameters,
        statistics: &Statistics,
    ) -> Result<Vec<f32>, Error> {
        match self {
            Self::Cpu(engine) => Ok(in_pool(|| engine.logits(batch, weights, statistics))),
            Self::Burn(engine) => engine.logits(batch, weights, statistics),
        }
    }
}

impl EngineRecord {
    pub(crate) fn hypergradient(
        &self,
        direction: &Parameters,
        network: &Network,
    ) -> Result<Hypergradient, Error> {
        match self {
            Self::Cpu(record) => Ok(in_pool(|| record.hypergradient(direction, network))),
            Self::Burn(record) => record.hypergradient(direction),
        }
    }
}

/// Runs `work` on a thread of the pool: a pass is hundreds of short parallel loops, and starting each of them from
/// outside would cost a wake-up.
fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
