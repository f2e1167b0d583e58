//! Owns an object's versions around a moment, with what each changed. Refuses all of them: those
//! nearest to the moment are read.

use super::line::{Ink, Line, Target};
use super::short::short;
use crate::model::{Place, Subject};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{
    Change, ComparisonScope, Cut, HistoryItem, HistoryQuestion, HistoryVersion, Timeline, harmless,
};

/// How many versions before and after the moment are read.
const AROUND: usize = 25;
/// How many fields of a version show.
const MOST_FIELDS: usize = 8;

/// Reads the lines; the version that held at the moment is to be seen first.
pub(super) fn read(timeline: &Timeline, subject: &Subject, place: Place) -> (Vec<Line>, usize) {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return (
            vec![Line::of(Ink::Wary, "the reel knows no such resource")],
            0,
        );
    };
    let versions = subject.versions(timeline);
    let next = versions.partition_point(|seq| *seq < place.below);
    let edge = |at: Option<usize>| {
        at.and_then(|at| versions.get(at))
            .map(|seq| below(timeline, *seq))
    };
    let first = next.checked_sub(AROUND);
    let from = edge(first.and_then(|first| first.checked_sub(1)));
    let last = next.saturating_add(AROUND);
    let to = edge((last < versions.len()).then_some(last));
    let mut lines = Vec::new();
    let mut here = 0;
    let question = HistoryQuestion {
        resource: info,
        namespace: &subject.namespace,
        name: &subject.name,
        scope: ComparisonScope::default(),
        from,
        to,
    };
    for item in timeline.history(question) {
        match item {
            HistoryItem::Gap(gap) => {
                let (from, to) = (
                    timeline.written(gap.from_time),
                    timeline.written(gap.to_time),
                );
                let words = format!("░ gap {from} – {to}: versions may be missing");
                lines.push(Line::of(Ink::Wary, words));
            }
            HistoryItem::Unobserved(span) => {
                let (from, to) = (timeline.written(span.from), timeline.written(span.to));
                let reason = span.reason;
                let words = format!("░ not observed {from} – {to}: {reason}");
                lines.push(Line::of(Ink::Wary, words));
            }
            HistoryItem::Unreadable { at, error, .. } => {
                let error = harmless(&error.to_string()).into_owned();
                let words = format!("░ {} cannot be read: {error}", timeline.written(at));
                lines.push(Line::of(Ink::Wary, words));
            }
            HistoryItem::Version(version) => {
                let is_past = version.seq < place.below;
                if is_past {
                    here = lines.len();
                }
                let is_here =
                    next.checked_sub(1).and_then(|at| versions.get(at)) == Some(&version.seq);
                lines.extend(told(timeline, &version, is_past, is_here));
            }
        }
    }
    if lines.is_empty() {
        let words = format!("{} was never seen", subject.written(timeline));
        lines.push(Line::of(Ink::Plain, words));
    }
    (lines, here.saturating_sub(1))
}

fn below(timeline: &Timeline, seq: Seq) -> Cut {
    let at: RecordedAt = Place::behind(timeline, seq).at;
    Cut::Arrival {
        below: Seq(seq.0.saturating_add(1)),
        wall: at,
    }
}

fn told(timeline: &Timeline, version: &HistoryVersion, is_past: bool, is_here: bool) -> Vec<Line> {
    let head = match (is_here, is_past) {
        (true, _) => Ink::Strong,
        (false, true) => Ink::Plain,
        (false, false) => Ink::Faint,
    };
    let mark = if is_here { "▶ " } else { "  " };
    let who: Vec<&str> = version
        .authors
        .writers()
        .iter()
        .map(|one| one.manager.as_str())
        .collect();
    let at = timeline.written(version.at);
    let mut first = Line::of(head, format!("{mark}{at}  {}", version.kind.as_str()));
    first.aside = harmless(&who.join(",")).into_owned();
    let mut lines = vec![first.to(Target::Version(version.seq))];
    let Some(changes) = &version.changes else {
        lines.push(Line::of(Ink::Wary, "    the version before cannot be read"));
        return lines;
    };
    if version.place != kubereel_history::VersionPlace::Later {
        return lines;
    }
    let body = if is_past { Ink::Plain } else { Ink::Faint };
    for change in changes.iter().take(MOST_FIELDS) {
        lines.push(of_change(change, body));
    }
    let rest = changes.len().saturating_sub(MOST_FIELDS);
    if rest > 0 {
        lines.push(Line::of(Ink::Faint, format!("    and {rest} more")));
    }
    lines
}

fn of_change(change: &Change, ink: Ink) -> Line {
    let path = harmless(&change.path.to_string()).into_owned();
    let line = Line::of(ink, format!("    {path} "));
    let line = match &change.old {
        Some(old) => line.and(Ink::Gone, short(old)),
        None => line,
    };
    match &change.new {
        Some(new) => line.and(Ink::Faint, " → ").and(Ink::Changed, short(new)),
        None => line.and(Ink::Faint, " gone"),
    }
}
