//! Owns the search in the panel: which lines hold what is looked for, and which of them shows. Refuses
//! to look beyond the panel.

use super::panel;
use crate::answer::Answer;
use crate::layout::layout;
use crate::model::{Model, Open, Reel, Screen};

/// Begins a search.
pub(super) fn begin(open: &mut Open, is_large: bool) -> Screen {
    open.reading.wanted.clear();
    found(open);
    Screen::Seek {
        text: String::new(),
        is_large,
    }
}

/// Looks for what is being written.
pub(super) fn follow(model: &mut Model) {
    let height = layout(model).panel.height;
    if let (Screen::Seek { text, .. }, Reel::Open(open)) = (&model.screen, &mut model.reel) {
        let wanted = text.to_lowercase();
        if open.reading.wanted != wanted {
            open.reading.wanted = wanted;
            open.reading.at = 0;
            found(open);
            show(open, height);
        }
    }
}

/// Finds the lines that hold what is looked for.
pub(super) fn found(open: &mut Open) {
    let wanted = open.reading.wanted.as_str();
    let lines = match &open.answer {
        Some(Answer::Lines(_, lines, _)) if !wanted.is_empty() => lines.as_slice(),
        _ => &[],
    };
    let all = (0..).zip(lines);
    let all = all.filter(|(_, line)| line.text().to_lowercase().contains(wanted));
    let matches: Vec<usize> = all.map(|(at, _)| at).collect();
    open.reading.at = open.reading.at.min(matches.len().saturating_sub(1));
    open.reading.hint = match (wanted.is_empty(), matches.len()) {
        (true, _) => "looks for a text in the panel".to_owned(),
        (_, 0) => "nowhere".to_owned(),
        (_, count) => format!("{} of {count}, enter next", open.reading.at + 1),
    };
    open.reading.matches = matches;
}

/// Shows the next line that holds what is looked for.
pub(super) fn next(open: &mut Open, height: u16) {
    let count = open.reading.matches.len();
    open.reading.at = (open.reading.at + 1) % count.max(1);
    found(open);
    show(open, height);
}

fn show(open: &mut Open, height: u16) {
    if let Some(line) = open.reading.matches.get(open.reading.at).copied() {
        panel::stand(open, line, height);
    }
}
