//! The text of one rule: printed as a starting point, and pointed at by mistakes that only a recording
//! shows.

use super::source::RuleMistake;

/// The lines of a rule in its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleText {
    file: String,
    /// The number of the first line, from 1.
    first: usize,
    lines: Vec<String>,
}

impl RuleText {
    /// Takes the lines from the rule's first one up to those of the next rule, or of what else follows.
    pub(super) fn of(file: &str, text: &str, first: usize, end: Option<usize>) -> Self {
        let lines = text.lines().skip(first.saturating_sub(1));
        let most = end.map_or(usize::MAX, |end| end.saturating_sub(first));
        let own = lines.take(most).enumerate();
        let own = own.take_while(|(place, line)| *place == 0 || !is_outside(line));
        Self {
            file: file.to_owned(),
            first,
            lines: own.map(|(_, line)| line.to_owned()).collect(),
        }
    }

    /// Returns the lines.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Makes a mistake at the first place of a word; at the rule's first line if it is nowhere.
    pub(crate) fn mistake(&self, word: &str, what: String, hint: String) -> RuleMistake {
        let found = self.lines.iter().enumerate().find_map(|(place, line)| {
            let code = line.split(" #").next().unwrap_or_default();
            let at = code.find(word)?;
            let column = code.get(..at)?.chars().count();
            Some((place, column, word.chars().count()))
        });
        let (place, column, width) = found.unwrap_or((0, 0, 1));
        RuleMistake {
            file: self.file.clone(),
            line: self.first + place,
            column: column + 1,
            width,
            what,
            hint,
            text: self.lines.get(place).cloned().unwrap_or_default(),
        }
    }
}

/// Returns whether a line belongs to no rule: another field of the file, or a comment before the next rule.
fn is_outside(line: &str) -> bool {
    let first = line.chars().next();
    first.is_some_and(|letter| letter != ' ' && letter != '-')
}
