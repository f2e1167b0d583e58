//! The text of a rule file with what is wrong taken out, so that the rest can be read. Lines stay lines:
//! places in the rest are those of the file.

use serde_saphyr::Location;

/// A text whose lines can be emptied.
pub(super) struct MaskedText {
    lines: Vec<String>,
}

impl MaskedText {
    pub(super) fn new(text: &str) -> Self {
        Self {
            lines: text.split('\n').map(str::to_owned).collect(),
        }
    }

    /// Returns what is left.
    pub(super) fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// Takes out what is wrong at a place: a field with its value if it has a line of its own, else the
    /// whole rule. Returns whether anything but the place is left to be read.
    pub(super) fn mask(&mut self, location: Location, is_field: bool) -> bool {
        let number = |number: u64| usize::try_from(number).unwrap_or(1).max(1);
        let (line, column) = (number(location.line()) - 1, number(location.column()) - 1);
        let is_masked = is_field && self.mask_field(line, column);
        is_masked || self.mask_rule(line)
    }

    fn mask_field(&mut self, line: usize, column: usize) -> bool {
        let Some(text) = self.lines.get(line) else {
            return false;
        };
        if indent(text) != column {
            return false;
        }
        let is_part = |text: &String| {
            text.trim().is_empty()
                || indent(text) > column
                || (indent(text) == column && text.trim_start().starts_with("- "))
        };
        let more = self.lines.iter().skip(line + 1);
        let more = more.take_while(|text| is_part(text)).count();
        self.empty(line, line + 1 + more);
        true
    }

    fn mask_rule(&mut self, line: usize) -> bool {
        let is_head = |text: &&String| text.starts_with("monitortests:");
        let Some(head) = self.lines.iter().position(|text| is_head(&text)) else {
            return false;
        };
        let begins = |text: &String| text.trim_start().starts_with('-');
        let Some(depth) = self.lines.iter().skip(head + 1).find(|text| begins(text)) else {
            return false;
        };
        let depth = indent(depth);
        let is_rule = |text: &String| indent(text) == depth && begins(text);
        let until = self.lines.iter().take(line + 1);
        let Some(first) = until.rev().position(is_rule).map(|back| line - back) else {
            return false;
        };
        let rest = self.lines.iter().skip(first + 1);
        let is_own = |text: &&String| text.trim().is_empty() || indent(text) > depth;
        let end = first + 1 + rest.take_while(is_own).count();
        if first <= head || end <= line {
            return false;
        }
        self.empty(first, end);
        // A list without an item is not a list.
        self.lines.iter().skip(head + 1).any(is_rule)
    }

    fn empty(&mut self, from: usize, to: usize) {
        for line in self.lines.iter_mut().take(to).skip(from) {
            line.clear();
        }
    }
}

fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}
