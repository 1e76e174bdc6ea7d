//! Events as protocol buffers: the few fields of `Event`, `Summary`, `Image`, `HistogramProto` and `SessionLog` that are needed, by
//! the numbers they have in TensorFlow's definitions.

/// A message that is being written, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    fn whole(mut self, field: u64, value: u64) -> Self {
        self.key(field, 0);
        self.varint(value);
        self
    }

    fn double(mut self, field: u64, value: f64) -> Self {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn float(mut self, field: u64, value: f32) -> Self {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn piece(mut self, field: u64, bytes: &[u8]) -> Self {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn doubles(self, field: u64, values: &[f64]) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.piece(field, &bytes)
    }
}

fn event(time: f64, step: u64) -> Message {
    Message::default().double(1, time).whole(2, step)
}

/// The first event of every file.
pub(super) fn version(time: f64) -> Message {
    event(time, 0).piece(3, b"brain.Event:2")
}

/// What was told before of this step and later ones is void.
pub(super) fn start(time: f64, step: u64) -> Message {
    const START: u64 = 1;
    event(time, step).piece(7, Message::default().whole(1, START).bytes())
}

/// What there is to see of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Charts(Message);

impl Charts {
    /// A number.
    pub(super) fn scalar(&mut self, tag: &str, value: f64) {
        self.value(&Message::default().piece(1, tag.as_bytes()).float(2, value as f32));
    }

    /// A number, where it is known.
    pub(super) fn maybe(&mut self, tag: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.scalar(tag, value);
        }
    }

    /// The probabilities of 0, 1, 2…, each a bar of width 1 around its number.
    pub(super) fn distribution(&mut self, tag: &str, shares: &[f64]) {
        let limits: Vec<f64> = (0..shares.len()).map(|at| at as f64 + 0.5).collect();
        let moment =
            |power| shares.iter().enumerate().map(|(at, share)| share * (at as f64).powi(power)).sum();
        let histogram = Message::default()
            .double(1, -0.5)
            .double(2, shares.len() as f64 - 0.5)
            .double(3, shares.iter().sum())
            .double(4, moment(1))
            .double(5, moment(2))
            .doubles(6, &limits)
            .doubles(7, shares);
        self.value(&Message::default().piece(1, tag.as_bytes()).piece(5, histogram.bytes()));
    }

    /// A picture: the bytes of a PNG file, of which the header says how large it is.
    pub(super) fn image(&mut self, tag: &str, png: &[u8]) {
        const COLOURS: u64 = 3;
        let length = |at: usize| {
            let bytes = png.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_be_bytes).into()
        };
        let (width, height) = (length(16), length(20));
        let image = Message::default().whole(1, height).whole(2, width).whole(3, COLOURS).piece(4, png);
        self.value(&Message::default().piece(1, tag.as_bytes()).piece(4, image.bytes()));
    }

    fn value(&mut self, value: &Message) {
        self.0 = std::mem::take(&mut self.0).piece(1, value.bytes());
    }

    pub(super) fn event(&self, time: f64, step: u64) -> Message {
        event(time, step).piece(5, self.0.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_protocol_buffers_want_them() {
        // The example of the encoding's documentation: field 1, 150.
        assert_eq!(Message::default().whole(1, 150).bytes(), [0x08, 0x96, 0x01]);
        // And field 2, "testing".
        assert_eq!(Message::default().piece(2, b"testing").bytes(), b"\x12\x07testing");
        assert_eq!(Message::default().double(1, 1.0).bytes(), [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(Message::default().float(2, 1.0).bytes(), [0x15, 0, 0, 0x80, 0x3f]);
    }
}
