//! Owns the history that people read: a line a version, its changed fields below it, gaps in their
//! place.

use super::Tally;
use crate::command_error::CommandError;
use crate::field_text::{self, HANG};
use crate::screen::Screen;
use crate::spans::{Line, Style};
use kubereel_format::{EventType, Evidence, Gap};
use kubereel_history::{
    Authors, DurationEnd, HistoryItem, HistoryVersion, ObjectHistory, Timeline, VersionDuration,
    VersionPlace, timetext,
};

/// Prints a history as it is read.
pub(super) fn print(
    timeline: &Timeline,
    history: ObjectHistory<'_>,
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

fn anew_line(version: &HistoryVersion) -> Option<Line> {
    let VersionPlace::Anew {
        old_uid,
        deletion_was_seen,
    } = &version.place
    else {
        return None;
    };
    let seen = if *deletion_was_seen {
        ""
    } else {
        "; the deletion of the old one was not seen"
    };
    let uid = &version.uid;
    let mut line = Line::default();
    line.push(
        Style::Wary,
        format!("── another object of that name: uid {old_uid} → {uid}{seen} ──"),
    );
    Some(line)
}

fn head_line(timeline: &Timeline, version: &HistoryVersion) -> Line {
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
                ", perhaps others"
            } else {
                ""
            };
            parts.push((Style::Plain, format!("{managers}{others}")));
        }
        Authors::Unknown if version.place == VersionPlace::Later => {
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
const fn what(version: &HistoryVersion) -> &'static str {
    match (version.kind, version.evidence, &version.place) {
        (EventType::Deleted, Evidence::Inferred, _) => {
            "deleted: missing from a list, when is not known"
        }
        (EventType::Deleted, _, _) => "deleted",
        (_, Evidence::Initial, VersionPlace::First | VersionPlace::Anew { .. }) => {
            "there when the recorder first looked"
        }
        (EventType::Added, Evidence::Live | Evidence::Reconstructed, VersionPlace::First) => {
            "created"
        }
        (EventType::Added, Evidence::Live | Evidence::Reconstructed, VersionPlace::Anew { .. }) => {
            "created anew"
        }
        (
            _,
            Evidence::Listed | Evidence::Polled,
            VersionPlace::First | VersionPlace::Anew { .. },
        ) => "first seen in a list",
        (_, _, VersionPlace::First | VersionPlace::Anew { .. }) => "first seen",
        (_, Evidence::Listed | Evidence::Polled, VersionPlace::Later) => "seen in a list",
        (_, Evidence::Initial | Evidence::Inferred, VersionPlace::Later) => "listed",
        (_, Evidence::Live | Evidence::Reconstructed | Evidence::Imported, VersionPlace::Later) => {
            ""
        }
    }
}

fn held_text(held: VersionDuration) -> String {
    let span = timetext::span(held.micros);
    match held.until {
        DurationEnd::Change => format!("held {span}"),
        DurationEnd::Gap => format!("{span} until a gap"),
        DurationEnd::End => format!("held {span} to the end"),
    }
}

fn field_lines(version: &HistoryVersion) -> Vec<Line> {
    let note = |text: &str| {
        let mut line = Line::default();
        line.push(Style::Faint, format!("    {text}"));
        vec![line]
    };
    match &version.changes {
        None => note("the version before cannot be read"),
        Some(changes) if changes.is_empty() => match (version.kind, &version.place) {
            (EventType::Deleted, _) | (_, VersionPlace::First | VersionPlace::Anew { .. }) => {
                Vec::new()
            }
            _ => note("no field changed"),
        },
        Some(changes) => field_text::lines(changes),
    }
}
