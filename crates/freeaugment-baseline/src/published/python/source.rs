//! Which names a file gives to which values: assignments, and functions that return a value.

use std::collections::BTreeMap;

use super::expression::{Evaluator, Scope, Value};
use super::token::{Line, Token, lines, start_of};

/// A value with its names.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::published) struct Assignment {
    /// Its names: several where one statement gives several. Never empty.
    pub(in crate::published) names: Vec<String>,
    /// The last line of the comment before it.
    pub(in crate::published) comment: Option<String>,
    /// Where, from 1.
    pub(in crate::published) line: usize,
    /// The value, or why it is not plain data.
    pub(in crate::published) value: Result<Value, String>,
}

/// A function whose body is being read.
struct Function {
    name: String,
    comment: Option<String>,
    line: usize,
    indent: usize,
    /// The indent of its statements; deeper ones may or may not be run.
    body: Option<usize>,
    locals: Scope,
    result: Option<Result<Value, String>>,
    decorator: Option<String>,
}

/// All assignments of a file and its functions, in order.
pub(in crate::published) fn read(text: &str) -> Result<Vec<Assignment>, String> {
    let mut reader = Reader::default();
    for line in lines(text)? {
        reader.line(&line);
    }
    reader.leave(0);
    Ok(reader.found)
}

#[derive(Default)]
struct Reader {
    evaluator: Evaluator,
    globals: Scope,
    functions: Vec<Function>,
    decorator: Option<String>,
    found: Vec<Assignment>,
    /// Where in `found` a name of the file was last assigned.
    places: BTreeMap<String, usize>,
}

impl Reader {
    fn line(&mut self, line: &Line<'_>) {
        self.leave(line.indent);
        let indent = line.indent;
        if let Some(function) = self.functions.last_mut() {
            function.body.get_or_insert(indent);
        }
        match line.tokens.as_slice() {
            [Token::Sign('@'), Token::Word(word), ..] => self.decorator = Some(start_of(word)),
            [Token::Word("def"), Token::Word(name), ..] => self.functions.push(Function {
                name: (*name).to_owned(),
                comment: line.comment.map(str::to_owned),
                line: line.number,
                indent,
                body: None,
                locals: Scope::new(),
                result: None,
                decorator: self.decorator.take(),
            }),
            [Token::Word("return"), expression @ ..] => self.result(indent, expression),
            [Token::Word(_), Token::Sign('='), ..] => self.assignment(line),
            // What is changed later is not what was assigned.
            [Token::Word(name), Token::Sign('.' | '[' | '+' | '-' | '*'), ..] => {
                let scope =
                    self.functions.last_mut().map_or(&mut self.globals, |function| &mut function.locals);
                if let Some(value) = scope.get_mut(*name) {
                    *value = Err(format!("it is changed in line {}", line.number));
                }
                if let (true, Some(&place)) = (self.functions.is_empty(), self.places.get(*name)) {
                    self.found[place].value = Err(format!("it is changed in line {}", line.number));
                }
            }
            _ => {}
        }
    }

    /// Leaves the functions whose bodies end before a statement with this indent.
    fn leave(&mut self, indent: usize) {
        while self.functions.last().is_some_and(|function| indent <= function.indent) {
            let Some(function) = self.functions.pop() else { return };
            // Functions within functions give names to nothing outside.
            if !self.functions.is_empty() || function.indent > 0 {
                continue;
            }
            let value = match (function.decorator, function.result) {
                (Some(decorator), _) => {
                    Err(format!("it is decorated with `{decorator}`, which may change what it returns"))
                }
                (None, Some(result)) => result,
                (None, None) => Err("it is a function that returns nothing".to_owned()),
            };
            self.found.push(Assignment {
                names: vec![function.name],
                comment: function.comment,
                line: function.line,
                value,
            });
        }
    }

    fn result(&mut self, indent: usize, expression: &[Token<'_>]) {
        let Some(function) = self.functions.last_mut() else { return };
        let is_certain = function.body == Some(indent) && function.result.is_none();
        function.result = Some(if is_certain {
            self.evaluator.value(expression, &[&function.locals, &self.globals])
        } else {
            Err("what it returns depends on more than data".to_owned())
        });
    }

    fn assignment(&mut self, line: &Line<'_>) {
        let (mut names, mut expression) = (Vec::new(), line.tokens.as_slice());
        while let [Token::Word(name), Token::Sign('='), rest @ ..] = expression {
            names.push((*name).to_owned());
            expression = rest;
        }
        if let [Token::Word("namedtuple"), ..]
        | [Token::Word("collections"), Token::Sign('.'), Token::Word("namedtuple"), ..] = expression
        {
            self.evaluator.named_tuples.extend(names);
            return;
        }
        let in_block = || Err("it is set in a block that may not be run".to_owned());
        if let Some(function) = self.functions.last_mut() {
            let value = if function.body == Some(line.indent) {
                self.evaluator.shared(expression, &[&function.locals, &self.globals], names.len())
            } else {
                in_block()
            };
            function.locals.extend(names.into_iter().map(|name| (name, value.clone())));
            return;
        }
        let value = if line.indent == 0 {
            self.evaluator.shared(expression, &[&self.globals], names.len())
        } else {
            in_block()
        };
        self.places.extend(names.iter().map(|name| (name.clone(), self.found.len())));
        self.globals.extend(names.iter().map(|name| (name.clone(), value.clone())));
        let comment = line.comment.map(str::to_owned);
        self.found.push(Assignment { names, comment, line: line.number, value });
    }
}
