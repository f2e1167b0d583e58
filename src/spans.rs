//! Owns lines made of styled pieces, broken at a width with their later rows indented. Refuses to
//! know what they say.

use crate::screen::Paint;
use kubereel_history::harmless;
use unicode_width::UnicodeWidthStr as _;

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
pub(crate) struct Line {
    spans: Vec<(Style, String)>,
}

impl Line {
    /// Adds a piece. What a terminal would obey is written out: a text from a cluster moves no cursor.
    pub(crate) fn push(&mut self, style: Style, text: impl AsRef<str>) {
        self.spans
            .push((style, harmless(text.as_ref()).into_owned()));
    }

    /// Gives the rows: one without a width, else as many as it takes, later ones indented by `hang`.
    pub(crate) fn rows(&self, width: Option<usize>, hang: usize, paint: Paint) -> Vec<String> {
        let mut rows = Rows {
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

struct Rows {
    width: usize,
    hang: usize,
    paint: Paint,
    done: Vec<String>,
    row: String,
    /// What follows in one style.
    run: (Style, String),
    used: usize,
}

impl Rows {
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

/// Cuts a text after so many columns, but never before its first letter.
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
        let mut line = Line::default();
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
        assert_eq!(
            rows(&["ab 日本語日本"], 7),
            ["ab", "  日本", "  語日", "  本"]
        );
        assert_eq!(rows(&[], 7), [""]);
    }

    #[test]
    fn control_characters_are_written_out() {
        let mut line = Line::default();
        line.push(Style::Plain, "a\u{1b}[31m\nb\u{9b}");
        assert_eq!(
            line.rows(None, 0, Paint::for_output(false)),
            ["a\\u001b[31m\\nb\\u009b"]
        );
    }
}
