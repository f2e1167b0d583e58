//! Owns the comparison of the whole state at two moments, and of one object at both. Refuses silence
//! about what is not known at either.

use super::line::{Ink, Line};
use super::short::short;
use super::trust::trust;
use crate::model::{Difference, DifferenceRow, Place, Subject};
use kubereel_format::ResourceInfo;
use kubereel_history::{
    Change, ComparisonScope, ObjectDifference, ObjectFate, ObjectFilter, ResourceMoment, Timeline,
    differing, harmless,
};

/// How many objects are listed.
const MOST_ROWS: usize = 5_000;
/// How many fields of an object are listed.
const MOST_FIELDS: usize = 2_000;

/// Compares two moments. `go_on` is told how many of how many objects are read, and ends it by
/// `false`.
pub(super) fn compare(
    timeline: &Timeline,
    a: Place,
    b: Place,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Option<Difference> {
    let mut unknown = Vec::new();
    let mut found: Vec<(&ResourceInfo, &ResourceInfo, ObjectDifference)> = Vec::new();
    for info in timeline.resources().iter() {
        let (then, now) = (
            timeline.resource_at(info, a.cut()),
            timeline.resource_at(info, b.cut()),
        );
        // Of several versions of a resource, the one that answers at the second moment speaks.
        if now.id != info.id || timeline.objects_of(info.id).is_empty() {
            continue;
        }
        if !go_on(0, 0) {
            return None;
        }
        let before = timeline.as_of(then.id, a.cut(), &ObjectFilter::default());
        let after = timeline.as_of(now.id, b.cut(), &ObjectFilter::default());
        let name = harmless(&info.qualified()).into_owned();
        for (moment, state) in [("A", &before), ("here", &after)] {
            if let Some(why) = trust(timeline, &state.certainty) {
                unknown.push(format!("{name} at {moment}: {why}"));
            }
        }
        if before.certainty.has_state() && after.certainty.has_state() {
            let all = differing(&before, &after);
            found.extend(all.into_iter().map(|one| (then, now, one)));
        }
    }
    // What is written all the time stands below what is meant.
    found.sort_by_key(|(_, now, _)| matches!(now.kind.as_str(), "Event" | "Lease"));
    let rest = found.len().saturating_sub(MOST_ROWS);
    let all = found.len().min(MOST_ROWS);
    let mut rows = Vec::new();
    for (then, now, one) in found.into_iter().take(MOST_ROWS) {
        if !go_on(rows.len(), all) {
            return None;
        }
        let (then, now) = (asked(then, a), asked(now, b));
        rows.push(DifferenceRow {
            words: words(timeline, &one.fate, then, now),
            subject: Subject {
                resource: now.resource.id,
                namespace: one.namespace,
                name: one.name,
            },
            fate: one.fate.as_str(),
        });
    }
    Some(Difference {
        a,
        b,
        rows,
        unknown,
        rest,
    })
}

const fn asked(resource: &ResourceInfo, place: Place) -> ResourceMoment<'_> {
    ResourceMoment {
        resource,
        cut: place.cut(),
    }
}

/// Says in short what changed.
fn words(
    timeline: &Timeline,
    fate: &ObjectFate,
    then: ResourceMoment<'_>,
    now: ResourceMoment<'_>,
) -> String {
    if matches!(
        fate,
        ObjectFate::Created { .. } | ObjectFate::Deleted { .. }
    ) {
        return String::new();
    }
    match fate.changes(timeline, then, now, &ComparisonScope::default()) {
        Err(error) => harmless(&format!("cannot be read: {error}")).into_owned(),
        Ok(changes) => match changes
            .iter()
            .min_by_key(|change| super::nearby::rank(change))
        {
            None => "written since, and the same again".to_owned(),
            Some(first) => {
                let rest = changes.len().saturating_sub(1);
                let more = if rest > 0 {
                    format!(" and {rest} more")
                } else {
                    String::new()
                };
                let value = |value: &Option<serde_json::Value>| {
                    value.as_ref().map_or_else(|| "none".to_owned(), short)
                };
                let path = first.path.to_string();
                format!(
                    "{} {} → {}{more}",
                    harmless(&path),
                    value(&first.old),
                    value(&first.new)
                )
            }
        },
    }
}

/// Reads what differs of one object, field by field.
pub(super) fn read(timeline: &Timeline, subject: &Subject, a: Place, b: Place) -> Vec<Line> {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return vec![Line::of(Ink::Wary, "the reel knows no such resource")];
    };
    let only = [subject.name.clone()];
    let filter = ObjectFilter {
        namespace: info.namespaced.then_some(subject.namespace.as_str()),
        names: &only,
    };
    let (then, now) = (
        timeline.resource_at(info, a.cut()),
        timeline.resource_at(info, b.cut()),
    );
    let before = timeline.as_of(then.id, a.cut(), &filter);
    let after = timeline.as_of(now.id, b.cut(), &filter);
    let (from, to) = (a.written(timeline), b.written(timeline));
    let mut lines = vec![Line::of(Ink::Faint, format!("A {from}  to  {to}"))];
    for (moment, state) in [("A", &before), ("here", &after)] {
        if let Some(words) = trust(timeline, &state.certainty) {
            lines.push(Line::of(Ink::Wary, format!("{moment}: {words}")));
        }
    }
    let Some(one) = differing(&before, &after).into_iter().next() else {
        let words = if before.objects.is_empty() {
            "it is there at neither moment"
        } else {
            "the same version at both moments"
        };
        lines.push(Line::of(Ink::Plain, words));
        return lines;
    };
    lines.push(Line::of(Ink::Strong, one.fate.as_str()));
    let (then, now) = (asked(then, a), asked(now, b));
    match one
        .fate
        .changes(timeline, then, now, &ComparisonScope::default())
    {
        Err(error) => {
            let words = harmless(&format!("it cannot be read: {error}")).into_owned();
            lines.push(Line::of(Ink::Wary, words));
        }
        Ok(changes) => {
            lines.extend(changes.iter().take(MOST_FIELDS).map(of_change));
            let rest = changes.len().saturating_sub(MOST_FIELDS);
            if rest > 0 {
                lines.push(Line::of(Ink::Wary, format!("and {rest} more fields")));
            }
        }
    }
    lines
}

fn of_change(change: &Change) -> Line {
    let path = harmless(&change.path.to_string()).into_owned();
    let mut line = Line::of(Ink::Plain, format!("  {path} "));
    if let Some(old) = &change.old {
        line = line.and(Ink::Gone, short(old));
    }
    line = match &change.new {
        Some(new) => line.and(Ink::Faint, " → ").and(Ink::Changed, short(new)),
        None => line.and(Ink::Faint, " gone"),
    };
    line.field = Some(change.path.clone());
    line
}
