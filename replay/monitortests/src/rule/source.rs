//! Owns a rule file's text and the places in it. Refuses to read: it only says where things stand.

use super::mistake::RuleMistake;
use super::written::Text;
use crate::cel::CompileError;
use serde_saphyr::Location;

/// A rule file.
pub(super) struct Source<'a> {
    name: &'a str,
    lines: Vec<Vec<char>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(name: &'a str, text: &str) -> Self {
        let lines = text.split('\n').map(|line| line.chars().collect());
        Self {
            name,
            lines: lines.collect(),
        }
    }

    /// Makes a mistake at a place, both numbers from 1.
    pub(super) fn at(
        &self,
        line: usize,
        column: usize,
        width: usize,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> RuleMistake {
        let text = self.lines.get(line.saturating_sub(1));
        RuleMistake {
            file: self.name.to_owned(),
            line,
            column,
            width,
            what: what.into(),
            hint: hint.into(),
            text: text.map(|line| line.iter().collect()).unwrap_or_default(),
        }
    }

    /// Makes a mistake of a location.
    pub(super) fn of(
        &self,
        location: Location,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> RuleMistake {
        let (line, column) = numbers(location);
        let text = self.lines.get(line - 1).map_or(&[][..], Vec::as_slice);
        let rest = text.iter().skip(column - 1);
        let width = rest.take_while(|c| !" :,]}\r".contains(**c)).count();
        self.at(line, column, width, what, hint)
    }

    /// Makes a mistake of a whole text.
    pub(super) fn text(
        &self,
        text: &Text,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> RuleMistake {
        let (line, column) = self.inside(text, 0);
        let first = text.value.lines().next().unwrap_or_default();
        self.at(line, column, first.chars().count(), what, hint)
    }

    /// Makes a mistake of a part of a text that is an expression from `begin` on.
    pub(super) fn cel(&self, text: &Text, begin: usize, error: CompileError) -> RuleMistake {
        let (line, column) = self.inside(text, begin + error.at);
        self.at(line, column, error.width, error.what, error.hint)
    }

    /// Finds the place of a text's character in the file, whichever way YAML writes the text.
    fn inside(&self, text: &Text, at: usize) -> (usize, usize) {
        let (line, column) = numbers(text.referenced);
        let mut here = Here {
            lines: &self.lines,
            line: line - 1,
            column: column - 1,
        };
        match here.now() {
            Some('|' | '>') => {
                here.line += 1;
                here.column = 0;
            }
            Some('"' | '\'') => here.column += 1,
            _ => {}
        }
        let mut wanted = text.value.chars().peekable();
        for _ in 0..at {
            let Some(c) = wanted.next() else { break };
            if !here.pass(c) {
                return (line, column);
            }
        }
        if let Some(next) = wanted.peek().filter(|next| !next.is_whitespace()) {
            here.find(*next);
        }
        (here.line + 1, here.column + 1)
    }
}

/// Gives line and column, from 1, of a location that may be unknown.
fn numbers(location: Location) -> (usize, usize) {
    let number = |number: u64| usize::try_from(number).unwrap_or(1).max(1);
    (number(location.line()), number(location.column()))
}

/// A place in a file.
struct Here<'a> {
    lines: &'a [Vec<char>],
    line: usize,
    column: usize,
}

impl Here<'_> {
    /// Gives the character; the end of a line is one.
    fn now(&self) -> Option<char> {
        let line = self.lines.get(self.line)?;
        Some(line.get(self.column).copied().unwrap_or('\n'))
    }

    fn step(&mut self) {
        let length = self.lines.get(self.line).map_or(0, Vec::len);
        if self.column >= length {
            self.line += 1;
            self.column = 0;
        } else {
            self.column += 1;
        }
    }

    /// Passes a character of the text; what YAML puts between is passed too.
    fn pass(&mut self, wanted: char) -> bool {
        while let Some(c) = self.now() {
            if c == wanted {
                self.step();
                return true;
            }
            if wanted.is_whitespace() && c.is_whitespace() {
                // A folded line: its end and the indentation of the next are one blank.
                while self.now().is_some_and(char::is_whitespace) {
                    self.step();
                }
                return true;
            }
            if !c.is_whitespace() && c != '\\' && c != '\'' {
                return false;
            }
            self.step();
        }
        false
    }

    /// Goes over indentation and escapes to a character.
    fn find(&mut self, wanted: char) {
        while let Some(c) = self.now() {
            if c == wanted || !(c.is_whitespace() || c == '\\') {
                return;
            }
            self.step();
        }
    }
}
