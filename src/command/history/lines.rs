//! Owns the history that people read: a line a version, its changed fields below it, gaps in their
//! place.

use super::Tally;
use crate::command_error::CommandError;
use crate::field_text::{self, HANG};
use crate::screen::Screen;
use crate::spans::{Line, Style};
use kubereel_format::{EventType, Evidence, Gap};
use kubereel_history::{
    Authors, HeldFor, HeldUntil, History, HistoryItem, Place, SeenVersion, Timeline, timetext,
};

/// Prints a history as it is read.
pub(super) fn print(
    timeline: &Timeline,
    history: History<'_>,
    screen: &mut Screen,
) -> Result<Tally, CommandError> {
    let mut tally = Tally {
        versions: history.versions(),
        ..Tally::default()
    };
    for item in history {
        tally.take(&item);
        for line in item_lines(timeline, &item) {
            show(screen, &line)?;
        }
    }
    Ok(tally)
}

/// Gives the lines of one item.
pub(crate) fn item_lines(timeline: &Timeline, item: &HistoryItem) -> Vec<Line> {
    match item {
        HistoryItem::Gap(gap) => vec![gap_line(timeline, gap)],
        HistoryItem::Unobserved(span) => {
            let (from, to) = (timeline.written(span.from), timeline.written(span.to));
            let reason = &span.reason;
            let mut line = Line::default();
            line.push(
                Style::Wary,
                format!("── not observed {from} – {to}: versions in between may be missing ({reason}) ──"),
            );
            vec![line]
        }
        HistoryItem::Unreadable { at, error, .. } => {
            let mut line = Line::default();
            line.push(Style::Strong, timeline.written(*at));
            line.push(Style::Bad, format!("  unreadable: {error}"));
            vec![line]
        }
        HistoryItem::Version(version) => {
            let mut lines: Vec<Line> = anew_line(version).into_iter().collect();
            lines.push(head_line(timeline, version));
            lines.extend(field_lines(version));
            lines
        }
    }
}

/// Prints a line, broken where the screen ends.
pub(crate) fn show(screen: &mut Screen, line: &Line) -> Result<(), CommandError> {
    let rows = line.rows(screen.width(), HANG, screen.paint());
    rows.iter().try_for_each(|row| screen.line(row))
}

pub(crate) fn gap_line(timeline: &Timeline, gap: &Gap) -> Line {
    let (from, to) = (
        timeline.written(gap.from_time),
        timeline.written(gap.to_time),
    );
    let cause = gap.cause.as_str();
    let mut line = Line::default();
    line.push(
        Style::Wary,
        format!("── gap {from} – {to}: versions in between may be missing ({cause}) ──"),
    );
    line
}

fn anew_line(version: &SeenVersion) -> Option<Line> {
    let Place::Anew {
        old_uid,
        deletion_was_seen,
    } = &version.place
    else {
        return None;
    };
    let seen = if *deletion_was_seen {
        ""
    } else {
        "; the deletion of the old one was not observed"
    };
    let uid = &version.uid;
    let mut line = Line::default();
    line.push(
        Style::Wary,
        format!("── another object with this name: uid {old_uid} → {uid}{seen} ──"),
    );
    Some(line)
}

fn head_line(timeline: &Timeline, version: &SeenVersion) -> Line {
    let mut line = Line::default();
    line.push(Style::Strong, timeline.written(version.at));
    let offset = timetext::offset(version.at.micros_since(timeline.start()));
    let rv = &version.rv;
    line.push(Style::Plain, format!("  {offset:<7} rv {rv:<8} "));
    let mut parts = Vec::new();
    let what = what(version);
    if !what.is_empty() {
        let style = match version.kind {
            EventType::Deleted => Style::Bad,
            EventType::Added | EventType::Modified => Style::Good,
        };
        parts.push((style, what.to_owned()));
    }
    match &version.authors {
        Authors::Named(writers) => {
            let managers = field_text::managers(writers);
            let others = if version.evidence == Evidence::Listed {
                ", possibly others"
            } else {
                ""
            };
            parts.push((Style::Plain, format!("{managers}{others}")));
        }
        Authors::Unknown if version.place == Place::Later => {
            parts.push((Style::Faint, "writer unknown".to_owned()));
        }
        Authors::Unknown | Authors::Deletion => {}
    }
    // What came at the last moment that was asked for has not held yet.
    if version.evidence == Evidence::Reconstructed {
        let words = "reconstructed: read back after a gap";
        parts.push((Style::Faint, words.to_owned()));
    }
    if let Some(held) = version.held.filter(|held| held.micros > 0) {
        parts.push((Style::Faint, held_text(held)));
    }
    for (at, (style, text)) in parts.into_iter().enumerate() {
        if at > 0 {
            line.push(Style::Faint, " · ");
        }
        line.push(style, text);
    }
    line
}

/// Says what kind of version it is, if it is no plain change.
const fn what(version: &SeenVersion) -> &'static str {
    match (version.kind, version.evidence, &version.place) {
        (EventType::Deleted, Evidence::Inferred, _) => "deleted: missing from a list, time unknown",
        (EventType::Deleted, _, _) => "deleted",
        (_, Evidence::Initial, Place::First | Place::Anew { .. }) => {
            "existed when the recording started"
        }
        (EventType::Added, Evidence::Live | Evidence::Reconstructed, Place::First) => "created",
        (EventType::Added, Evidence::Live | Evidence::Reconstructed, Place::Anew { .. }) => {
            "created again"
        }
        (_, Evidence::Listed | Evidence::Polled, Place::First | Place::Anew { .. }) => {
            "first seen in a list"
        }
        (_, _, Place::First | Place::Anew { .. }) => "first seen",
        (_, Evidence::Listed | Evidence::Polled, Place::Later) => "seen in a list",
        (_, Evidence::Initial | Evidence::Inferred, Place::Later) => "listed",
        (_, Evidence::Live | Evidence::Reconstructed | Evidence::Imported, Place::Later) => "",
    }
}

fn held_text(held: HeldFor) -> String {
    let span = timetext::span(held.micros);
    match held.until {
        HeldUntil::Change => format!("lasted {span}"),
        HeldUntil::Gap => format!("{span} until a gap"),
        HeldUntil::End => format!("lasted {span}, to the end"),
    }
}

fn field_lines(version: &SeenVersion) -> Vec<Line> {
    let note = |text: &str| {
        let mut line = Line::default();
        line.push(Style::Faint, format!("    {text}"));
        vec![line]
    };
    match &version.changes {
        None => note("the previous version cannot be read"),
        Some(changes) if changes.is_empty() => match (version.kind, &version.place) {
            (EventType::Deleted, _) | (_, Place::First | Place::Anew { .. }) => Vec::new(),
            _ => note("no field changed"),
        },
        Some(changes) => field_text::lines(changes),
    }
}
