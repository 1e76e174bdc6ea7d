//! Values of expressions that are plain data: literals, names of such, sums of lists, and named tuples.

use std::collections::{BTreeMap, BTreeSet};

use super::token::{Token, start_of};

/// Brackets within brackets. The files of all authors have three.
const DEEPEST: usize = 50;
/// Values in all: names can make a small file describe a huge list.
const MOST_VALUES: usize = 2_000_000;

/// Plain data.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::published) enum Value {
    Number(f64),
    Text(String),
    /// `None` or a truth value.
    Word,
    /// A list, a tuple, a set, or the fields of a named tuple.
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
}

impl Value {
    pub(in crate::published) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub(in crate::published) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(in crate::published) fn items(&self) -> Option<&[Value]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// The entry of a dictionary.
    pub(in crate::published) fn get(&self, key: &str) -> Option<&Value> {
        let Self::Dict(entries) = self else { return None };
        entries.iter().find(|(own, _)| own.text() == Some(key)).map(|(_, value)| value)
    }

    /// Lists within lists of numbers.
    pub(in crate::published) fn numbers(&self) -> Option<Vec<f64>> {
        self.items()?.iter().map(Self::number).collect()
    }

    /// How many values it is made of; long texts count more.
    pub(super) fn count(&self) -> usize {
        1 + match self {
            Self::Text(text) => text.len() / 16,
            Self::List(items) => items.iter().map(Self::count).sum(),
            Self::Dict(entries) => entries.iter().map(|(key, value)| key.count() + value.count()).sum(),
            _ => 0,
        }
    }
}

/// What a name stands for, or why that is not known.
pub(super) type Scope = BTreeMap<String, Result<Value, String>>;

/// Evaluates the expressions of one file.
#[derive(Debug, Default)]
pub(super) struct Evaluator {
    /// Classes that hold their arguments and do nothing else.
    pub(super) named_tuples: BTreeSet<String>,
    used: usize,
}

impl Evaluator {
    /// The value of an expression; names are looked up in the first scope that has them.
    pub(super) fn value(&mut self, tokens: &[Token<'_>], scopes: &[&Scope]) -> Result<Value, String> {
        let mut parser = Parser { evaluator: self, tokens, scopes };
        let value = parser.sum(DEEPEST)?;
        match parser.tokens.first() {
            None => Ok(value),
            Some(token) => Err(not_data(token)),
        }
    }

    /// The value of an expression that gets so many names.
    pub(super) fn shared(
        &mut self,
        tokens: &[Token<'_>],
        scopes: &[&Scope],
        names: usize,
    ) -> Result<Value, String> {
        let value = self.value(tokens, scopes)?;
        self.spend(value.count().saturating_mul(names))?;
        Ok(value)
    }

    fn spend(&mut self, values: usize) -> Result<(), String> {
        self.used = self.used.saturating_add(values);
        if self.used > MOST_VALUES { Err(format!("it has more than {MOST_VALUES} values")) } else { Ok(()) }
    }
}

struct Parser<'a> {
    evaluator: &'a mut Evaluator,
    tokens: &'a [Token<'a>],
    scopes: &'a [&'a Scope],
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn skip(&mut self, sign: char) -> bool {
        let found = self.tokens.first() == Some(&Token::Sign(sign));
        if found {
            self.next();
        }
        found
    }

    /// A term, or lists joined by `+`.
    fn sum(&mut self, deepest: usize) -> Result<Value, String> {
        let mut value = self.term(deepest)?;
        while self.skip('+') {
            match (&mut value, self.term(deepest)?) {
                (Value::List(items), Value::List(more)) => items.extend(more),
                _ => return Err("it adds what are no lists".to_owned()),
            }
        }
        Ok(value)
    }

    fn term(&mut self, deepest: usize) -> Result<Value, String> {
        let deepest =
            deepest.checked_sub(1).ok_or_else(|| format!("it is nested more than {DEEPEST} times"))?;
        self.evaluator.spend(1)?;
        match self.next().ok_or("a value is missing")? {
            Token::Number(number) => Ok(Value::Number(*number)),
            Token::Sign(sign @ ('-' | '+')) => match self.next() {
                Some(Token::Number(number)) => {
                    Ok(Value::Number(if *sign == '-' { -number } else { *number }))
                }
                _ => Err("a sign without a number".to_owned()),
            },
            Token::Text(text) => {
                let mut text = text.clone();
                // Python joins strings that have nothing between them.
                while let Some(Token::Text(more)) = self.tokens.first() {
                    text.push_str(more);
                    self.next();
                }
                Ok(Value::Text(text))
            }
            Token::Sign('[') => Ok(Value::List(self.items(']', deepest)?.0)),
            Token::Sign('(') => match self.items(')', deepest)? {
                (mut items, false) if items.len() == 1 => items.pop().ok_or("a value is missing".to_owned()),
                (items, _) => Ok(Value::List(items)),
            },
            Token::Sign('{') => self.dictionary(deepest),
            Token::Word(word) if self.skip('(') => {
                if !self.evaluator.named_tuples.contains(*word) {
                    return Err(format!("it calls `{}`, and nothing is run", start_of(word)));
                }
                Ok(Value::List(self.items(')', deepest)?.0))
            }
            Token::Word(word) => self.named(word),
            token @ Token::Sign(_) => Err(not_data(token)),
        }
    }

    /// What stands between brackets, and whether a comma is among it.
    fn items(&mut self, close: char, deepest: usize) -> Result<(Vec<Value>, bool), String> {
        let (mut items, mut has_comma) = (Vec::new(), false);
        while !self.skip(close) {
            // The name of an argument.
            if let [Token::Word(_), Token::Sign('='), ..] = self.tokens {
                self.tokens = &self.tokens[2..];
            }
            items.push(self.sum(deepest)?);
            match self.next() {
                Some(Token::Sign(',')) => has_comma = true,
                Some(Token::Sign(sign)) if *sign == close => break,
                Some(token) => return Err(not_data(token)),
                None => return Err("a bracket is never closed".to_owned()),
            }
        }
        Ok((items, has_comma))
    }

    fn dictionary(&mut self, deepest: usize) -> Result<Value, String> {
        let mut entries = Vec::new();
        while !self.skip('}') {
            let key = self.sum(deepest)?;
            if !self.skip(':') {
                return Err("a key without a value".to_owned());
            }
            entries.push((key, self.sum(deepest)?));
            if !self.skip(',') && self.tokens.first() != Some(&Token::Sign('}')) {
                return Err("an entry of a dictionary does not end".to_owned());
            }
        }
        Ok(Value::Dict(entries))
    }

    fn named(&mut self, word: &str) -> Result<Value, String> {
        if matches!(word, "None" | "True" | "False" | "null" | "true" | "false") {
            return Ok(Value::Word);
        }
        let value = self
            .scopes
            .iter()
            .find_map(|scope| scope.get(word))
            .ok_or_else(|| format!("`{}` is not known", start_of(word)))?
            .as_ref()
            .map_err(|reason| format!("`{}`: {}", start_of(word), start_of_reason(reason)))?;
        self.evaluator.spend(value.count())?;
        Ok(value.clone())
    }
}

/// Reasons name reasons; a chain of names must not grow without end.
fn start_of_reason(reason: &str) -> String {
    reason.chars().take(200).collect()
}

fn not_data(token: &Token<'_>) -> String {
    let shown = match token {
        Token::Word(word) => start_of(word),
        Token::Number(number) => number.to_string(),
        Token::Text(text) => start_of(text),
        Token::Sign(sign) => sign.to_string(),
    };
    format!("it is not plain data at `{}`", shown.replace('\n', " "))
}
