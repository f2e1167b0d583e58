//! Owns who set each field of an object last, and when, a line a field. Refuses to name somebody who
//! is not known.

use super::here::{Here, here, unread};
use super::line::{Ink, Line};
use super::short::short;
use crate::model::{Place, Subject};
use kubereel_history::{Blame, BlameSource, Timeline, harmless};

/// A manager's name is shown in at most so many letters.
const WIDEST_MANAGER: usize = 28;

/// Reads the lines; the first field that changed last is to be seen first.
pub(super) fn read(timeline: &Timeline, subject: &Subject, place: Place) -> (Vec<Line>, usize) {
    let (info, held, mut lines) = match here(timeline, subject, place) {
        Ok(Here { info, held, lines }) => (info, held, lines),
        Err(lines) => return (lines, 0),
    };
    let blamed = match timeline.blame(info, &held) {
        Ok(blamed) => blamed,
        Err(error) => {
            lines.push(unread(&error));
            return (lines, 0);
        }
    };
    if !blamed.unreadable.is_empty() {
        let words = "damaged: versions are missing, fields may be older than it says";
        lines.push(Line::prose(Ink::Wary, words));
    }
    let words = "≤ set then or before   ~ versions may be missing before   - not known";
    lines.push(Line::of(Ink::Faint, words));
    let who: Vec<String> = blamed.fields.iter().map(who).collect();
    let whens: Vec<String> = blamed
        .fields
        .iter()
        .map(|field| when(timeline, field))
        .collect();
    let widest = |all: &[String]| all.iter().map(|one| one.chars().count()).max().unwrap_or(0);
    let (time_width, who_width) = (widest(&whens), widest(&who));
    let mut first = None;
    for ((field, who), when) in blamed.fields.iter().zip(who).zip(whens) {
        let is_new = matches!(field.source, BlameSource::Recorded { seq, .. } if seq == held.seq);
        if is_new && first.is_none() {
            first = Some(lines.len());
        }
        let ink = if is_new { Ink::Changed } else { Ink::Plain };
        let path = harmless(&field.path.to_string()).into_owned();
        let line = Line::of(Ink::Faint, format!("{when:<time_width$}  "))
            .and(ink, format!("{who:<who_width$}  "))
            .and(Ink::Strong, path)
            .and(ink, format!("  {}", short(&field.value)));
        lines.push(Line {
            field: Some(field.path.clone()),
            ..line
        });
    }
    (lines, first.map_or(0, |first| first.saturating_sub(2)))
}

fn who(field: &Blame) -> String {
    let names = field.writers.iter().map(|writer| writer.manager.as_str());
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return "-".to_owned();
    }
    let names = harmless(&names.join(",")).into_owned();
    if names.chars().count() <= WIDEST_MANAGER {
        return names;
    }
    names
        .chars()
        .take(WIDEST_MANAGER - 1)
        .chain(['…'])
        .collect()
}

fn when(timeline: &Timeline, field: &Blame) -> String {
    let sign = match field.source {
        BlameSource::Recorded { .. } if field.may_be_older => "~",
        BlameSource::Recorded { .. } => "",
        _ => "≤",
    };
    let at = field.source.at().map(|at| timeline.written(at));
    at.map_or_else(|| "-".to_owned(), |at| format!("{sign}{at}"))
}
