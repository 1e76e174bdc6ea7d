//! Weights and running statistics as a safetensors file. Names are those of the layout; a batch norm's statistics are
//! `<name>.running_mean` and `<name>.running_var`, as PyTorch has them.

use std::collections::BTreeSet;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::Error;
use crate::parameter::{Statistics, Weights};

/// A tensor of a file: its name, its shape and its place among all numbers of one array.
struct Slot {
    name: String,
    shape: Vec<usize>,
    range: std::ops::Range<usize>,
}

fn parameter_slots(weights: &Weights) -> Vec<Slot> {
    let slot = |entry: &crate::Entry| Slot {
        name: entry.name().to_owned(),
        shape: entry.shape().to_vec(),
        range: entry.range(),
    };
    weights.layout().entries().iter().map(slot).collect()
}

fn statistic_slots(statistics: &Statistics, kind: &str) -> Vec<Slot> {
    let slot = |norm: &crate::Norm| Slot {
        name: format!("{}.{kind}", norm.name()),
        shape: vec![norm.range().len()],
        range: norm.range(),
    };
    statistics.layout().norms().iter().map(slot).collect()
}

/// Writes a file; an existing one is replaced whole or not at all.
pub(crate) fn save(path: &Path, weights: &Weights, statistics: &Statistics) -> Result<(), Error> {
    weights.fetch()?;
    statistics.fetch()?;
    let groups = [
        (parameter_slots(weights), weights.values()),
        (statistic_slots(statistics, "running_mean"), statistics.mean()),
        (statistic_slots(statistics, "running_var"), statistics.variance()),
    ];
    let mut tensors = Vec::new();
    for (slots, values) in &groups {
        for slot in slots {
            let bytes =
                values[slot.range.clone()].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
            tensors.push((&slot.name, &slot.shape, bytes));
        }
    }
    let wrong = |error: safetensors::SafeTensorError| Error::NotSafetensors {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let mut views = Vec::new();
    for (name, shape, bytes) in &tensors {
        views.push((name, TensorView::new(Dtype::F32, (*shape).clone(), bytes).map_err(wrong)?));
    }
    let bytes = safetensors::serialize(views, None).map_err(wrong)?;
    let failed = |source| Error::File { path: path.to_owned(), source };
    freeaugment_base::write_atomically(path, &bytes).map_err(failed)
}

/// Reads a file that has every tensor but those in `except`, which stay as they are in the given state.
pub(crate) fn load(
    path: &Path,
    weights: &Weights,
    statistics: &Statistics,
    except: &[String],
) -> Result<(Weights, Statistics), Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let file = SafeTensors::deserialize(&bytes)
        .map_err(|error| Error::NotSafetensors { path: path.to_owned(), reason: error.to_string() })?;
    let mut known = BTreeSet::new();
    let mut fill = |slots: Vec<Slot>, values: &mut [f32]| {
        for slot in slots {
            if !except.contains(&slot.name) {
                read(path, &file, &slot, &mut values[slot.range.clone()])?;
            }
            known.insert(slot.name);
        }
        Ok::<_, Error>(())
    };
    weights.fetch()?;
    statistics.fetch()?;
    let (mut new_weights, mut new_statistics) = (weights.clone(), statistics.clone());
    fill(parameter_slots(weights), new_weights.values_mut())?;
    let (mean, variance) = new_statistics.values_mut();
    fill(statistic_slots(statistics, "running_mean"), mean)?;
    fill(statistic_slots(statistics, "running_var"), variance)?;
    // PyTorch counts batches beside its statistics; nothing here needs the count.
    let foreign = |name: &&str| !known.contains(*name) && !name.ends_with(".num_batches_tracked");
    let mut names = file.names();
    names.sort_unstable();
    match names.into_iter().find(foreign) {
        Some(name) => Err(Error::ForeignTensor { path: path.to_owned(), name: name.to_owned() }),
        None => Ok((new_weights, new_statistics)),
    }
}

fn read(path: &Path, file: &SafeTensors, slot: &Slot, values: &mut [f32]) -> Result<(), Error> {
    let tensor = file
        .tensor(&slot.name)
        .map_err(|_| Error::MissingTensor { path: path.to_owned(), name: slot.name.clone() })?;
    if tensor.dtype() != Dtype::F32 || tensor.shape() != slot.shape {
        return Err(Error::WrongTensor {
            path: path.to_owned(),
            name: slot.name.clone(),
            expected: format!("F32 {:?}", slot.shape),
            found: format!("{:?} {:?}", tensor.dtype(), tensor.shape()),
        });
    }
    for (value, bytes) in values.iter_mut().zip(tensor.data().as_chunks::<4>().0) {
        *value = f32::from_le_bytes(*bytes);
    }
    Ok(())
}
