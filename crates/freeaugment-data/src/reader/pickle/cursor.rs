//! Reading a pickle's bytes without ever running past them.

use std::borrow::Cow;

use crate::reader::quote::quote;

#[derive(Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes have been read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or_else(|| {
            format!(
                "the pickle is cut short at byte {}: {length} more bytes are needed, {} are there",
                self.at,
                rest.len()
            )
        })?;
        self.at += length;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    /// A little-endian number of so many bytes, at most 8.
    pub(super) fn unsigned(&mut self, bytes: usize) -> Result<u64, String> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// So many bytes as the number before them says.
    pub(super) fn counted(&mut self, bytes_of_length: usize) -> Result<&'a [u8], String> {
        let length = self.unsigned(bytes_of_length)?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    pub(super) fn counted_text(&mut self, bytes_of_length: usize) -> Result<Cow<'a, str>, String> {
        let bytes = self.counted(bytes_of_length)?;
        // Python writes lone surrogates, which are not text anywhere else.
        Ok(String::from_utf8_lossy(bytes))
    }

    /// A signed number of any length.
    pub(super) fn long(&mut self, bytes_of_length: usize) -> Result<i128, String> {
        let bytes = self.counted(bytes_of_length)?;
        if bytes.len() > size_of::<i128>() {
            return Err(format!(
                "an integer of {} bytes, at most {} are allowed",
                bytes.len(),
                size_of::<i128>()
            ));
        }
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let start = if negative { -1 } else { 0 };
        Ok(bytes.iter().rev().fold(start, |number: i128, &byte| number << 8 | i128::from(byte)))
    }

    /// The rest of the line, without its end.
    pub(super) fn line(&mut self) -> Result<&'a [u8], String> {
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or_else(|| format!("the pickle is cut short at byte {}: a line has no end", self.at))?;
        self.at += length + 1;
        let line = &rest[..length];
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }

    pub(super) fn text_line(&mut self) -> Result<Cow<'a, str>, String> {
        self.line().map(String::from_utf8_lossy)
    }

    /// A number written in decimal, alone on its line.
    pub(super) fn number_line<T: std::str::FromStr>(&mut self) -> Result<T, String> {
        let line = self.text_line()?;
        line.trim_end_matches('L').parse().map_err(|_| format!("{} is not a number", quote(&line)))
    }
}

/// The bytes between the quotes of a Python string literal.
pub(super) fn unquote(line: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let ([b'\'', inside @ .., b'\''] | [b'"', inside @ .., b'"']) = line else {
        return Err("a string without quotes".to_owned());
    };
    if !inside.contains(&b'\\') {
        return Ok(Cow::Borrowed(inside));
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(inside.len()), inside.iter().copied());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(same @ (b'\\' | b'\'' | b'"')) => same,
            Some(b'x') => {
                let digit = |digit: Option<u8>| char::from(digit?).to_digit(16);
                let (high, low) = (digit(rest.next()), digit(rest.next()));
                high.zip(low).map(|(high, low)| (high * 16 + low) as u8).ok_or("a bad escape in a string")?
            }
            _ => return Err("a bad escape in a string".to_owned()),
        });
    }
    Ok(Cow::Owned(bytes))
}

/// Text in which Python wrote what is not Latin-1, and line ends, as `\uXXXX`.
pub(super) fn unescape_unicode(line: &[u8]) -> Result<String, String> {
    let (mut text, mut rest) = (String::with_capacity(line.len()), line);
    while let Some((&byte, after)) = rest.split_first() {
        let digits = match (byte, after.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(byte));
                rest = after;
                continue;
            }
        };
        let code = after
            .get(1..=digits)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or("a bad escape in a text")?;
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &after[1 + digits..];
    }
    Ok(text)
}
