//! Differences of objects: two versions of one, one at two moments, the whole state at two moments, and the
//! version that changes a field. What is unknown or unreadable is counted, never skipped in silence.

use super::line::{Ink, PanelLine, short};
use super::object_at::{trust, unread};
use super::question::{FieldSearch, FieldSearchResult};
use crate::subject::NamedObject;
use crate::time::{CursorPlace, TimeDirection};
use kubereel_cluster::{StateKind, VersionChanges};
use kubereel_format::{EventType, ResourceInfo, Seq};
use kubereel_history::{
    Change, ComparisonScope, Field, ObjectDifference, ObjectFate, ObjectFilter, ObjectForm,
    QueryError, ResourceMoment, SegmentKind, Timeline, differing, field, harmless, timetext, words,
    write_yaml,
};
use serde_json::Value;

/// What differs between two moments.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The first moment.
    pub(crate) a: CursorPlace,
    /// The second one.
    pub(crate) b: CursorPlace,
    /// The objects, in order of resources.
    pub(crate) rows: Vec<DifferenceRow>,
    /// The resources whose state is not known at one of the moments: nothing of them is compared.
    pub(crate) not_compared: Vec<String>,
    /// What is not known, in words; of the resources that are not compared first.
    pub(crate) unknown: Vec<String>,
    /// How many objects were left out.
    pub(crate) rest: usize,
}

/// An object that differs.
#[derive(Clone, Debug)]
pub(crate) struct DifferenceRow {
    /// The object.
    pub(crate) subject: NamedObject,
    /// The outcome: created, deleted, recreated, changed, rewritten or not compared.
    pub(crate) fate: &'static str,
    /// What changed, in short.
    pub(crate) words: String,
}

/// How many lines of one value show.
const MOST_LINES: usize = 400;

/// Reads the lines.
pub(super) fn read_diff(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
    other: Option<Seq>,
) -> Vec<PanelLine> {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return vec![PanelLine::of(Ink::Wary, "resource not in this reel")];
    };
    let versions = subject.versions(timeline);
    let next = versions.partition_point(|seq| *seq < place.below);
    let here = next.checked_sub(1).and_then(|at| versions.get(at)).copied();
    let before = next.checked_sub(2).and_then(|at| versions.get(at)).copied();
    let name = subject.written(timeline);
    let (old, new) = match (other.or(before), here) {
        (Some(other), Some(here)) if other == here => {
            let words = "the marked version is the current one: c and C step to others";
            return vec![PanelLine::of(Ink::Faint, words)];
        }
        (Some(other), Some(here)) => (other.min(here), other.max(here)),
        (marked, None) => {
            let at = place.written(timeline);
            let words = match marked {
                Some(_) => format!("no {name} yet at {at}: c steps to its first version"),
                None => format!("{name} does not exist yet"),
            };
            let certainty = timeline.certainty(info.id, place.cut());
            let why = trust(timeline, &certainty);
            let mut lines: Vec<PanelLine> = why
                .into_iter()
                .map(|why| PanelLine::of(Ink::Wary, why))
                .collect();
            if certainty.has_state() {
                lines.push(PanelLine::of(Ink::Plain, words));
            }
            return lines;
        }
        (None, Some(_)) => {
            let words = "first recorded version: c steps to the next one";
            return vec![PanelLine::of(Ink::Faint, words)];
        }
    };
    let mut lines = vec![
        version_line(timeline, "- ", Ink::Gone, old),
        version_line(timeline, "+ ", Ink::Changed, new),
    ];
    let between = versions
        .iter()
        .filter(|seq| **seq > old && **seq < new)
        .count();
    if between > 0 {
        let words = format!("{between} versions in between");
        lines.push(PanelLine::of(Ink::Faint, words));
    }
    lines.extend(warnings(timeline, old, new));
    match version_changes(timeline, info, old, new) {
        Ok(changes) => {
            if changes.is_empty() {
                lines.push(PanelLine::of(Ink::Faint, "no field changed"));
            }
            let all = VersionChanges::of(StateKind::of_resource(info), &changes);
            lines.extend(changes.iter().flat_map(|change| field_lines(change, all)));
        }
        Err(error) => lines.push(unread(&error)),
    }
    lines
}

fn version_line(timeline: &Timeline, sign: &str, ink: Ink, seq: Seq) -> PanelLine {
    let at = timeline.written(CursorPlace::behind(timeline, seq).at);
    let kind = timeline.reel().kind_of(seq);
    let kind = kind.map_or("", EventType::as_str);
    PanelLine::of(ink, sign)
        .and(Ink::Strong, at)
        .and(Ink::Faint, format!("  seq:{}  {kind}", seq.0))
}

/// Says what makes the two less comparable than they look.
fn warnings(timeline: &Timeline, old: Seq, new: Seq) -> Vec<PanelLine> {
    let reel = timeline.reel();
    let mut lines = Vec::new();
    if reel.object_of(old) != reel.object_of(new) {
        let words = "two objects of the same name: deleted and recreated in between";
        lines.push(PanelLine::of(Ink::Wary, words));
    }
    let at = |seq| CursorPlace::behind(timeline, seq).at;
    if timeline.may_miss_changes(new, at(old), at(new)) {
        let words = "░ recording gap in between: versions may be missing";
        lines.push(PanelLine::of(Ink::Wary, words));
    }
    lines
}

fn version_changes(
    timeline: &Timeline,
    info: &ResourceInfo,
    old: Seq,
    new: Seq,
) -> Result<Vec<Change>, QueryError> {
    let form = ObjectForm::default();
    let (before, now) = (
        timeline.object(old, info, form)?,
        timeline.object(new, info, form)?,
    );
    Ok(timeline.field_changes(&ComparisonScope::default(), (old, &before), (new, &now)))
}

fn field_lines(change: &Change, changes: VersionChanges<'_>) -> Vec<PanelLine> {
    let path = harmless(&change.path.to_string()).into_owned();
    let mut lines = vec![
        PanelLine::of(Ink::Strong, path).and(Ink::Faint, format!("  {}", change.kind.as_str())),
    ];
    if let (Some(Value::String(old)), Some(Value::String(new))) = (&change.old, &change.new) {
        let segments = words(old, new);
        let added = Ink::of_change(change, changes);
        for (sign, own, ink) in [
            ("- ", SegmentKind::Removed, Ink::Gone),
            ("+ ", SegmentKind::Added, added),
        ] {
            let parts = segments
                .iter()
                .filter(|one| one.kind == own || one.kind == SegmentKind::Kept)
                .map(|one| (if one.kind == own { ink } else { Ink::Plain }, one.text));
            lines.extend(value_lines(sign, ink, parts));
            sign_last(&mut lines, ink);
        }
        return lines;
    }
    let new = Ink::of_change(change, changes);
    for (sign, value, ink) in [("- ", &change.old, Ink::Gone), ("+ ", &change.new, new)] {
        if let Some(value) = value {
            let text = value_text(value);
            lines.extend(value_lines(sign, ink, [(ink, text.as_str())].into_iter()));
            sign_last(&mut lines, ink);
        }
    }
    lines
}

/// Puts the sign of an ink behind a value.
fn sign_last(lines: &mut [PanelLine], ink: Ink) {
    if let Some(last) = lines.last_mut().filter(|_| !ink.sign().is_empty()) {
        last.parts.push((ink, ink.sign().to_owned()));
    }
}

/// Writes a value as YAML, a plain one as it is.
fn value_text(value: &Value) -> String {
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
fn value_lines<'a>(
    sign: &str,
    ink: Ink,
    parts: impl Iterator<Item = (Ink, &'a str)>,
) -> Vec<PanelLine> {
    let first = || PanelLine::of(ink, format!("  {sign}"));
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
        lines.push(PanelLine::of(
            Ink::Faint,
            format!("    and {rest} more lines"),
        ));
    }
    lines
}

/// How many objects are listed.
const MOST_ROWS: usize = 5_000;
/// How many fields of an object are listed.
const MOST_FIELDS: usize = 2_000;

/// Compares two moments. `go_on` gets the objects read and all objects, and ends it by
/// `false`.
pub(super) fn compare(
    timeline: &Timeline,
    a: CursorPlace,
    b: CursorPlace,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Option<Difference> {
    let (mut not_compared, mut reasons, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    let mut found: Vec<(&ResourceInfo, &ResourceInfo, ObjectDifference)> = Vec::new();
    for info in timeline.resources().iter() {
        let (then, now) = (
            timeline.resource_at(info, a.cut()),
            timeline.resource_at(info, b.cut()),
        );
        // Of several versions of a resource, the one that answers at the second moment speaks.
        if now.id != info.id {
            continue;
        }
        if !go_on(0, 0) {
            return None;
        }
        let before = timeline.as_of(then.id, a.cut(), &ObjectFilter::default());
        let after = timeline.as_of(now.id, b.cut(), &ObjectFilter::default());
        let name = harmless(&info.qualified()).into_owned();
        let is_compared = before.certainty.has_state() && after.certainty.has_state();
        for (moment, state) in [("A", &before), ("here", &after)] {
            if let Some(why) = trust(timeline, &state.certainty) {
                let words = format!("{name} at {moment}: {why}");
                if is_compared {
                    unknown.push(words);
                } else {
                    reasons.push(words);
                }
            }
        }
        if is_compared {
            let all = differing(&before, &after);
            found.extend(all.into_iter().map(|one| (then, now, one)));
        } else {
            not_compared.push(name);
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
        let (then, now) = (asked_at(then, a), asked_at(now, b));
        let (fate, words) = summary_of(timeline, &one.fate, then, now);
        rows.push(DifferenceRow {
            words,
            subject: NamedObject {
                resource: now.resource.id,
                namespace: one.namespace,
                name: one.name,
            },
            fate,
        });
    }
    Some(Difference {
        a,
        b,
        rows,
        not_compared,
        unknown: reasons.into_iter().chain(unknown).collect(),
        rest,
    })
}

const fn asked_at(resource: &ResourceInfo, place: CursorPlace) -> ResourceMoment<'_> {
    ResourceMoment {
        resource,
        cut: place.cut(),
    }
}

/// The outcome of an object that was written and is as it was: no change, and `kubereel diff` counts none.
pub(crate) const REWRITTEN: &str = "rewritten";

/// The outcome of an object with another version that cannot be compared.
pub(crate) const UNREADABLE: &str = "not compared";

/// Gives the outcome, and says in short what changed.
fn summary_of(
    timeline: &Timeline,
    fate: &ObjectFate,
    then: ResourceMoment<'_>,
    now: ResourceMoment<'_>,
) -> (&'static str, String) {
    let outcome = fate.as_str();
    if matches!(
        fate,
        ObjectFate::Created { .. } | ObjectFate::Deleted { .. }
    ) {
        return (outcome, String::new());
    }
    let words = match fate.changes(timeline, then, now, &ComparisonScope::default()) {
        Err(error) => {
            let words = harmless(&format!("cannot be read: {error}")).into_owned();
            return (UNREADABLE, words);
        }
        Ok(changes) => match changes
            .iter()
            .min_by_key(|change| super::changes::rank(change))
        {
            // A recreated object is another one, even if it looks the same.
            None if matches!(fate, ObjectFate::Changed { .. }) => {
                return (REWRITTEN, "rewritten, no net change".to_owned());
            }
            None => "rewritten, no net change".to_owned(),
            Some(first) => {
                let rest = changes.len().saturating_sub(1);
                let more = if rest > 0 {
                    format!(" and {rest} more")
                } else {
                    String::new()
                };
                let value =
                    |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), short);
                let path = first.path.to_string();
                format!(
                    "{} {} → {}{more}",
                    harmless(&path),
                    value(&first.old),
                    value(&first.new)
                )
            }
        },
    };
    (outcome, words)
}

/// Reads what differs of one object, field by field.
pub(super) fn read_between(
    timeline: &Timeline,
    subject: &NamedObject,
    a: CursorPlace,
    b: CursorPlace,
) -> Vec<PanelLine> {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return vec![PanelLine::of(Ink::Wary, "resource not in this reel")];
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
    let mut lines = vec![PanelLine::of(Ink::Faint, format!("A {from}  to  {to}"))];
    for (moment, state) in [("A", &before), ("here", &after)] {
        if let Some(words) = trust(timeline, &state.certainty) {
            lines.push(PanelLine::of(Ink::Wary, format!("{moment}: {words}")));
        }
    }
    let Some(one) = differing(&before, &after).into_iter().next() else {
        let words = if before.objects.is_empty() {
            "exists at neither moment"
        } else {
            "same version at both moments"
        };
        lines.push(PanelLine::of(Ink::Plain, words));
        return lines;
    };
    lines.push(PanelLine::of(Ink::Strong, one.fate.as_str()));
    let (then, now) = (asked_at(then, a), asked_at(now, b));
    match one
        .fate
        .changes(timeline, then, now, &ComparisonScope::default())
    {
        Err(error) => {
            let words = harmless(&format!("cannot be read: {error}")).into_owned();
            lines.push(PanelLine::of(Ink::Wary, words));
        }
        Ok(changes) => {
            let all = VersionChanges::of(StateKind::of_resource(info), &changes);
            let shown = changes.iter().take(MOST_FIELDS);
            lines.extend(shown.map(|change| change_line(change, all)));
            let rest = changes.len().saturating_sub(MOST_FIELDS);
            if rest > 0 {
                lines.push(PanelLine::of(Ink::Wary, format!("and {rest} more fields")));
            }
        }
    }
    lines
}

fn change_line(change: &Change, changes: VersionChanges<'_>) -> PanelLine {
    let path = harmless(&change.path.to_string()).into_owned();
    PanelLine {
        field: Some(change.path.clone()),
        ..PanelLine::of(Ink::Plain, format!("  {path} ")).and_values(change, changes)
    }
}

/// Searches; `go_on` gets the versions read and all versions, and ends it by `false`.
pub(super) fn find_field_change(
    timeline: &Timeline,
    search: &FieldSearch,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Option<FieldSearchResult> {
    let path = search.field.to_string();
    let shown = harmless(&path).into_owned();
    let Ok(field) = path.parse::<Field>() else {
        return Some(nowhere(format!(".{shown} cannot be followed")));
    };
    let walk = FieldWalk {
        timeline,
        search,
        scope: ComparisonScope {
            fields: vec![field],
            ..ComparisonScope::default()
        },
    };
    let versions = search.subject.versions(timeline);
    let order = search_order(&versions, search);
    let mut unread = 0;
    // On the way, one of two versions has been read for the step before.
    let mut kept: Option<(Seq, VersionBody)> = None;
    for (done, at) in order.iter().enumerate() {
        if !go_on(done, order.len()) {
            return None;
        }
        let Some(seq) = versions.get(*at).copied() else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| versions.get(at)).copied();
        let mut old = before.map_or(VersionBody::Nothing, |before| walk.kept(before, &mut kept));
        let mut new = walk.kept(seq, &mut kept);
        // What cannot be read is passed over: those on both sides are compared.
        let (read, other) = match search.way {
            TimeDirection::Next => (&mut new, &mut old),
            TimeDirection::Previous => (&mut old, &mut new),
        };
        if matches!(read, VersionBody::Unread) {
            unread += 1;
            std::mem::swap(read, other);
        }
        if let Some(change) = walk.change(seq, before, &old, &new) {
            let gap = before.is_some_and(|before| walk.is_gap_between(before, seq));
            return Some(FieldSearchResult {
                place: Some(CursorPlace::behind(timeline, seq)),
                words: format!(".{shown} {}{}", change_words(&change), doubt(unread, gap)),
            });
        }
        kept = match search.way {
            TimeDirection::Next => Some((seq, new)),
            TimeDirection::Previous => before.map(|before| (before, old)),
        };
    }
    let word = search.way.word();
    Some(nowhere(format!(
        "no {word} change of .{shown}{}",
        doubt(unread, false)
    )))
}

/// Gives the places of the versions in the order in which they are looked at.
fn search_order(versions: &[Seq], search: &FieldSearch) -> Vec<usize> {
    let below = search.from.below;
    let here = versions.partition_point(|seq| *seq < below);
    let last = here.checked_sub(1).and_then(|at| versions.get(at));
    // The change that is at the cursor was seen already.
    let is_here = last.is_some_and(|seq| seq.0 + 1 == below.0);
    match search.way {
        TimeDirection::Next => (here..versions.len()).collect(),
        TimeDirection::Previous => (0..here.saturating_sub(usize::from(is_here)))
            .rev()
            .collect(),
    }
}

const fn nowhere(words: String) -> FieldSearchResult {
    FieldSearchResult { place: None, words }
}

/// What was there of an object at a version.
enum VersionBody {
    /// Nothing: it is deleted, or does not exist yet.
    Nothing,
    /// This.
    Object(Value),
    /// The version cannot be read.
    Unread,
}

struct FieldWalk<'a> {
    timeline: &'a Timeline,
    search: &'a FieldSearch,
    scope: ComparisonScope,
}

impl FieldWalk<'_> {
    /// Takes a version that was kept, or reads it.
    fn kept(&self, seq: Seq, kept: &mut Option<(Seq, VersionBody)>) -> VersionBody {
        let own = kept.take_if(|(own, _)| *own == seq);
        own.map_or_else(|| self.held(seq), |(_, held)| held)
    }

    fn held(&self, seq: Seq) -> VersionBody {
        if self.timeline.reel().kind_of(seq) == Some(EventType::Deleted) {
            return VersionBody::Nothing;
        }
        let resource = self.timeline.resources().get(self.search.subject.resource);
        let form = ObjectForm {
            shows_managed_fields: true,
        };
        match resource.map(|info| self.timeline.object(seq, info, form)) {
            Some(Ok(object)) => VersionBody::Object(object),
            _ => VersionBody::Unread,
        }
    }

    fn change(
        &self,
        seq: Seq,
        before: Option<Seq>,
        old: &VersionBody,
        new: &VersionBody,
    ) -> Option<Change> {
        let changes = match (old, new) {
            (VersionBody::Object(old), VersionBody::Object(new)) => self.scope.changes(old, new),
            (VersionBody::Nothing, VersionBody::Object(new)) => {
                let head = self.timeline.reel().head(seq);
                let at = self.timeline.wall_of(seq);
                let resource = self.search.subject.resource;
                let created = timetext::parsed(field::text(new, "/metadata/creationTimestamp"));
                let looks = self.timeline.first_looks();
                let is_old =
                    head.is_some_and(|head| looks.has(resource, head.evidence, at, created));
                // What was there when the recorder first looked did not change then.
                if before.is_none() && is_old {
                    return None;
                }
                self.scope.contents(new)
            }
            (VersionBody::Object(old), VersionBody::Nothing) => self.scope.lost(old),
            _ => return None,
        };
        changes.into_iter().next()
    }

    fn is_gap_between(&self, before: Seq, seq: Seq) -> bool {
        let at = |seq| CursorPlace::behind(self.timeline, seq).at;
        let (from, to) = (at(before), at(seq));
        self.timeline.may_miss_changes(seq, from, to)
    }
}

/// Says what a change did.
fn change_words(change: &Change) -> String {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => format!("{} → {}", short(old), short(new)),
        (None, Some(new)) => format!("added: {}", short(new)),
        (Some(old), None) => format!("removed, was {}", short(old)),
        (None, None) => "changes".to_owned(),
    }
}

/// Says what makes an answer doubtful.
fn doubt(unread: usize, is_across_gap: bool) -> String {
    let mut words = String::new();
    if is_across_gap {
        words.push_str(", across a gap: more changes are possible");
    }
    if unread > 0 {
        words.extend([", ", &unread.to_string(), " unreadable versions"]);
    }
    words
}
