//! Quick-Draw: one `.ndjson` file per class, one drawing per line.

mod drawing;
mod lines;
mod raster;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::listing::{Folder, name};
use super::packed;
use crate::dataset::{DataKind, Dataset, Source, Splits};
use crate::error::Error;
use crate::picture::Picture;
use drawing::SIDE;

/// The most drawings that are held in memory, 2.4 GB. Files that are not packed are read line by line instead.
const MOST_HELD: usize = 3_000_000;

/// Lists the drawings of a folder, or says that there are none.
pub(super) fn open(folder: &Folder) -> Result<Option<Dataset>, Error> {
    let mut paths = BTreeMap::new();
    for path in &folder.files {
        if let Some(class) = class(path) {
            // Where a class is there raw and packed, the raw file comes first.
            paths.entry(class).or_insert(path.clone());
        }
    }
    if paths.is_empty() {
        return Ok(None);
    }
    let held = AtomicUsize::new(0);
    let (classes, paths): (Vec<_>, Vec<_>) = paths.into_iter().unzip();
    let files: Vec<_> =
        paths.par_iter().map(|path| ClassFile::open(path, &held)).collect::<Result<_, _>>()?;
    let labels: Vec<u32> =
        files.iter().zip(0..).flat_map(|(file, label)| std::iter::repeat_n(label, file.count())).collect();
    Ok(Some(Dataset {
        kind: DataKind::QuickDraw,
        title: "Quick-Draw".to_owned(),
        classes,
        splits: Splits { train: (0..labels.len() as u32).collect(), ..Splits::default() },
        labels,
        channels: 1,
        size: Some((SIDE, SIDE)),
        notes: Vec::new(),
        source: Arc::new(Drawings { files }),
    }))
}

/// The class that a file holds drawings of.
fn class(path: &Path) -> Option<String> {
    let name = name(path);
    let name = name.strip_suffix(".gz").unwrap_or(&name).strip_suffix(".ndjson")?;
    // The names that the buckets of the official data give to downloads.
    let name = name.strip_prefix("full_simplified_").or(name.strip_prefix("full_raw_")).unwrap_or(name);
    (!name.is_empty()).then(|| name.to_owned())
}

#[derive(Debug)]
struct ClassFile {
    path: PathBuf,
    drawings: Held,
}

/// What is kept of the drawings of a file.
#[derive(Debug)]
enum Held {
    /// Where each line begins, and the end of the last.
    Places(Vec<u64>),
    /// The pixels of all, and what is wrong with some.
    Pixels { pixels: Vec<u8>, bad: BTreeMap<usize, String> },
}

impl ClassFile {
    fn open(path: &Path, held: &AtomicUsize) -> Result<Self, Error> {
        let drawings = if packed::is_packed(path) {
            hold(path, packed::reader(path)?, held)?
        } else {
            Held::Places(lines::places(path)?)
        };
        let file = Self { path: path.to_owned(), drawings };
        if file.count() == 0 {
            return Err(Error::bad_file(path, "holds no drawings"));
        }
        // A wrong format shows in the first line; later ones count as unreadable images.
        match file.pixels(0) {
            Ok(_) => Ok(file),
            Err(reason) => Err(Error::bad_file(path, format!("the first line is no drawing: {reason}"))),
        }
    }

    fn count(&self) -> usize {
        match &self.drawings {
            Held::Places(places) => places.len().saturating_sub(1),
            Held::Pixels { pixels, .. } => pixels.len() / (SIDE * SIDE),
        }
    }

    fn pixels(&self, index: usize) -> Result<Vec<u8>, String> {
        match &self.drawings {
            Held::Places(places) => match places.get(index..index + 2) {
                Some(&[start, end]) => drawing::pixels(&lines::read(&self.path, start, end)?),
                _ => Err(format!("there are {} drawings", self.count())),
            },
            Held::Pixels { pixels, bad } => {
                match (bad.get(&index), pixels.chunks_exact(SIDE * SIDE).nth(index)) {
                    (Some(reason), _) => Err(reason.clone()),
                    (None, Some(pixels)) => Ok(pixels.to_vec()),
                    (None, None) => Err(format!("there are {} drawings", self.count())),
                }
            }
        }
    }
}

/// Draws all lines of a packed file, which cannot be read from the middle.
fn hold(path: &Path, reader: impl Read, held: &AtomicUsize) -> Result<Held, Error> {
    let (mut pixels, mut bad) = (Vec::new(), BTreeMap::new());
    lines::each(path, reader, &mut |line| {
        if held.fetch_add(1, Ordering::Relaxed) >= MOST_HELD {
            let reason = format!("packed files may hold {MOST_HELD} drawings together: unpack them first");
            return Err(Error::bad_file(path, reason));
        }
        let drawn = drawing::pixels(line).unwrap_or_else(|reason| {
            bad.insert(pixels.len() / (SIDE * SIDE), reason);
            vec![0; SIDE * SIDE]
        });
        pixels.extend(drawn);
        Ok(())
    })?;
    Ok(Held::Pixels { pixels, bad })
}

/// Reads bytes as a file of drawings, from places and line by line; both find the same.
pub(super) fn fuzz(bytes: &[u8]) {
    let Ok(places) = lines::places_in(bytes) else { return };
    let line = |ends: &[u64]| lines::first(&bytes[ends[0] as usize..ends[1] as usize]);
    let drawn = places.windows(2).map(|ends| drawing::pixels(line(ends)));
    let drawn: Vec<_> = drawn.collect();
    let held = hold(Path::new("a.ndjson"), bytes, &AtomicUsize::new(0));
    let Ok(Held::Pixels { pixels, bad }) = held else { panic!("memory can be read, and holds few drawings") };
    assert_eq!(pixels.len(), drawn.len() * SIDE * SIDE);
    for (at, (drawing, pixels)) in drawn.iter().zip(pixels.chunks_exact(SIDE * SIDE)).enumerate() {
        assert_eq!(drawing.is_err(), bad.contains_key(&at), "drawing {at}");
        assert!(drawing.as_ref().is_err() || drawing.as_deref() == Ok(pixels), "drawing {at}");
    }
    if packed::begins(bytes) {
        let path = Path::new("a.ndjson.gz");
        let _ = hold(path, packed::unpacked(path, bytes), &AtomicUsize::new(0));
    }
}

/// Drawings, in the order of their classes.
#[derive(Debug)]
struct Drawings {
    files: Vec<ClassFile>,
}

impl Drawings {
    /// The file of a drawing, and its place there.
    fn find(&self, index: u32) -> Option<(&ClassFile, usize)> {
        let mut place = index as usize;
        for file in &self.files {
            if place < file.count() {
                return Some((file, place));
            }
            place -= file.count();
        }
        None
    }
}

impl Source for Drawings {
    fn read(&self, index: u32) -> Result<Picture, Error> {
        let pixels = match self.find(index) {
            Some((file, place)) => file.pixels(place),
            None => Err("there is no such drawing".to_owned()),
        };
        match pixels {
            Ok(pixels) => Ok(Picture { height: SIDE, width: SIDE, channels: 1, pixels }),
            Err(reason) => Err(Error::BadImage { name: self.name(index), reason }),
        }
    }

    fn name(&self, index: u32) -> String {
        match self.find(index) {
            Some((file, place)) => format!("{}, drawing {place}", file.path.display()),
            None => format!("drawing {index}"),
        }
    }

    fn in_memory(&self) -> bool {
        self.files.iter().all(|file| matches!(file.drawings, Held::Pixels { .. }))
    }
}
