//! What a pickle describes.

use std::borrow::Cow;

/// A value, borrowing its bytes from the file where it can.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer; larger ones are refused.
    Int(i128),
    /// A float.
    Float(f64),
    /// Bytes, and strings of Python 2, which do not say which they are.
    Bytes(Cow<'a, [u8]>),
    /// Text.
    Text(Cow<'a, str>),
    /// A list or a set.
    List(Vec<Value<'a>>),
    /// A tuple.
    Tuple(Vec<Value<'a>>),
    /// A dictionary, ordered or not, in the order of the file.
    Dict(Vec<(Value<'a>, Value<'a>)>),
    /// A class or function, by name.
    Global {
        /// The module it would be imported from.
        module: Cow<'a, str>,
        /// Its name there.
        name: Cow<'a, str>,
    },
    /// What a call would return. Objects that the pickle refers to but does not hold (such as the storages of
    /// PyTorch) are calls of `persistent_load` from no module.
    Object {
        /// What would be called: mostly a global.
        callable: Box<Value<'a>>,
        /// With which arguments: mostly a tuple.
        arguments: Box<Value<'a>>,
        /// What the object would be told to restore.
        state: Option<Box<Value<'a>>>,
    },
}

impl<'a> Value<'a> {
    /// The entry of a dictionary under a key of text.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        match self {
            Self::Dict(entries) => entries.iter().find(|(own, _)| own.text().as_deref() == Some(key)),
            _ => None,
        }
        .map(|(_, value)| value)
    }

    /// Text, also where Python 2 wrote it: as UTF-8 if it is, as Latin-1 otherwise.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Bytes(bytes) => Some(match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => bytes.iter().copied().map(char::from).collect(),
            }),
            _ => None,
        }
    }

    /// A whole number, however it is written.
    pub fn integer(&self) -> Option<i128> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Bool(truth) => Some((*truth).into()),
            Self::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(*number as i128),
            _ => None,
        }
    }

    /// The items of a list or tuple.
    pub fn items(&self) -> Option<&[Value<'a>]> {
        match self {
            Self::List(items) | Self::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Name and arguments of a call, where it is one of a function of this module or below.
    pub fn call_of(&self, package: &str) -> Option<(&str, &[Value<'a>])> {
        let Self::Object { callable, arguments, .. } = self else { return None };
        let Self::Global { module, name } = &**callable else { return None };
        let inside = module.strip_prefix(package)?;
        if inside.is_empty() || inside.starts_with('.') { Some((name, arguments.items()?)) } else { None }
    }
}
