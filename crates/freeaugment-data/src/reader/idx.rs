//! IDX, the format of MNIST and its family: a header of big-endian sizes, then bytes.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::listing::{Folder, folder_of, name};
use super::packed;
use super::records::{Layout, Records};
use crate::dataset::{DataKind, Dataset, Splits};
use crate::error::Error;

/// The most that a file may unpack to. The largest of the family, EMNIST, has 0.6 GiB.
const MOST_BYTES: u64 = 4 << 30;

/// Where torchvision keeps the files, below the folder it is given.
const FOLDERS: [&str; 5] = ["raw", "MNIST", "FashionMNIST", "KMNIST", "EMNIST"];

/// Lists IDX files in this folder or where they are usually kept in it, or says that there are none.
pub(super) fn open(folder: &Folder) -> Result<Option<Dataset>, Error> {
    if let Some(dataset) = open_here(folder)? {
        return Ok(Some(dataset));
    }
    for inner in FOLDERS.iter().filter_map(|name| folder.folder(name)) {
        let mut inner = Folder::list(inner)?;
        if let Some(raw) = inner.folder("raw") {
            inner = Folder::list(raw)?;
        }
        if let Some(dataset) = open_here(&inner)? {
            return Ok(Some(dataset));
        }
    }
    Ok(None)
}

fn open_here(folder: &Folder) -> Result<Option<Dataset>, Error> {
    let mut families: Vec<_> = Part::all(folder).into_iter().map(|part| part.family()).collect();
    families.sort();
    families.dedup();
    match families.as_slice() {
        [] => Ok(None),
        [family] => open_family(folder, family).map(Some),
        [one, other, ..] => Err(Error::bad_file(
            &folder.path,
            format!(
                "holds several data sets, `{one}` and `{other}`: give the file of training images of one"
            ),
        )),
    }
}

/// Lists the data set that a file of images belongs to, or says that it is none.
pub(super) fn open_file(path: &Path) -> Result<Option<Dataset>, Error> {
    let Some(part) = Part::of(path) else { return Ok(None) };
    open_family(&Folder::list(folder_of(path))?, &part.family()).map(Some)
}

/// One file of images: `train-images-idx3-ubyte`.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    /// What comes before `images`.
    prefix: String,
}

impl Part {
    fn of(path: &Path) -> Option<Self> {
        let name = name(path);
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let prefix =
            ["images-idx3-ubyte", "images.idx3-ubyte"].iter().find_map(|end| name.strip_suffix(end))?;
        Some(Self { path: path.to_owned(), prefix: prefix.to_owned() })
    }

    /// The files of images of a folder; where one is there raw and packed, the raw one comes first.
    fn all(folder: &Folder) -> Vec<Self> {
        folder.files.iter().filter_map(|path| Self::of(path)).collect()
    }

    fn is_train(&self) -> bool {
        self.prefix.contains("train")
    }

    /// What the parts of one data set have in common.
    fn family(&self) -> String {
        self.prefix.replace("train", "…").replace("t10k", "…").replace("test", "…")
    }

    /// The file of labels that goes with it.
    fn labels(&self, folder: &Folder) -> Result<PathBuf, Error> {
        ["labels-idx1-ubyte", "labels.idx1-ubyte"]
            .iter()
            .flat_map(|end| [format!("{}{end}", self.prefix), format!("{}{end}.gz", self.prefix)])
            .find_map(|name| folder.file(&name).map(Path::to_owned))
            .ok_or_else(|| {
                let wanted = format!("{}labels-idx1-ubyte", self.prefix);
                Error::bad_file(&self.path, format!("there is no `{wanted}` or `{wanted}.gz` beside it"))
            })
    }
}

fn open_family(folder: &Folder, family: &str) -> Result<Dataset, Error> {
    let parts: Vec<_> = Part::all(folder).into_iter().filter(|part| part.family() == family).collect();
    let Some(train) = parts.iter().find(|part| part.is_train()) else {
        return Err(Error::bad_file(
            &folder.path,
            "there is no `train-images-idx3-ubyte` or `….gz` beside the test images",
        ));
    };
    let (pixels, layout) = read_images(&train.path)?;
    let mut labels = read_labels(train, folder, pixels.len() / layout.len())?;
    let mut records = Records::new(layout);
    records.begin(&train.path);
    records.extend(pixels);
    let (count, mut test) = (records.count(), None);
    if let Some(part) = parts.iter().find(|part| !part.is_train()) {
        let (pixels, own) = read_images(&part.path)?;
        if own != layout {
            let Layout { height, width, .. } = layout;
            let reason = format!(
                "has images of {} × {}, those for training have {height} × {width}",
                own.height, own.width
            );
            return Err(Error::bad_file(&part.path, reason));
        }
        labels.extend(read_labels(part, folder, pixels.len() / layout.len())?);
        records.begin(&part.path);
        records.extend(pixels);
        test = Some((count..records.count()).collect());
    }
    let classes = labels.iter().max().map_or(0, |&largest| largest + 1);
    Ok(Dataset {
        kind: DataKind::Idx,
        title: "IDX (MNIST family)".to_owned(),
        classes: (0..classes).map(|class| class.to_string()).collect(),
        labels,
        channels: 1,
        size: Some((layout.height, layout.width)),
        splits: Splits { train: (0..count).collect(), validation: None, test },
        notes: Vec::new(),
        source: Arc::new(records),
    })
}

fn read_images(path: &Path) -> Result<(Vec<u8>, Layout), Error> {
    let (sizes, bytes) = read::<3>(path)?;
    let [_, height, width] = sizes.map(|size| size as usize);
    if bytes.is_empty() {
        let [count, height, width] = sizes;
        return Err(Error::bad_file(
            path,
            format!("holds no images: its header says {count} of {height} × {width}"),
        ));
    }
    Ok((bytes, Layout { height, width, channels: 1 }))
}

fn read_labels(part: &Part, folder: &Folder, images: usize) -> Result<Vec<u32>, Error> {
    let path = part.labels(folder)?;
    let ([count], labels) = read::<1>(&path)?;
    if labels.len() != images {
        let reason = format!("holds {count} labels, but {} holds {images} images", part.path.display());
        return Err(Error::bad_file(&path, reason));
    }
    Ok(labels.into_iter().map(u32::from).collect())
}

fn read<const DIMENSIONS: usize>(path: &Path) -> Result<([u32; DIMENSIONS], Vec<u8>), Error> {
    let reader = packed::reader(path)?;
    parse(path, reader, fs::metadata(path).map_err(Error::io(path))?.len())
}

/// The sizes and the bytes of a file of so many dimensions and so many bytes as it is stored. Nothing is allocated on the
/// word of the header alone.
pub(super) fn parse<const DIMENSIONS: usize>(
    path: &Path,
    mut reader: impl Read,
    stored: u64,
) -> Result<([u32; DIMENSIONS], Vec<u8>), Error> {
    let bad = |reason: String| Error::bad_file(path, reason);
    let header_length = 4 + 4 * DIMENSIONS;
    let mut header = Vec::new();
    (&mut reader).take(header_length as u64).read_to_end(&mut header).map_err(packed::failed(path))?;
    if header.len() < header_length {
        return Err(bad(format!("has {} bytes, fewer than the {header_length} of its header", header.len())));
    }
    // Two zeros, the type (8 is unsigned bytes) and the number of dimensions.
    let magic = [0, 0, 8, DIMENSIONS as u8];
    if header[..4] != magic {
        return Err(bad(format!(
            "begins with {:02x?}, an IDX file of this kind with {magic:02x?}",
            &header[..4]
        )));
    }
    let mut sizes = [0; DIMENSIONS];
    for (size, bytes) in sizes.iter_mut().zip(header[4..].chunks_exact(4)) {
        *size = bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte));
    }
    let expected = sizes
        .iter()
        .try_fold(1_u64, |product, &size| product.checked_mul(size.into()))
        .filter(|&product| product <= MOST_BYTES)
        .ok_or_else(|| {
            bad(format!("its header claims {sizes:?} values, more than the {MOST_BYTES} allowed"))
        })?;
    let mut bytes = Vec::new();
    if !packed::is_packed(path) {
        let found = stored.saturating_sub(header_length as u64);
        if found != expected {
            return Err(bad(wrong_length(found, expected)));
        }
        bytes.reserve_exact(expected as usize + 1);
    }
    // One more than expected, so that too many are noticed and the checksum of a packed file is reached.
    reader.take(expected + 1).read_to_end(&mut bytes).map_err(packed::failed(path))?;
    if bytes.len() as u64 != expected {
        return Err(bad(wrong_length(bytes.len() as u64, expected)));
    }
    Ok((sizes, bytes))
}

/// Reads bytes as files of images and of labels, packed where they begin so.
pub(super) fn fuzz(bytes: &[u8]) {
    let path = Path::new(if packed::begins(bytes) { "images-idx3-ubyte.gz" } else { "images-idx3-ubyte" });
    let stored = bytes.len() as u64;
    if let Ok((sizes, pixels)) = parse::<3>(path, packed::unpacked(path, bytes), stored) {
        assert_eq!(sizes.iter().map(|&size| size as usize).product::<usize>(), pixels.len());
    }
    if let Ok(([count], labels)) = parse::<1>(path, packed::unpacked(path, bytes), stored) {
        assert_eq!(count as usize, labels.len());
    }
}

fn wrong_length(found: u64, expected: u64) -> String {
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => {
            format!("is cut short: {found} bytes follow the header, which promises {expected}")
        }
        _ => format!("is too long: more bytes follow the header than the {expected} it promises"),
    }
}
