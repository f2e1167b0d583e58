//! Owns a small terminal: it obeys what the backend may send, and says what it should not have been
//! sent. Written apart from the backend, so that a test compares two things.

use ratatui::buffer::Buffer;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use unicode_width::UnicodeWidthChar as _;

/// A writer that keeps what was written.
#[derive(Clone, Default)]
pub(super) struct TerminalOutput(Rc<RefCell<Vec<u8>>>);

impl TerminalOutput {
    /// Gives what was written since it was asked last.
    pub(super) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.borrow_mut());
        String::from_utf8(bytes).expect("UTF-8")
    }
}

impl Write for TerminalOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal of a size.
pub(super) struct SmallTerminal {
    width: usize,
    rows: Vec<Vec<String>>,
    at: (usize, usize),
}

impl SmallTerminal {
    pub(super) fn new(width: u16, height: u16) -> Self {
        let width = usize::from(width);
        let row = vec![" ".to_owned(); width];
        Self {
            width,
            rows: vec![row; usize::from(height)],
            at: (0, 0),
        }
    }

    /// Takes bytes; gives what it should not have been sent.
    pub(super) fn take(&mut self, text: &str) -> Result<(), String> {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            if letter == '\u{1b}' {
                rest = self.command(rest)?;
                continue;
            }
            if letter.is_control() || is_turning(letter) {
                return Err(format!("{letter:?} was sent"));
            }
            self.letter(letter)?;
            rest = &rest[letter.len_utf8()..];
        }
        Ok(())
    }

    /// Takes a command: to a place, a style, the cursor; there is no other.
    fn command<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        let start: String = text.chars().take(12).collect();
        let wrong = || format!("{start:?} was sent");
        let body = text.strip_prefix("\u{1b}[").ok_or_else(wrong)?;
        let end = body
            .find(|letter: char| letter.is_ascii_alphabetic())
            .ok_or_else(wrong)?;
        let (numbers, last) = (&body[..end], &body[end..=end]);
        let is_numbers = |more: &str| {
            let allowed = |letter: char| letter.is_ascii_digit() || more.contains(letter);
            numbers.chars().all(allowed)
        };
        match last {
            "H" if is_numbers(";") => {
                let (row, column) = numbers.split_once(';').ok_or_else(wrong)?;
                let number = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
                self.at = (
                    number(row).ok_or_else(wrong)?,
                    number(column).ok_or_else(wrong)?,
                );
            }
            "m" if is_numbers(";:") => {}
            "h" | "l" if numbers == "?25" => {}
            _ => return Err(wrong()),
        }
        Ok(&body[end + 1..])
    }

    fn letter(&mut self, letter: char) -> Result<(), String> {
        let (row, column) = self.at;
        let width = letter.width().unwrap_or(0);
        let row = self.rows.get_mut(row).ok_or("below the last row")?;
        if width == 0 {
            // It joins the letter before it.
            let before = (0..column).rev().find(|at| !row[*at].is_empty());
            let before = before.ok_or("a mark with nothing before it")?;
            row[before].push(letter);
            return Ok(());
        }
        if column + width > self.width {
            return Err(format!("{letter:?} reaches beyond the right edge"));
        }
        // What is left of a wide letter that is written over is blank.
        for at in column..column + width {
            let head = (0..=at).rev().find(|before| !row[*before].is_empty());
            let head = head.unwrap_or(at);
            let covered = row[head + 1..].iter().take_while(|cell| cell.is_empty());
            let end = head + 1 + covered.count();
            if end - head > 1 {
                row[head..end].fill(" ".to_owned());
            }
        }
        row[column] = letter.to_string();
        for cell in row.iter_mut().skip(column + 1).take(width - 1) {
            cell.clear();
        }
        self.at.1 += width;
        Ok(())
    }

    /// Gives what shows.
    pub(super) fn text(&self) -> String {
        let rows = self.rows.iter().map(|row| row.concat() + "\n");
        rows.collect()
    }

    /// Compares what shows with what was meant.
    pub(super) fn compare(&self, buffer: &Buffer) -> Result<(), String> {
        for (y, (shown, meant)) in self
            .rows
            .iter()
            .zip(buffer.content().chunks(self.width))
            .enumerate()
        {
            let meant: String = visible(meant.iter().map(ratatui::buffer::Cell::symbol));
            let shown: String = shown.concat();
            if shown != meant {
                return Err(format!("row {y} shows\n{shown:?}, meant was\n{meant:?}"));
            }
        }
        Ok(())
    }
}

/// Gives the text of a row without the cells that a wide letter before them covers.
fn visible<'a>(symbols: impl Iterator<Item = &'a str>) -> String {
    let mut covered = 0;
    let mut text = String::new();
    for symbol in symbols {
        if covered > 0 {
            covered -= 1;
            continue;
        }
        text.push_str(symbol);
        covered = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
    }
    text
}

/// Tells whether a letter turns the reading order or hides.
fn is_turning(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[test]
fn what_is_left_of_a_wide_letter_is_blank() {
    for (over, shown) in [("\u{1b}[1;1Hx", "x 日"), ("\u{1b}[1;2Hx", " x日")] {
        let mut terminal = SmallTerminal::new(4, 1);
        terminal.take(&format!("日日{over}")).expect("allowed");
        assert_eq!(terminal.rows[0].concat(), shown);
    }
}

#[test]
fn the_small_terminal_says_what_it_should_not_have_been_sent() {
    let mut terminal = SmallTerminal::new(10, 2);
    terminal
        .take("\u{1b}[2;1H\u{1b}[38;5;203m日e\u{301}\u{1b}[0m\u{1b}[?25l")
        .expect("all is allowed");
    for wrong in [
        "\u{7}",
        "\u{1b}]0;t\u{7}",
        "\u{1b}[2J",
        "\u{202e}",
        "\u{9b}2J",
        "\n",
        "\u{1b}[1;10H日",
        "\u{1b}[9;1Hx",
        "\u{1b}[?1049l",
    ] {
        let mut terminal = SmallTerminal::new(10, 2);
        assert!(terminal.take(wrong).is_err(), "{wrong:?}");
    }
}
