//! Writes what the fuzzers begin with: small sound files of every kind, into `fuzz/seeds/TARGET`.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use freeaugment::PolicyConfig;
use freeaugment_baseline::{Baseline, Kind, NamedBaseline, Published, import_bytes};
use freeaugment_fuzz::{Runs, archive, deepaa, split_checkpoint, torch};
use freeaugment_search::Task;
use freeaugment_search::preset::preset;
use image::{DynamicImage, ImageFormat};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = root.join("seeds").join(target);
        fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(name), bytes))
    };
    // What the tests have is good here too; most of it is Python's and Pillow's work.
    for file in fs::read_dir(root.join("../crates/freeaugment-data/tests/fixtures"))? {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::read(&path)?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("pickle") => {
                write("pickle", &name, &bytes)?;
                write("cifar", &name, &bytes)?;
            }
            Some("npz") => write("npz", &name, &bytes)?,
            Some("jpg" | "png") => write("image", &name, &bytes)?,
            _ => {}
        }
    }
    for (name, image) in [
        ("rgb", DynamicImage::new_rgb8(7, 5)),
        ("grey", DynamicImage::new_luma8(16, 16)),
        ("grey_alpha", DynamicImage::new_luma_a8(3, 2)),
        ("alpha", DynamicImage::new_rgba8(5, 7)),
        ("deep", DynamicImage::new_rgb16(4, 4)),
    ] {
        for format in [ImageFormat::Bmp, ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
            let mut bytes = Cursor::new(Vec::new());
            // Not every format has every kind of pixels.
            if image.write_to(&mut bytes, format).is_ok() {
                write("image", &format!("{name}.{}", format.extensions_str()[0]), bytes.get_ref())?;
            }
        }
    }

    write("npz", "fortran.npy", &npy("<i2", true, "2, 2", &[1, 0, 255, 255, 3, 0, 4, 0]))?;
    write("npz", "floats.npy", &npy(">f4", false, "2,", &[0; 8]))?;
    write("npz", "texts.npy", &npy("<U2", false, "1,", b"a\0\0\0b\0\0\0"))?;
    write("idx", "images", &[&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2][..], &[1, 2, 3, 4]].concat())?;
    write("idx", "labels", &[0, 0, 8, 1, 0, 0, 0, 2, 0, 1])?;
    write("idx", "labels.gz", PACKED)?;
    write("cifar", "binary_10", &[3; 3073])?;
    write("cifar", "binary_100", &[7; 3074])?;
    write("cifar", "names", b"cat\ndog\n")?;
    write("cifar", "batch", &cifar_batch())?;
    write(
        "cifar",
        "meta",
        b"}(U\x0blabel_names](U\x03catU\x03dogeU\x10fine_label_names](U\x03aaaU\x03bbbeu.",
    )?;
    write("domainnet", "list", b"photo/cat/1.jpg 0\nphoto/a dog/2.png 1\n\n")?;
    write("quickdraw", "strokes", br#"{"word":"a","drawing":[[[0,255],[7,8]],[[128],[128]]]}"#)?;
    write("quickdraw", "raw", b"{\"drawing\":[[[-5.5,900],[7e2,8],[0,1]]]}\n\n{\"drawing\":[[[1],[2]]]}\n")?;
    write("quickdraw", "packed.gz", PACKED)?;
    write("quickdraw", "numbers", format!("[{}0.5]", "0,".repeat(783)).as_bytes())?;

    write("policy_file", "default.json", PolicyConfig::default().init()?.to_json()?.as_bytes())?;
    let small = PolicyConfig { layers: 1, ..PolicyConfig::default() }.init()?;
    write("policy_file", "small.json", small.to_json()?.as_bytes())?;
    let pba = pba();
    for (kind, text) in [DADA, FUNCTIONS, DRA, &pba].into_iter().enumerate() {
        // By the name `A`, and without one.
        for which in [kind, kind + 4] {
            let bytes = [format!("{which}").as_bytes(), text.as_bytes()].concat();
            write("published_python", &format!("{which}.py"), &bytes)?;
        }
    }
    let (pickle, arrays) = (slack_pickle(), deepaa_arrays());
    write("published_archive", "slack.pickle", &pickle)?;
    write("published_archive", "slack.ckpt", &torch(&pickle))?;
    write("published_archive", "deepaa.npy", &arrays)?;
    write("published_archive", "deepaa.npz", &deepaa(&arrays))?;
    write("published_archive", "empty.zip", &archive(&[]))?;
    write("npz", "deepaa.npz", &deepaa(&arrays))?;
    // What is sound becomes a file of our own, which is a seed as well.
    let published: [(&str, Result<Published, _>); 6] = [
        ("slack", import_bytes(Kind::Slack, "a.ckpt", &torch(&pickle), None)),
        ("deepaa", import_bytes(Kind::DeepAa, "a.npz", &deepaa(&arrays), None)),
        ("dada", import_bytes(Kind::Dada, "a.py", DADA.as_bytes(), Some("A"))),
        ("fast", import_bytes(Kind::FastAutoAugment, "a.py", FUNCTIONS.as_bytes(), Some("summed"))),
        ("dra", import_bytes(Kind::Dra, "a.py", DRA.as_bytes(), Some("A"))),
        ("pba", import_bytes(Kind::Pba, "a.txt", pba.as_bytes(), Some("100"))),
    ];
    for (name, policy) in published {
        write("published_file", &format!("{name}.json"), policy?.to_json().as_bytes())?;
    }
    for baseline in Baseline::all() {
        let file = format!("{}.json", baseline.family());
        write("published_file", &file, NamedBaseline::from(baseline).to_json().as_bytes())?;
    }
    for (task, name) in [(Task::Search, "search"), (Task::Comparison, "comparison")] {
        for of in ["quick", "cifar10"] {
            write("settings", &format!("{name}-{of}.toml"), preset(task, of)?.to_toml(task).as_bytes())?;
        }
    }
    write("settings", "patch.toml", b"epochs = 7\nlayers = 2\nplant = [\"Rotate:-30..30\"]\n")?;
    let runs = Runs::make();
    for (at, (_, _, bytes)) in runs.files.iter().enumerate().filter(|(_, file)| file.2.len() < 1 << 14) {
        write("run", &format!("{at:02}"), &[&[at as u8], &bytes[..]].concat())?;
    }
    write("checkpoint", "header", split_checkpoint(runs.checkpoint()).0)?;
    Ok(())
}

/// Two labels, packed by gzip.
const PACKED: &[u8] = &[
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 99, 96, 224, 96, 100, 96, 96, 96, 98, 96, 4, 0, 143, 156, 155, 226, 10,
    0, 0, 0,
];

fn npy(of: &str, fortran: bool, shape: &str, contents: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{of}', 'fortran_order': {fortran}, 'shape': ({shape}), }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), contents].concat()
}

/// A batch of one black image, as Python 2 wrote them.
fn cifar_batch() -> Vec<u8> {
    [
        &b"\x80\x02}(U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"[..],
        b"K\x01M\x00\x0c\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
        b"\x89T\x00\x0c\x00\x00",
        &[0; 3072],
        b"tbU\x06labels](K\x03eU\x0bfine_labels](K\x03eu.",
    ]
    .concat()
}

/// What PyTorch pickles for the two tensors of SLACK.
fn slack_pickle() -> Vec<u8> {
    let text = |text: &str| [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let tensor = |key: &str, rows: u8, columns: u8| {
        [
            b"ctorch._utils\n_rebuild_tensor_v2\n((".to_vec(),
            text("storage"),
            b"ctorch\nFloatStorage\n".to_vec(),
            text(key),
            text("cpu"),
            vec![b'K', 7, b't', b'Q', b'K', 0, b'K', rows, b'K', columns, 0x86, b'K', columns, b'K', 1, 0x86],
            b"\x89ccollections\nOrderedDict\n)RtR".to_vec(),
        ]
        .concat()
    };
    [b"\x80\x02}(".to_vec(), text("pi"), tensor("1", 3, 17), text("mu"), tensor("0", 17, 1), b"u.".to_vec()]
        .concat()
}

/// The arrays of Deep AutoAugment, in the order of their names.
fn deepaa_arrays() -> Vec<u8> {
    let whole = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let floats: Vec<u8> = [0.25_f32, 0.75, 1.0, 0.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    [
        npy("<f4", false, "2, 2", &floats),
        npy("<i8", false, "", &13_i64.to_le_bytes()),
        npy("<i4", false, "2, 1", &whole(&[0, 1])),
        npy("<i4", false, "2, 1", &whole(&[12, 6])),
        npy("|S6", false, "2,", b"RotateColor\0"),
    ]
    .concat()
}

fn pba() -> String {
    let policy = |at: usize| {
        let mut numbers = [0; 60];
        numbers[at..at + 4].copy_from_slice(&[10, 10, 5, 3]);
        format!("{numbers:?}")
    };
    let (one, other) = (policy(0), policy(26));
    format!(
        "['1', '0', 22, 20, {one}, {other}]\n[\"2\", \"1\", 50, 50, {{\"hp_policy\": {other}}}, {{\"hp_policy\": {one}}}]\n"
    )
}

const DADA: &str = "# the best one
A = other = [[('Rotate', 1.0, 1.2), ('Invert', 0.25, 0.5)],   # twice
     [('Equalize', .75, 5e-1), ('Equalize', 0.0, -0.1)]]
";

const FUNCTIONS: &str = r#"from collections import namedtuple
Step = namedtuple('Step', ['operation', 'probability', 'level'])
def summed():
    """Two lists"""
    first = [[["ShearX", 1.0, 0.0]]]
    second = [[["Posterize", 1.0, 0.99]]]
    return first + second
@changed
def decorated():
    return [[('Rotate', 0.7, 2)]]
A = [[Step('Cutout', probability=1.0, level=1.0)]]
A.append(1)
"#;

const DRA: &str = "OPS = [
    'Rotate',
    'Invert'
    'SolarizeAdd'
]
# A
W = [[0.0, -60.0, 1.0], [-60.0, 0.0, -60.0]]
M_MEAN = [[0.5, 0.0, 0.0], [0.0, 9.0, 0.0]]
M_STD = [[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]]
";
