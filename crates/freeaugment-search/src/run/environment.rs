//! Where a run was made.

use freeaugment_base::simd::{InstructionSet, instruction_set};
use serde::{Deserialize, Serialize};

use super::time::timestamp;
use crate::config::Settings;

/// The program, the command and the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Environment {
    /// The program and its version.
    pub program: String,
    /// When the run began, as `2026-01-31T23:59:59Z`.
    pub begun: String,
    /// What was typed.
    pub command: Vec<String>,
    /// The operating system.
    pub system: String,
    /// The processor's architecture.
    pub architecture: String,
    /// The instruction set of the policy's kernels: the same bits on all of them.
    pub policy_instructions: String,
    /// The instruction set of the classifier's kernels: bits differ between those that fuse a multiplication with an
    /// addition and those that do not. Where a device of Burn's computes, Burn chooses.
    pub classifier_instructions: String,
    /// Cores of the machine.
    pub cores: usize,
    /// The device that the classifier is computed on.
    pub device: String,
}

impl Environment {
    pub(crate) fn now(settings: &Settings, command: &[String]) -> Self {
        let best = instruction_set();
        // The policy's kernels are compiled for no larger vectors than these.
        let policy = if best == InstructionSet::Avx512 { InstructionSet::Avx2 } else { best };
        let classifier = if settings.device == "cpu" { format!("{best:?}") } else { "Burn's".to_owned() };
        Self {
            program: format!("freeaugment {}", env!("CARGO_PKG_VERSION")),
            begun: timestamp(),
            command: command.to_vec(),
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            policy_instructions: format!("{policy:?}"),
            classifier_instructions: classifier,
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            device: settings.device.clone(),
        }
    }
}
