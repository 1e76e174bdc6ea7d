//! Baselines and published policies: what is done with them, and the archives that hold them.

use std::io::{Cursor, Write as _};

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_baseline::{Augmentation as _, BaselineFile, Moment, NamedBaseline, Published};
use freeaugment_data::Picture;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Uses a published policy: it can be written and read again, described and turned into a policy, and what it draws can
/// be done to a picture.
pub fn use_published(published: &Published) {
    let text = published.to_json();
    let again = Published::from_json(text.as_bytes()).expect("what was written can be read");
    assert_eq!(again.to_json(), text);
    let _ = (published.description(), published.to_policy(), published.to_policy_leaving_out());
    let mut picture = Picture { height: 5, width: 4, channels: 3, pixels: (0..60).collect() };
    for (index, progress) in [(0, 0.0), (1, 0.5), (2, 0.99)] {
        let moment = Moment { height: picture.height, width: picture.width, progress };
        let mut stream = Stream::new(1, Purpose::named("fuzz"), 0, index);
        // Others' policies may be of any length.
        for action in published.actions(&mut stream, moment).into_iter().take(8) {
            action.apply(&mut picture);
        }
    }
    assert_eq!(picture.pixels.len(), 60);
}

/// A baseline by its name can be written and read again.
pub fn use_named(named: &NamedBaseline) {
    let again = BaselineFile::from_json(named.to_json().as_bytes()).expect("what was written can be read");
    assert_eq!(again, BaselineFile::Named(named.clone()));
}

/// An archive with these files.
pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        // Not compressed, so that a fuzzer sees what it changes.
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        writer.start_file(*name, options).expect("memory can be written");
        writer.write_all(bytes).expect("memory can be written");
    }
    writer.finish().expect("memory can be written").into_inner()
}

/// What begins every `.npy` file.
pub const NPY: &[u8] = b"\x93NUMPY";

/// The names of the arrays in a file of Deep AutoAugment.
pub const DEEPAA: [&str; 5] = ["policy_probs", "l_mags", "ops", "mags", "op_names"];

/// A checkpoint of PyTorch with this pickle and storages of so many numbers as SLACK has.
pub fn torch(pickle: &[u8]) -> Vec<u8> {
    let storage = |count: usize| [0.5_f32.to_le_bytes(); 60][..count].concat();
    archive(&[("a/data.pkl", pickle), ("a/data/0", &storage(17)), ("a/data/1", &storage(51))])
}

/// An archive of NumPy with these arrays, one after the other, under the names that Deep AutoAugment has.
pub fn deepaa(arrays: &[u8]) -> Vec<u8> {
    let starts: Vec<usize> = (0..arrays.len()).filter(|&at| arrays[at..].starts_with(NPY)).take(5).collect();
    let ends = starts.iter().skip(1).copied().chain([arrays.len()]);
    let names = DEEPAA.map(|name| format!("{name}.npy"));
    let files: Vec<_> = starts
        .iter()
        .zip(ends)
        .zip(&names)
        .map(|((&start, end), name)| (&**name, &arrays[start..end]))
        .collect();
    archive(&files)
}
