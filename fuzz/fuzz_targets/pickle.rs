//! The reader of pickles on arbitrary bytes: it answers, and the value can be asked everything.
#![no_main]

use freeaugment_data::python::{Value, parse_pickle};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = parse_pickle(bytes) {
        ask(&value);
    }
});

fn ask(value: &Value<'_>) {
    let _ = (value.text(), value.integer(), value.get("data"), value.call_of("numpy"));
    if let Value::Dict(entries) = value {
        entries.iter().for_each(|(key, value)| {
            ask(key);
            ask(value);
        });
    }
    value.items().into_iter().flatten().for_each(ask);
}
