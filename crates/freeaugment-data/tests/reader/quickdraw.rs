//! Quick-Draw drawings.

use freeaugment_data::{DataKind, Error, Picture};

use crate::common::{folder, gzip, message, opened, write};

/// A square of all the space, a dot in it.
const SQUARE: &str = r#"{"word":"square","countrycode":"VE","recognized":true,"key_id":"1","drawing":[[[0,255,255,0,0],[0,0,255,255,0]],[[128],[128]]]}"#;
/// The same in the pixels of a screen, with times.
const UNSIMPLIFIED: &str =
    r#"{"drawing":[[[-10.0,1010.0,1010.0,-10.0,-10.0],[5,5,1025,1025,5],[0,1,2,3,4]],[[502],[517],[5]]]}"#;

/// An array of pixels of one brightness.
fn numbers(value: f64) -> String {
    format!("[{}]", vec![value.to_string(); 784].join(","))
}

fn at(picture: &Picture, x: usize, y: usize) -> u8 {
    picture.pixels[y * 28 + x]
}

#[test]
fn arrays_of_pixels_are_read_packed_and_raw() {
    let root = folder();
    let lines = format!("{}\n\n{}\n", numbers(0.5), numbers(1.0));
    write(root.path().join("wine glass.ndjson.gz"), gzip(lines.as_bytes()));
    write(root.path().join("train.ndjson"), format!("{}\r\n", numbers(0.0)));
    // Where a class is there in both forms, it counts once.
    write(root.path().join("train.ndjson.gz"), gzip(lines.as_bytes()));
    let dataset = opened(root.path());
    assert_eq!((dataset.kind, dataset.channels, dataset.size), (DataKind::QuickDraw, 1, Some((28, 28))));
    assert_eq!(dataset.classes, ["train", "wine glass"]);
    assert_eq!(dataset.labels, [0, 1, 1]);
    assert_eq!(dataset.splits.train, [0, 1, 2]);
    let brightness: Vec<_> = (0..3).map(|index| dataset.read(index).expect("sound").pixels[783]).collect();
    assert_eq!(brightness, [0, 128, 255]);
    assert!(dataset.source.name(2).ends_with("wine glass.ndjson.gz, drawing 1"));
}

#[test]
fn strokes_are_drawn_white_on_black_with_soft_edges() {
    let root = folder();
    write(root.path().join("full_simplified_square.ndjson"), format!("{SQUARE}\n{UNSIMPLIFIED}\n"));
    write(root.path().join("dot.ndjson.gz"), gzip(SQUARE.as_bytes()));
    let dataset = opened(root.path());
    assert_eq!(dataset.classes, ["dot", "square"]);
    let picture = dataset.read(1).expect("sound");
    // The margin is black, the line is white inside and grey at its edge, the middle has the dot.
    assert_eq!((at(&picture, 0, 0), at(&picture, 14, 0)), (0, 0));
    assert_eq!(at(&picture, 14, 2), at(&picture, 2, 14));
    assert!(at(&picture, 14, 2) > 200 && (1..200).contains(&at(&picture, 14, 1)), "{picture:?}");
    assert!(at(&picture, 14, 14) > 100 && at(&picture, 8, 8) == 0);
    // The drawing is the same upside down and mirrored, but for the dot that is not quite in the middle.
    let mirrored = |x: usize, y: usize| at(&picture, x, y).abs_diff(at(&picture, 27 - x, 27 - y)) < 2;
    assert!((0..28).all(|x| (0..10).all(|y| mirrored(x, y))));
    // Packed and raw files give the same pixels.
    assert_eq!(dataset.read(0).expect("sound"), picture);
    // As do the pixels of a screen, once they are fitted in.
    let fitted = dataset.read(2).expect("sound");
    assert!(fitted.pixels.iter().zip(&picture.pixels).all(|(&one, &other)| one.abs_diff(other) < 12));
}

#[test]
fn bad_lines_are_unreadable_images_and_a_bad_first_line_is_a_bad_file() {
    let bad = [
        (r#"{"drawing":[[[1,2],[3]]]}"#, "a stroke is not a list of x and a list of as many y"),
        (r#"{"drawing":[]}"#, "the drawing has no strokes"),
        ("[0.5,0.5]", "2 numbers, but 784 (28 × 28) are expected"),
        (&numbers(1.5), "the number 1.5 is not from 0 to 1"),
        ("hello", "a drawing or 784 numbers in JSON are expected: expected value at column 1"),
        (
            r#"{"drawing":[[[1e999],[1]]]}"#,
            "a drawing or 784 numbers in JSON are expected: number out of range at column 19",
        ),
    ];
    for (line, reason) in bad {
        for pack in [false, true] {
            let root = folder();
            let file = |name: &str, contents: &str| {
                if pack {
                    write(root.path().join(format!("{name}.ndjson.gz")), gzip(contents.as_bytes()));
                } else {
                    write(root.path().join(format!("{name}.ndjson")), contents);
                }
            };
            file("a", SQUARE);
            file("b", &format!("{SQUARE}\n{line}\n{SQUARE}\n"));
            let dataset = opened(root.path());
            assert_eq!(dataset.labels, [0, 1, 1, 1]);
            let error = dataset.read(2).expect_err("this line is wrong");
            assert!(matches!(&error, Error::BadImage { reason: own, .. } if own == reason), "{error}");
            assert!(error.to_string().contains(", drawing 1: "), "{error}");
            assert!(dataset.read(1).is_ok() && dataset.read(3).is_ok());
            file("b", line);
            let message = message(root.path(), root.path());
            assert!(message.ends_with(&format!(": the first line is no drawing: {reason}")), "{message}");
        }
    }
}

#[test]
fn files_without_drawings_and_broken_archives_are_named() {
    let root = folder();
    write(root.path().join("a.ndjson"), SQUARE);
    write(root.path().join("b.ndjson"), "\n \n");
    assert_eq!(message(root.path(), root.path()), "b.ndjson: holds no drawings");
    let packed = gzip(SQUARE.as_bytes());
    std::fs::remove_file(root.path().join("b.ndjson")).expect("it was written");
    write(root.path().join("b.ndjson.gz"), &packed[..packed.len() - 9]);
    assert!(message(root.path(), root.path()).starts_with("b.ndjson.gz: cannot be unpacked"));
}

#[test]
fn one_file_is_one_class() {
    let root = folder();
    write(root.path().join("cat.ndjson"), SQUARE);
    assert_eq!(
        message(root.path(), root.path()),
        "ROOT: there is only one class, `cat`: a classifier needs at least two"
    );
}

#[test]
fn white_space_that_json_does_not_know_belongs_to_no_drawing() {
    let root = folder();
    let lines = format!("\x0c{SQUARE}\n\x0c\n \x0c {SQUARE} \x0c\r\n\x0c");
    write(root.path().join("raw.ndjson"), &lines);
    write(root.path().join("packed.ndjson.gz"), gzip(lines.as_bytes()));
    let dataset = opened(root.path());
    assert_eq!(dataset.labels, [0, 0, 1, 1]);
    let first = dataset.read(0).expect("sound");
    assert!((1..4).all(|index| dataset.read(index).expect("sound") == first));
}
