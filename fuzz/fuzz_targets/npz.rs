//! The readers of `.npz` and `.npy` files on arbitrary bytes. Archives have checksums, which random changes break, so the
//! bytes are read as one array as well.
#![no_main]

use freeaugment_data::python::{Array, Elements, parse_npz};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let arrays = parse_npz(bytes).unwrap_or_default().into_iter().map(|(_, array)| array);
    for Array { shape, elements } in arrays.chain(Array::from_npy(bytes)) {
        let length = match elements {
            Elements::Bytes(values) => values.len(),
            Elements::Integers(values) => values.len(),
            Elements::Floats(values) => values.len(),
            Elements::Texts(values) => values.len(),
            _ => continue,
        };
        assert_eq!(shape.iter().product::<usize>(), length);
    }
});
