//! Where a network is computed.

use crate::cpu;
use crate::loss::CrossEntropy;
use crate::network::Network;
use crate::parameter::{Parameters, Statistics};
use crate::{Batch, Error, Evaluation};

/// A device, chosen at run time by name.
#[derive(Clone, Debug)]
pub struct Device {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Cpu,
}

impl Device {
    /// The CPU, with this crate's own kernels.
    pub fn cpu() -> Self {
        Self { kind: Kind::Cpu }
    }

    pub(crate) fn engine(&self, network: Network) -> Engine {
        match self.kind {
            Kind::Cpu => Engine::Cpu(cpu::Engine::new(network)),
        }
    }
}

/// What computes.
#[derive(Debug)]
pub(crate) enum Engine {
    Cpu(cpu::Engine),
}

/// What a training pass leaves behind.
#[derive(Debug)]
pub(crate) enum EngineRecord {
    Cpu(Box<cpu::Record>),
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
        }
    }
}

impl EngineRecord {
    pub(crate) fn hypergradient(
        &self,
        direction: &Parameters,
        network: &Network,
    ) -> Result<(f64, Vec<f32>), Error> {
        match self {
            Self::Cpu(record) => Ok(in_pool(|| record.hypergradient(direction, network))),
        }
    }
}

/// Runs `work` on a thread of the pool: a pass is hundreds of short parallel loops, and starting each of them from
/// outside would cost a wake-up.
fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
