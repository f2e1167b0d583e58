//! Owns what changed in the last seconds before a moment, of all resources, newest first. Refuses to
//! read more bodies than anybody looks at: the rest is counted aloud.

use super::line::{Ink, Line, Target};
use super::short::short;
use crate::filter::{Query, Seen};
use crate::model::{Place, Subject};
use kubereel_format::{EventType, RecordedAt, ResourceInfo};
use kubereel_history::{
    Change, CursorStep, FieldStep, SteppedOver, Timeline, Track, harmless, timetext,
};

/// How many events are told.
const MOST: usize = 100;
/// The seconds are at least so many microseconds: 1 s.
pub(crate) const LEAST_MICROS: i64 = 1_000_000;

/// What is asked: which seconds, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nearby {
    /// How long before the moment, in microseconds.
    pub(crate) micros: i64,
    /// The filter, as it was written.
    pub(crate) filter: String,
    /// The only namespace, if one is chosen.
    pub(crate) namespace: Option<String>,
}

/// Reads the lines.
pub(super) fn read(timeline: &Timeline, asked: &Nearby, place: Place) -> Vec<Line> {
    // What cannot be read was refused when it was written.
    let query = Query::parse(&asked.filter, Some(timeline.resources())).unwrap_or_default();
    let from = RecordedAt::from_micros(place.at.micros.saturating_sub(asked.micros));
    let first = timeline
        .reel()
        .seq_after(RecordedAt::from_micros(from.micros.saturating_sub(1)));
    let mut cursor = timeline.cursor(Track::Everything, place.cut());
    let mut lines = Vec::new();
    let (mut count, mut told) = (0_usize, 0_usize);
    while let Some(step) = cursor.back().filter(|step| step.seq >= first) {
        let Some((info, subject)) = subject_of(timeline, &step) else {
            continue;
        };
        let texts = [info.plural.as_str(), subject.name.as_str()].into_iter();
        let seen = Seen {
            resource: info.id,
            namespace: &subject.namespace,
            texts,
        };
        let is_chosen = asked
            .namespace
            .as_ref()
            .is_none_or(|only| subject.namespace.is_empty() || *only == subject.namespace);
        if !is_chosen || !query.admits(&seen, |_| false) {
            continue;
        }
        count += 1;
        if told < MOST {
            told += 1;
            lines.push(line(timeline, &step, info, subject.clone(), place));
        }
    }
    let long = timetext::span(u64::try_from(asked.micros).unwrap_or(0));
    let of = if asked.filter.is_empty() && asked.namespace.is_none() {
        ""
    } else {
        " that the filter leaves"
    };
    let until = timeline.written(place.at);
    let events = if count == 1 { "event" } else { "events" };
    let head = format!("{count} {events}{of} in the {long} until {until}");
    lines.insert(0, Line::of(Ink::Faint, head));
    if count > told {
        let rest = format!("and {} earlier ones: zoom in to see them", count - told);
        lines.push(Line::of(Ink::Wary, rest));
    }
    lines
}

fn subject_of<'a>(
    timeline: &'a Timeline,
    step: &CursorStep,
) -> Option<(&'a ResourceInfo, Subject)> {
    let key = timeline.key_of(step.object)?;
    let info = timeline.resources().get(key.resource)?;
    let subject = Subject {
        resource: key.resource,
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    };
    Some((info, subject))
}

fn line(
    timeline: &Timeline,
    step: &CursorStep,
    info: &ResourceInfo,
    subject: Subject,
    place: Place,
) -> Line {
    let before = place.at.micros_since(step.at).max(0);
    let before = timetext::span(u64::try_from(before).unwrap_or(0));
    let head = Line::of(Ink::Faint, format!("-{before:<7} "))
        .and(Ink::Strong, format!("{}  ", subject.written(timeline)));
    let mut line = match SteppedOver::of(timeline, step, info) {
        Ok(over) => {
            let writers = over.authors.writers();
            let who: Vec<&str> = writers.iter().map(|one| one.manager.as_str()).collect();
            let told = said(head, step.kind, info, &over);
            if who.is_empty() {
                told
            } else {
                told.and(Ink::Faint, harmless(&format!("  ◂ {}", who.join(","))))
            }
        }
        Err(error) => head.and(Ink::Wary, harmless(&format!("cannot be read: {error}"))),
    };
    line.target = Some(Target::Moment(step.seq, subject));
    line
}

/// Says in short what an event changed: what tells most comes first.
fn said(head: Line, kind: EventType, info: &ResourceInfo, over: &SteppedOver) -> Line {
    if info.kind == "Event" && kind != EventType::Deleted {
        let text = |name: &str| {
            let text = over.now.get(name).and_then(serde_json::Value::as_str);
            harmless(text.unwrap_or_default()).into_owned()
        };
        return head
            .and(Ink::Changed, text("reason"))
            .and(Ink::Plain, format!(" {}{}", text("message"), text("note")));
    }
    match (kind, &over.changes) {
        (EventType::Deleted, _) => head.and(Ink::Gone, "deleted"),
        (EventType::Added, None) => head.and(Ink::Changed, "created"),
        (_, None) => head.and(Ink::Wary, "the version before is not known"),
        (_, Some(changes)) => {
            let Some(first) = changes.iter().min_by_key(|change| rank(change)) else {
                return head.and(Ink::Faint, "written without a change");
            };
            let line = of_change(head, first);
            let rest = changes.len().saturating_sub(1);
            if rest > 0 {
                line.and(Ink::Faint, format!(" and {rest} more"))
            } else {
                line
            }
        }
    }
}

/// Gives how little a change tells.
pub(super) fn rank(change: &Change) -> u8 {
    let path = change.path.to_string();
    let is_of_condition = path.starts_with("status.conditions[");
    if is_of_condition && path.ends_with("].status") {
        0
    } else if path == "status.phase" || path.starts_with("spec.") {
        1
    } else if path.ends_with("Time") || path.ends_with("resourceVersion") {
        9
    } else if is_of_condition {
        4
    } else {
        3
    }
}

fn of_change(head: Line, change: &Change) -> Line {
    let steps = change.path.steps();
    // A condition is known by its type.
    let name = match steps {
        [.., FieldStep::Item(parts), FieldStep::Member(status)] if status == "status" => parts
            .first()
            .map_or_else(String::new, |part| part.value.clone()),
        _ => change.path.to_string(),
    };
    let line = head.and(Ink::Plain, format!("{} ", harmless(&name)));
    let line = match &change.old {
        Some(old) => line.and(Ink::Gone, short(old)),
        None => line,
    };
    match &change.new {
        Some(new) => line.and(Ink::Faint, " → ").and(Ink::Changed, short(new)),
        None => line.and(Ink::Faint, " gone"),
    }
}
