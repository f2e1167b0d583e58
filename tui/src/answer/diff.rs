//! Owns the difference of two versions of an object, field by field, long texts word by word. Refuses
//! to choose them: the version at the moment is one, the other one was chosen or is the one before.

use super::here::unread;
use super::line::{Ink, Line};
use crate::model::{Place, Subject};
use kubereel_format::{ResourceInfo, Seq};
use kubereel_history::{
    Change, ComparisonScope, ObjectForm, QueryError, SegmentKind, Timeline, harmless, words,
    write_yaml,
};
use serde_json::Value;

/// How many lines of one value show.
const MOST_LINES: usize = 400;

/// Reads the lines.
pub(super) fn read(
    timeline: &Timeline,
    subject: &Subject,
    place: Place,
    other: Option<Seq>,
) -> Vec<Line> {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return vec![Line::of(Ink::Wary, "the reel knows no such resource")];
    };
    let versions = subject.versions(timeline);
    let next = versions.partition_point(|seq| *seq < place.below);
    let here = next.checked_sub(1).and_then(|at| versions.get(at)).copied();
    let before = next.checked_sub(2).and_then(|at| versions.get(at)).copied();
    let name = subject.written(timeline);
    let (old, new) = match (other.or(before), here) {
        (Some(other), Some(here)) if other == here => {
            let words = "the version that was chosen is the one here: c and C step to others";
            return vec![Line::prose(Ink::Faint, words)];
        }
        (Some(other), Some(here)) => (other.min(here), other.max(here)),
        (Some(_), None) => {
            let at = place.written(timeline);
            let words = format!("no {name} yet at {at}: c steps to its first version");
            return vec![Line::prose(Ink::Faint, words)];
        }
        (None, Some(_)) => {
            let words = "this is the first version that is known: c steps to the next one";
            return vec![Line::prose(Ink::Faint, words)];
        }
        (None, None) => return vec![Line::of(Ink::Plain, format!("{name} was not there yet"))],
    };
    let mut lines = vec![
        end(timeline, "- ", Ink::Gone, old),
        end(timeline, "+ ", Ink::Changed, new),
    ];
    let between = versions
        .iter()
        .filter(|seq| **seq > old && **seq < new)
        .count();
    if between > 0 {
        let words = format!("{between} versions lie between");
        lines.push(Line::of(Ink::Faint, words));
    }
    lines.extend(warnings(timeline, info, old, new));
    match changes(timeline, info, old, new) {
        Ok(changes) => {
            if changes.is_empty() {
                lines.push(Line::of(Ink::Faint, "no field differs"));
            }
            lines.extend(changes.iter().flat_map(told));
        }
        Err(error) => lines.push(unread(&error)),
    }
    lines
}

fn end(timeline: &Timeline, sign: &str, ink: Ink, seq: Seq) -> Line {
    let at = timeline.written(Place::behind(timeline, seq).at);
    let kind = timeline.reel().kind_of(seq);
    let kind = kind.map_or("", kubereel_format::EventType::as_str);
    Line::of(ink, sign)
        .and(Ink::Strong, at)
        .and(Ink::Faint, format!("  seq:{}  {kind}", seq.0))
}

/// Says what makes the two less comparable than they look.
fn warnings(timeline: &Timeline, info: &ResourceInfo, old: Seq, new: Seq) -> Vec<Line> {
    let reel = timeline.reel();
    let mut lines = Vec::new();
    if reel.object_of(old) != reel.object_of(new) {
        let words = "they are two objects of the same name: one was deleted in between";
        lines.push(Line::prose(Ink::Wary, words));
    }
    let at = |seq| Place::behind(timeline, seq).at;
    if timeline.may_miss_changes(info.id, at(old), at(new)) {
        let words = "░ a gap of the recording lies between: versions may be missing";
        lines.push(Line::prose(Ink::Wary, words));
    }
    lines
}

fn changes(
    timeline: &Timeline,
    info: &ResourceInfo,
    old: Seq,
    new: Seq,
) -> Result<Vec<Change>, QueryError> {
    let form = ObjectForm::default();
    let (old, new) = (
        timeline.object(old, info, form)?,
        timeline.object(new, info, form)?,
    );
    Ok(ComparisonScope::default().changes(&old, &new))
}

fn told(change: &Change) -> Vec<Line> {
    let path = harmless(&change.path.to_string()).into_owned();
    let mut lines =
        vec![Line::of(Ink::Strong, path).and(Ink::Faint, format!("  {}", change.kind.as_str()))];
    if let (Some(Value::String(old)), Some(Value::String(new))) = (&change.old, &change.new) {
        let segments = words(old, new);
        for (sign, own, ink) in [
            ("- ", SegmentKind::Removed, Ink::Gone),
            ("+ ", SegmentKind::Added, Ink::Changed),
        ] {
            let parts = segments
                .iter()
                .filter(|one| one.kind == own || one.kind == SegmentKind::Kept)
                .map(|one| (if one.kind == own { ink } else { Ink::Plain }, one.text));
            lines.extend(rows(sign, ink, parts));
        }
        return lines;
    }
    for (sign, value, ink) in [
        ("- ", &change.old, Ink::Gone),
        ("+ ", &change.new, Ink::Changed),
    ] {
        if let Some(value) = value {
            let text = written(value);
            lines.extend(rows(sign, ink, [(ink, text.as_str())].into_iter()));
        }
    }
    lines
}

/// Writes a value as YAML, a plain one as it is.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) => {
            let mut text = String::new();
            match write_yaml(&mut text, value) {
                Ok(()) => text.trim_end().to_owned(),
                Err(_) => value.to_string(),
            }
        }
        plain => plain.to_string(),
    }
}

/// Breaks parts into lines where they hold line ends.
fn rows<'a>(sign: &str, ink: Ink, parts: impl Iterator<Item = (Ink, &'a str)>) -> Vec<Line> {
    let first = || Line::prose(ink, format!("  {sign}"));
    let mut lines = vec![first()];
    for (ink, text) in parts {
        for (at, row) in text.split('\n').enumerate() {
            if at > 0 {
                lines.push(first());
            }
            if let Some(line) = lines.last_mut() {
                line.parts.push((ink, harmless(row).into_owned()));
            }
        }
    }
    let rest = lines.len().saturating_sub(MOST_LINES);
    if rest > 0 {
        lines.truncate(MOST_LINES);
        lines.push(Line::of(Ink::Faint, format!("    and {rest} lines more")));
    }
    lines
}
