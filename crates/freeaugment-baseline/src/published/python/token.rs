//! From text to the words and signs of each statement.

/// A piece of Python source.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Number(f64),
    Text(String),
    /// Any other character.
    Sign(char),
}

/// A statement: the lines that belong together because a bracket is open count as one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line<'a> {
    /// Its first line in the file, from 1.
    pub(super) number: usize,
    /// How many blanks it begins with.
    pub(super) indent: usize,
    /// The last line of the comment before it.
    pub(super) comment: Option<&'a str>,
    pub(super) tokens: Vec<Token<'a>>,
}

/// The statements of a file.
pub(super) fn lines(text: &str) -> Result<Vec<Line<'_>>, String> {
    let mut lexer = Lexer { text, at: 0, line: 1 };
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut comment = None;
    let mut current: Option<Line<'_>> = None;
    let mut start_of_line = 0;
    while let Some(letter) = lexer.peek() {
        match letter {
            '\n' => {
                lexer.next();
                start_of_line = lexer.at;
                if open.is_empty() {
                    lines.extend(current.take());
                }
            }
            '#' => {
                let own = lexer.take_while(|letter| letter != '\n');
                if current.is_none() {
                    comment = Some(own.trim_start_matches('#').trim());
                }
            }
            '\\' if lexer.rest().starts_with("\\\n") || lexer.rest().starts_with("\\\r\n") => {
                lexer.take_while(|letter| letter != '\n');
                lexer.next();
            }
            _ if letter.is_whitespace() || letter == '\u{feff}' => {
                lexer.next();
            }
            _ => {
                let line = current.get_or_insert_with(|| Line {
                    number: lexer.line,
                    indent: lexer.at - start_of_line,
                    comment: comment.take(),
                    tokens: Vec::new(),
                });
                let number = lexer.line;
                let token = lexer.token(letter)?;
                match token {
                    Token::Sign('(' | '[' | '{') => open.push(number),
                    Token::Sign(')' | ']' | '}') if open.pop().is_none() => {
                        return Err(format!("line {number}: a bracket closes that was never opened"));
                    }
                    _ => {}
                }
                line.tokens.push(token);
            }
        }
    }
    if let Some(number) = open.last() {
        return Err(format!("line {number}: a bracket is never closed"));
    }
    lines.extend(current);
    Ok(lines)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// From 1.
    line: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(&mut wanted) {
            self.next();
        }
        &self.text[start..self.at]
    }

    /// The token that begins with this letter, which is the next one.
    fn token(&mut self, letter: char) -> Result<Token<'a>, String> {
        let after = self.rest()[letter.len_utf8()..].chars().next();
        if letter.is_alphabetic() || letter == '_' {
            let word = self.take_while(|letter| letter.is_alphanumeric() || letter == '_');
            let is_prefix = word.len() <= 2 && word.chars().all(|letter| "rRbBuUfF".contains(letter));
            return match self.peek() {
                Some(quote @ ('\'' | '"')) if is_prefix => self.string(quote, word.contains(['r', 'R'])),
                _ => Ok(Token::Word(word)),
            };
        }
        if letter.is_ascii_digit() || (letter == '.' && after.is_some_and(|digit| digit.is_ascii_digit())) {
            return self.number();
        }
        if matches!(letter, '\'' | '"') {
            return self.string(letter, false);
        }
        self.next();
        Ok(Token::Sign(letter))
    }

    fn number(&mut self) -> Result<Token<'a>, String> {
        let mut before = ' ';
        let word = self.take_while(|letter| {
            let is_exponent_sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E');
            before = letter;
            letter.is_alphanumeric() || letter == '.' || letter == '_' || is_exponent_sign
        });
        let number: Result<f64, _> = word.replace('_', "").parse();
        number
            .map(Token::Number)
            .map_err(|_| format!("line {}: `{}` is not a number", self.line, start_of(word)))
    }

    fn string(&mut self, quote: char, raw: bool) -> Result<Token<'a>, String> {
        let first = self.line;
        let open = || format!("line {first}: a string is never closed");
        let triple: String = [quote; 3].iter().collect();
        let long = self.rest().starts_with(&triple);
        for _ in 0..if long { 3 } else { 1 } {
            self.next();
        }
        let mut text = String::new();
        loop {
            if if long { self.rest().starts_with(&triple) } else { self.peek() == Some(quote) } {
                for _ in 0..if long { 3 } else { 1 } {
                    self.next();
                }
                return Ok(Token::Text(text));
            }
            match self.next().ok_or_else(open)? {
                '\n' if !long => return Err(open()),
                '\\' => {
                    let letter = self.next().ok_or_else(open)?;
                    match letter {
                        'n' if !raw => text.push('\n'),
                        't' if !raw => text.push('\t'),
                        '\\' | '\'' | '"' if !raw => text.push(letter),
                        '\n' if !raw => {}
                        _ => text.extend(['\\', letter]),
                    }
                }
                letter => text.push(letter),
            }
        }
    }
}

/// As much of a word as belongs into a message.
pub(super) fn start_of(word: &str) -> String {
    word.chars().take(40).collect()
}
