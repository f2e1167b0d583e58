//! Owns what is wrong with rule files: where it stands, what is wrong and what to do. Refuses to stop
//! at the first: all mistakes of a file that can be told are told.

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
