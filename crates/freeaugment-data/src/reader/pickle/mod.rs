//! Python pickles, read as plain data.
//!
//! A pickle is a program for a small stack machine which may import and call anything. Nothing is called here:
//! what the program would have built is described by a [`Value`], and calls stay calls ([`Value::Object`]) that
//! the reader of a particular file may recognise. Memory and nesting are bounded whatever the file says.

mod budget;
mod cursor;
mod machine;
mod value;

pub use value::Value;

/// What a pickle describes. Bytes after its end are not looked at.
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, String> {
    machine::Machine::new(bytes).run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plain_value_is_read() {
        let parsed = |bytes: &'static [u8]| parse(bytes).expect("a sound pickle");
        assert_eq!(parsed(b"N."), Value::None);
        assert_eq!(parsed(b"I01\n."), Value::Bool(true));
        assert_eq!(parsed(b"I-12\n."), Value::Int(-12));
        assert_eq!(parsed(b"L-5L\n."), Value::Int(-5));
        assert_eq!(parsed(b"\x80\x02J\xfe\xff\xff\xff."), Value::Int(-2));
        assert_eq!(parsed(b"\x80\x02\x8a\x02\x00\xff."), Value::Int(-256));
        // The number that files of PyTorch begin with.
        let magic = parsed(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.");
        assert_eq!(magic, Value::Int(0x1950_a86a_20f9_469c_fc6c));
        assert_eq!(parsed(b"F1.5\n."), Value::Float(1.5));
        assert_eq!(parsed(b"G\xbf\xf8\0\0\0\0\0\0."), Value::Float(-1.5));
        assert_eq!(parsed(b"S'a\\x41\\n\\''\n."), Value::Bytes(b"aA\n'".into()));
        assert_eq!(parsed(b"V\xe9\\u20ac\n."), Value::Text("é€".into()));
        assert_eq!(parsed(b"(K\x01K\x02t."), Value::Tuple(vec![Value::Int(1), Value::Int(2)]));
        assert_eq!(parsed(b"(K\x01K\x02d."), Value::Dict(vec![(Value::Int(1), Value::Int(2))]));
    }

    #[test]
    fn a_container_that_is_filled_later_is_full_wherever_it_is_referred_to() {
        // The list is stored while empty, put into a tuple twice, and has an item appended in between.
        let value = parse(b"]q\x00K\x07ah\x00\x86.").expect("a sound pickle");
        let list = Value::List(vec![Value::Int(7)]);
        assert_eq!(value, Value::Tuple(vec![list.clone(), list]));
    }

    #[test]
    fn calls_stay_calls_and_ordered_dictionaries_are_dictionaries() {
        let value = parse(b"\x80\x02cos\nsystem\nX\x04\0\0\0exit\x85R.").expect("a sound pickle");
        let global = Value::Global { module: "os".into(), name: "system".into() };
        let arguments = Value::Tuple(vec![Value::Text("exit".into())]);
        let call = Value::Object { callable: global.into(), arguments: arguments.into(), state: None };
        assert_eq!(value, call);

        let value =
            parse(b"\x80\x02ccollections\nOrderedDict\n)R(X\x01\0\0\0aU\x01bQu}b.").expect("a sound pickle");
        let stored = value.get("a").expect("the entry is there");
        assert_eq!(stored.call_of(""), Some(("persistent_load", &[Value::Bytes(b"b".into())][..])));
    }
}
