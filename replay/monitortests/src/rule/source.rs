//! A rule file's text, the places in it, and the mistakes that point at them.

use super::file::YamlText;
use crate::cel::CompileError;
use serde_saphyr::Location;
use std::fmt;
use thiserror::Error;

/// How much of a line is shown.
const MAX_SHOWN_CHARS: usize = 160;

/// Something wrong with a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleMistake {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// How many characters are meant.
    pub width: usize,
    /// What is wrong.
    pub what: String,
    /// What to do; may be empty.
    pub hint: String,
    /// The line's text.
    pub text: String,
}

impl fmt::Display for RuleMistake {
    /// Writes file, line and column, what is wrong, the line with the place marked, and what to do.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            what,
            hint,
            ..
        } = self;
        write!(out, "{file}:{line}:{column}: {what}")?;
        let gutter = line.to_string().len();
        // Of a very long line, the part around the place.
        let skip = column.saturating_sub(MAX_SHOWN_CHARS / 2);
        let shown = self.text.chars().skip(skip).take(MAX_SHOWN_CHARS);
        let shown: String = shown.map(visible).collect();
        let before = column.saturating_sub(1).saturating_sub(skip);
        let room = shown.chars().count().saturating_sub(before).max(1);
        let marks = "^".repeat(self.width.clamp(1, room));
        write!(out, "\n  {line} | {}", shown.trim_end())?;
        write!(out, "\n  {:gutter$} | {:before$}{marks}", "", "")?;
        if !hint.is_empty() {
            write!(out, "\n  {:gutter$} = {hint}", "")?;
        }
        Ok(())
    }
}

/// Keeps terminals from obeying what a file holds.
fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// All that is wrong with rule files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Error)]
pub struct RuleErrors {
    /// The mistakes, in the order of the files.
    pub mistakes: Vec<RuleMistake>,
}

impl fmt::Display for RuleErrors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, mistake) in self.mistakes.iter().enumerate() {
            if place > 0 {
                out.write_str("\n")?;
            }
            write!(out, "{mistake}")?;
        }
        Ok(())
    }
}

/// A rule file.
pub(super) struct RuleSource<'a> {
    name: &'a str,
    lines: Vec<Vec<char>>,
}

impl<'a> RuleSource<'a> {
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
        text: &YamlText,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> RuleMistake {
        let (line, column) = self.inside(text, 0);
        let first = text.value.lines().next().unwrap_or_default();
        self.at(line, column, first.chars().count(), what, hint)
    }

    /// Makes a mistake of a part of a text that is an expression from `begin` on.
    pub(super) fn cel(&self, text: &YamlText, begin: usize, error: CompileError) -> RuleMistake {
        let (line, column) = self.inside(text, begin + error.at);
        self.at(line, column, error.width, error.what, error.hint)
    }

    /// Finds the place of a text's character in the file, whichever way YAML writes the text.
    fn inside(&self, text: &YamlText, at: usize) -> (usize, usize) {
        let (line, column) = numbers(text.referenced);
        let mut here = TextCursor {
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

/// Returns line and column, from 1, of a location that may be unknown.
fn numbers(location: Location) -> (usize, usize) {
    let number = |number: u64| usize::try_from(number).unwrap_or(1).max(1);
    (number(location.line()), number(location.column()))
}

/// Returns the line, from 1, of a location.
pub(super) fn line_of(location: Location) -> usize {
    numbers(location).0
}

/// A place in a file.
struct TextCursor<'a> {
    lines: &'a [Vec<char>],
    line: usize,
    column: usize,
}

impl TextCursor<'_> {
    /// Returns the character; the end of a line is one.
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
