//! Checkpoints of PyTorch: zip archives with a pickle that describes tensors and the raw numbers of each.

use std::io::{Cursor, Read};

use freeaugment_data::python::{Value, parse_pickle};
use zip::ZipArchive;

/// A matrix of 32-bit numbers, row after row.
pub(super) type Matrix = Vec<Vec<f32>>;

/// No part of a checkpoint of a policy is nearly as large.
const MOST_BYTES: u64 = 1 << 20;
/// Rows or columns of a tensor.
const LONGEST: usize = 1000;

/// An opened checkpoint.
pub(super) struct Checkpoint<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// The folder that everything is in, with its slash.
    folder: String,
}

impl<'a> Checkpoint<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| format!("it is cut short or no zip archive: {error}"))?;
        let mut names = archive.file_names();
        let folder = names.find_map(|name| {
            let name = name.ok()?;
            name.strip_suffix("data.pkl").or_else(|| name.strip_suffix("data/0")).map(str::to_owned)
        });
        drop(names);
        let folder = folder.ok_or("it has neither a `data.pkl` nor a `data/0`")?;
        Ok(Self { archive, folder })
    }

    fn entry(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let name = format!("{}{name}", self.folder);
        let entry = self.archive.by_name(&name).map_err(|error| format!("`{name}`: {error}"))?;
        let mut bytes = Vec::new();
        // What the archive says of the size is not to be trusted.
        entry.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("`{name}`: {error}"))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(format!("`{name}` has more than {MOST_BYTES} bytes"));
        }
        Ok(bytes)
    }

    /// The tensors of these names, from the first dictionary that has them all.
    pub(super) fn tensors<const N: usize>(&mut self, names: [&str; N]) -> Result<[Matrix; N], String> {
        let pickle = self.entry("data.pkl")?;
        let value = parse_pickle(&pickle)?;
        let mut waiting = vec![&value];
        while let Some(value) = waiting.pop() {
            let found = names.map(|name| value.get(name));
            if found.iter().all(Option::is_some) {
                let mut tensors = [const { Matrix::new() }; N];
                for ((tensor, value), name) in tensors.iter_mut().zip(found.into_iter().flatten()).zip(names)
                {
                    *tensor = self.tensor(value).map_err(|reason| format!("`{name}`: {reason}"))?;
                }
                return Ok(tensors);
            }
            if let Value::Dict(entries) = value {
                waiting.extend(entries.iter().map(|(_, value)| value));
            }
        }
        Err(format!("its pickle has no {}", names.map(|name| format!("`{name}`")).join(" and ")))
    }

    fn tensor(&mut self, value: &Value<'_>) -> Result<Matrix, String> {
        let unknown = || "it is not a tensor".to_owned();
        let (storage, offset, sizes, strides) = match value.call_of("torch").ok_or_else(unknown)? {
            // A parameter is a tensor with a flag.
            ("_rebuild_parameter", [inner, ..]) => {
                return match inner.call_of("torch") {
                    Some(("_rebuild_tensor_v2", _)) => self.tensor(inner),
                    _ => Err(unknown()),
                };
            }
            ("_rebuild_tensor_v2", [storage, offset, sizes, strides, ..]) => {
                (storage, offset, sizes, strides)
            }
            _ => return Err(unknown()),
        };
        let whole = |value: &Value<'_>| usize::try_from(value.integer()?).ok();
        let pair = |value: &Value<'_>| match value.items()? {
            [rows, columns] => whole(rows).zip(whole(columns)),
            _ => None,
        };
        let storage = storage.call_of("").and_then(|(_, arguments)| arguments.first()?.items());
        let Some([_, Value::Global { name: of, .. }, key, ..]) = storage else {
            return Err("its storage is not described".to_owned());
        };
        if of != "FloatStorage" {
            let of: String = of.chars().take(40).collect();
            return Err(format!("it is a `{of}`, it must be a `FloatStorage`"));
        }
        let key = key.text().filter(|key| key.len() < 20).ok_or("its storage has no name")?;
        let numbers = floats(&self.entry(&format!("data/{key}"))?);
        let (Some((rows, columns)), Some((down, right)), Some(offset)) =
            (pair(sizes), pair(strides), whole(offset))
        else {
            return Err("it is not a matrix".to_owned());
        };
        if rows > LONGEST || columns > LONGEST {
            return Err(format!("its shape is [{rows}, {columns}], at most {LONGEST} are allowed"));
        }
        let number = |row: usize, column: usize| {
            let place =
                row.checked_mul(down)?.checked_add(column.checked_mul(right)?)?.checked_add(offset)?;
            numbers.get(place).copied()
        };
        let rows = (0..rows).map(|row| (0..columns).map(|column| number(row, column)).collect());
        let rows: Option<Matrix> = rows.collect();
        rows.ok_or_else(|| format!("its storage has only {} numbers", numbers.len()))
    }

    /// The numbers of a storage, where no pickle says what they are.
    pub(super) fn storage(&mut self, key: &str) -> Result<Vec<f32>, String> {
        self.entry(&format!("data/{key}")).map(|bytes| floats(&bytes))
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&number| f32::from_le_bytes(number)).collect()
}
