//! Where a command's words go: answers to stdout, everything about them to stderr, colours only on a
//! terminal; lines of styled pieces, broken at its width.

use crate::command_error::CommandError;
use crate::table::TextTable;
use crate::{default_reel, redaction};
use kubereel_history::harmless;
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};
use unicode_width::UnicodeWidthStr as _;

/// Lines are not broken shorter than this.
const NARROWEST: usize = 40;

/// What a command does when the reader of its output leaves early, as `head` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WithoutReader {
    /// It ends: nobody waits for the rest.
    End,
    /// It goes on, because its exit code is the answer.
    Answer,
}

/// Stdout, whose reader may leave.
pub(crate) struct ReaderOutput {
    stdout: Stdout,
    without_reader: WithoutReader,
}

impl ReaderOutput {
    fn settle<T>(&self, done: io::Result<T>, discarded: T) -> io::Result<T> {
        match done {
            Err(error)
                if error.kind() == io::ErrorKind::BrokenPipe
                    && self.without_reader == WithoutReader::Answer =>
            {
                Ok(discarded)
            }
            done => done,
        }
    }
}

impl io::Write for ReaderOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.stdout.write(bytes);
        self.settle(done, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.stdout.flush();
        self.settle(done, ())
    }
}

/// The two outputs of a command.
pub(crate) struct Console {
    out: BufWriter<ReaderOutput>,
    out_paint: Paint,
    out_width: Option<usize>,
    err_paint: Paint,
    is_err_terminal: bool,
}

/// Whether and how words are coloured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    is_on: bool,
}

impl Console {
    /// Opens stdout and stderr.
    pub(crate) fn open() -> Self {
        let is_err_terminal = io::stderr().is_terminal();
        let size = terminal_size::terminal_size_of(io::stdout());
        Self {
            out: BufWriter::new(ReaderOutput {
                stdout: io::stdout(),
                without_reader: WithoutReader::End,
            }),
            out_paint: Paint::for_output(io::stdout().is_terminal()),
            out_width: size.map(|(width, _)| usize::from(width.0).max(NARROWEST)),
            err_paint: Paint::for_output(is_err_terminal),
            is_err_terminal,
        }
    }

    /// Gives stdout.
    pub(crate) const fn out(&mut self) -> &mut BufWriter<ReaderOutput> {
        &mut self.out
    }

    /// Lets the command end with its own exit code also if nobody reads what it prints.
    pub(crate) fn answer_without_reader(&mut self) {
        self.out.get_mut().without_reader = WithoutReader::Answer;
    }

    /// Gives the colours of stdout.
    pub(crate) const fn paint(&self) -> Paint {
        self.out_paint
    }

    /// Gives the colours of stderr.
    pub(crate) const fn err_paint(&self) -> Paint {
        self.err_paint
    }

    /// Gives how many columns stdout has; `None` if it is no terminal: lines are not broken there.
    pub(crate) const fn width(&self) -> Option<usize> {
        self.out_width
    }

    /// Tells whether stderr is a terminal.
    pub(crate) const fn is_err_terminal(&self) -> bool {
        self.is_err_terminal
    }

    /// Prints a value for programs in one line.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        let json = serde_json::to_string(value).map_err(CommandError::io)?;
        self.line(json)
    }

    /// Prints a value for programs, indented.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        let json = serde_json::to_string_pretty(value).map_err(CommandError::io)?;
        self.line(json)
    }

    /// Writes a line to stdout.
    pub(crate) fn line(&mut self, line: impl std::fmt::Display) -> Result<(), CommandError> {
        writeln!(self.out, "{line}").map_err(|error| CommandError::output(&error))
    }

    /// Writes a styled line to stdout; at the terminal's width it is broken, and its later rows are indented by
    /// `hang`.
    pub(crate) fn show(&mut self, line: &StyledLine, hang: usize) -> Result<(), CommandError> {
        let rows = line.rows(self.out_width, hang, self.out_paint);
        rows.iter().try_for_each(|row| self.line(row))
    }

    /// Writes a table to stdout.
    pub(crate) fn table(&mut self, table: &TextTable) -> Result<(), CommandError> {
        table.lines().iter().try_for_each(|line| self.line(line))
    }

    /// Writes a line about the answer to stderr, in its order with what stdout shows; `REEL` becomes the reel.
    pub(crate) fn aside(&mut self, line: impl std::fmt::Display) -> Result<(), CommandError> {
        self.finish()?;
        // A closed stderr does not make the answer fail.
        // In one piece: a pipe's reader may be writing to the same terminal.
        let line = format!("{}\n", default_reel::with_given_reel(&line.to_string()));
        let line = redaction::public(&line);
        drop(io::stderr().lock().write_all(line.as_bytes()));
        Ok(())
    }

    /// Makes sure that everything was written.
    pub(crate) fn finish(&mut self) -> Result<(), CommandError> {
        self.out
            .flush()
            .map_err(|error| CommandError::output(&error))
    }
}

/// A JSON object that ends in a list of any length, written item by item.
pub(crate) struct JsonList {
    has_items: bool,
}

impl JsonList {
    /// Writes the members before the list, and the name of the list.
    pub(crate) fn begin(
        head: &impl Serialize,
        name: &str,
        screen: &mut Console,
    ) -> Result<Self, CommandError> {
        let head = serde_json::to_string(head).map_err(CommandError::io)?;
        let head = head.strip_suffix('}').unwrap_or(&head);
        let comma = if head == "{" { "" } else { "," };
        write!(screen.out, "{head}{comma}\"{name}\":[")
            .map_err(|error| CommandError::output(&error))?;
        Ok(Self { has_items: false })
    }

    /// Writes an item on a line of its own.
    pub(crate) fn push(
        &mut self,
        item: &impl Serialize,
        screen: &mut Console,
    ) -> Result<(), CommandError> {
        let comma = if self.has_items { "," } else { "" };
        self.has_items = true;
        let item = serde_json::to_string(item).map_err(CommandError::io)?;
        write!(screen.out, "{comma}\n{item}").map_err(|error| CommandError::output(&error))
    }

    /// Ends the list and the object.
    pub(crate) fn end(screen: &mut Console) -> Result<(), CommandError> {
        screen.line("\n]}")
    }
}

impl Paint {
    /// Decides by the environment: `NO_COLOR`, a dumb terminal, or no terminal mean none.
    pub(crate) fn for_output(is_terminal: bool) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            is_on: is_terminal && !is_set("NO_COLOR") && !is_dumb,
        }
    }

    /// Colours, whatever the environment says.
    #[cfg(test)]
    pub(crate) const fn with_colours() -> Self {
        Self { is_on: true }
    }

    /// What matters most.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What can be passed over.
    pub(crate) fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What is well.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// What needs care: gaps, unknowns.
    pub(crate) fn wary(self, text: &str) -> String {
        self.with("33", text)
    }

    /// What is wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        let text = harmless(text);
        if self.is_on && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.into_owned()
        }
    }
}

/// How a piece of a line looks; never the only thing that says what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Strong,
    Faint,
    Good,
    Wary,
    Bad,
}

/// A line in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct StyledLine {
    spans: Vec<(Style, String)>,
}

impl StyledLine {
    /// Begins a line with a piece.
    pub(crate) fn of(style: Style, text: impl AsRef<str>) -> Self {
        Self::default().and(style, text)
    }

    /// Adds a piece to a new line.
    #[must_use]
    pub(crate) fn and(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.push(style, text);
        self
    }

    /// Adds a piece. What a terminal would obey is written out: a text from a cluster moves no cursor.
    pub(crate) fn push(&mut self, style: Style, text: impl AsRef<str>) {
        self.spans
            .push((style, harmless(text.as_ref()).into_owned()));
    }

    /// Gives the rows: one without a width, else as many as it takes, later ones indented by `hang`.
    pub(crate) fn rows(&self, width: Option<usize>, hang: usize, paint: Paint) -> Vec<String> {
        let mut rows = RowBreaker {
            width: width.unwrap_or(usize::MAX),
            hang,
            paint,
            done: Vec::new(),
            row: String::new(),
            run: (Style::Plain, String::new()),
            used: 0,
        };
        for (style, text) in &self.spans {
            rows.push(*style, text);
        }
        rows.end_row();
        rows.done
    }
}

struct RowBreaker {
    width: usize,
    hang: usize,
    paint: Paint,
    done: Vec<String>,
    row: String,
    /// What follows in one style.
    run: (Style, String),
    used: usize,
}

impl RowBreaker {
    fn push(&mut self, style: Style, text: &str) {
        self.begin_run(style);
        for word in text.split_inclusive(' ') {
            let mut rest = word;
            if self.used > self.hang && self.used + word.trim_end().width() > self.width {
                self.break_row();
            }
            // A word wider than a row is cut.
            while self.used + rest.trim_end().width() > self.width {
                let room = self.width.saturating_sub(self.used).max(1);
                let (row, after) = cut(rest, room);
                self.run.1.push_str(row);
                self.break_row();
                rest = after;
            }
            self.run.1.push_str(rest);
            self.used += rest.width();
        }
    }

    /// Paints what came so far in one style.
    fn begin_run(&mut self, style: Style) {
        let (last, text) = std::mem::replace(&mut self.run, (style, String::new()));
        self.row.push_str(&painted(self.paint, last, &text));
    }

    fn end_row(&mut self) {
        let (style, text) = std::mem::replace(&mut self.run, (Style::Plain, String::new()));
        self.row
            .push_str(&painted(self.paint, style, text.trim_end()));
        let row = std::mem::take(&mut self.row);
        self.done.push(row.trim_end().to_owned());
    }

    fn break_row(&mut self) {
        let style = self.run.0;
        self.end_row();
        self.row = " ".repeat(self.hang);
        self.run.0 = style;
        self.used = self.hang;
    }
}

/// Cuts a text after a number of columns, but never before its first letter.
fn cut(text: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, letter) in text.char_indices() {
        used += letter.to_string().width();
        if used > columns && at > 0 {
            return text.split_at_checked(at).unwrap_or((text, ""));
        }
    }
    (text, "")
}

fn painted(paint: Paint, style: Style, text: &str) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Strong => paint.strong(text),
        Style::Faint => paint.faint(text),
        Style::Good => paint.good(text),
        Style::Wary => paint.wary(text),
        Style::Bad => paint.bad(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[&str], width: usize) -> Vec<String> {
        let mut line = StyledLine::default();
        for text in texts {
            line.push(Style::Plain, text);
        }
        line.rows(Some(width), 2, Paint::for_output(false))
    }

    #[test]
    fn a_line_breaks_at_words_and_a_long_word_anywhere() {
        assert_eq!(rows(&["one two ", "three"], 20), ["one two three"]);
        assert_eq!(rows(&["one two ", "three"], 9), ["one two", "  three"]);
        assert_eq!(rows(&["abcdefghij"], 6), ["abcdef", "  ghij"]);
        let expected = ["ab", "  日本", "  語日", "  本"];
        assert_eq!(rows(&["ab 日本語日本"], 7), expected);
        assert_eq!(rows(&[], 7), [""]);
    }

    #[test]
    fn control_characters_are_written_out() {
        let line = StyledLine::of(Style::Plain, "a\u{1b}[31m\nb\u{9b}");
        let expected = ["a\\u001b[31m\\nb\\u009b"];
        assert_eq!(line.rows(None, 0, Paint::for_output(false)), expected);
    }
}
