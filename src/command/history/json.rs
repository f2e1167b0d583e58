//! Owns the history that programs read: one JSON object, its items in order, written as they are
//! read.

use super::Tally;
use crate::command::asked::Named;
use crate::command::get::header;
use crate::command_error::CommandError;
use crate::field_text;
use crate::screen::Screen;
use kubereel_history::{
    Authors, Certainty, DurationEnd, HistoryItem, HistoryVersion, ObjectHistory, Timeline,
    VersionPlace, timetext,
};
use serde_json::{Value, json};

/// Prints a history as it is read.
pub(super) fn print(
    timeline: &Timeline,
    named: &Named<'_>,
    certainty: &Certainty,
    history: ObjectHistory<'_>,
    screen: &mut Screen,
) -> Result<Tally, CommandError> {
    let mut tally = Tally {
        versions: history.versions(),
        ..Tally::default()
    };
    let head = format!(
        r#"{{"resource":{},"namespace":{},"name":{},"versions":{},"gaps":{},"trust":{},"items":["#,
        Value::from(named.resource.qualified()),
        Value::from(named.namespace),
        Value::from(named.name.as_str()),
        history.versions(),
        history.gaps(),
        Value::from(header::trust(timeline, certainty)),
    );
    screen.line(head)?;
    let mut last: Option<Value> = None;
    for item in history {
        tally.take(&item);
        if let Some(last) = last.replace(written(timeline, &item)) {
            screen.line(format_args!("{last},"))?;
        }
    }
    if let Some(last) = last {
        screen.line(last)?;
    }
    screen.line("]}")?;
    Ok(tally)
}

/// Writes one item.
pub(crate) fn written(timeline: &Timeline, item: &HistoryItem) -> Value {
    match item {
        HistoryItem::Gap(gap) => json!({
            "item": "gap",
            "from": timetext::rfc3339(gap.from_time),
            "to": timetext::rfc3339(gap.to_time),
            "from_rv": gap.from_rv,
            "to_rv": gap.to_rv,
            "cause": gap.cause.as_str(),
            "missing_at_most": gap.missing_at_most,
        }),
        HistoryItem::Unobserved(span) => json!({
            "item": "unobserved",
            "from": timetext::rfc3339(span.from),
            "to": timetext::rfc3339(span.to),
            "reason": span.reason.to_string(),
        }),
        HistoryItem::Unreadable { seq, at, error } => json!({
            "item": "unreadable",
            "seq": seq.0,
            "at": timetext::rfc3339(*at),
            "error": error.to_string(),
        }),
        HistoryItem::Version(version) => version_json(timeline, version),
    }
}

fn version_json(timeline: &Timeline, version: &HistoryVersion) -> Value {
    let writers = match &version.authors {
        Authors::Unknown => None,
        known => Some(known.writers()),
    };
    let writers: Option<Vec<Value>> =
        writers.map(|writers| writers.iter().map(field_text::writer_json).collect());
    let changes: Option<Vec<Value>> = version
        .changes
        .as_ref()
        .map(|changes| changes.iter().map(field_text::json).collect());
    let committed = timeline.committed(version.seq);
    let mut value = json!({
        "item": "version",
        "seq": version.seq.0,
        "at": timetext::rfc3339(version.at),
        "offset_secs": field_text::secs(version.at.micros_since(timeline.start())),
        "committed_after": committed.and_then(|bounds| bounds.after).map(timetext::rfc3339),
        "committed_before": committed.map(|bounds| timetext::rfc3339(bounds.before)),
        "rv": version.rv,
        "type": version.kind.as_str(),
        "evidence": version.evidence.as_str(),
        "uid": version.uid,
        "is_first": version.place != VersionPlace::Later,
        "writers": writers,
        "changes": changes,
        "held_secs": version.held.map(|held| field_text::secs(i64::try_from(held.micros).unwrap_or(i64::MAX))),
        "held_until": version.held.map(|held| match held.until {
            DurationEnd::Change => "change",
            DurationEnd::Gap => "gap",
            DurationEnd::End => "end",
        }),
    });
    if let VersionPlace::Anew {
        old_uid,
        deletion_was_seen,
    } = &version.place
        && let Some(members) = value.as_object_mut()
    {
        members.insert(
            "replaces".to_owned(),
            json!({"uid": old_uid, "deletion_was_seen": deletion_was_seen}),
        );
    }
    value
}
