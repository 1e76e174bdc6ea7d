//! How much a pickle may take.

use std::borrow::Cow;

use super::value::Value;

/// A pickle can refer to one value many times, so that a small file describes a huge tree. A data set or a
/// network needs far fewer values than this.
pub(super) const MOST_VALUES: usize = 10_000_000;
/// Bytes that are not borrowed from the file, over all values.
const MOST_BYTES: usize = 1 << 30;

/// Counts what a pickle takes, and says when that is too much.
#[derive(Debug, Default)]
pub(super) struct Budget {
    values: usize,
    bytes: usize,
}

impl Budget {
    pub(super) fn spend(&mut self, value: Option<&Value<'_>>) -> Result<(), String> {
        let own = |text: &Cow<'_, str>| if let Cow::Owned(text) = text { text.len() } else { 0 };
        self.values += 1;
        self.bytes += match value {
            Some(Value::Bytes(Cow::Owned(bytes))) => bytes.len(),
            Some(Value::Text(text)) => own(text),
            Some(Value::Global { module, name }) => own(module) + own(name),
            _ => 0,
        };
        if self.values > MOST_VALUES {
            return Err(format!("the pickle has more than {MOST_VALUES} values"));
        }
        if self.bytes > MOST_BYTES {
            return Err(format!("the pickle takes more than {MOST_BYTES} bytes"));
        }
        Ok(())
    }
}
