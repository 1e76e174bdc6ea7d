//! The stack machine that pickles are programs for, without the calls.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::budget::{Budget, MOST_VALUES};
use super::cursor::{Cursor, unescape_unicode, unquote};
use super::value::Value;

const DEEPEST: usize = 200;

/// A value in the making: containers may still be filled after others refer to them, so these refer by place.
#[derive(Debug)]
enum Node<'a> {
    /// What needs nothing else.
    Plain(Value<'a>),
    List(Vec<usize>),
    Tuple(Vec<usize>),
    Dict(Vec<(usize, usize)>),
    Object {
        callable: usize,
        arguments: usize,
        state: Option<usize>,
    },
}

impl<'a> Node<'a> {
    fn plain(&self) -> Option<&Value<'a>> {
        match self {
            Self::Plain(value) => Some(value),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Machine<'a> {
    cursor: Cursor<'a>,
    nodes: Vec<Node<'a>>,
    stack: Vec<usize>,
    marks: Vec<usize>,
    memo: BTreeMap<u64, usize>,
    budget: Budget,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            cursor: Cursor::new(bytes),
            nodes: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: BTreeMap::new(),
            budget: Budget::default(),
        }
    }

    pub(super) fn run(mut self) -> Result<Value<'a>, String> {
        loop {
            let at = self.cursor.position();
            let opcode = self.cursor.byte()?;
            if opcode == b'.' {
                let root = self.pop()?;
                return self.value(root, DEEPEST, &mut Budget::default());
            }
            self.step(opcode).map_err(|reason| {
                let shown = if opcode.is_ascii_graphic() {
                    format!("`{}`", char::from(opcode))
                } else {
                    format!("{opcode:#04x}")
                };
                format!("pickle opcode {shown} at byte {at}: {reason}")
            })?;
        }
    }

    fn step(&mut self, opcode: u8) -> Result<(), String> {
        match opcode {
            // Protocol and frame length say nothing that the opcodes do not.
            0x80 => self.cursor.take(1).map(drop),
            0x95 => self.cursor.take(8).map(drop),
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'0' if self.marks.last() == Some(&self.stack.len()) => self.pop_marked().map(drop),
            b'0' => self.pop().map(drop),
            b'1' => self.pop_marked().map(drop),
            b'2' => {
                let top = self.top()?;
                self.push_again(top)
            }
            b'p' | b'q' | b'r' | 0x94 | b'g' | b'h' | b'j' => self.memory(opcode),
            b'N' | 0x88 | 0x89 | b'I' | b'J' | b'K' | b'M' | b'L' | 0x8a | 0x8b | b'F' | b'G' => {
                self.number(opcode)
            }
            b'S' | b'T' | b'U' | b'B' | b'C' | 0x8e | 0x96 | b'V' | b'X' | 0x8c | 0x8d => self.string(opcode),
            b']' | b'l' | b'a' | b'e' | 0x8f | 0x90 | 0x91 | b')' | b't' | 0x85..=0x87 => {
                self.sequence(opcode)
            }
            b'}' | b'd' | b's' | b'u' => self.dictionary(opcode),
            b'c' | 0x93 | b'R' | 0x81 | 0x92 | b'i' | b'o' | b'b' | b'P' | b'Q' => self.call(opcode),
            _ => Err("it is not supported, or this is no pickle".to_owned()),
        }
    }

    fn memory(&mut self, opcode: u8) -> Result<(), String> {
        let key = match opcode {
            b'p' | b'g' => self.cursor.number_line()?,
            b'q' | b'h' => self.cursor.unsigned(1)?,
            b'r' | b'j' => self.cursor.unsigned(4)?,
            _ => self.memo.len() as u64,
        };
        if matches!(opcode, b'g' | b'h' | b'j') {
            let node = *self.memo.get(&key).ok_or_else(|| format!("nothing was stored as {key}"))?;
            return self.push_again(node);
        }
        let top = self.top()?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn number(&mut self, opcode: u8) -> Result<(), String> {
        let value = match opcode {
            b'N' => Value::None,
            0x88 | 0x89 => Value::Bool(opcode == 0x88),
            b'I' => match self.cursor.text_line()?.as_ref() {
                "00" => Value::Bool(false),
                "01" => Value::Bool(true),
                line => Value::Int(line.parse().map_err(|_| "what follows is not a number")?),
            },
            b'J' => Value::Int((self.cursor.unsigned(4)? as u32 as i32).into()),
            b'K' => Value::Int(self.cursor.unsigned(1)?.into()),
            b'M' => Value::Int(self.cursor.unsigned(2)?.into()),
            b'L' => Value::Int(self.cursor.number_line()?),
            0x8a => Value::Int(self.cursor.long(1)?),
            0x8b => Value::Int(self.cursor.long(4)?),
            b'F' => Value::Float(self.cursor.number_line()?),
            // The one number that is big-endian.
            _ => Value::Float(f64::from_bits(self.cursor.unsigned(8)?.swap_bytes())),
        };
        self.push(Node::Plain(value))
    }

    fn string(&mut self, opcode: u8) -> Result<(), String> {
        let value = match opcode {
            b'S' => Value::Bytes(unquote(self.cursor.line()?)?),
            b'U' | b'C' => Value::Bytes(self.cursor.counted(1)?.into()),
            b'T' | b'B' => Value::Bytes(self.cursor.counted(4)?.into()),
            0x8e | 0x96 => Value::Bytes(self.cursor.counted(8)?.into()),
            b'V' => Value::Text(unescape_unicode(self.cursor.line()?)?.into()),
            0x8c => Value::Text(self.cursor.counted_text(1)?),
            b'X' => Value::Text(self.cursor.counted_text(4)?),
            _ => Value::Text(self.cursor.counted_text(8)?),
        };
        self.push(Node::Plain(value))
    }

    fn sequence(&mut self, opcode: u8) -> Result<(), String> {
        let node = match opcode {
            b']' | 0x8f => Node::List(Vec::new()),
            b')' => Node::Tuple(Vec::new()),
            b'l' | 0x91 => Node::List(self.pop_marked()?),
            b't' => Node::Tuple(self.pop_marked()?),
            0x85..=0x87 => {
                let length = usize::from(opcode - 0x84);
                let first = self.stack.len().checked_sub(length).filter(|&first| first >= self.floor());
                Node::Tuple(self.stack.split_off(first.ok_or("the stack is empty")?))
            }
            _ => {
                let items = if opcode == b'a' { vec![self.pop()?] } else { self.pop_marked()? };
                let top = self.top()?;
                let Node::List(list) = &mut self.nodes[top] else {
                    return Err("it appends to what is no list".to_owned());
                };
                list.extend(items);
                return Ok(());
            }
        };
        self.push(node)
    }

    fn dictionary(&mut self, opcode: u8) -> Result<(), String> {
        let items = match opcode {
            b'}' => Vec::new(),
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                vec![key, value]
            }
            _ => self.pop_marked()?,
        };
        let (pairs, []) = items.as_chunks::<2>() else {
            return Err("a key without a value".to_owned());
        };
        let entries = pairs.iter().map(|&[key, value]| (key, value));
        if matches!(opcode, b'}' | b'd') {
            let entries = entries.collect();
            return self.push(Node::Dict(entries));
        }
        let top = self.top()?;
        match &mut self.nodes[top] {
            Node::Dict(own) => own.extend(entries),
            _ => return Err("it sets an item of what is no dictionary".to_owned()),
        }
        Ok(())
    }

    fn call(&mut self, opcode: u8) -> Result<(), String> {
        match opcode {
            b'c' => {
                let (module, name) = (self.cursor.text_line()?, self.cursor.text_line()?);
                self.push(Node::Plain(Value::Global { module, name }))
            }
            0x93 => {
                let (name, module) = (self.pop_text()?, self.pop_text()?);
                self.push(Node::Plain(Value::Global { module, name }))
            }
            b'R' | 0x81 => {
                let (arguments, callable) = (self.pop()?, self.pop()?);
                self.push_call(callable, arguments)
            }
            0x92 => {
                // Arguments with names have no place in a value; nothing that is read here has any.
                let (names, arguments, callable) = (self.pop()?, self.pop()?, self.pop()?);
                match &self.nodes[names] {
                    Node::Dict(entries) if entries.is_empty() => self.push_call(callable, arguments),
                    _ => Err("arguments with names are not supported".to_owned()),
                }
            }
            b'i' => {
                let (module, name) = (self.cursor.text_line()?, self.cursor.text_line()?);
                let items = self.pop_marked()?;
                self.push_call_of(module, name, items)
            }
            b'o' => {
                let mut items = self.pop_marked()?.into_iter();
                let callable = items.next().ok_or("there is nothing to call")?;
                let arguments = self.add(Node::Tuple(items.collect()))?;
                self.push_call(callable, arguments)
            }
            b'P' => {
                let line = Value::Text(self.cursor.text_line()?);
                let id = self.add(Node::Plain(line))?;
                self.push_call_of("".into(), "persistent_load".into(), vec![id])
            }
            b'Q' => {
                let id = self.pop()?;
                self.push_call_of("".into(), "persistent_load".into(), vec![id])
            }
            _ => {
                let (given, top) = (self.pop()?, self.top()?);
                match &mut self.nodes[top] {
                    Node::Object { state, .. } => *state = Some(given),
                    // Attributes of a dictionary, such as PyTorch's versions, are not its entries.
                    Node::Dict(_) => {}
                    _ => return Err("it restores what is no object".to_owned()),
                }
                Ok(())
            }
        }
    }

    fn push_call_of(
        &mut self,
        module: Cow<'a, str>,
        name: Cow<'a, str>,
        items: Vec<usize>,
    ) -> Result<(), String> {
        let callable = self.add(Node::Plain(Value::Global { module, name }))?;
        let arguments = self.add(Node::Tuple(items))?;
        self.push_call(callable, arguments)
    }

    /// Pushes a call, or what it returns for the few calls that stand for plain data.
    fn push_call(&mut self, callable: usize, arguments: usize) -> Result<(), String> {
        if let (Node::Plain(Value::Global { module, name }), Node::Tuple(items)) =
            (&self.nodes[callable], &self.nodes[arguments])
        {
            let plain = |at: usize| self.nodes[at].plain();
            match (module.as_ref(), name.as_ref(), items.as_slice()) {
                ("collections", "OrderedDict", []) => return self.push(Node::Dict(Vec::new())),
                ("__builtin__" | "builtins", "bytes", []) => {
                    return self.push(Node::Plain(Value::Bytes(Cow::Borrowed(&[]))));
                }
                // How Python 3 writes bytes for Python 2.
                ("_codecs", "encode", &[text, encoding]) => {
                    if let (Some(Value::Text(text)), Some(Value::Text(encoding))) =
                        (plain(text), plain(encoding))
                        && ["latin1", "latin-1"].contains(&encoding.as_ref())
                    {
                        let bytes = text.chars().map(u8::try_from).collect::<Result<Vec<_>, _>>();
                        let bytes = bytes.map_err(|_| "bytes written as text that is not Latin-1")?;
                        return self.push(Node::Plain(Value::Bytes(bytes.into())));
                    }
                }
                _ => {}
            }
        }
        self.push(Node::Object { callable, arguments, state: None })
    }

    fn add(&mut self, node: Node<'a>) -> Result<usize, String> {
        self.budget.spend(node.plain())?;
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn push(&mut self, node: Node<'a>) -> Result<(), String> {
        let place = self.add(node)?;
        self.push_again(place)
    }

    fn push_again(&mut self, place: usize) -> Result<(), String> {
        if self.stack.len() >= MOST_VALUES {
            return Err(format!("the pickle has more than {MOST_VALUES} values"));
        }
        self.stack.push(place);
        Ok(())
    }

    /// How far down the stack may be popped: to the last mark.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Result<usize, String> {
        let top = self.stack.last().copied().filter(|_| self.stack.len() > self.floor());
        top.ok_or_else(|| "the stack is empty".to_owned())
    }

    fn pop(&mut self) -> Result<usize, String> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_text(&mut self) -> Result<Cow<'a, str>, String> {
        let top = self.pop()?;
        match &self.nodes[top] {
            Node::Plain(Value::Text(text)) => Ok(text.clone()),
            _ => Err("the name of a global is no text".to_owned()),
        }
    }

    fn pop_marked(&mut self) -> Result<Vec<usize>, String> {
        let mark = self.marks.pop().ok_or("there is no mark on the stack")?;
        Ok(self.stack.split_off(mark))
    }

    /// The finished tree below a node. `budget` bounds its size, `depth` its nesting, and with it cycles.
    fn value(&self, at: usize, depth: usize, budget: &mut Budget) -> Result<Value<'a>, String> {
        let deeper = depth.checked_sub(1).ok_or("the pickle is nested too deeply or in a circle")?;
        budget.spend(self.nodes[at].plain())?;
        let mut all = |places: &[usize]| {
            places.iter().map(|&place| self.value(place, deeper, budget)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match &self.nodes[at] {
            Node::Plain(value) => value.clone(),
            Node::List(places) => Value::List(all(places)?),
            Node::Tuple(places) => Value::Tuple(all(places)?),
            Node::Dict(entries) => Value::Dict(
                entries
                    .iter()
                    .map(|&(key, value)| {
                        Ok((self.value(key, deeper, budget)?, self.value(value, deeper, budget)?))
                    })
                    .collect::<Result<_, String>>()?,
            ),
            &Node::Object { callable, arguments, state } => Value::Object {
                callable: Box::new(self.value(callable, deeper, budget)?),
                arguments: Box::new(self.value(arguments, deeper, budget)?),
                state: state.map(|state| self.value(state, deeper, budget).map(Box::new)).transpose()?,
            },
        })
    }
}
