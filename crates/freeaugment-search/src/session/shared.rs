//! A session that several processes share: which images of a batch are this one's, and what all of them must agree on.

use std::ops::Range;
use std::sync::Arc;

use freeaugment_base::simd::{InstructionSet, instruction_set};
use freeaugment_nn::ranks::{PIECE, Ranks, most, share};
use serde::{Deserialize, Serialize};

use super::DataIdentity;
use super::evaluation::rights;
use crate::config::{Settings, Task, refuse};
use crate::error::Error;

/// The processes that share batches of a known size.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    ranks: Arc<dyn Ranks>,
    batch: usize,
}

impl Shared {
    /// A batch that is too small for so many is refused.
    pub(crate) fn new(ranks: Arc<dyn Ranks>, batch: usize) -> Result<Self, Error> {
        let (size, most) = (ranks.size(), most(batch));
        if size > most {
            let reason = format!(
                "{size} processes cannot share batches of {batch} images: each needs {PIECE} of them, so at most {most} can, \
                 or batches must have at least {} images",
                PIECE * (size - 1) + 1
            );
            return Err(refuse("batch", reason));
        }
        Ok(Self { ranks, batch })
    }

    pub(crate) fn ranks(&self) -> &Arc<dyn Ranks> {
        &self.ranks
    }

    /// The images of a batch that are this process's.
    pub(crate) fn own(&self) -> Range<usize> {
        share(self.batch, self.ranks.rank(), self.ranks.size())
    }

    /// Numbers of the images of a batch, as many for each: those of all images from those of the own.
    pub(crate) fn gather(&self, own: &[f32]) -> Vec<f32> {
        let each = own.len() / self.own().len();
        let size = self.ranks.size();
        let lens: Vec<usize> = (0..size).map(|rank| each * share(self.batch, rank, size).len()).collect();
        self.ranks.gather_singles(own, &lens)
    }

    /// The share of all images of a batch whose label has the largest logit, from logits and labels of the own.
    pub(crate) fn accuracy(&self, logits: &[f32], labels: &[u32]) -> f64 {
        let right = rights(logits, labels).filter(|is_right| *is_right).count();
        let size = self.ranks.size();
        let right: f64 = self.ranks.gather_doubles(&[right as f64], &vec![1; size]).iter().sum();
        right / self.batch as f64
    }
}

/// What the processes that share a session must have in common.
#[derive(Debug, Serialize, Deserialize)]
struct Common {
    program: String,
    arithmetic: String,
    work: String,
    settings: Vec<(String, String)>,
    data: String,
}

impl Common {
    /// The first thing that differs: what it is, here and there.
    fn difference(self, other: Self) -> Option<(String, String, String)> {
        let named = |common: Self| {
            let Self { program, arithmetic, work, settings, data } = common;
            let settings = settings.into_iter().map(|(key, value)| (format!("`{key}`"), value));
            let fixed = [("program", program), ("arithmetic", arithmetic), ("work", work)];
            let fixed = fixed.map(|(name, value)| (format!("the {name}"), value));
            fixed.into_iter().chain(settings).chain([("the data".to_owned(), data)]).collect::<Vec<_>>()
        };
        let both = named(self).into_iter().zip(named(other));
        let ((name, first), (_, second)) = both.into_iter().find(|(first, second)| first.1 != second.1)?;
        Some((name, first, second))
    }
}

/// Refuses to begin where processes differ in program, work, settings or data. All of them have to ask, and get the same
/// answer. `work` is what is done beside the settings, such as what is trained under.
pub fn agree(
    ranks: &dyn Ranks,
    task: Task,
    settings: &Settings,
    data: &DataIdentity,
    work: &str,
) -> Result<(), Error> {
    let fused = instruction_set() != InstructionSet::Portable || cfg!(target_arch = "aarch64");
    let common = Common {
        program: format!("freeaugment {}", env!("CARGO_PKG_VERSION")),
        // With it, all processors have the same bits.
        arithmetic: format!(
            "{} {} fused multiply-add",
            std::env::consts::ARCH,
            if fused { "with" } else { "without" }
        ),
        work: format!("{task:?} {work}").to_lowercase(),
        settings: settings.listed(task).into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        data: data.to_string(),
    };
    let read = |bytes: &[u8]| serde_json::from_slice::<Common>(bytes).ok();
    let own = serde_json::to_vec(&common).expect("plain values");
    let all = ranks.tell(&own);
    for (rank, bytes) in all.iter().enumerate().skip(1) {
        if *bytes == all[0] {
            continue;
        }
        let differs = read(&all[0]).zip(read(bytes)).and_then(|(first, other)| first.difference(other));
        let (what, first, other) = differs.unwrap_or_else(|| {
            let version = "another version".to_owned();
            ("the program".to_owned(), common.program.clone(), version)
        });
        return Err(Error::RanksDiffer { rank, what, first, other });
    }
    Ok(())
}
