//! Arrays of NumPy, from pickles and from `.npy` files.

use super::pickle::{self, Value};
use super::quote::quote;

/// An array in C order: the last index runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// How long each dimension is; empty for a single number.
    pub shape: Vec<usize>,
    /// The values, row after row.
    pub elements: Elements,
}

/// Values of the kinds that data sets use.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Elements {
    /// Unsigned bytes.
    Bytes(Vec<u8>),
    /// All other integers, and truth values.
    Integers(Vec<i64>),
    /// Floats of 32 or 64 bits.
    Floats(Vec<f64>),
    /// Text or strings of bytes, without the zeros that pad them.
    Texts(Vec<String>),
}

/// What one element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Type {
    big_endian: bool,
    kind: char,
    /// Bytes of one element.
    size: usize,
}

impl Type {
    /// From `<i8`, or from `i8` with the order told apart.
    fn parse(text: &str, order: Option<&str>) -> Result<Self, String> {
        let unknown = || format!("arrays of type {} are not supported", quote(text));
        let bare = text.trim_start_matches(['<', '>', '|', '=']);
        let kind = bare.chars().next().ok_or_else(unknown)?;
        let digits = &bare[kind.len_utf8()..];
        let size: usize = match (kind, digits) {
            ('O', _) => 0,
            _ => digits.parse().map_err(|_| unknown())?,
        };
        // The size of text is in characters of four bytes.
        let size = if kind == 'U' { size.checked_mul(4).ok_or_else(unknown)? } else { size };
        match (kind, size) {
            ('O', _) | ('b', 1) | ('u' | 'i', 1 | 2 | 4 | 8) | ('f', 4 | 8) | ('U' | 'S', 1..) => {}
            _ => return Err(unknown()),
        }
        Ok(Self { big_endian: order.unwrap_or(text).starts_with('>'), kind, size })
    }

    fn of_pickle(value: &Value<'_>) -> Result<Self, String> {
        let (Some(("dtype", [name, ..])), Value::Object { state, .. }) = (value.call_of("numpy"), value)
        else {
            return Err("a type of array that is not supported".to_owned());
        };
        let order = state.as_ref().and_then(|state| state.items()?.get(1)?.text());
        Self::parse(&name.text().ok_or("a type of array without a name")?, order.as_deref())
    }

    /// The numbers or texts in raw bytes.
    fn decode(self, raw: &[u8]) -> Elements {
        let number = |bytes: &[u8]| {
            let append = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
            if self.big_endian { bytes.iter().fold(0, append) } else { bytes.iter().rev().fold(0, append) }
        };
        let chunks = raw.chunks_exact(self.size);
        match (self.kind, self.size) {
            ('u', 1) => Elements::Bytes(raw.to_vec()),
            ('b' | 'u', _) => Elements::Integers(chunks.map(|bytes| number(bytes) as i64).collect()),
            ('i', size) => {
                let unused = 64 - 8 * size as u32;
                let signed = |bytes: &[u8]| (number(bytes) << unused) as i64 >> unused;
                Elements::Integers(chunks.map(signed).collect())
            }
            ('f', 4) => {
                Elements::Floats(chunks.map(|bytes| f32::from_bits(number(bytes) as u32).into()).collect())
            }
            ('f', _) => Elements::Floats(chunks.map(|bytes| f64::from_bits(number(bytes))).collect()),
            ('U', _) => {
                let letter = |bytes: &[u8]| {
                    char::from_u32(number(bytes) as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
                };
                let text = |bytes: &[u8]| bytes.chunks_exact(4).map(letter).collect::<String>();
                Elements::Texts(chunks.map(|bytes| unpadded(&text(bytes))).collect())
            }
            _ => Elements::Texts(chunks.map(|bytes| unpadded(&String::from_utf8_lossy(bytes))).collect()),
        }
    }
}

fn unpadded(text: &str) -> String {
    text.trim_end_matches('\0').to_owned()
}

impl Array {
    /// Checks that the bytes are as many as the shape needs.
    fn from_raw(shape: Vec<usize>, of: Type, raw: &[u8], fortran: bool) -> Result<Self, String> {
        let count = count(&shape)?;
        if of.size == 0 || count.checked_mul(of.size) != Some(raw.len()) {
            return Err(format!(
                "an array of shape {shape:?} with {} bytes an element has {} bytes",
                of.size,
                raw.len()
            ));
        }
        // An empty array may have sizes that no other could have.
        let raw = if fortran && shape.len() > 1 && !raw.is_empty() {
            &in_c_order(&shape, of.size, raw)
        } else {
            raw
        };
        Ok(Self { shape, elements: of.decode(raw) })
    }

    /// From a pickled array.
    pub(super) fn from_pickle(value: &Value<'_>) -> Result<Self, String> {
        let unknown = || "an array of NumPy is expected".to_owned();
        // Protocol 5 has the contents as an argument, the others as a state.
        let (shape, of, contents, fortran) = match (value.call_of("numpy").ok_or_else(unknown)?, value) {
            (("_frombuffer", [contents, of, shape, order]), _) => {
                (shape, of, contents, order.text().as_deref() == Some("F"))
            }
            (("_reconstruct", _), Value::Object { state: Some(state), .. }) => match state.items() {
                Some([_, shape, of, fortran, contents]) => {
                    (shape, of, contents, fortran.integer().is_some_and(|truth| truth != 0))
                }
                _ => return Err(unknown()),
            },
            _ => return Err(unknown()),
        };
        let shape = shape
            .items()
            .and_then(|sizes| {
                sizes.iter().map(|size| usize::try_from(size.integer()?).ok()).collect::<Option<Vec<_>>>()
            })
            .ok_or("an array without a shape")?;
        let of = Type::of_pickle(of)?;
        match contents {
            Value::Bytes(raw) => Self::from_raw(shape, of, raw, fortran),
            // In an array of objects the objects are a list.
            Value::List(items) if of.kind == 'O' && count(&shape)? == items.len() => {
                let texts = items.iter().map(|item| item.text().map(std::borrow::Cow::into_owned));
                let texts =
                    texts.collect::<Option<_>>().ok_or("an array of objects that are not all texts")?;
                Ok(Self { shape, elements: Elements::Texts(texts) })
            }
            _ => Err(format!("an array of shape {shape:?} without contents")),
        }
    }

    /// From the contents of a `.npy` file; the error says what is wrong.
    pub fn from_npy(bytes: &[u8]) -> Result<Self, String> {
        let cut = || "the .npy data is cut short".to_owned();
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("it does not begin as .npy data does")?;
        let (&[version, _], rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let bytes_of_length = if version == 1 { 2 } else { 4 };
        let (length, rest) = rest.split_at_checked(bytes_of_length).ok_or_else(cut)?;
        let length = length.iter().rev().fold(0_usize, |number, &byte| number << 8 | usize::from(byte));
        let (header, contents) = rest.split_at_checked(length).ok_or_else(cut)?;
        let header = String::from_utf8_lossy(header);
        let bad = || format!("a bad .npy header: {}", quote(&header));
        let after = |key: &str| header.split_once(key).map(|(_, after)| after.trim_start_matches([' ', ':']));

        let of = after("'descr'")
            .and_then(|after| after.strip_prefix('\'')?.split('\'').next())
            .ok_or_else(bad)?;
        let of = Type::parse(of, None)?;
        let fortran = after("'fortran_order'").ok_or_else(bad)?.starts_with("True");
        let shape = after("'shape'")
            .and_then(|after| after.strip_prefix('(')?.split(')').next())
            .and_then(|sizes| {
                let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
                sizes.map(|size| size.parse().ok()).collect::<Option<Vec<usize>>>()
            })
            .ok_or_else(bad)?;
        if of.kind == 'O' {
            return Self::from_pickle(&pickle::parse(contents)?);
        }
        Self::from_raw(shape, of, contents, fortran)
    }
}

/// A whole number, also where NumPy wrote it as a scalar of its own.
pub(super) fn integer(value: &Value<'_>) -> Option<i128> {
    if let Some(("scalar", [of, Value::Bytes(raw)])) = value.call_of("numpy") {
        let of = Type::of_pickle(of).ok().filter(|of| of.size == raw.len() && of.size > 0)?;
        return match of.decode(raw) {
            Elements::Bytes(numbers) => numbers.first().map(|&number| number.into()),
            Elements::Integers(numbers) => numbers.first().map(|&number| number.into()),
            Elements::Floats(numbers) => numbers.first().and_then(|&number| Value::Float(number).integer()),
            Elements::Texts(_) => None,
        };
    }
    value.integer()
}

/// The whole numbers of a list, a tuple or an array.
pub(super) fn integers(value: &Value<'_>) -> Option<Vec<i128>> {
    if let Some(items) = value.items() {
        return items.iter().map(integer).collect();
    }
    match Array::from_pickle(value).ok()?.elements {
        Elements::Bytes(numbers) => Some(numbers.into_iter().map(i128::from).collect()),
        Elements::Integers(numbers) => Some(numbers.into_iter().map(i128::from).collect()),
        Elements::Floats(numbers) => {
            numbers.into_iter().map(|number| Value::Float(number).integer()).collect()
        }
        Elements::Texts(_) => None,
    }
}

fn count(shape: &[usize]) -> Result<usize, String> {
    shape
        .iter()
        .try_fold(1_usize, |product, &size| product.checked_mul(size))
        .ok_or_else(|| format!("an array of the impossible shape {shape:?}"))
}

/// The bytes of an array whose first index runs fastest, reordered so that the last does.
fn in_c_order(shape: &[usize], size: usize, raw: &[u8]) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = size;
    for &length in shape {
        strides.push(stride);
        stride *= length;
    }
    let mut ordered = Vec::with_capacity(raw.len());
    let mut index = vec![0; shape.len()];
    while ordered.len() < raw.len() {
        let at: usize = index.iter().zip(&strides).map(|(&index, &stride): (&usize, _)| index * stride).sum();
        ordered.extend_from_slice(&raw[at..at + size]);
        for (place, &length) in index.iter_mut().zip(shape).rev() {
            *place += 1;
            if *place < length {
                break;
            }
            *place = 0;
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICKLES: [&[u8]; 6] = [
        include_bytes!("../../tests/fixtures/numpy_0.pickle"),
        include_bytes!("../../tests/fixtures/numpy_1.pickle"),
        include_bytes!("../../tests/fixtures/numpy_2.pickle"),
        include_bytes!("../../tests/fixtures/numpy_3.pickle"),
        include_bytes!("../../tests/fixtures/numpy_4.pickle"),
        include_bytes!("../../tests/fixtures/numpy_5.pickle"),
    ];

    #[test]
    fn arrays_are_the_same_in_every_protocol() {
        for bytes in PICKLES {
            let value = pickle::parse(bytes).expect("the fixture is sound");
            let array = |key: &str| {
                Array::from_pickle(value.get(key).expect("the entry is there")).expect("the array is sound")
            };
            let expected = |shape: &[usize], elements| Array { shape: shape.to_vec(), elements };
            assert_eq!(array("numbers"), expected(&[2, 2], Elements::Integers(vec![1, -2, 3, 4])));
            assert_eq!(array("floats"), expected(&[2], Elements::Floats(vec![0.5, -2.0])));
            assert_eq!(array("bytes"), expected(&[2, 3], Elements::Bytes(vec![1, 2, 3, 4, 5, 6])));
            assert_eq!(array("turned"), array("bytes"));
            assert_eq!(array("names"), expected(&[2], Elements::Texts(vec!["a".into(), "bc".into()])));
            assert_eq!(value.get("labels").and_then(integers), Some(vec![7, 8, 1]));
            assert_eq!(value.get("nothing"), Some(&Value::Bytes((&[]).into())));
        }
    }

    fn npy(header: &str, contents: &[u8]) -> Vec<u8> {
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), contents].concat()
    }

    #[test]
    fn files_of_arrays_are_read() {
        let bytes = npy(
            "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }\n",
            &[1, 0, 255, 255, 3, 0, 4, 0],
        );
        let expected = Array { shape: vec![2, 2], elements: Elements::Integers(vec![1, 3, -1, 4]) };
        assert_eq!(Array::from_npy(&bytes), Ok(expected));
        let bytes = npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }\n", b"ab\0cde");
        let expected = Array { shape: vec![2], elements: Elements::Texts(vec!["ab".into(), "cde".into()]) };
        assert_eq!(Array::from_npy(&bytes), Ok(expected));
    }

    #[test]
    fn an_empty_array_may_have_any_sizes() {
        let largest = usize::MAX;
        let header = format!("{{'descr': '<i8', 'fortran_order': True, 'shape': ({largest}, 0, 3), }}\n");
        let expected = Array { shape: vec![largest, 0, 3], elements: Elements::Integers(Vec::new()) };
        assert_eq!(Array::from_npy(&npy(&header, &[])), Ok(expected));
    }

    #[test]
    fn headers_of_files_are_not_believed() {
        let refused = |descr: &str, shape: &str| {
            let header = format!("{{'descr': '{descr}', 'fortran_order': True, 'shape': ({shape}), }}\n");
            Array::from_npy(&npy(&header, &[0; 8])).expect_err("the header is wrong")
        };
        assert_eq!(refused("<i8", "3,"), "an array of shape [3] with 8 bytes an element has 8 bytes");
        assert_eq!(refused("<c16", "1,"), "arrays of type `<c16` are not supported");
        assert_eq!(refused("|S0", "99999999999,"), "arrays of type `|S0` are not supported");
        let largest = usize::MAX;
        assert_eq!(
            refused("<i8", &format!("{largest}, 2")),
            format!("an array of the impossible shape [{largest}, 2]")
        );
        assert!(refused("<i8", "x").starts_with("a bad .npy header: `{'descr': "));
        assert_eq!(
            Array::from_npy(b"\x93NUMPY\x01\x00\xff\xff"),
            Err("the .npy data is cut short".to_owned())
        );
    }
}
